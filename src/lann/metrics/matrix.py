"""Matrix metrics: each point turns and stretches the axes by a matrix of its own.

    d_j(x) = ‖Ω_jᵀ (x − p_j)‖² = (x − p_j)ᵀ Λ_j (x − p_j),   Λ_j = Ω_j Ω_jᵀ

Expanded, that is ⟨[x_a x_b, x, 1], [Λ, −2Λp, pᵀΛp]⟩ with every pair a ≤ b once: one matrix product of width
n(n + 1)/2 + n + 1 measures all points (the *lift*).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices
from lann.metrics.diagonal import overflow_is_far

# Bytes of a matrix from which pairs are measured point by point, so that a matrix is fetched once for all.
GROUP_FROM = 16_384
# Axes up to which the rounding of a float32 product leaves the nearest few apart.
SINGLE_UP_TO = 32
# Numbers in the matrices that are unfolded at once.
UNFOLDED = 2**21


class MatrixMetric:
    """Points that each measure with their own matrix.

    Parameters
    ----------
    points : (n_points, n_axes)
    maps : (n_points, n_axes, rank) each point's Ω; float32 is kept as it is, and halves the memory
    """

    shared = False

    def __init__(self, points: Floats, maps: NDArray) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.maps = np.ascontiguousarray(maps, dtype=maps.dtype if maps.dtype == np.float32 else np.float64)
        if self.maps.ndim != 3 or self.maps.shape[:2] != self.points.shape:
            raise ValueError(
                f"Maps of shape {self.maps.shape} do not fit points of shape {self.points.shape}: "
                "(n_points, n_axes, rank) is needed."
            )
        # Distances do not change when everything moves; the lift loses fewer digits near the origin.
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
        return self.maps.shape[2]

    @property
    def lift_width(self) -> int:
        return self.n_axes * (self.n_axes + 1) // 2 + self.n_axes + 1

    @property
    def lift_in_single(self) -> bool:
        """Whether float32 is precise enough for the lifted product to be of use."""
        return self.n_axes <= SINGLE_UP_TO

    def subset(self, rows: Indices) -> MatrixMetric:
        """Some of the points, with their metrics."""
        return MatrixMetric(self.points[rows], self.maps[rows])

    @overflow_is_far
    def lift_points(self, dtype: type, rows: Indices | slice = slice(None)) -> NDArray:
        """The points' side of the lifted product: (n_rows, n(n + 1)/2 + n + 1)."""
        points, n_axes = self.points[rows] - self._center, self.n_axes
        maps = self.maps[rows]
        one, other = np.triu_indices(n_axes)
        twice = np.where(one == other, 1.0, 2.0)
        lifted: NDArray[Any] = np.empty((len(points), self.lift_width), dtype)
        with single_threaded_blas():  # threads of its own only delay products this small
            for part in unfolded_parts(len(points), n_axes * max(n_axes, self.rank)):
                own = maps[part].astype(np.float64, copy=False)
                back = own.swapaxes(1, 2)
                turned = np.matmul(points[part, None, :], own)  # (n, 1, rank)
                lifted[part, : len(one)] = np.matmul(own, back)[:, one, other] * twice
                lifted[part, -1 - n_axes : -1] = -2.0 * np.matmul(turned, back)[:, 0]
                lifted[part, -1] = np.einsum("ikr,ikr->i", turned, turned)
        return lifted

    @property
    @overflow_is_far
    def lifted_size(self) -> float:
        """No entry of the lifted points is larger than this."""
        return 2.0 * float(np.square(self._steepest.max(initial=0.0) + self._reach))

    @overflow_is_far
    def lift_queries(self, queries: Floats, dtype: type) -> tuple[NDArray, Floats]:
        """The queries' side of the product, and what to add to it per query to get distances."""
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
        """What `rounding_bound` needs to know: each query's size, and the rounding of one product.

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
        return roots**2 + (lost * np.square(roots + self._reach) + vanished) / rounding, rounding

    @overflow_is_far
    def changed(self, rows: Indices) -> None:
        """Take note that the maps of some points were changed in place."""
        for part in unfolded_parts(len(rows), self.n_axes * self.rank):
            some = rows[part]
            own = self.maps[some].astype(np.float64, copy=False)
            steepness = np.sqrt(np.einsum("iar,iar->ia", own, own))
            reach = np.einsum("ia,ia->i", steepness, np.abs(self.points[some] - self._center))
            self._steepest = np.maximum(self._steepest, steepness.max(axis=0))
            self._reach = max(self._reach, float(reach.max()))

    def distances(self, queries: Floats, candidates: Indices) -> Floats:
        """Distances of each query to its own candidates: (n_queries, n_candidates)."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        out = np.empty(candidates.shape)
        order = _visiting_order(candidates, self.maps)
        _pair_distances(queries, self.points, self.maps, candidates.ravel(), order, out.reshape(-1))
        return out


