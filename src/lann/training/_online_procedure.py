"""The online solver: train point metrics one query at a time, as published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._threads import single_threaded_blas
from lann.metrics import Levels
from lann.training._candidates import typical_distances
from lann.training._initial_map import n_axes_of, with_initial_map
from lann.training._initial_matrices import check_matrix_memory
from lann.training._online_matrices import OnlineMatrices
from lann.training._online_weights import OnlineWeights
from lann.training._settings import OnlineSettings
from lann.training._temperature import choose_temperature
from lann.training._trainer import Callback, Trainer
from lann.vote import zero_distance_guard


@dataclass(frozen=True)
class OnlineResult:
    """The result of an online training.

    Attributes
    ----------
    levels : Levels
    losses : list of float
        Mean loss of every epoch.
    temperature : float
        β of the softmax.
    """

    levels: Levels
    losses: list[float]
    temperature: float


def train_online(
    start: Levels, settings: OnlineSettings, rng: np.random.Generator, *, callback: Callback | None = None
) -> OnlineResult:
    """Train point metrics one query at a time, as published.

    Parameters
    ----------
    start : Levels
        Rows and initial metrics.
    settings : OnlineSettings
    rng : Generator
        Determines the order of the rows.
    callback : callable or None
        Called with an `Epoch` after every epoch; training stops if it returns True.
    """
    temperature = settings.temperature
    if temperature is None:
        temperature = choose_temperature(start, n_jobs=settings.n_jobs)
    levels, trainer = start, Trainer(settings.max_iter, callback)
    if settings.max_iter > 0:
        # The same bits for any number of BLAS threads.
        with single_threaded_blas():
            n_axes = n_axes_of(settings.form, settings.n_components, start.X.shape[1])
            levels = with_initial_map(levels, n_axes, shrink=False)
            if settings.form != "diagonal":
                check_matrix_memory(levels)
            levels = trainer.run(OnlineStage(levels, settings, temperature, rng))
    if settings.constraint == "norm":
        levels = levels.with_fixed_norm()
    elif settings.constraint == "determinant" and settings.form == "diagonal":
        levels = levels.with_fixed_determinant()
    return OnlineResult(levels, trainer.losses, temperature)


class OnlineStage:
    """Passes over all rows in random order, at a rate that falls to 0.

    Parameters
    ----------
    levels : Levels
        Initial values.
    settings : OnlineSettings
    temperature : float
        β of the softmax.
    rng : Generator
    """

    def __init__(
        self, levels: Levels, settings: OnlineSettings, temperature: float, rng: np.random.Generator
    ) -> None:
        self.n_epochs = settings.max_iter
        self.dropped_levels: list[str] = []
        self._n_rows, self._rng = len(levels.X), rng
        self._learning_rate = settings.learning_rate
        rule = settings.loss_rule(len(levels.class_log_weights), temperature)
        rule = rule._replace(n_neighbors=min(rule.n_neighbors, self._n_rows - 1))
        epsilon = zero_distance_guard(typical_distances(levels, n_jobs=settings.n_jobs))
        self.updates: OnlineWeights | OnlineMatrices
        if settings.form == "diagonal":
            self.updates = OnlineWeights(levels, rule, epsilon, settings.constraint, n_jobs=settings.n_jobs)
        else:
            self.updates = OnlineMatrices(levels, rule, epsilon, settings.constraint)
        self.name = self.updates.name

    def prepare_epoch(self, epoch: int) -> bool:
        return True

    def train_epoch(self, epoch: int) -> float:
        remaining = 1.0 - epoch / self.n_epochs
        rows = self._rng.permutation(self._n_rows)
        return self.updates.train_pass(rows, self._learning_rate * remaining)

    def validation_loss(self) -> float | None:
        return None

    def levels(self) -> Levels:
        return self.updates.levels()
