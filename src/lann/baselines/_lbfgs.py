"""The L-BFGS driver: minimize a function of some arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

from lann._types import Floats

Objective = Callable[..., tuple[float, Sequence[Floats]]]


@dataclass(frozen=True)
class Minimum:
    """Where the search ended: the arrays, the loss after every iteration, and whether it had converged."""

    arrays: list[Floats]
    losses: list[float]
    converged: bool

    @property
    def n_iter(self) -> int:
        return len(self.losses)


def minimize_lbfgs(
    objective: Objective,
    start: Sequence[Floats],
    *,
    max_iter: int,
    tol: float,
    name: str,
    verbose: int = 0,
    warn: bool = True,
) -> Minimum:
    """Minimize by L-BFGS.

    Parameters
    ----------
    objective
        From arrays of the shapes of `start` to the loss and its gradients, in the same order.
    start
        Where to begin.
    max_iter
        The largest number of iterations; 0 gives the start.
    tol
        Ends when the loss falls by less than this part of itself in an iteration, or when no entry of the
        gradient is larger.
    name
        Of the method, for messages.
    verbose
        1 prints a line per iteration.
    warn
        Whether to warn if `max_iter` is reached before that.
    """
    if max_iter == 0:  # SciPy would still take a step
        return Minimum([np.array(array, dtype=np.float64) for array in start], [], converged=False)
    shapes = [array.shape for array in start]
    ends = np.cumsum([array.size for array in start])[:-1]
    losses: list[float] = []

    def unpacked(flat: Floats) -> list[Floats]:
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]

    def packed_objective(flat: Floats) -> tuple[float, Floats]:
        loss, gradients = objective(*unpacked(flat))
        return float(loss), np.concatenate([gradient.ravel() for gradient in gradients])

    def hear(intermediate_result: OptimizeResult) -> None:
        losses.append(float(intermediate_result.fun))
        if verbose:
            print(f"[{name}] iteration {len(losses)}/{max_iter}: loss {losses[-1]:.6g}")

    found = minimize(
        packed_objective,
        np.concatenate([np.ravel(array) for array in start]),
        jac=True,
        method="L-BFGS-B",
        callback=hear,
        # Several evaluations in an iteration are a line search's: the iterations are what is limited.
        options={"maxiter": max_iter, "ftol": tol, "gtol": tol, "maxfun": 20 * max_iter + 100},
    )
    converged = found.status == 0
    if warn and not converged:
        warnings.warn(
            f"{name} has not converged after {len(losses)} iterations; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Minimum(unpacked(found.x), losses, converged)
