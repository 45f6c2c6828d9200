"""Triton kernels of the search on a GPU: the minima of chunks, and the nearest rows of some chunks."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Queries and chunks of one tile of products, warps and stages, by the number of columns of the factors up to
# which they are the fastest; then by how many columns the widest factors are multiplied at a time.
TILES = {32: (64, 128, 4, 2), 128: (128, 64, 8, 3)}
WIDE_TILE, WIDE_STEP = (64, 64, 4, 3), 32
# Up to this many points are found one after the other, more of them by their largest distance.
ROUNDS = 16
# Points that a warp measures for a query.
LANES_PER_WARP = 256
# Larger than the position of any row.
NONE = tl.constexpr(2**31 - 1)


@triton.jit
def _halves(factors, at, inside):
    """Return two float16 that add up to float32 numbers."""
    whole = tl.load(factors + at, mask=inside, other=0.0)
    high = whole.to(tl.float16)
    return high, (whole - high.to(tl.float32)).to(tl.float16)


@triton.jit
def _product(q_high, q_low, high, low, total):
    """Add the products of halves to a total, without that of the two smaller ones."""
    own_high, own_low = tl.load(high), tl.load(low)
    total = tl.dot(q_low, own_high, total)
    total = tl.dot(q_high, own_low, total)
    return tl.dot(q_high, own_high, total)


@triton.jit
def _minima_kernel(
    queries, high, low, constants, out, n_queries, n_chunks,
    WIDTH: tl.constexpr, STEP: tl.constexpr, CHUNK: tl.constexpr, GROUP: tl.constexpr,
    BQ: tl.constexpr, BC: tl.constexpr,
):  # fmt: skip
    rows_q = tl.program_id(0).to(tl.int64) * BQ + tl.arange(0, BQ)
    columns, terms = tl.arange(0, BC), tl.arange(0, STEP)
    first_chunk = tl.program_id(1).to(tl.int64) * BC
    # Of a group of chunks, first come the first points, then the second ones.
    first_row = first_chunk // GROUP * GROUP * CHUNK + first_chunk % GROUP
    at_q = rows_q[:, None] * WIDTH + terms[None, :]
    inside = (rows_q < n_queries)[:, None]
    if STEP == WIDTH:
        q_high, q_low = _halves(queries, at_q, inside)
    smallest = tl.full((BQ, BC), float("inf"), tl.float32)
    for number in range(CHUNK):
        rows = first_row + number * GROUP + columns
        at = rows[None, :] * WIDTH + terms[:, None]
        total = tl.zeros((BQ, BC), tl.float32) + tl.load(constants + rows)[None, :]
        if STEP == WIDTH:
            total = _product(q_high, q_low, high + at, low + at, total)
        else:
            for first in range(0, WIDTH, STEP):
                some_high, some_low = _halves(queries, at_q + first, inside)
                total = _product(some_high, some_low, high + at + first, low + at + first, total)
        smallest = tl.minimum(smallest, total)
    at_out = rows_q[:, None] * n_chunks + first_chunk + columns[None, :]
    tl.store(out + at_out, smallest, mask=inside)


def chunk_minima(queries, points, constants, chunk, group):
    """Return the smallest lifted product of each query and each chunk: (n_queries, n_chunks).

    queries : float32 (n_queries, width); points : two float16 (n_points, width) that add up to the factors
    constants : (n_points,)
    """
    n_queries, width = queries.shape
    n_chunks = len(constants) // chunk
    out = torch.empty((n_queries, n_chunks), dtype=torch.float32, device=constants.device)
    fitting = [tile for most, tile in TILES.items() if width <= most]
    block, columns, warps, stages = fitting[0] if fitting else WIDE_TILE
    _minima_kernel[triton.cdiv(n_queries, block), n_chunks // columns](
        queries, *points, constants, out, n_queries, n_chunks,
        WIDTH=width, STEP=width if fitting else WIDE_STEP, CHUNK=chunk, GROUP=group, BQ=block, BC=columns,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return out


@triton.jit
def _terms(query, points, weights, axis, at, inside, CHUNK: tl.constexpr):
    """Return w (x − p)² on one axis, for all rows."""
    own = at + axis * CHUNK
    difference = tl.load(query + axis) - tl.load(points + own, mask=inside, other=0.0).to(tl.float64)
    return tl.load(weights + own, mask=inside, other=0.0).to(tl.float64) * difference * difference


@triton.jit
def _lane_sum(query, points, weights, lane, at, inside, n_axes, CHUNK: tl.constexpr, LANES: tl.constexpr):
    """Return one lane of the four sums of `sum` in simd.hpp, added up in the same order."""
    first = tl.zeros((LANES,), tl.float64)
    third = tl.zeros((LANES,), tl.float64)
    for part in tl.static_range(4):
        total = tl.zeros((LANES,), tl.float64)
        for axis in range(part * 4, n_axes // 16 * 16, 16):
            total += _terms(query, points, weights, axis + lane, at, inside, CHUNK)
        if part == 0:
            first = total
        elif part == 1:
            first += total
        elif part == 2:
            third = total
        else:
            first += third + total
    for axis in range(n_axes // 16 * 16, n_axes // 4 * 4, 4):
        first += _terms(query, points, weights, axis + lane, at, inside, CHUNK)
    return first


@triton.jit
def _smallest_with(values, k):
    """Return the smallest number that at least k of the values do not exceed, found by bisection."""
    low, high = tl.min(values, axis=0), tl.max(values, axis=0)
    while low < high:
        middle = low + (high - low) // 2
        n_below = tl.sum((values <= middle).to(tl.int32), axis=0)
        high = tl.where(n_below >= k, middle, high)
        # Exactly k values: there is nothing to decide any more.
        low = tl.where(n_below == k, high, tl.where(n_below > k, low, middle + 1))
    return high


@triton.jit
def _nearest_kernel(
    queries, points, weights, chunks, exclude, out_indices, out_distances, n_rows, n_axes, n_kept, k,
    CHUNK: tl.constexpr, LANES: tl.constexpr, IN_ROUNDS: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, LANES)
    inside = lanes < n_kept * CHUNK
    chunk = tl.load(chunks + number * n_kept + lanes // CHUNK, mask=inside, other=0)
    rows = (chunk * CHUNK + lanes % CHUNK).to(tl.int32)
    at = chunk * n_axes * CHUNK + lanes % CHUNK
    query = queries + number * n_axes
    even = _lane_sum(query, points, weights, 0, at, inside, n_axes, CHUNK, LANES)
    even += _lane_sum(query, points, weights, 2, at, inside, n_axes, CHUNK, LANES)
    odd = _lane_sum(query, points, weights, 1, at, inside, n_axes, CHUNK, LANES)
    odd += _lane_sum(query, points, weights, 3, at, inside, n_axes, CHUNK, LANES)
    distances = even + odd
    for axis in range(n_axes // 4 * 4, n_axes):
        distances += _terms(query, points, weights, axis, at, inside, CHUNK)
    usable = inside & (rows < n_rows) & (rows != tl.load(exclude + number)) & (distances < float("inf"))
    distances = tl.where(usable, distances, float("inf"))
    rows = tl.where(usable, rows, NONE).to(tl.int32)
    out_indices += number * k
    out_distances += number * k
    if IN_ROUNDS:
        for place in range(k):
            nearest = tl.min(distances, axis=0)
            row = tl.min(tl.where(distances == nearest, rows, NONE), axis=0)
            tl.store(out_indices + place, row)
            tl.store(out_distances + place, nearest)
            distances = tl.where(rows == row, float("inf"), distances)
            rows = tl.where(rows == row, NONE, rows)
    else:
        # The bits of numbers that are not negative are in the order of the numbers.
        bits = distances.to(tl.int64, bitcast=True)
        largest = _smallest_with(bits, k)
        is_near = bits < largest
        n_missing = k - tl.sum(is_near.to(tl.int32), axis=0)
        is_tie = bits == largest
        is_near = is_near | (is_tie & (rows <= _smallest_with(tl.where(is_tie, rows, NONE), n_missing)))
        place = tl.cumsum(is_near.to(tl.int32), axis=0) - 1
        is_near = is_near & (place < k)
        tl.store(out_indices + place, rows, mask=is_near)
        tl.store(out_distances + place, distances, mask=is_near)


def nearest_in_chunks(points, weights, n_rows, queries, chunks, exclude, k):
    """Return the k nearest points of the chunks of each query: see `nearest_in_chunks` of the search."""
    n_queries, n_axes = queries.shape
    n_kept, chunk = chunks.shape[1], points.shape[2]
    indices = torch.empty((n_queries, k), dtype=torch.int64, device=queries.device)
    distances = torch.empty((n_queries, k), dtype=torch.float64, device=queries.device)
    lanes, in_rounds = triton.next_power_of_2(n_kept * chunk), k <= ROUNDS
    _nearest_kernel[(n_queries,)](
        queries, points, weights, chunks, exclude, indices, distances, n_rows, n_axes, n_kept, k,
        CHUNK=chunk, LANES=lanes, IN_ROUNDS=in_rounds,
        num_warps=min(max(lanes // LANES_PER_WARP, 1), 8), enable_fp_fusion=False,
    )  # fmt: skip
    if in_rounds:
        return indices, distances
    # By distance, equal ones by index.
    indices, order = indices.sort(dim=1)
    distances, order = distances.gather(1, order).sort(dim=1, stable=True)
    return indices.gather(1, order), distances
