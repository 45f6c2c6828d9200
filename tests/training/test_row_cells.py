import numpy as np
import pytest

from lann.metrics import Levels
from lann.search import ExactSearch
from lann.training import (
    Settings,
    _row_cells,
    assign_cells,
    build_index,
    draw_partition_rows,
    mean_class_weights,
    train,
)


@pytest.fixture
def levels(learned):
    return learned.replace(point_log_weights=np.zeros_like(learned.point_log_weights))


def test_mean_class_weights_are_those_of_the_rows(levels):
    counts = np.bincount(levels.labels)
    np.testing.assert_allclose(
        mean_class_weights(levels.class_log_weights, counts), levels.weights.mean(axis=0), rtol=1e-12
    )


def test_every_row_is_in_the_cell_of_its_nearest_center(levels):
    index = build_index(levels, np.random.default_rng(0))
    scaled = (levels.points - index.partition.offset) * index.partition.scale
    distances = np.square(scaled[:, None] - index.partition.centers).sum(axis=2)
    np.testing.assert_array_equal(index.cells, distances.argmin(axis=1))
    assert index.n_seen == len(levels.X)


@pytest.mark.parametrize("block", [7, 89, 10_000])
def test_blocks_do_not_change_the_index(monkeypatch, levels, block):
    expected = build_index(levels, np.random.default_rng(0))
    monkeypatch.setattr(_row_cells, "ASSIGN_BLOCK", block)
    monkeypatch.setattr(_row_cells, "SEARCH_BLOCK", block)
    found = build_index(levels, np.random.default_rng(0), n_jobs=2)
    np.testing.assert_array_equal(found.cells, expected.cells)
    assert found.n_probed == expected.n_probed


@pytest.mark.parametrize("block", [7, 89])
def test_neighbors_over_blocks_are_those_of_the_exact_search(monkeypatch, levels, block):
    monkeypatch.setattr(_row_cells, "SEARCH_BLOCK", block)
    rows = np.array([0, 6, 7, 50, 89])
    metric = levels.class_metric()
    expected, _ = ExactSearch(metric).query(metric.points[rows], 50, exclude=rows)
    np.testing.assert_array_equal(_row_cells._nearest_rows(levels, rows, 1), expected)


def test_float32_rows_are_assigned_by_blocks(levels):
    index = build_index(levels, np.random.default_rng(0))
    single = levels.replace(X=levels.X.astype(np.float32))
    assert np.mean(assign_cells(index.partition, single) == index.cells) > 0.9


def test_few_rows_per_cell_learn_the_centers():
    rows = draw_partition_rows(1_000_000, np.random.default_rng(0))
    assert len(rows) == 64 * 2000
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(draw_partition_rows(100, np.random.default_rng(0)), np.arange(100))


def test_rows_without_learned_levels_have_cells():
    rng = np.random.default_rng(0)
    plain = Levels.plain(rng.normal(size=(60, 2)), rng.integers(0, 2, 60), 2)
    assert build_index(plain, rng).partition.n_cells > 1
    assert train(plain, Settings(max_iter=0), rng).index is None