def unfolded_parts(n_points: int, size: int) -> list[slice]:
    """Blocks of points whose matrices, of `size` numbers each, fit into little memory together."""
    block = max(UNFOLDED // max(size, 1), 1)
    return [slice(start, min(start + block, n_points)) for start in range(0, n_points, block)]


def pulls(steps: Floats, maps: NDArray, candidates: Indices) -> Floats:
    """Λ_j z for a step z of each pair: (n_queries, n_candidates, n_axes), as `steps`.

    maps : (n_maps, n_axes, rank); candidates : (n_queries, n_candidates) whose map
    """
    out = np.empty(steps.shape)
    flat = (candidates.size, steps.shape[2])
    order = _visiting_order(candidates, maps)
    _pair_pulls(steps.reshape(flat), maps, candidates.ravel(), order, out.reshape(flat))
    return out


def _visiting_order(candidates: Indices, maps: NDArray) -> Indices:
    """In which order to visit the pairs; it has no influence on the result."""
    if maps[0].nbytes < GROUP_FROM or len(candidates) == 1:
        return np.arange(candidates.size)
    return np.argsort(candidates, axis=None, kind="stable")


@njit(nogil=True, cache=True, fastmath={"contract"})
def project(step, own, out):
    """out = Ωᵀ z, summed over the axes in order; four at a time, to write less often.

    step : (n_axes,); own : (n_axes, rank); out : (rank,)
    """
    n_axes, rank = own.shape
    out[:] = 0.0
    whole = n_axes - n_axes % 4
    for a in range(0, whole, 4):
        s0, s1, s2, s3 = step[a], step[a + 1], step[a + 2], step[a + 3]
        row0, row1, row2, row3 = own[a], own[a + 1], own[a + 2], own[a + 3]
        for r in range(rank):
            out[r] = (((out[r] + s0 * row0[r]) + s1 * row1[r]) + s2 * row2[r]) + s3 * row3[r]
    for a in range(whole, n_axes):
        s0, row0 = step[a], own[a]
        for r in range(rank):
            out[r] += s0 * row0[r]


# The order of the sum is the compiled code's, the same for every call.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def squared_norm(values):
    total = 0.0
    for r in range(values.shape[0]):
        total += values[r] * values[r]
    return total


@njit(nogil=True, cache=True)
def _pair_distances(queries, points, maps, candidates, order, out):
    n_axes, rank = maps.shape[1:]
    n_candidates = candidates.shape[0] // max(queries.shape[0], 1)
    step, turned = np.empty(n_axes), np.empty(rank)
    for pair in order:
        query, point = queries[pair // n_candidates], points[candidates[pair]]
        for a in range(n_axes):
            step[a] = query[a] - point[a]
        project(step, maps[candidates[pair]], turned)
        found = squared_norm(turned)
        out[pair] = np.inf if np.isnan(found) else found  # too large to be measured is infinitely far


@njit(nogil=True, cache=True)
def _pair_pulls(steps, maps, candidates, order, out):
    n_axes, rank = maps.shape[1:]
    turned = np.empty(rank)
    for pair in order:
        own = maps[candidates[pair]]
        project(steps[pair], own, turned)
        for a in range(n_axes):
            total = 0.0
            for r in range(rank):
                total += own[a, r] * turned[r]
            out[pair, a] = total
