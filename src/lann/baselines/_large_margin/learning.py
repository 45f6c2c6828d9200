"""Learn linear maps by their large-margin loss, with a penalty on the change from the initial maps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lann._types import Floats
from lann.baselines._large_margin.loss import LargeMarginLoss
from lann.baselines._lbfgs import IterationSettings, Minimum, minimize_lbfgs


def learn_maps(loss: LargeMarginLoss, initial: Floats, alpha: float, settings: IterationSettings) -> Minimum:
    """Minimize loss(maps) + alpha ‖maps − initial‖² / n_rows.

    Parameters
    ----------
    loss : LargeMarginLoss
    initial : (n_groups, rank, n_features)
        Initial maps.
    alpha : float
    settings : IterationSettings

    Returns
    -------
    minimum : Minimum
        With one array, the maps.
    """
    return minimize_lbfgs(penalize_change(loss, initial, alpha / loss.n_rows), [initial], settings)


def penalize_change(
    loss: Callable[[Floats], tuple[float, Floats]], initial: Floats, strength: float
) -> Callable[[Floats], tuple[float, list[Floats]]]:
    """Return the objective loss(maps) + strength · ‖maps − initial‖², with a list of one gradient."""

    def objective(maps: Floats) -> tuple[float, list[Floats]]:
        value, gradient = loss(maps)
        change = maps - initial
        return value + strength * float(np.square(change).sum()), [gradient + 2.0 * strength * change]

    return objective
