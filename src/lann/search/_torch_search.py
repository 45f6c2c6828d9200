"""Exact search on a device of torch, such as a GPU: the neighbors and distances of `ExactSearch`, to the bit.

The lifted product of a query with the points is reduced to its minimum over chunks of points: the nearest
points lie in the chunks with the smallest minima. All points of these and some further chunks are measured in
float64 by the direct formula, added up in the order of the compiled kernels. The minima of all other chunks
exceed a limit, which proves that no neighbor was missed, as in `ExactSearch`; where it cannot, the query is
searched again, at last on the CPU.

On a GPU with Triton, a factor of the product is the sum of two float16, which have 22 bits together, and a
product is that of three products of the tensor cores. Elsewhere factors are float32.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch

from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, overflow_is_far, row_parts
from lann.search._exact import (
    FLOAT32_SAFE,
    ExactSearch,
    MeasuredSearch,
    Shortlist,
    concatenate_results,
    exhaustive_search,
)

kernels: Any
try:
    from lann.search import _triton_kernels as kernels
except ImportError:  # without Triton
    kernels = None

# Points of a chunk, and chunks that are lifted together: the points of each in turn.
CHUNK, CHUNKS = 32, 128
# Chunks that are measured beyond the number of neighbors, at least, and how many times as many where these
# are too few.
LEAST_SPARE, SPARE_FACTOR = 4, 4
# Queries that are held on the device, those that are searched at once, and the minima of these, at most.
HELD_QUERIES, QUERY_BLOCK, MINIMA = 2**17, 2**14, 2**27
# Numbers of one block of distances by plain torch, and the most points that a kernel measures for a query.
TERMS, LANES = 2**24, 2**13
# Largest numbers of the lifted points, of usual queries and of queries, as powers of two within float16.
POINT_SIZE, USUAL_SIZE, LARGEST_QUERY = 14, 8, 6e4
# Columns of the lifted product are padded to a power of two up to this, and to a multiple of it.
WIDEST_STEP = 128
# Share of the free memory of a device for the points.
MEMORY_SHARE = 0.4
# The position of no point.
NONE = 2**31 - 1


class Rows(NamedTuple):
    """Points and their weights on the device, in chunks: (n_chunks, n_axes, chunk) each."""

    points: Any
    weights: Any
    n_rows: int


class Tile(NamedTuple):
    """Consecutive points on the device, from the point `first` on.

    Attributes
    ----------
    first : int
    rows : Rows
    factors : one float32 or two float16 of shape (n_padded, width)
        Of the lifted product. Of `CHUNKS` chunks, first come the first points, then the second ones.
    constants : (n_padded,)
        The part of the product that does not depend on the query; infinite for padding.
    """

    first: int
    rows: Rows
    factors: tuple[Any, ...]
    constants: Any


class Block(NamedTuple):
    """Queries on the device.

    Attributes
    ----------
    queries : (n_queries, n_axes)
    exclude : (n_queries,)
        A point that is not a neighbor; -1 for none.
    factors : (n_queries, width) float32
        Of the lifted product.
    offsets, sizes : (n_queries,)
        What is added to the product, and the size of the query for the bound of its rounding.
    """

    queries: Any
    exclude: Any
    factors: Any
    offsets: Any
    sizes: Any


class Lift:
    """The lifted product on a device, in units in which its factors are within the range of float16.

    Parameters
    ----------
    metric : DiagonalMetric
    device : torch.device
    in_halves : bool
        Whether each factor is the sum of two float16, and not float32.
    """

    @overflow_is_far
    def __init__(self, metric: DiagonalMetric, device: torch.device, in_halves: bool) -> None:
        self.metric, self.device, self.in_halves = metric, device, in_halves
        n_axes = metric.points.shape[1]
        center = metric.points.mean(axis=0, dtype=np.float64)
        parts = [np.abs(metric.points[part] - center).max(axis=0) for part in row_parts(metric.n_points)]
        reach = np.max(parts, axis=0)
        reach = np.where(reach > 0, reach, reach.max() or 1.0)
        weights = np.atleast_2d(metric.weights).astype(np.float64, copy=False)
        largest = weights.max(axis=0)
        self.by_class = metric.labels is not None and not metric.shared and len(weights) < n_axes
        own_usual, own_largest = np.square(reach), largest  # of the squares of queries
        if self.by_class:
            own_usual = np.full(len(weights), max(largest @ np.square(reach), np.finfo(float).tiny))
            own_largest = np.ones(len(weights))
        elif metric.shared:
            own_usual = own_largest = np.empty(0)
        usual = np.concatenate([own_usual, reach])
        sizes = np.concatenate([own_largest, 2.0 * largest * reach])
        up = np.exp2(USUAL_SIZE - np.ceil(np.log2(usual)))
        self.unit = float(np.exp2(POINT_SIZE - np.ceil(np.log2((sizes / up).max() or 1.0))))
        factors = np.stack([up, self.unit / up])
        in_range = metric.lift_in_single and metric.lifted_size < FLOAT32_SAFE
        self.in_range = bool(in_range and np.isfinite(factors).all() and (factors > 0).all())
        n_columns = len(up)
        step = max(16, 1 << (n_columns - 1).bit_length())
        self.width = step if step <= WIDEST_STEP else -(-n_columns // WIDEST_STEP) * WIDEST_STEP
        # Every product has three parts, and the rounding of both of its factors.
        self.rounding = (3 * n_columns + 8) * float(np.finfo(np.float32).eps)
        # What is lost below the smallest float16.
        self.margin = n_columns * 2.0**-8 / self.unit
        to = {"dtype": torch.float64, "device": device}
        self.center, self.largest = torch.tensor(center, **to), torch.tensor(largest, **to)
        # Where they are few, what the square of a query adds is known by class, or for all points.
        self.few_weights = torch.tensor(weights if metric.shared or self.by_class else weights[:0], **to)
        self.up, self.down = torch.tensor(factors, **to)

    def block(self, queries: Any, exclude: Any) -> Block:
        """Return queries with their factors; the size of those out of range is infinite."""
        centered = queries - self.center
        squares = centered * centered
        sizes = squares @ self.largest
        offsets = torch.zeros_like(sizes)
        columns = [centered]
        if self.metric.shared:
            offsets = squares @ self.few_weights[0]
        else:
            columns.insert(0, squares @ self.few_weights.T if self.by_class else squares)
        lifted = torch.cat(columns, dim=1) * self.up
        fits = lifted.abs().amax(dim=1) <= LARGEST_QUERY
        factors = self._padded(torch.where(fits[:, None], lifted, 0.0)).float()
        return Block(queries, exclude, factors, offsets, torch.where(fits, sizes, math.inf))

    def tile(self, part: slice) -> Tile:
        """Return some of the points on the device."""
        points = torch.tensor(self.metric.points[part]).to(self.device)
        rows = np.arange(part.start, part.stop)
        own = np.broadcast_to(self.metric.weights_of(rows), points.shape)
        weights = torch.tensor(np.ascontiguousarray(own)).to(self.device)
        centered, exact = points.double() - self.center, weights.double()
        moments = exact * centered
        columns = [-2.0 * moments]
        if self.metric.labels is not None and self.by_class:
            labels = torch.tensor(self.metric.labels[part]).to(self.device)
            columns.insert(0, torch.nn.functional.one_hot(labels, len(self.metric.weights)).double())
        elif not self.metric.shared:
            columns.insert(0, exact)
        constants = (moments * centered).sum(dim=1) * self.unit
        lifted = interleaved(self._padded(torch.cat(columns, dim=1) * self.down), 0.0)
        high = lifted.half()
        return Tile(
            part.start,
            Rows(in_chunks(points), in_chunks(weights), len(rows)),
            (high, (lifted - high.double()).half()) if self.in_halves else (lifted.float(),),
            interleaved(constants.float()[:, None], math.inf).ravel(),
        )

    def _padded(self, lifted: Any) -> Any:
        return torch.nn.functional.pad(lifted, (0, self.width - lifted.shape[1]))

    def bounds(self, sizes: Any, distances: Any) -> Any:
        """Return what the product of a point within these squared distances cannot exceed."""
        reach = (distances.sqrt() + sizes.sqrt()).square()  # see `rounding_bound`
        return distances + self.rounding * 2.0 * (sizes + reach) + self.margin


class TorchSearch:
    """Exact search for the nearest points on a device, equal distances by index.

    Parameters
    ----------
    metric : DiagonalMetric
    device : torch.device
    tile_rows : int or None, default=None
        The points that are on the device at a time; None is as many as fit. If these are not all, they are
        copied to it in every call.
    """

    def __init__(self, metric: DiagonalMetric, device: torch.device, *, tile_rows: int | None = None) -> None:
        self.metric, self.device = metric, device
        self._lift = Lift(metric, device, in_halves=kernels is not None and device.type == "cuda")
        self._tile_rows = tile_rows or self._rows_that_fit()
        self._lock = threading.Lock()

    def _rows_that_fit(self) -> int:
        if self.device.type != "cuda":
            return self.metric.n_points
        free, _ = torch.cuda.mem_get_info(self.device)
        # Points and weights, also while they are lifted, and the factors.
        row_bytes = 8 * 8 * self.metric.points.shape[1] + 8 * self._lift.width
        return max(int(MEMORY_SHARE * free) // row_bytes, CHUNK * CHUNKS)

    @property
    def is_resident(self) -> bool:
        """Whether all points are on the device at a time."""
        return self._tile_rows >= self.metric.n_points

    @cached_property
    def _on_cpu(self) -> ExactSearch | MeasuredSearch:
        return exhaustive_search(self.metric)

    @cached_property
    def _all_points(self) -> Tile:
        return self._lift.tile(slice(0, self.metric.n_points))

    def _tiles(self) -> Iterator[Tile]:
        if self.is_resident:
            yield self._all_points
            return
        for start in range(0, self.metric.n_points, self._tile_rows):
            yield self._lift.tile(slice(start, min(start + self._tile_rows, self.metric.n_points)))

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest points of each query: see `ExactSearch.query`."""
        if len(queries) == 0 or not self._lift.in_range:
            return self._on_cpu.query(queries, k, exclude=exclude, n_jobs=n_jobs)

        def search(part: slice) -> tuple[Indices, Floats]:
            own = None if exclude is None else exclude[part]
            indices, distances = self.query_on_device(queries[part], k, own, n_jobs)
            return indices.cpu().numpy(), distances.cpu().numpy()

        starts = range(0, len(queries), HELD_QUERIES)
        return concatenate_results(search(slice(start, start + HELD_QUERIES)) for start in starts)

    def query_on_device(
        self, queries: Floats, k: int, exclude: Indices | None, n_jobs: int | None
    ) -> tuple[Any, Any]:
        """Return the k nearest points of queries that are held at once, as tensors of the device."""
        points = self.to_device(queries)
        excluded = None if exclude is None else torch.tensor(exclude, device=self.device)
        indices, distances, lost = self.nearest(points, k, excluded)
        if len(lost):
            rows = lost.cpu().numpy()
            own = None if exclude is None else exclude[rows]
            found = self._on_cpu.query(queries[rows], k, exclude=own, n_jobs=n_jobs)
            indices[lost], distances[lost] = (torch.tensor(values, device=self.device) for values in found)
        return indices, distances

    def to_device(self, queries: Floats) -> Any:
        """Return queries on the device, as float64."""
        return torch.tensor(queries, dtype=torch.float64, device=self.device)

    def nearest(self, queries: Any, k: int, exclude: Any | None = None) -> tuple[Any, Any, Any]:
        """Return the k nearest points of queries on the device, as tensors.

        Returns
        -------
        indices, distances : (n_queries, k)
        lost : (n_lost,)
            Queries of which the rounding of the product can hide a neighbor, or which are out of range.
        """
        if exclude is None:
            exclude = torch.full((len(queries),), -1, device=self.device)
        indices, distances, is_sure = self._nearest(queries, k, exclude, k + LEAST_SPARE)
        lost = (~is_sure).nonzero().ravel()
        if len(lost):  # with more chunks
            some = self._nearest(queries[lost], k, exclude[lost], SPARE_FACTOR * (k + LEAST_SPARE))
            indices[lost], distances[lost] = some[:2]
            lost = lost[~some[2]]
        return indices, distances, lost

    def _nearest(self, queries: Any, k: int, exclude: Any, keep: int) -> tuple[Any, Any, Any]:
        """Return the k nearest points among at least `keep` chunks, their distances, and which are proved."""
        # The next power of two: a kernel measures so many.
        keep = 1 << (keep - 1).bit_length()
        size = min(max(MINIMA * CHUNK // min(self._tile_rows, self.metric.n_points), 1), QUERY_BLOCK)
        with self._lock:
            whole, best = self._lift.block(queries, exclude), None
            blocks = [Block(*parts) for parts in zip(*(part.split(size) for part in whole), strict=True)]
            for tile in self._tiles():
                found = [self._search_tile(tile, block, k, keep) for block in blocks]
                best = _merged(best, [torch.cat(part) for part in zip(*found, strict=True)])
        assert best is not None
        indices, distances, limits = best
        bounds = self._lift.bounds(whole.sizes, distances[:, -1])
        return indices, distances, (limits > bounds) & (indices[:, -1] < NONE)

    def _search_tile(self, tile: Tile, block: Block, k: int, keep: int) -> tuple[Any, Any, Any]:
        """Return the k nearest points of a tile, and a lower bound of the products of its other points."""
        minima_of = kernels.chunk_minima if self._lift.in_halves else chunk_minima
        minima = minima_of(block.factors, tile.factors, tile.constants, CHUNK, CHUNKS)
        n_chunks = minima.shape[1]
        values, chunks = minima.topk(min(keep, n_chunks), dim=1, largest=False, sorted=False)
        limits = values.amax(dim=1).double() / self._lift.unit + block.offsets
        if keep >= n_chunks:
            limits = torch.full_like(limits, math.inf)
        indices, distances = nearest_in_chunks(
            tile.rows, block.queries, chunks, block.exclude - tile.first, k
        )
        return torch.where(indices < NONE, indices + tile.first, NONE), distances, limits


class TorchShortlist:
    """Search for the nearest among candidates on a device: see `Shortlist`.

    Parameters
    ----------
    coarse : TorchSearch
        Finds the candidates; all of its points are on the device.
    metric : DiagonalMetric
        Ranks them.
    n_candidates : int
    """

    def __init__(self, coarse: TorchSearch, metric: DiagonalMetric, n_candidates: int) -> None:
        self.coarse, self.metric, self.n_candidates = coarse, metric, n_candidates
        weights = np.ascontiguousarray(np.broadcast_to(metric.weights_of(slice(None)), metric.points.shape))
        points, weights = (
            torch.tensor(values).to(coarse.device)[:, :, None] for values in (metric.points, weights)
        )
        self._rows = Rows(points, weights, metric.n_points)

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest of at least k candidates: see `ExactSearch.query`."""
        n_candidates = min(max(self.n_candidates, k), self.metric.n_points - (exclude is not None))

        def search(part: slice) -> tuple[Indices, Floats]:
            own = None if exclude is None else exclude[part]
            candidates, _ = self.coarse.query_on_device(queries[part], n_candidates, own, n_jobs)
            some = self.coarse.to_device(queries[part])
            nobody = torch.full((len(some),), -1, device=some.device)
            indices, distances = nearest_in_chunks(self._rows, some, candidates, nobody, k)
            return indices.cpu().numpy(), distances.cpu().numpy()

        starts = range(0, len(queries), HELD_QUERIES)
        return concatenate_results(search(slice(start, start + HELD_QUERIES)) for start in starts)


def in_chunks(rows: Any) -> Any:
    """Return rows by chunk, whole groups of chunks: (n_chunks, n_columns, CHUNK)."""
    padded = torch.nn.functional.pad(rows, (0, 0, 0, -len(rows) % (CHUNK * CHUNKS)))
    return padded.view(-1, CHUNK, rows.shape[1]).transpose(1, 2).contiguous()


def interleaved(rows: Any, padding: float) -> Any:
    """Return rows with those of `CHUNKS` chunks in turn."""
    padded = torch.nn.functional.pad(rows, (0, 0, 0, -len(rows) % (CHUNK * CHUNKS)), value=padding)
    return padded.view(-1, CHUNKS, CHUNK, rows.shape[1]).transpose(1, 2).reshape(padded.shape)


def _merged(best: Any, found: Any) -> Any:
    """Return the k nearest of two results, of which the second has the later points."""
    if best is None:
        return found
    k = best[0].shape[1]
    indices, distances = (torch.cat(pair, dim=1) for pair in zip(best[:2], found[:2], strict=True))
    distances, order = distances.sort(dim=1, stable=True)
    return indices.gather(1, order)[:, :k], distances[:, :k], torch.minimum(best[2], found[2])


def chunk_minima(queries: Any, points: tuple[Any, ...], constants: Any, chunk: int, group: int) -> Any:
    """Return the smallest lifted product of each query and each chunk, by plain torch."""
    products = torch.addmm(constants, queries, points[0].T)
    return products.view(len(products), -1, chunk, group).amin(dim=2).flatten(1)


def nearest_in_chunks(rows: Rows, queries: Any, chunks: Any, exclude: Any, k: int) -> tuple[Any, Any]:
    """Return the k nearest points of the chunks of each query, equal distances by index.

    Parameters
    ----------
    rows : Rows
    queries : (n_queries, n_axes)
    chunks : (n_queries, n_kept)
    exclude : (n_queries,)
        -1 for none.
    k : int

    Returns
    -------
    indices : (n_queries, k)
        `NONE` where there are fewer points.
    distances : (n_queries, k)
    """
    n_measured = chunks.shape[1] * rows.points.shape[2]
    if kernels is not None and queries.is_cuda and n_measured <= LANES:
        return kernels.nearest_in_chunks(rows.points, rows.weights, rows.n_rows, queries, chunks, exclude, k)
    block = max(TERMS // (n_measured * rows.points.shape[1]), 1)
    parts = zip(queries.split(block), chunks.split(block), exclude.split(block), strict=True)
    found = [_nearest_by_torch(rows, *part, k) for part in parts]
    return torch.cat([part[0] for part in found]), torch.cat([part[1] for part in found])


def _nearest_by_torch(rows: Rows, queries: Any, chunks: Any, exclude: Any, k: int) -> tuple[Any, Any]:
    chunks, chunk = chunks.sort(dim=1).values, rows.points.shape[2]
    indices = (chunks[:, :, None] * chunk + torch.arange(chunk, device=chunks.device)).flatten(1)
    # (n_queries, n_kept, n_axes, chunk)
    differences = queries[:, None, :, None] - rows.points[chunks].double()
    terms = rows.weights[chunks].double() * differences * differences
    distances = sum_in_order(terms.movedim(2, 0)).flatten(1)
    usable = (indices < rows.n_rows) & (indices != exclude[:, None]) & (distances < math.inf)
    missing = (0, max(k - indices.shape[1], 0))
    indices = torch.nn.functional.pad(torch.where(usable, indices, NONE), missing, value=NONE)
    distances = torch.nn.functional.pad(torch.where(usable, distances, math.inf), missing, value=math.inf)
    distances, order = distances.sort(dim=1, stable=True)
    return indices.gather(1, order)[:, :k], distances[:, :k]


def sum_in_order(terms: Any) -> Any:
    """Return the sum over the first dimension in the order of the compiled kernels: `sum` in simd.hpp."""
    n_terms = len(terms)
    n_wide, n_lanes = n_terms // 16 * 16, n_terms // 4 * 4
    lanes = torch.zeros((4, *terms.shape[1:]), dtype=terms.dtype, device=terms.device)
    if n_wide:
        wide = torch.zeros((16, *terms.shape[1:]), dtype=terms.dtype, device=terms.device)
        for start in range(0, n_wide, 16):
            wide += terms[start : start + 16]
        lanes = (wide[:4] + wide[4:8]) + (wide[8:12] + wide[12:])
    for start in range(n_wide, n_lanes, 4):
        lanes += terms[start : start + 4]
    total = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
    for number in range(n_lanes, n_terms):
        total += terms[number]
    return total


def device_shortlist(coarse: TorchSearch, metric: Any, n_candidates: int) -> TorchShortlist | Shortlist:
    """Return a search among the candidates of another one, on its device if the points fit."""
    if isinstance(metric, DiagonalMetric) and coarse.is_resident:
        return TorchShortlist(coarse, metric, n_candidates)
    return Shortlist(coarse, metric, n_candidates)
