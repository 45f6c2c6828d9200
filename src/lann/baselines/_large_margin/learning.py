"""Learning maps by their large-margin loss, held near where they start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lann._types import Floats
from lann.baselines._large_margin.loss import LargeMargin
from lann.baselines._lbfgs import Minimum, minimize_lbfgs


def learn_maps(
    loss: LargeMargin,
    start: Floats,
    *,
    alpha: float,
    max_iter: int,
    tol: float,
    name: str,
    verbose: int,
) -> Minimum:
    """Minimize loss + alpha ‖maps − start‖² / n_points; the arrays are one, the maps.

    start : (n_groups, rank, n_features)
    """
    objective = held_near(loss, start, alpha / loss.n_points)
    return minimize_lbfgs(objective, [start], max_iter=max_iter, tol=tol, name=name, verbose=verbose)


def held_near(
    loss: Callable[[Floats], tuple[float, Floats]], start: Floats, strength: float
) -> Callable[[Floats], tuple[float, list[Floats]]]:
    """The loss plus strength · ‖maps − start‖², in the form that `minimize_lbfgs` wants."""

    def objective(maps: Floats) -> tuple[float, list[Floats]]:
        value, gradient = loss(maps)
        departure = maps - start
        return value + strength * float(np.square(departure).sum()), [gradient + 2.0 * strength * departure]

    return objective
