"""Solvers of generalized learning vector quantization: L-BFGS, or stochastic gradient descent."""

from __future__ import annotations

import numpy as np

from lann._types import Floats
from lann.baselines._lbfgs import IterationSettings, Minimum, minimize_lbfgs
from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.metric_forms import normalize_trace

BATCH_SIZE = 32
# Initial step sizes, in the units of the rows (prototypes) and of the norm of the maps.
PROTOTYPE_RATE, MAP_RATE = 0.1, 0.05
# Weights of the previous value and of the new one in the running means of squared gradients.
DECAY, GAIN = 0.95, 0.05
# Epochs without a lower cost after which training stops.
PATIENCE = 10


def minimize_cost(
    cost: Cost,
    prototypes: Floats,
    maps: Floats,
    *,
    solver: str,
    settings: IterationSettings,
    rng: np.random.Generator,
) -> Minimum:
    """Minimize the cost of learning vector quantization.

    Parameters
    ----------
    cost : Cost
    prototypes : (n_prototypes, n_features)
        Initial values.
    maps : (n_metrics, ...)
        Initial values.
    solver : {"lbfgs", "stochastic"}
    settings : IterationSettings
    rng : Generator
        Of the order of the rows, for "stochastic".

    Returns
    -------
    minimum : Minimum
        The arrays are the prototypes and the maps.
    """
    if solver == "lbfgs":
        return minimize_lbfgs(cost, [prototypes, maps], settings)
    return minimize_stochastic(cost, prototypes, maps, settings, rng)


def minimize_stochastic(
    cost: Cost, prototypes: Floats, maps: Floats, settings: IterationSettings, rng: np.random.Generator
) -> Minimum:
    """Minimize by gradient steps on batches of rows; an iteration is an epoch, a pass over all rows.

    Steps are relative to the root mean square of recent gradients, as the size of a gradient depends on the
    number of features and on the distance to the class boundary. Their size falls to 0 over the epochs.
    """
    maps, _ = normalize_trace(maps)
    typical_entry = 1.0 / np.sqrt(maps[0].size)  # of a map with norm 1
    mean_squares = [0.0, 0.0]  # running means of the squared gradients, of prototypes and maps
    losses: list[float] = []
    best, n_without_progress, n_steps = np.inf, 0, 0
    for epoch in range(settings.max_iter):
        falling = 1.0 - epoch / settings.max_iter
        total = 0.0
        order = rng.permutation(len(cost.X))
        for first in range(0, len(order), BATCH_SIZE):
            rows = order[first : first + BATCH_SIZE]
            loss, gradients = cost.on_rows(rows, prototypes, maps)
            total += loss * len(rows)
            n_steps += 1
            for number, gradient in enumerate(gradients):
                mean_square = float(np.square(gradient).mean())
                mean_squares[number] = DECAY * mean_squares[number] + GAIN * mean_square
            # The running means begin at 0; the last factor corrects for that.
            sizes = np.sqrt(np.array(mean_squares) / (1.0 - DECAY**n_steps)) + 1e-300
            prototypes = prototypes - falling * PROTOTYPE_RATE / sizes[0] * gradients[0]
            maps, _ = normalize_trace(maps - falling * MAP_RATE * typical_entry / sizes[1] * gradients[1])
        losses.append(total / len(order))
        settings.print_loss(epoch + 1, losses[-1], unit="epoch")
        progress = losses[-1] < best - settings.tol * abs(best) or epoch == 0
        n_without_progress = 0 if progress else n_without_progress + 1
        best = min(best, losses[-1])
        if n_without_progress == PATIENCE:
            break
    return Minimum([prototypes, maps], losses, n_without_progress == PATIENCE)
