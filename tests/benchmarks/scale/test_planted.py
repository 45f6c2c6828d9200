import numpy as np
import pytest

from benchmarks.scale import planted
from benchmarks.scale.planted import Planted, block_slices
from benchmarks.scale.wide_rows import make_wide_rows


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(planted, "BLOCK", 1000)


def test_fewer_rows_are_the_first_ones_of_more(small_blocks):
    task = Planted(20, seed=1)
    X, y = task.training_rows(2500)
    assert X.shape == (2500, 20)
    assert X.dtype == np.float32
    first, labels = task.training_rows(1200)
    np.testing.assert_array_equal(first, X[:1200])
    np.testing.assert_array_equal(labels, y[:1200])
    np.testing.assert_array_equal(task.block(2)[0][:500], X[2000:])
    assert [part.stop - part.start for part in block_slices(2500)] == [1000, 1000, 500]


def test_rows_depend_on_the_seed_and_test_rows_are_others(small_blocks):
    X, _ = Planted(20, seed=1).training_rows(100)
    assert not np.isin(Planted(20, seed=1).test_rows(100)[0], X).any()
    assert not np.array_equal(Planted(20, seed=2).training_rows(100)[0], X)


def test_classes_are_equally_frequent_and_no_feature_decides_alone(small_blocks):
    X, y = Planted(12, seed=0).training_rows(6000)
    np.testing.assert_allclose(np.bincount(y) / len(y), 1 / 3, atol=0.03)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.05)
    means = np.stack([X[y == label].mean(axis=0) for label in range(3)])
    assert np.ptp(means, axis=0).max() < 0.9


def test_labels_depend_on_other_features_in_other_regions(small_blocks):
    rule = Planted(20, seed=0)._rule
    rng = np.random.default_rng(0)
    informative = rng.normal(size=(4000, planted.N_INFORMATIVE))
    moved = informative.copy()
    for region in range(planted.N_REGIONS):
        irrelevant = np.setdiff1d(np.arange(planted.N_INFORMATIVE), rule.relevant[region])
        moved[:] = informative
        moved[:, irrelevant] += 1.0
        np.testing.assert_array_equal(rule._score(region, moved), rule._score(region, informative))
    assert len({tuple(sorted(relevant)) for relevant in rule.relevant}) > 3


def test_wide_rows_differ_in_twenty_features():
    X, y, X_test, y_test = make_wide_rows(60, 2000, 1000, seed=0)
    assert X.shape == (60, 1000)
    assert y.tolist()[:4] == [0, 1, 0, 1]
    differences = np.abs(X_test[y_test == 1].mean(axis=0) - X_test[y_test == 0].mean(axis=0))
    assert (differences > 0.5).sum() == 20
    assert np.corrcoef(X_test[:, 1], X_test[:, 2])[0, 1] == pytest.approx(0.5, abs=0.07)
