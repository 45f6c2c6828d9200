"""LMNN learns one linear map, under which its neighbors are Euclidean."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from lann.baselines import LMNN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def noisy():
    """Two classes that are separated in the first feature, with two features of large noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 240)
    X = np.column_stack([2.0 * y + 0.4 * rng.normal(size=240), 10.0 * rng.normal(size=(240, 2))])
    return X[:120], y[:120], X[120:], y[120:]


def test_better_than_knn_if_a_large_feature_is_noise(noisy):
    X_train, y_train, X_test, y_test = noisy
    clf = LMNN(alpha=0.0).fit(X_train, y_train)
    assert KNeighborsClassifier().fit(X_train, y_train).score(X_test, y_test) < 0.8
    assert clf.score(X_test, y_test) > 0.93
    first, *others = clf.mean_feature_weights_
    assert first > 30 * max(others)


def test_neighbors_are_euclidean_after_the_transform(wine):
    X, y = wine
    X = scale(X)
    clf = LMNN().fit(X[::2], y[::2])
    np.testing.assert_array_equal(clf.transform(X), X @ clf.components_.T)
    knn = KNeighborsClassifier().fit(clf.transform(X[::2]), y[::2])
    np.testing.assert_array_equal(clf.predict(X[1::2]), knn.predict(clf.transform(X[1::2])))
    distances, neighbors = clf.kneighbors(X[1::2])
    expected_distances, expected_neighbors = knn.kneighbors(clf.transform(X[1::2]))
    np.testing.assert_array_equal(neighbors, expected_neighbors)
    np.testing.assert_allclose(distances, expected_distances)


def test_fewer_components(wine):
    X, y = wine
    X = scale(X)
    clf = LMNN(n_components=2).fit(X[::2], y[::2])
    assert clf.components_.shape == (2, 13)
    assert clf.transform(X).shape == (len(X), 2)
    assert clf.get_feature_names_out().tolist() == ["lmnn0", "lmnn1"]
    assert clf.score(X[1::2], y[1::2]) > 0.9


def test_distances_do_not_depend_on_a_rotation_of_the_initial_map(wine):
    X, y = wine
    X = scale(X)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(13, 13)))[0]
    clf, rotated = (LMNN(init=init, alpha=0.0, max_iter=10).fit(X, y) for init in ("pca", rotation))
    np.testing.assert_allclose(clf.kneighbors()[0], rotated.kneighbors()[0], rtol=1e-6)


def test_targets_are_the_nearest_under_the_initial_map():
    # By the second feature alone, all targets are at distance 0, and nothing has to be learned.
    X = np.array([[0.0, 0.0], [9.0, 0.0], [0.1, 5.0], [9.1, 5.0], [0.2, 0.0], [9.2, 5.0]])
    y = np.array([0, 0, 1, 1, 0, 1])
    clf = LMNN(2, n_targets=1, init=[[0.0, 1.0]]).fit(X, y)
    np.testing.assert_array_equal(clf.components_, [[0.0, 1.0]])


def test_map_does_not_depend_on_the_units(wine):
    X, y = wine
    X = scale(X)
    clf, large = LMNN().fit(X, y), LMNN().fit(1000.0 * X, y)
    np.testing.assert_allclose(large.components_, clf.components_, rtol=1e-4, atol=1e-6)
    assert large.margin_ == pytest.approx(1e6 * clf.margin_)


def test_max_iter_0_keeps_the_initial_map(iris):
    clf = LMNN(max_iter=0).fit(*iris)
    np.testing.assert_array_equal(clf.components_, np.eye(4))
    assert clf.n_iter_ == 0
    assert clf.loss_curve_ == []


def test_loss_decreases_and_is_printed(iris, capsys):
    X, y = iris
    clf = LMNN(max_iter=7, tol=0.0, verbose=1).fit(scale(X), y)
    assert len(clf.loss_curve_) == clf.n_iter_ == 7
    assert np.all(np.diff(clf.loss_curve_) < 0)
    assert capsys.readouterr().out.count("[LMNN] iteration") == 7


def test_effect_of_push_weight_and_alpha(iris):
    X, y = iris
    X = scale(X)
    norms = [np.linalg.norm(LMNN(push_weight=mu, alpha=0.0).fit(X, y).components_) for mu in (0.01, 0.9)]
    assert norms[0] < norms[1]  # the term of the targets shrinks the map
    changes = [np.linalg.norm(LMNN(alpha=alpha).fit(X, y).components_ - np.eye(4)) for alpha in (0.0, 1e4)]
    assert changes[1] < changes[0] / 10


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_classes_with_fewer_rows_than_targets():
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(30), np.arange(20)]  # twenty classes of two rows and ten of one
    X = np.column_stack([y + 0.01 * rng.normal(size=50), rng.normal(size=50)])
    clf = LMNN(1).fit(X, y)
    assert np.isfinite(clf.components_).all()
    assert clf.score(X, y) == 1.0
    without_targets = LMNN(1).fit(X[:30], y[:30])
    np.testing.assert_array_equal(without_targets.components_, np.eye(2))


def test_a_constant_feature_changes_no_prediction(iris):
    X, y = iris
    X = scale(X)
    expected = LMNN().fit(X[::2], y[::2]).predict(X[1::2])
    X = np.column_stack([X, np.full(len(X), 5.0)])
    np.testing.assert_array_equal(LMNN().fit(X[::2], y[::2]).predict(X[1::2]), expected)


def test_same_bits_with_any_n_jobs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), rng.integers(0, 3, 600)  # several blocks
    one, other = (LMNN(max_iter=5, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.components_, other.components_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_targets": 0}, "n_targets must be an integer of at least 1; got 0"),
        ({"push_weight": 1.5}, "push_weight must be a number of at least 0 and at most 1; got 1.5"),
        ({"alpha": -1}, "alpha must be a number of at least 0 .*; got -1"),
        ({"tol": None}, "tol must be a number of at least 0; got None"),
        ({"init": "random"}, "init must be 'pca', or 'identity', or an array .*; got 'random'"),
        ({"init": 3}, "init must be 'pca', or 'identity', or an array .*; got 3"),
        ({"init": None}, "init must be 'pca', or 'identity', or an array .*; got None"),
        ({"n_components": 0}, "n_components must be an integer of at least 1, or None; got 0"),
        ({"n_components": 5}, "n_components=5 must be at most the number of features, 4"),
    ],
)
def test_invalid_parameters_raise(iris, parameters, message):
    with pytest.raises(ValueError, match=message):
        LMNN(**parameters).fit(*iris)
