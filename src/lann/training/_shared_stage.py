"""The first stage: train the levels that all rows share, in batches."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.training._candidates import N_TYPICAL, find_candidates
from lann.training._kernels import Batch
from lann.training._level_selection import draw_selection_rows, is_significantly_better, weighted_errors
from lann.training._sampling import QueryStream, draw_axis_mask, stratified_sample
from lann.training._settings import Settings
from lann.training._shared_parameters import SharedParameters
from lann.vote import zero_distance_guard

BATCH_SIZE = 128
BATCHES_PER_EPOCH = 50
# Up to this many rows, the search for candidates is cheap and includes all rows.
FEW_ROWS = 1_000
# Number of epochs for which candidates are used before they are searched again.
EPOCHS_PER_SEARCH = 2
# A square map is learned after this share of the epochs, when the features are on their curves.
MAP_START = 1 / 3
# After this share of the epochs, levels that do not help are dropped.
SELECTION_START = 2 / 3
DROPPABLE_LEVELS = ("map", "class", "curves")


class _Queries(NamedTuple):
    """Queries of the epochs until the next search.

    rows : (n_queries,)
    candidates : (n_queries, n_candidates)
    epsilon : float
    keep_probability : float, with which a batch keeps a candidate
    """

    rows: Indices
    candidates: Indices
    epsilon: float
    keep_probability: float


class SharedStage:
    """Training of curves, linear map and class weights.

    With `settings.drop_levels` and many rows, some rows are no queries until they have decided, late in the
    stage, which levels help.

    Parameters
    ----------
    levels : Levels
        Initial values.
    settings : Settings
    n_epochs : int
    validation_rows, excluded_rows : (n,)
        Rows for early stopping, and further ones that are no queries of this stage.
    rng : Generator
    """

    name = "shared levels"

    def __init__(
        self,
        levels: Levels,
        settings: Settings,
        n_epochs: int,
        validation_rows: Indices,
        excluded_rows: Indices,
        rng: np.random.Generator,
    ) -> None:
        self.n_epochs = n_epochs
        self.dropped_levels: list[str] = []
        self._start, self._settings, self._rng = levels, settings, rng
        self._widths = None if levels.encoding.is_numeric else levels.encoding.n_axes_of_features
        pool = stratified_sample(levels.labels, settings.n_shared_rows, rng)
        in_pool = levels.replace(point_log_weights=np.empty((len(levels.X), 0)), point_matrices=None)
        self.parameters = SharedParameters(in_pool.subset(pool), settings)
        # From here on, rows are counted in the pool.
        self._validation_rows = _positions(pool, validation_rows)
        excluded = np.union1d(self._validation_rows, _positions(pool, excluded_rows))
        self._rows = np.setdiff1d(np.arange(len(pool)), excluded)
        self._selection_epoch = math.ceil(SELECTION_START * n_epochs / EPOCHS_PER_SEARCH) * EPOCHS_PER_SEARCH
        self._selection_rows = self._rows[:0]
        if settings.drop_levels and self._selection_epoch < n_epochs:
            self._selection_rows = draw_selection_rows(self._rows, rng)
        self._map_epoch = 0 if levels.components is not None else math.floor(MAP_START * n_epochs)
        self._stream = QueryStream(np.setdiff1d(self._rows, self._selection_rows), rng)
        self._batch_size = min(BATCH_SIZE, len(self._rows) - len(self._selection_rows))
        self._queries: _Queries | None = None

    def prepare_epoch(self, epoch: int) -> bool:
        if self._settings.linear_map and epoch == self._map_epoch:
            self.parameters.learn_map()
            if self.parameters.n_axes < self.parameters.encoding.n_coordinates:
                self._queries = None  # distances on other axes are of another size
        if epoch == self._selection_epoch and len(self._selection_rows) > 0:
            self.parameters, dropped = without_harmful_levels(self.parameters, self._selection_rows)
            self.dropped_levels.extend(dropped)
            self._stream = QueryStream(self._rows, self._rng)
        return True

    def train_epoch(self, epoch: int) -> float:
        if self._queries is None or epoch % EPOCHS_PER_SEARCH == 0:
            self._queries = self._next_queries(min(EPOCHS_PER_SEARCH, self.n_epochs - epoch))
        rows, candidates, epsilon, keep_probability = self._queries
        rng, n_steps = self._rng, self.n_epochs * BATCHES_PER_EPOCH
        first_batch = epoch % EPOCHS_PER_SEARCH * BATCHES_PER_EPOCH
        total = 0.0
        for number in range(BATCHES_PER_EPOCH):
            first = (first_batch + number) * self._batch_size
            part = slice(first, first + self._batch_size)
            kept = rng.random(candidates[part].shape) < keep_probability
            mask = draw_axis_mask(
                self.parameters.n_axes, self._settings.feature_dropout, rng, widths=self._widths
            )
            loss, gradient = self.parameters.loss(Batch(rows[part], candidates[part], kept, mask, epsilon))
            remaining = 1.0 - (epoch * BATCHES_PER_EPOCH + number) / n_steps
            self.parameters.step(gradient, self._settings.learning_rate * remaining)
            total += loss
        return total / BATCHES_PER_EPOCH

    def validation_loss(self) -> float | None:
        if len(self._validation_rows) == 0:
            return None
        return loss_without_dropout(self.parameters, self._validation_rows)

    def levels(self) -> Levels:
        parameters, by_point = self.parameters, self._start.point_log_weights
        if by_point.shape[1] != parameters.n_axes:
            by_point = np.zeros((len(by_point), parameters.n_axes))
        return self._start.replace(
            encoding=parameters.encoding,
            components=None if parameters.map is None else parameters.map.copy(),
            class_log_weights=parameters.class_log_weights,
            point_log_weights=by_point,
        )

    def _next_queries(self, n_epochs: int) -> _Queries:
        """Draw the queries of the next epochs and search their candidates."""
        rows = self._stream.take(n_epochs * BATCHES_PER_EPOCH * self._batch_size)
        n_rows = len(self.parameters.X)
        reference, keep_probability = sample_reference(n_rows, self._settings.candidate_dropout, self._rng)
        return _Queries(rows, *_candidates(self.parameters, rows, reference), keep_probability)


def _positions(pool: Indices, rows: Indices) -> Indices:
    """Return where some rows are in the pool."""
    return np.flatnonzero(np.isin(pool, rows))


def without_harmful_levels(parameters: SharedParameters, rows: Indices) -> tuple[SharedParameters, list[str]]:
    """Return the parameters without the levels that cause more errors on some rows, and their names."""
    dropped: list[str] = []
    best_errors = _errors(parameters, rows)
    for level in DROPPABLE_LEVELS:
        without = parameters.without(level)
        if without is None:
            continue
        errors = _errors(without, rows)
        if is_significantly_better(errors, best_errors):
            parameters, best_errors = without, errors
            dropped.append(level)
    return parameters, dropped


def _errors(parameters: SharedParameters, rows: Indices) -> Floats:
    metric, settings = parameters.metric(), parameters.settings
    candidates, _ = find_candidates(metric, rows, settings.n_candidates, n_jobs=settings.n_jobs)
    return weighted_errors(metric, parameters.targets, rows, candidates)


def sample_reference(n_rows: int, dropout: float, rng: np.random.Generator) -> tuple[Indices, float]:
    """Return the rows that can be candidates, and with which probability a batch keeps each of them.

    Of many rows, part of the dropout is done here, once for all batches: to search a third of the rows for a
    third of the candidates is much cheaper.
    """
    keep = 1.0 - dropout
    fraction = min(max(FEW_ROWS / n_rows, keep), 1.0)
    size = max(round(fraction * n_rows), 2)
    reference = np.sort(rng.choice(n_rows, size, replace=False)) if size < n_rows else np.arange(n_rows)
    return reference, keep / fraction


def loss_without_dropout(parameters: SharedParameters, rows: Indices) -> float:
    """Return the mean loss of some rows, with nothing dropped."""
    candidates, epsilon = _candidates(parameters, rows, np.arange(len(parameters.X)))
    batch = Batch.without_dropout(rows, candidates, parameters.n_axes, epsilon)
    return parameters.loss(batch)[0]


def _candidates(parameters: SharedParameters, rows: Indices, reference: Indices) -> tuple[Indices, float]:
    """Return the candidates of some rows among the reference, (n_rows, n_candidates), and ε."""
    settings = parameters.settings
    distinct, position = np.unique(rows, return_inverse=True)
    n_candidates = math.ceil(settings.n_candidates * len(reference) / len(parameters.X))
    candidates, distances = find_candidates(
        parameters.metric(), distinct, n_candidates, reference=reference, n_jobs=settings.n_jobs
    )
    return candidates[position], zero_distance_guard(distances[:, :N_TYPICAL])
