"""Few queries of a RowMemory are answered by one pass over all rows, as an exact search answers them."""

from dataclasses import replace

import numpy as np
import pytest

from lann.metric import DiagonalMetric, Levels
from lann.model import RowMemory
from lann.search import CellIndex, ExactSearch


@pytest.fixture
def levels():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=200)
    plain = Levels.plain(rng.normal(size=(200, 5)), labels, 3)
    return plain.replace(class_log_weights=rng.normal(size=(3, 5)))


def some_rows(some):
    return np.flatnonzero(np.arange(200) % 3 != 0) if some else np.arange(200)


def memory_of(levels, rows):
    """Return a memory in which all other rows were forgotten."""
    others = np.setdiff1d(np.arange(200), rows)
    return RowMemory(levels).without_rows(others) if len(others) else RowMemory(levels)


def exact(levels, rows):
    return ExactSearch(DiagonalMetric(levels.X[rows], np.exp(levels.class_log_weights[levels.labels[rows]])))


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [1, 5, 50, 199])
@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("rounded", [False, True])
def test_the_result_is_that_of_the_exact_search(levels, k, some, rounded):
    if rounded:  # many copies and ties
        levels = levels.replace(X=np.round(levels.X), class_log_weights=np.zeros((3, 5)))
    rows = some_rows(some)
    memory, search, k = memory_of(levels, rows), exact(levels, rows), min(k, len(rows) - 1)
    for queries in (levels.X[rows[:10]], np.random.default_rng(1).normal(size=(10, 5))):
        assert_equal(memory.nearest(queries, k), search.query(queries, k))
    queries, own = levels.X[rows[:10]], np.arange(10)
    assert_equal(memory.nearest(queries, k, exclude=own), search.query(queries, k, exclude=own))


@pytest.mark.parametrize("some", [False, True])
def test_a_search_within_a_class(levels, some):
    rows = some_rows(some)
    memory, queries = memory_of(levels, rows), np.random.default_rng(1).normal(size=(10, 5))
    for label in range(3):
        members = np.flatnonzero(levels.labels[rows] == label)
        for k in (1, 20, len(members)):
            expected = exact(levels, rows[members]).query(queries, k)
            assert_equal(memory.nearest(queries, k, label=label), (members[expected[0]], expected[1]))


@pytest.mark.parametrize("some", [False, True])
def test_only_the_rows_of_some_cells_are_searched(levels, some):
    rows, queries = some_rows(some), np.random.default_rng(2).normal(size=(8, 5))
    index = replace(CellIndex.build(levels.subset(rows).class_metric()), n_probed=9)
    found, distances = memory_of(levels, rows).with_index(index).nearest(queries, 4)
    probed = index.probed_mask(queries, 4)[:, index.cells]
    assert 0 < probed.mean() < 0.7
    for query in range(8):
        inside = np.flatnonzero(probed[query])
        expected = exact(levels, rows[inside]).query(queries[query : query + 1], 4)
        np.testing.assert_array_equal(found[query], inside[expected[0][0]])
        np.testing.assert_array_equal(distances[query], expected[1][0])
