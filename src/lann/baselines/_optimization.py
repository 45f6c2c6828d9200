"""L-BFGS over several arrays, and k-means."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

from lann._support.types import Floats, Indices

Objective = Callable[..., tuple[float, Sequence[Floats]]]


@dataclass(frozen=True)
class IterationSettings:
    """When an iterative solver stops, and what it prints.

    Attributes
    ----------
    max_iter : int
        Maximum number of iterations; 0 returns the initial arrays.
    tol : float
        The solver has converged when the relative decrease of the loss is smaller.
    name : str
        Name of the method in messages.
    verbose : int, default=0
        1 prints a line per iteration.
    """

    max_iter: int
    tol: float
    name: str
    verbose: int = 0

    def print_loss(self, n_iter: int, loss: float, unit: str = "iteration") -> None:
        """Print the loss after an iteration if `verbose`."""
        if self.verbose:
            print(f"[{self.name}] {unit} {n_iter}/{self.max_iter}: loss {loss:.6g}")


@dataclass(frozen=True)
class Minimum:
    """The result of a minimization.

    Attributes
    ----------
    arrays : list of ndarray
        The last arrays, with the shapes of the initial ones.
    losses : list of float
        Loss after every iteration.
    converged : bool
        Whether the solver stopped before the maximum number of iterations.
    """

    arrays: list[Floats]
    losses: list[float]
    converged: bool

    @property
    def n_iter(self) -> int:
        return len(self.losses)


def minimize_lbfgs(objective: Objective, initial: Sequence[Floats], settings: IterationSettings) -> Minimum:
    """Minimize a function of several arrays by L-BFGS; warn if it has not converged.

    Parameters
    ----------
    objective : callable
        From arrays with the shapes of `initial` to the loss and its gradients, in the same order.
    initial : sequence of ndarray
    settings : IterationSettings
        `tol` also applies to the largest entry of the gradient.

    Returns
    -------
    minimum : Minimum
    """
    if settings.max_iter == 0:  # SciPy would still take a step
        return Minimum([np.array(array, dtype=np.float64) for array in initial], [], converged=False)
    shapes = [array.shape for array in initial]
    ends = np.cumsum([array.size for array in initial])[:-1]
    losses: list[float] = []

    def unpack(flat: Floats) -> list[Floats]:
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]

    def packed_objective(flat: Floats) -> tuple[float, Floats]:
        loss, gradients = objective(*unpack(flat))
        return float(loss), np.concatenate([gradient.ravel() for gradient in gradients])

    def on_iteration_end(intermediate_result: OptimizeResult) -> None:
        losses.append(float(intermediate_result.fun))
        settings.print_loss(len(losses), losses[-1])

    result = minimize(
        packed_objective,
        np.concatenate([np.ravel(array) for array in initial]),
        jac=True,
        method="L-BFGS-B",
        callback=on_iteration_end,
        options={
            "maxiter": settings.max_iter,
            "ftol": min(settings.tol, 1e100),  # SciPy divides it by the precision
            "gtol": settings.tol,
            # A line search evaluates the function several times; only the iterations are to be limited.
            "maxfun": 20 * settings.max_iter + 100,
        },
    )
    converged = result.status == 0
    if not converged:
        warnings.warn(
            f"{settings.name} has not converged after {len(losses)} iterations; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Minimum(unpack(result.x), losses, converged)


MAX_ITER = 100


def cluster_centers(X: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Return the centers of k-means with the initialization of k-means++.

    Parameters
    ----------
    X : (n_rows, n_features)
    n_clusters : int
    rng : Generator

    Returns
    -------
    centers : (n_centers, n_features)
        n_centers is `n_clusters`, or the number of distinct rows if that is smaller.
    """
    centers = _initial_centers(X, n_clusters, rng)
    nearest = None
    for _ in range(MAX_ITER):
        previous, nearest = nearest, squared_distances(X, centers).argmin(axis=1)
        if previous is not None and np.array_equal(previous, nearest):
            break
        centers = _cluster_means(X, nearest, centers)
    return centers


def squared_distances(X: Floats, centers: Floats) -> Floats:
    """Return the squared distances between rows and centers, (n_rows, n_centers).

    They are computed from products, which lose digits if the mean of the rows is far from 0.
    """
    distances = X @ (-2.0 * centers.T)
    distances += np.square(X).sum(axis=1)[:, None]
    distances += np.square(centers).sum(axis=1)
    return np.maximum(distances, 0.0, out=distances)


def _initial_centers(X: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Draw rows with probabilities proportional to the squared distance to the nearest row drawn before."""
    chosen = [int(rng.integers(len(X)))]
    distances = np.square(X - X[chosen[0]]).sum(axis=1)
    while len(chosen) < n_clusters and distances.any():
        cumulative = np.cumsum(distances)
        row = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        chosen.append(min(row, len(X) - 1))
        distances = np.minimum(distances, np.square(X - X[chosen[-1]]).sum(axis=1))
    return X[chosen]


def _cluster_means(X: Floats, nearest: Indices, centers: Floats) -> Floats:
    """Return the mean of the rows of each cluster, or its previous center if it has no rows."""
    sizes = np.bincount(nearest, minlength=len(centers))
    order = np.argsort(nearest, kind="stable")
    nonempty = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[nonempty]
    means = centers.copy()
    means[nonempty] = np.add.reduceat(X[order], starts, axis=0) / sizes[nonempty, None]
    return means
