import numpy as np
import pytest

from lann.training import Settings, _point_stage, _train, plan_tiles, train_tile


@pytest.fixture
def grid():
    """The centers of 6 × 6 cells, and the number of rows of each."""
    centers = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    return centers, np.random.default_rng(0).integers(5, 15, 36)


def test_tiles_have_every_cell_with_rows_once(grid, monkeypatch):
    monkeypatch.setattr(_train, "TILE_ROWS", 60)
    centers, counts = grid
    counts[[3, 20]] = 0
    tiles = plan_tiles(centers, counts, n_reached=5)
    assert len(tiles) == -(-counts.sum() // 60)
    own = np.concatenate([tile.own for tile in tiles])
    np.testing.assert_array_equal(np.sort(own), np.flatnonzero(counts))
    sizes = [counts[tile.own].sum() for tile in tiles]
    assert max(sizes) <= 60 + 2 * counts.max()
    for tile in tiles:
        assert np.all(np.diff(tile.own) > 0)
        assert len(np.intersect1d(tile.own, tile.border)) == 0


def test_a_tile_with_all_rows_is_the_ordinary_training(plain):
    settings, none = Settings(), np.empty(0, np.int64)
    rows = np.arange(len(plain.X))
    trained, tile_losses = train_tile(plain, rows, settings, 2, np.random.default_rng(3))
    stage = _point_stage.PointStage(plain, settings, 2, none, none, np.random.default_rng(3))
    losses = [stage.train_epoch(0), stage.train_epoch(1)]
    assert tile_losses == losses
    assert trained.point_matrices is None
    np.testing.assert_array_equal(trained.point_log_weights, stage.levels().point_log_weights)
