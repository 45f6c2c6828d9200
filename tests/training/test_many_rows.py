import numpy as np
import pytest

from lann import LANNClassifier
from lann.datasets import make_local_relevance
from lann.metric import Levels
from lann.search import CellSearch, Shortlist
from lann.training import (
    Settings,
    _train,
    train,
)

FAST = {"max_iter": 3}


@pytest.fixture
def few(monkeypatch):
    """1000 rows are many, a sample has 600, and a tile about 400."""
    monkeypatch.setattr(_train, "MANY_ROWS", 1000)
    monkeypatch.setattr(_train, "SAMPLE_ROWS", 600)
    monkeypatch.setattr(_train, "TILE_ROWS", 400)


@pytest.fixture(scope="module")
def planted():
    """1600 rows of two regions with two relevant features each and three of noise, and 800 further rows."""
    X, y, mask = make_local_relevance(2400, 8, n_regions=2, random_state=0)
    noise = ~mask.any(axis=0)
    noise[0] = False
    return X, y, noise


def levels_of(planted, n_rows=1600, **values):
    X, y, _ = planted
    return Levels.plain(X[:n_rows], y[:n_rows], 2, **values)


def run(levels, settings=None, *, callback=None, **changes):
    settings = Settings(**(FAST | changes)) if settings is None else settings
    return train(levels, settings, np.random.default_rng(0), callback=callback)


@pytest.mark.usefixtures("few")
def test_many_rows_learn_the_same_on_any_number_of_threads(planted):
    results = [run(levels_of(planted), n_jobs=n_jobs) for n_jobs in (1, 2)]
    first, second = results
    assert first.losses == second.losses
    assert len(first.losses) == 3 + 4
    np.testing.assert_array_equal(first.levels.point_log_weights, second.levels.point_log_weights)
    np.testing.assert_array_equal(first.index.cells, second.index.cells)
    assert first.levels.in_use == ("curves", "map", "class", "point")
    assert np.all(np.abs(first.levels.point_log_weights).max(axis=1) > 0)


@pytest.mark.usefixtures("few")
def test_the_union_of_tiles_nearly_equals_one_tile_with_all_rows(monkeypatch, planted):
    X, y, _ = planted
    queries, truth = X[1600:], y[1600:]
    neighbors, correct, learned = [], [], []
    for tile_rows in (400, 1600):
        monkeypatch.setattr(_train, "TILE_ROWS", tile_rows)
        result = run(levels_of(planted), max_iter=7)
        levels = result.levels
        search = Shortlist(CellSearch(levels.class_metric(), result.index), levels.local_metric(), 50)
        near, _ = search.query(levels.transform(queries), 7)
        neighbors.append(near)
        learned.append(levels.point_log_weights.ravel())
        votes = y[near].mean(axis=1) > 0.5
        correct.append(np.mean(votes == truth))
    in_tiles, at_once = neighbors
    shared = [len(np.intersect1d(a, b)) / 7 for a, b in zip(in_tiles, at_once, strict=True)]
    nearest_differs = np.mean(in_tiles[:, 0] != at_once[:, 0])
    assert np.corrcoef(learned)[0, 1] > 0.7
    assert np.mean(shared) > 0.85
    assert nearest_differs < 0.2
    assert abs(correct[0] - correct[1]) < 0.015
    assert min(correct) > 0.85


@pytest.mark.usefixtures("few")
def test_a_callback_sees_all_rows_and_can_stop_between_tiles(planted):
    seen = []

    def callback(epoch):
        seen.append((epoch, epoch.levels()))
        return epoch.unit == "tile" and epoch.number == 2

    result = run(levels_of(planted), callback=callback, n_jobs=2)
    assert [epoch.unit for epoch, _ in seen] == ["epoch"] * 3 + ["tile"] * 2
    assert [len(levels.X) for _, levels in seen] == [1600] * 5
    assert result.stopped
    assert len(result.losses) == 5
    last = seen[-1][0]
    assert (last.number, last.n_epochs, last.stage) == (2, 4, "point weights")
    assert last.seconds_left > 0
    assert str(last).startswith("tile 2/4, point weights: loss ")
    assert str(last).endswith(" left")
    learned = np.abs(result.levels.point_log_weights).max(axis=1) > 0
    assert 600 < learned.sum() < 1200


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("parameters", [{"metric": "low_rank", "n_components": 4}, {"early_stopping": True}])
def test_a_classifier_learns_many_rows(planted, parameters, capsys):
    X, y, _ = planted
    model = LANNClassifier(**parameters, max_iter=7, random_state=0, verbose=1).fit(X[:1600], y[:1600])
    assert model.n_iter_ == len(model.loss_curve_)
    assert capsys.readouterr().out.count("tile") == 4
    assert model.score(X[1600:], y[1600:]) > 0.75
    before = model.model_.levels
    model.set_params(warm_start=True, max_iter=1, levels=("curves", "class", "point"), metric="diagonal")
    model.fit(X[:1600], y[:1600])
    assert model.model_.levels is not before
