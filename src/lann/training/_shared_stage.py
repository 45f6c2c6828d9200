"""The first stage: train the levels that all rows share (encoding, map, class weights), in batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lann import _native
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, FeatureCurves, Levels
from lann.training._candidates import (
    N_TYPICAL,
    QueryStream,
    draw_selection_rows,
    find_candidates,
    is_significantly_better,
    stratified_sample,
    weighted_errors,
)
from lann.training._cells import Cells, Positions, compact_batch
from lann.training._initial import MOST_SQUARE, n_axes_of, wide_axes
from lann.training._loss import LARGEST_LOG_WEIGHT, NOT_NEEDED, Adam, Batch, Settings, regularization_factor
from lann.training._procedure import BATCHES_PER_EPOCH, Stage
from lann.vote import zero_distance_guard

# Strength of the regularization of each parameter; "bin_differences" is for curves without kinks.
REGULARIZATION = {
    "feature_slopes": 0.5,
    "bin_slopes": 0.5,
    "bin_differences": 0.7,
    "jumps": 0.5,
    "positions": 0.5,
    "map": 5.0,
    "class_scales": 2.0,
    "class_weights": 7.0,
}
# These learn more slowly than the rest: every entry of the map, and every jump, moves many points.
RATES = {"map": 0.2, "jumps": 0.2, "positions": 0.5}
# An entry of the map returns to its initial value, a jump to 0 and a category to its start, unless its
# gradients agree: their mean has to exceed this share of their root mean square. Most pairs of features have
# nothing to do with each other, and most features have no threshold.
AGREEMENT = {"map": 0.2, "jumps": 0.2, "positions": 0.1}
# Bounds of the parameters.
SMALLEST_FEATURE_SLOPE = -4.0
LARGEST_BIN_SLOPE = 3.0
LARGEST_JUMP = 20.0
LARGEST_DISPLACEMENT = 20.0
LARGEST_ENTRY = 20.0
# Products with a map of at least this many numbers run on threads, in blocks of rows.
LARGE_MAP = 64 * 64
ROW_BLOCK = 512


class SharedParameters:
    """Parameters of curves, positions of categories and gaps, linear map and class weights.

        log slope of number f in bin b = feature_slopes_f + bin_slopes_fb
        position of a category of feature f = exp(feature_slopes_f) · (start + displacement)
        log weight of class c on axis a = class_scales_c + class_weights_ca

    Parameters
    ----------
    levels : Levels
        Rows and initial values; point metrics are not used.
    settings : Settings
    straight : bool, default=False
        Whether curves stay straight: a slope per feature.

    Attributes
    ----------
    encoding : Encoding
    map : (n_axes, n_coordinates) or None
    map_is_learned : bool
    feature_slopes : (n_features,)
    bin_slopes : (n_numbers, n_bins)
    jumps : (n_numbers, n_steps)
    positions : Positions
    class_scales : (n_classes,)
    class_weights : (n_classes, n_axes)
    """

    def __init__(self, levels: Levels, settings: Settings, *, straight: bool = False) -> None:
        self.settings = settings
        self.straight = straight
        self._levels, self.X, self.labels = levels, levels.X, levels.labels
        self.targets = settings.targets(levels)
        self.rule = settings.loss_rule(levels)
        self.encoding = levels.encoding
        self._cells = Cells(self.encoding, self.X)
        self._position = np.full(len(self.X), -1)
        self._used_bins = self.curves.used
        self._is_numeric, self._numbers = self.encoding.is_numeric, self.encoding.number_features
        log_slopes = np.log(self.curves.slopes)
        self.feature_slopes = np.zeros(self.X.shape[1])
        self.feature_slopes[self._numbers] = log_slopes.mean(axis=1)
        # Few slopes are regularized toward their mean, many toward their start.
        is_wide = self.encoding.n_coordinates > MOST_SQUARE
        self._slope_targets = self.feature_slopes.copy() if is_wide else 0.0
        self.bin_slopes = log_slopes - self.feature_slopes[self._numbers][:, None]
        self.jumps = self.curves.jumps.copy()
        self.positions = Positions(self.encoding, self.feature_slopes, len(self.X))
        self.class_scales = levels.class_log_weights.mean(axis=1)
        self.class_weights = levels.class_log_weights - self.class_scales[:, None]
        names = ("feature_slopes", "bin_slopes", "jumps", "class_scales", "class_weights")
        self._adam = {name: Adam(getattr(self, name)) for name in names}
        self._adam["positions"] = Adam(self.positions.displacements)
        # Any: where it is learned, it is not None.
        self.map: Any = levels.components
        self._initial_map = np.empty((0, 0)) if self.map is None else self.map
        self.map_is_learned = False

    def learn_map(self) -> None:
        """Learn the linear map from now on; without one, the axes have been the coordinates."""
        n_coordinates = self.encoding.n_coordinates
        n_axes = n_axes_of(self.settings.form, self.settings.n_components, n_coordinates, linear_map=True)
        if self.map is None and n_axes < n_coordinates:
            # The weights of classes were about the coordinates, and start again.
            encoded, row_weights = self.encoded(np.arange(len(self.X))), self._levels.row_weights
            self.map = wide_axes(encoded, self.labels, n_axes, row_weights, shrink=False)
            self.class_weights = np.zeros((len(self.class_scales), len(self.map)))
            self._adam["class_weights"] = Adam(self.class_weights)
        square = self.map is None or self.map.shape[0] == n_coordinates
        self.map = np.eye(n_coordinates) if self.map is None else self.map.copy()
        # Regularized toward the coordinates themselves, or toward its start where it has fewer axes.
        self._initial_map = np.eye(n_coordinates) if square else self.map.copy()
        self._adam["map"] = Adam(self.map)
        self.map_is_learned = True

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        components = None if self.map is None else self.map.copy()
        return self._levels.replace(
            encoding=self.encoding, components=components, class_log_weights=self.class_log_weights
        )

    def without(self, level: str) -> SharedParameters | None:
        """Return parameters in which a level is neutral and no longer learned; None if it is not learned."""
        settings, straight, levels = self.settings, self.straight, self.levels()
        if level == "class" and settings.class_metrics:
            settings = settings.replace(class_metrics=False)
            levels = levels.replace(class_log_weights=np.zeros_like(levels.class_log_weights))
        elif level == "map" and self.map_is_learned and len(self._initial_map) == self.encoding.n_coordinates:
            settings = settings.replace(linear_map=False)
            levels = levels.replace(components=None)
        elif level == "curves" and settings.curves and not straight and self.curves.n_bins > 1:
            straight, slopes = True, np.ones(self.curves.slopes.shape)
            slopes *= np.exp(self.feature_slopes[self._numbers])[:, None]
            levels = levels.with_curves(self.curves.with_slopes(slopes, np.zeros_like(self.jumps)))
        else:
            return None
        other = SharedParameters(levels, settings, straight=straight)
        if self.map_is_learned and settings.linear_map:
            other.learn_map()
            other._initial_map = self._initial_map
        other._slope_targets = self._slope_targets
        return other

    @property
    def curves(self) -> FeatureCurves:
        """The curves of the numbers."""
        return self.encoding.curves

    @property
    def n_axes(self) -> int:
        return self.class_weights.shape[1]

    def encoded(self, rows: Indices) -> Floats:
        """Return the coordinates of some rows: (n_rows, n_coordinates)."""
        return self._cells.values(self.curves, self.positions.values(self.feature_slopes), rows)

    @property
    def class_log_weights(self) -> Floats:
        """Log weights of the axes for each class: (n_classes, n_axes)."""
        return self.class_scales[:, None] + self.class_weights

    def metric(self) -> DiagonalMetric:
        """Return the metric in which every row measures with the weights of its class."""
        points = self._apply_map(self.encoded(np.arange(len(self.X))))
        return Levels.metric_of_classes(points, self.labels, self.class_log_weights)

    def loss(self, batch: Batch) -> tuple[float, dict[str, Floats]]:
        """Compute the mean loss of a batch and its gradient for each learned parameter."""
        settings = self.settings
        used, rows, candidates = compact_batch(batch.rows, batch.candidates, self._position)
        targets, encoded = self.targets.subset(used), self.encoded(used)
        points, weights = self._apply_map(encoded), np.exp(self.class_log_weights)
        by_class = np.zeros(weights.shape) if settings.class_metrics else NOT_NEEDED
        by_point = np.zeros(points.shape) if settings.curves or self.map_is_learned else NOT_NEEDED
        loss = _native.loss_and_gradients(
            rows, candidates, batch.axis_mask, batch.epsilon, points, weights, targets.labels, targets,
            self.rule, by_class, by_point,
        )  # fmt: skip
        gradient: dict[str, Floats] = {}
        if self.map_is_learned:
            gradient["map"] = np.sum(
                self._in_blocks(lambda i: by_point[i].T @ encoded[i], len(encoded)), axis=0
            )
        if settings.curves:
            gradient |= self._encoding_gradient(used, by_point)
        if settings.class_metrics:
            gradient |= {"class_weights": by_class, "class_scales": by_class.sum(axis=1)}
        return loss, gradient

    def _encoding_gradient(self, used: Indices, by_point: Floats) -> dict[str, Floats]:
        by_value = by_point
        if self.map is not None:
            by_value = np.concatenate(self._in_blocks(lambda part: by_point[part] @ self.map, len(used)))
        by_slope, by_jump, by_position = self._cells.gradients(self.curves, used, by_value)
        by_bin = by_slope * self.curves.slopes
        gradient = {"feature_slopes": by_bin.sum(axis=1)}
        if not self._is_numeric:
            gradient["positions"], by_feature = self.positions.gradients(by_position, self.feature_slopes)
            by_feature[self._numbers] += gradient["feature_slopes"]
            gradient["feature_slopes"] = by_feature
        if not self.straight:
            gradient |= {"bin_slopes": by_bin, "jumps": by_jump}
        return gradient

    def regularization_gradient(self) -> dict[str, Floats]:
        """Return the gradient of the penalties for each parameter."""
        strength = self.settings.alpha * regularization_factor(len(self.X)) / len(self.X)
        by_bin = REGULARIZATION["bin_slopes"] * self.bin_slopes
        differences = np.diff(self.bin_slopes, axis=1)
        kinks = REGULARIZATION["bin_differences"] * differences * self._used_bins[:, 1:]
        by_bin[:, 1:] += kinks
        by_bin[:, :-1] -= kinks
        centered = self.feature_slopes - self._slope_targets
        centered -= centered.mean()
        penalized = {
            "feature_slopes": centered,
            "jumps": self.jumps,
            "class_scales": self.class_scales,
            "class_weights": self.class_weights,
            "positions": self.positions.restraint * self.positions.displacements,
        }
        if self.map_is_learned:
            penalized["map"] = self.map - self._initial_map
        gradient = {name: strength * REGULARIZATION[name] * values for name, values in penalized.items()}
        return gradient | {"bin_slopes": strength * by_bin}

    def step(self, gradient: dict[str, Floats], rate: float) -> None:
        """Take one step against the gradient of the loss, which is changed, and that of the penalties."""
        regularization = self.regularization_gradient()
        for name, values in gradient.items():
            values += regularization[name]
            if name == "bin_slopes":
                values *= self._used_bins
            self._adam[name].step(values, RATES.get(name, 1.0) * rate)
        self._constrain(rate)

    def _constrain(self, rate: float) -> None:
        """Restore the bounds, and fix the overall scale of curves and classes, which the loss leaves free."""
        if self.settings.curves:
            slopes = self.feature_slopes
            shift = slopes.max()  # no exponential may overflow
            shift += 0.5 * np.log(np.mean(np.exp(2.0 * (slopes - shift))))
            slopes -= shift
            np.maximum(slopes, SMALLEST_FEATURE_SLOPE, out=slopes)
            np.clip(self.bin_slopes, -LARGEST_BIN_SLOPE, LARGEST_BIN_SLOPE, out=self.bin_slopes)
            self.jumps -= AGREEMENT["jumps"] * RATES["jumps"] * rate
            self.jumps *= np.exp(-np.clip(shift, -1.0, 1.0))  # the same share of the curve, after usual steps
            np.clip(self.jumps, 0.0, LARGEST_JUMP, out=self.jumps)
            curves = self.curves.with_slopes(
                np.exp(slopes[self._numbers][:, None] + self.bin_slopes), self.jumps.copy()
            )
            self.encoding = self.encoding.replace(curves=curves)
            if not self._is_numeric:
                displacements = self.positions.displacements
                back = AGREEMENT["positions"] * RATES["positions"] * rate * self.positions.restraint
                displacements -= np.clip(displacements, -back, back)
                np.clip(displacements, -LARGEST_DISPLACEMENT, LARGEST_DISPLACEMENT, out=displacements)
                self.encoding = self.positions.put_into(self.encoding, slopes)
        if self.map_is_learned:
            self.map -= self._initial_map
            np.clip(self.map, -LARGEST_ENTRY, LARGEST_ENTRY, out=self.map)
            back = AGREEMENT["map"] * RATES["map"] * rate
            self.map -= np.clip(self.map, -back, back)
            self.map += self._initial_map
        if self.settings.class_metrics:
            for values in (self.class_scales, self.class_weights):
                np.clip(values, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=values)
                values -= values.mean(axis=0)

    def _apply_map(self, encoded: Floats) -> Floats:
        if self.map is None:
            return encoded
        transposed = self.map.T
        return np.concatenate(self._in_blocks(lambda part: encoded[part] @ transposed, len(encoded)))

    def _in_blocks(self, product: Callable[[slice], Floats], n_rows: int) -> list[Floats]:
        """Compute a product with the map, on threads if it is large; blocks do not depend on their number."""
        if self._initial_map.size < LARGE_MAP:
            return [product(slice(0, n_rows))]
        return map_blocks(product, n_rows, ROW_BLOCK, n_jobs=self.settings.n_jobs)


BATCH_SIZE = 128
# Up to this many rows, the search for candidates is cheap and includes all rows.
FEW_ROWS = 1_000
# Number of epochs for which candidates are used before they are searched again.
EPOCHS_PER_SEARCH = 2
# A square map is learned after this share of the epochs, when the features are on their curves.
MAP_START = 1 / 3
# After this share of the epochs, levels that do not help are dropped.
SELECTION_START = 2 / 3
DROPPABLE_LEVELS = ("map", "class", "curves")


class SharedStage(Stage):
    """Training of curves, linear map and class weights.

    With `settings.drop_levels` and many rows, some rows are no queries until they have decided, late in the
    stage, which levels help. Beside the validation rows, the excluded rows are no queries of this stage.
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
        pool = stratified_sample(levels.labels, settings.n_shared_rows, rng)
        # Rows are counted in the pool.
        in_pool = np.flatnonzero(np.isin(pool, validation_rows))
        super().__init__(levels, settings, n_epochs, in_pool, rng)
        only_shared = levels.replace(point_log_weights=np.empty((len(levels.X), 0)), point_matrices=None)
        self.parameters = SharedParameters(only_shared.subset(pool), settings)
        self._rows = np.flatnonzero(~np.isin(pool, np.union1d(validation_rows, excluded_rows)))
        self._selection_epoch = math.ceil(SELECTION_START * n_epochs / EPOCHS_PER_SEARCH) * EPOCHS_PER_SEARCH
        self._selection_rows = self._rows[:0]
        if settings.drop_levels and self._selection_epoch < n_epochs:
            self._selection_rows = draw_selection_rows(self._rows, rng)
        self._map_epoch = 0 if levels.components is not None else math.floor(MAP_START * n_epochs)
        self._stream = QueryStream(np.setdiff1d(self._rows, self._selection_rows), rng)
        self._batch_size = min(BATCH_SIZE, len(self._rows) - len(self._selection_rows))
        # The queries until the next search, with their candidates, ε, and the probability with which a batch
        # keeps a candidate.
        self._queries: tuple[Indices, Indices, float, float] | None = None

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

    def _draw_batch(self, number: int) -> Batch:
        epoch, in_epoch = divmod(number, BATCHES_PER_EPOCH)
        if self._queries is None or number % (EPOCHS_PER_SEARCH * BATCHES_PER_EPOCH) == 0:
            n_batches = min(EPOCHS_PER_SEARCH, self.n_epochs - epoch) * BATCHES_PER_EPOCH
            rows, n_rows = self._stream.take(n_batches * self._batch_size), len(self.parameters.X)
            reference, keep = sample_reference(n_rows, self._settings.candidate_dropout, self._rng)
            self._queries = (rows, *_candidates(self.parameters, rows, reference), keep)
        rows, candidates, epsilon, keep_probability = self._queries
        first = (epoch % EPOCHS_PER_SEARCH * BATCHES_PER_EPOCH + in_epoch) * self._batch_size
        part = slice(first, first + self._batch_size)
        kept = self._rng.random(candidates[part].shape) < keep_probability
        mask = self._draw_axis_mask(self.parameters.n_axes)
        return Batch(rows[part], np.where(kept, candidates[part], -1), mask, epsilon)

    def _step(self, gradient: dict[str, Floats], remaining: float) -> None:
        self.parameters.step(gradient, self._settings.learning_rate * remaining)

    def _batch_of(self, rows: Indices) -> Batch:
        parameters = self.parameters
        candidates, epsilon = _candidates(parameters, rows, np.arange(len(parameters.X)))
        return Batch(rows, candidates, np.ones(parameters.n_axes), epsilon)

    def levels(self) -> Levels:
        return self._start.with_shared(self.parameters.levels())


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


def _candidates(parameters: SharedParameters, rows: Indices, reference: Indices) -> tuple[Indices, float]:
    """Return the candidates of some rows among the reference, (n_rows, n_candidates), and ε."""
    settings = parameters.settings
    distinct, position = np.unique(rows, return_inverse=True)
    n_candidates = math.ceil(settings.n_candidates * len(reference) / len(parameters.X))
    candidates, distances = find_candidates(
        parameters.metric(), distinct, n_candidates, reference=reference, n_jobs=settings.n_jobs
    )
    return candidates[position], zero_distance_guard(distances[:, :N_TYPICAL])
