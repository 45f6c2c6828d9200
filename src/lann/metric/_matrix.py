"""Matrix metrics: each point measures with a matrix of its own.

    d_j(x) = ‖Ω_jᵀ (x − p_j)‖² = (x − p_j)ᵀ Λ_j (x − p_j),   Λ_j = Ω_j Ω_jᵀ

Expanded, that is ⟨[x_a x_b, x, 1], [Λ, −2Λp, pᵀΛp]⟩ with every pair a ≤ b once: the distances to all points
are one matrix product of width n(n + 1)/2 + n + 1 (the *lift*).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices
from lann.metric._diagonal import NO_LABELS, measure_diagonal, overflow_is_far, sizes_with_squares

# From this many bytes per matrix, pairs are measured point by point, so that each matrix is read once.
GROUP_FROM = 16_384
# Up to this many axes a float32 product is precise enough to separate the nearest points.
SINGLE_UP_TO = 32
# Numbers in the matrices that are processed at once.
NUMBERS_PER_BLOCK = 2**21


class MatrixMetric:
    """Points that each measure with a matrix of their own.

    Parameters
    ----------
    points : (n_points, n_axes)
    matrices : (n_points, n_axes, rank)
        The matrix Ω of each point; float32 is kept, and halves the memory.
    """

    shared = False

    def __init__(self, points: Floats, matrices: NDArray) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.matrices = np.ascontiguousarray(
            matrices, dtype=matrices.dtype if matrices.dtype == np.float32 else np.float64
        )
        # Distances are invariant under translation; the lift loses fewer digits near the origin.
        self._center = self.points.mean(axis=0)
        self._steepest = np.zeros(self.points.shape[1])  # max_j √Λ_aa, for every axis a
        self._reach = 0.0  # max_j Σ_a √Λ_aa |p_a|
        self.changed(np.arange(len(self.points)))

    @property
    def n_points(self) -> int:
        return self.points.shape[0]

    @property
    def n_axes(self) -> int:
        return self.points.shape[1]

    @property
    def rank(self) -> int:
        return self.matrices.shape[2]

    @property
    def lift_width(self) -> int:
        return self.n_axes * (self.n_axes + 1) // 2 + self.n_axes + 1

    @property
    def lift_in_single(self) -> bool:
        """Whether float32 is precise enough for the lifted product to be of use."""
        return self.n_axes <= SINGLE_UP_TO

    def subset(self, rows: Indices) -> MatrixMetric:
        """Return the metric of some of the points."""
        return MatrixMetric(self.points[rows], self.matrices[rows])

    @overflow_is_far
    def lift_points(self, dtype: type, rows: Indices | slice = slice(None)) -> NDArray:
        """Return the points' factor of the lifted product: (n_rows, n(n + 1)/2 + n + 1)."""
        points, n_axes = self.points[rows] - self._center, self.n_axes
        matrices = self.matrices[rows]
        one, other = np.triu_indices(n_axes)
        twice = np.where(one == other, 1.0, 2.0)
        lifted: NDArray[Any] = np.empty((len(points), self.lift_width), dtype)
        with single_threaded_blas():  # BLAS threads only slow down products of this size
            for part in row_blocks(len(points), n_axes * max(n_axes, self.rank)):
                own = matrices[part].astype(np.float64, copy=False)
                back = own.swapaxes(1, 2)
                projected = np.matmul(points[part, None, :], own)  # (n, 1, rank)
                lifted[part, : len(one)] = np.matmul(own, back)[:, one, other] * twice
                lifted[part, -1 - n_axes : -1] = -2.0 * np.matmul(projected, back)[:, 0]
                lifted[part, -1] = np.einsum("ikr,ikr->i", projected, projected)
        return lifted

    @property
    @overflow_is_far
    def lifted_size(self) -> float:
        """An upper bound of the entries of the lifted points."""
        return 2.0 * float(np.square(self._steepest.max(initial=0.0) + self._reach))

    @overflow_is_far
    def lift_queries(self, queries: Floats, dtype: type) -> tuple[NDArray, Floats]:
        """Return the queries' factor of the lifted product, and the offset of each query to add to it."""
        centered = queries - self._center
        lifted: NDArray[Any] = np.empty((len(centered), self.lift_width), dtype)
        first = 0
        for axis in range(self.n_axes):
            n_pairs = self.n_axes - axis
            np.multiply(
                centered[:, axis:], centered[:, axis : axis + 1],
                out=lifted[:, first : first + n_pairs], casting="same_kind",
            )  # fmt: skip
            first += n_pairs
        lifted[:, first:-1] = centered
        lifted[:, -1] = 1.0
        return lifted, np.zeros(len(centered))

    @overflow_is_far
    def rounding(self, queries: Floats, dtype: type) -> tuple[Floats, float]:
        """Return the size of each query and the relative rounding of one product, for `rounding_bound`.

        The size is X = (Σ_a max_j √Λ_aa |x_a|)². As |Λ_ab| ≤ √Λ_aa √Λ_bb and |(Λp)_a| ≤ √Λ_aa ‖p‖, in the
        norm of the point's own metric, the absolute values of the product's terms add up to at most
        (√X + ‖p‖)², and ‖p‖ ≤ √X + √d: (2√X + √d)² is within `rounding_bound`.

        Added to it is what float64 can lose, relative to (√X + √P)² with P the size of the farthest point:
        an entry of the lift, and the direct formula, a sum of products with n + rank + 4 roundings at most.
        """
        kind = np.finfo(dtype)
        n_terms = self.lift_width
        # n_terms additions and products, and the rounding of both factors of each term.
        rounding = (n_terms + 4) * float(kind.eps)
        centered = np.abs(queries - self._center)
        roots = centered @ self._steepest
        # Centering and projecting (twice), squaring and adding: for the lift and for the direct formula.
        lost = 4.0 * (self.n_axes + self.rank + 4) * float(np.finfo(np.float64).eps)
        factors = 1.0 + self.lifted_size + np.square(centered.max(initial=0.0))
        vanished = n_terms * float(kind.tiny) * factors
        sizes = roots**2 + (lost * np.square(roots + self._reach) + vanished) / rounding
        return sizes_with_squares(sizes, np.square(centered.max(axis=1, initial=0.0)), dtype), rounding

    @overflow_is_far
    def changed(self, rows: Indices) -> None:
        """Update the bounds after the matrices of some points were changed in place."""
        for part in row_blocks(len(rows), self.n_axes * self.rank):
            some = rows[part]
            own = self.matrices[some].astype(np.float64, copy=False)
            steepness = np.sqrt(np.einsum("iar,iar->ia", own, own))
            reach = np.einsum("ia,ia->i", steepness, np.abs(self.points[some] - self._center))
            self._steepest = np.maximum(self._steepest, steepness.max(axis=0))
            self._reach = max(self._reach, float(reach.max()))

    def distances(self, queries: Floats, candidates: Indices) -> Floats:
        """Return the squared distances of each query to its own candidates: (n_queries, n_candidates)."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        return measure_matrices(queries, self.points, self.matrices, candidates)


def measure_matrices(queries: Floats, points: Floats, matrices: NDArray, candidates: Indices) -> Floats:
    """Return the squared distances of each query to its own candidates: (n_queries, n_candidates)."""
    out = np.empty(candidates.shape)
    candidates = np.ascontiguousarray(candidates)
    _native.measure_matrices(queries, points, matrices, candidates, _pair_order(candidates, matrices), out)
    return out


def row_blocks(n_points: int, size: int) -> list[slice]:
    """Return blocks of points whose matrices, of `size` numbers each, take little memory together."""
    block = max(NUMBERS_PER_BLOCK // max(size, 1), 1)
    return [slice(start, min(start + block, n_points)) for start in range(0, n_points, block)]


def metric_products(steps: Floats, matrices: NDArray, candidates: Indices) -> Floats:
    """Return Λ_j z for a step z of each pair.

    Parameters
    ----------
    steps : (n_queries, n_candidates, n_axes)
    matrices : (n_matrices, n_axes, rank)
    candidates : (n_queries, n_candidates)
        The matrix of each pair.

    Returns
    -------
    products : (n_queries, n_candidates, n_axes)
    """
    out = np.empty((candidates.size, steps.shape[2]))
    pairs = np.ascontiguousarray(steps).reshape(out.shape)
    order = _pair_order(candidates, matrices)
    _native.multiply_metrics(pairs, np.ascontiguousarray(matrices), candidates.ravel(), order, out)
    return out.reshape(steps.shape)


def _pair_order(candidates: Indices, matrices: NDArray) -> Indices:
    """Return the order in which to process the pairs; the result does not depend on it."""
    if matrices[0].nbytes < GROUP_FROM or len(candidates) == 1:
        return np.arange(candidates.size)
    return np.argsort(candidates, axis=None, kind="stable")


def multiply_rows(rows: Floats, matrix: NDArray) -> Floats:
    """Compute rows · matrix.

    The result of a row does not depend on the other rows, as it would with BLAS.
    """
    out = np.empty((len(rows), matrix.shape[1]))
    _native.multiply_rows(np.ascontiguousarray(rows), np.ascontiguousarray(matrix), out)
    return out


def measure_pairs(queries: Floats, points: Floats, own: NDArray, candidates: Indices) -> Floats:
    """Return the squared distances of each query to its candidates, to the bit as a whole metric does.

    Parameters
    ----------
    queries : (n_queries, n_axes)
    points : (n_points, n_axes)
    own : (n_points, n_axes) or (n_points, n_axes, rank)
        The weights, or the matrix, of each point.
    candidates : (n_queries, n_candidates)
        Points.

    Returns
    -------
    distances : (n_queries, n_candidates)
    """
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    if own.ndim == 2:
        return measure_diagonal(queries, points, own, NO_LABELS, candidates)
    return measure_matrices(queries, points, own, candidates)
