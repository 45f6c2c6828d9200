"""Two ways down the cost of learning vector quantization: L-BFGS, or small batches at falling rates."""

from __future__ import annotations

import numpy as np

from lann._types import Floats
from lann.baselines._lbfgs import Minimum, minimize_lbfgs
from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.metric_forms import of_trace_one

BATCH = 32
# The first steps, in the units of the points (prototypes) and of the maps' norm; the maps follow slowly.
PROTOTYPE_RATE, MAP_RATE = 0.1, 0.05
# Epochs without a lower loss before learning ends.
PATIENCE = 10


def solve(
    solver: str,
    cost: Cost,
    prototypes: Floats,
    raw: Floats,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    name: str,
    verbose: int = 0,
) -> Minimum:
    """Minimize from a start; an iteration of the stochastic solver is an epoch."""
    if solver == "lbfgs":
        return minimize_lbfgs(cost, [prototypes, raw], max_iter=max_iter, tol=tol, name=name, verbose=verbose)
    return descend(cost, prototypes, raw, max_iter=max_iter, tol=tol, rng=rng, name=name, verbose=verbose)


def descend(
    cost: Cost,
    prototypes: Floats,
    raw: Floats,
    *,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
    name: str,
    verbose: int = 0,
) -> Minimum:
    """Gradient steps on small batches, at rates that fall to 0 over the epochs.

    A gradient's size says little (it falls with the number of features, and grows near a boundary), so every
    step is relative to the usual size of its gradient.
    """
    maps, _ = of_trace_one(raw)
    unit = 1.0 / np.sqrt(maps[0].size)  # the usual entry of a map of norm 1
    usual = [0.0, 0.0]
    losses: list[float] = []
    best, since, steps = np.inf, 0, 0
    for epoch in range(max_iter):
        falling = 1.0 - epoch / max_iter
        total = 0.0
        order = rng.permutation(len(cost.points))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            loss, gradients = cost.of(rows, prototypes, maps)
            total += loss * len(rows)
            steps += 1
            for place, gradient in enumerate(gradients):
                usual[place] = 0.95 * usual[place] + 0.05 * float(np.square(gradient).mean())
            # The running means begin at 0, which the last factor makes up for.
            sizes = np.sqrt(np.array(usual) / (1.0 - 0.95**steps)) + 1e-300
            prototypes = prototypes - falling * PROTOTYPE_RATE / sizes[0] * gradients[0]
            maps, _ = of_trace_one(maps - falling * MAP_RATE * unit / sizes[1] * gradients[1])
        losses.append(total / len(order))
        if verbose:
            print(f"[{name}] epoch {epoch + 1}/{max_iter}: loss {losses[-1]:.6g}")
        since = 0 if losses[-1] < best - tol * abs(best) or epoch == 0 else since + 1
        best = min(best, losses[-1])
        if since == PATIENCE:
            break
    return Minimum([prototypes, maps], losses, since == PATIENCE)
