"""Queries on their way to the shards and back, beside a slow search among all rows."""

import sys
from itertools import pairwise

import numpy as np
import pytest

from lann.columns.schema import TableSchema
from lann.distributed._fit import calibrate_cells
from lann.distributed._rows import Reader, Rows, join_rows, rows_of_cells, split_rows
from lann.distributed._search import candidates, merge, route, search_shard
from lann.distributed._shard import Found, SearchPlan, Shard, join_shards
from lann.distributed._tasks import constant
from lann.metric import Levels
from lann.search import ExactSearch, Partition, calibrate

N_ROWS, N_CLASSES, N_SHARDS = 300, 2, 3


@pytest.fixture(scope="module")
def levels():
    """Rows on a grid, so that distances are often equal, with class weights and point weights."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (N_ROWS, 3)).astype(float)
    plain = Levels.plain(X, rng.integers(0, N_CLASSES, N_ROWS), N_CLASSES)
    return plain.replace(
        class_log_weights=rng.choice([0.0, 0.5], (N_CLASSES, 3)),
        point_log_weights=rng.choice([0.0, -1.0, 1.0], (N_ROWS, 3)),
    )


@pytest.fixture(scope="module")
def plan(levels):
    partition = Partition.fit(levels.points, 12, np.random.default_rng(0))
    counts = np.bincount(partition.assign(levels.points), minlength=partition.n_cells)
    shard_of_cell = np.arange(partition.n_cells) % N_SHARDS
    return SearchPlan(partition, counts, shard_of_cell, 4, 20)


@pytest.fixture(scope="module")
def shards(levels, plan):
    cells = plan.partition.assign(levels.points)
    rows = [np.flatnonzero(plan.shard_of_cell[cells] == shard) for shard in range(N_SHARDS)]
    return [Shard(levels.subset(own), own, cells[own]) for own in rows]


def search(X, shards, plan, k, exclude=None):
    reader = Reader(None, TableSchema.numeric(list("abc"), has_names=False))
    shared = shards[0].levels.subset(np.empty(0, np.int64))
    *parts, n_queries = route(X, reader, shared, plan, k, exclude=exclude)
    found = [search_shard(shard, part, plan, k) for shard, part in zip(shards, parts, strict=True)]
    return parts, found, merge(n_queries, found, plan, k)


def slowly(x, levels, plan, k, excluded=-1):
    """Return the neighbors of a query among the rows of its nearest cells, row by row."""
    point = levels.transform(x[None])
    n_listed = plan.n_listed(k)
    probed = plan.partition.nearest(point, plan.index.n_probed_for(n_listed))[0]
    cells = plan.partition.assign(levels.points)
    near = [row for row in range(N_ROWS) if cells[row] in probed]
    allowed = range(N_ROWS) if len(near) < n_listed + (excluded >= 0) else near

    def length(row, metric):
        return metric.distances(point, np.array([[row]]))[0, 0]

    coarse, local = levels.class_metric(), levels.local_metric()
    listed = sorted((length(row, coarse), row) for row in allowed if row != excluded)[:n_listed]
    return sorted((length(row, local), row) for _, row in listed)[:k]


@pytest.mark.parametrize("k", [1, 7, 40])
@pytest.mark.parametrize("excludes", [False, True])
def test_neighbors_are_those_of_a_slow_search(levels, plan, shards, k, excludes):
    queries = levels.X[:25]
    exclude = np.where(np.arange(25) % 3 == 0, -1, np.arange(25)) if excludes else None
    _, _, neighbors = search(queries, shards, plan, k, exclude)
    for number, x in enumerate(queries):
        own = -1 if exclude is None else exclude[number]
        expected = slowly(x, levels, plan, k, own)
        assert neighbors.numbers[number].tolist() == [row for _, row in expected]
        assert neighbors.distances[number].tolist() == [distance for distance, _ in expected]
    np.testing.assert_array_equal(neighbors.labels, levels.labels[neighbors.numbers])


@pytest.mark.parametrize("n_candidates", [20, None])
def test_shards_with_fewer_rows_than_neighbors(levels, plan, shards, n_candidates):
    numbers = np.arange(24)
    few = [shard.take(numbers) for shard in shards]
    counts = np.bincount(np.concatenate([shard.cells for shard in few]), minlength=plan.partition.n_cells)
    own = SearchPlan(plan.partition, counts, plan.shard_of_cell, 4, n_candidates)
    _, _, neighbors = search(levels.X[:24], few, own, 23, exclude=numbers)
    for row in numbers:
        assert sorted(neighbors.numbers[row]) == [other for other in numbers if other != row]
    assert np.isfinite(neighbors.distances).all()


def test_queries_go_to_the_shards_of_their_nearest_cells_only(levels, plan, shards):
    few = SearchPlan(plan.partition, plan.counts, plan.shard_of_cell, 1, 1)
    parts, found, _ = search(levels.X, shards, few, 1)
    cells = plan.partition.assign(levels.points)
    for shard, part in enumerate(parts):
        np.testing.assert_array_equal(part.positions, np.flatnonzero(plan.shard_of_cell[cells] == shard))
        assert not part.everywhere.any()
    assert sum(len(part.positions) for part in found) == N_ROWS


@pytest.mark.parametrize("far", [300.0, 1e14, 1e16, 1e55])
def test_far_queries_are_searched_in_all_rows(levels, plan, shards, far):
    queries = levels.X[:6].copy()
    queries[2, 1] = far
    parts, _, neighbors = search(queries, shards, plan, 5)
    for part in parts:
        np.testing.assert_array_equal(part.everywhere, part.positions == 2)
    assert all(2 in part.positions for part in parts)
    everything = SearchPlan(plan.partition, plan.counts, plan.shard_of_cell, plan.partition.n_cells, 20)
    for number, x in enumerate(queries):
        expected = slowly(x, levels, everything if number == 2 else plan, 5)
        assert neighbors.numbers[number].tolist() == [row for _, row in expected]
        assert neighbors.distances[number].tolist() == [distance for distance, _ in expected]
    np.testing.assert_array_equal(neighbors.labels, levels.labels[neighbors.numbers])


def test_queries_beyond_the_range_of_the_product_are_measured_in_their_cells(
    levels, plan, shards, monkeypatch
):
    import lann.search._cell_search

    queries = levels.X[:25]
    expected = search(queries, shards, plan, 7)[2]
    others = [Shard(shard.levels, shard.numbers, shard.cells) for shard in shards]  # without what is kept
    monkeypatch.setattr(lann.search._cell_search, "FLOAT32_SAFE", 0.0)
    monkeypatch.setattr(lann.search._cell_search, "FLOAT64_SAFE", 0.0)
    found = search(queries, others, plan, 7)[2]
    for values, others in zip(found, expected, strict=True):
        np.testing.assert_array_equal(values, others)


def test_candidates_that_are_missing_are_infinitely_far(levels, plan, shards):
    few = SearchPlan(plan.partition, plan.counts, plan.shard_of_cell, 2, 20)
    _, found, _ = search(levels.X, shards, few, 3)
    missing = 0
    for part in found:
        np.testing.assert_array_equal(part.numbers < 0, np.isinf(part.distances))
        np.testing.assert_array_equal(part.numbers < 0, np.isinf(part.coarse))
        missing += (part.numbers < 0).sum()
    assert missing > 0


def test_the_size_of_a_shard_is_that_of_its_arrays(levels, shards):
    plain = shards[0]
    n_rows = len(plain.numbers)
    matrices = np.tile(np.eye(3), (n_rows, 1, 1))
    full = Shard(plain.levels.replace(point_matrices=matrices), plain.numbers, plain.cells)
    assert sys.getsizeof(full) - sys.getsizeof(plain) == matrices.nbytes
    assert sys.getsizeof(plain) >= n_rows * (6 * 8 + 8 + 8 + 4)


def calibrated(levels, partition, numbers, n_blocks):
    """Return the number of cells to search, calibrated with some of the rows, in blocks."""
    rows = Rows(np.arange(len(levels.X)), levels.X, levels.labels, partition.assign(levels.points))
    bounds = np.linspace(0, len(levels.X), n_blocks + 1).astype(int)
    blocks = [constant(rows.take(slice(a, b))) for a, b in pairwise(bounds)]
    shared = levels.subset(np.empty(0, np.int64))
    return calibrate_cells(blocks, numbers, shared, partition)


def test_calibration_counts_copies_of_rows_once(levels):
    rng = np.random.default_rng(0)
    distinct = levels.subset(
        np.unique(np.column_stack([levels.X, levels.labels]), axis=0, return_index=True)[1]
    )
    n_rows = len(distinct.X)
    partition = Partition.fit(distinct.points, 30, rng)
    numbers = np.sort(rng.choice(n_rows, 60, replace=False))
    order = partition.nearest(distinct.points[numbers], partition.n_cells)
    search = ExactSearch(distinct.class_metric())
    nearest, _ = search.query(distinct.points[numbers], 50, exclude=numbers)
    expected = calibrate(order, partition.assign(distinct.points)[nearest])
    assert expected > 5
    for n_blocks in (1, 2, 7):
        assert calibrated(distinct, partition, numbers, n_blocks) == expected
    copies = distinct.subset(np.tile(np.arange(n_rows), 60))
    shuffled = np.concatenate([np.arange(n_rows), n_rows + rng.permutation(59 * n_rows)])
    for rows in (copies, copies.subset(shuffled)):
        for n_blocks in (1, 3):
            assert calibrated(rows, partition, numbers, n_blocks) == expected


def test_calibration_with_copies_of_one_row(levels):
    partition = Partition.fit(levels.points, 12, np.random.default_rng(0))
    same = levels.subset(np.zeros(40, np.int64))
    assert calibrated(same, partition, np.arange(10), 2) == 1


def test_a_shard_without_queries_is_not_searched(levels, plan, shards):
    few = SearchPlan(plan.partition, plan.counts, plan.shard_of_cell, 1, 1)
    _, found, neighbors = search(levels.X[:1], shards, few, 1)
    assert sum(part is None for part in found) == N_SHARDS - 1
    assert neighbors.numbers.shape == (1, 1)


def test_candidates_at_equal_distances_are_ordered_by_number(plan):
    def found(numbers):
        numbers = np.array([numbers])
        ones = np.ones(numbers.shape)
        return Found(np.array([0]), numbers, ones, ones, np.zeros(numbers.shape, np.int64))

    few = SearchPlan(plan.partition, plan.counts, plan.shard_of_cell, 1, 3)
    listed = candidates(1, [found([4, 8, -1]), None, found([2, 5, 9])], few, 3)
    assert listed.numbers.tolist() == [[2, 4, 5]]


def test_regrouped_rows_are_all_rows_in_order():
    rng = np.random.default_rng(1)
    blocks = [
        Rows(np.arange(a, a + 10), rng.random((10, 2)), rng.integers(0, 2, 10), rng.integers(0, 5, 10))
        for a in (0, 10, 20)
    ]
    shard_of_cell = np.array([1, 0, 1, 0, 1])
    split = [split_rows(block, shard_of_cell, 2) for block in blocks]
    shards = [join_rows([parts[shard] for parts in split]) for shard in range(2)]
    for shard, rows in enumerate(shards):
        assert (shard_of_cell[rows.cells] == shard).all()
        assert (np.diff(rows.numbers) > 0).all()
    together = join_rows(shards)
    np.testing.assert_array_equal(together.numbers, np.arange(30))
    np.testing.assert_array_equal(together.X, np.concatenate([block.X for block in blocks]))
    assert set(rows_of_cells(shards[0], cells=np.array([3])).cells) == {3}


def test_joined_shards_have_all_rows_in_order(levels, shards):
    joined = join_shards(shards)
    np.testing.assert_array_equal(joined.numbers, np.arange(N_ROWS))
    np.testing.assert_array_equal(joined.levels.point_log_weights, levels.point_log_weights)
    np.testing.assert_array_equal(joined.take(np.array([5, 9])).levels.X, levels.X[[5, 9]])
