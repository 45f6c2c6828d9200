"""MultiMetricLMNN learns a map per class, cluster or given group."""

import numpy as np
import pytest
from sklearn.preprocessing import scale

from lann.baselines import LMNN, MultiMetricLMNN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def crossed():
    """Two classes that are separated in the first feature on the left, and in the second on the right."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    side = rng.integers(0, 2, 400)
    across, along = 0.8 * (2 * y - 1) + 0.3 * rng.normal(size=400), 6.0 * rng.normal(size=400)
    X = np.where(side[:, None] == 0, np.column_stack([across, along]), np.column_stack([along, across]))
    X[:, 0] += np.where(side == 0, -40.0, 40.0)
    return X[:200], y[:200], X[200:], y[200:]


def test_a_map_per_cluster_is_better_than_one_map(crossed):
    X_train, y_train, X_test, y_test = crossed
    clf = MultiMetricLMNN(groups=2, random_state=0).fit(X_train, y_train)
    assert clf.score(X_test, y_test) > LMNN().fit(X_train, y_train).score(X_test, y_test) + 0.05
    left, right = clf.components_[clf.groups_[[X_train[:, 0].argmin(), X_train[:, 0].argmax()]]]
    for components, relevant in ((left, 0), (right, 1)):
        weights = np.square(components).sum(axis=0)
        assert weights[relevant] > 5 * weights[1 - relevant]


def test_given_groups(crossed):
    X_train, y_train, X_test, y_test = crossed
    given = MultiMetricLMNN(groups=np.where(X_train[:, 0] < 0, "west", "east")).fit(X_train, y_train)
    clustered = MultiMetricLMNN(groups=2, random_state=0).fit(X_train, y_train)
    assert np.array_equal(given.groups_, (X_train[:, 0] < 0).astype(int))
    assert given.score(X_test, y_test) == clustered.score(X_test, y_test)
    with pytest.raises(ValueError, match=r"a label for each of the 200 training rows; got .* \(3,\)"):
        MultiMetricLMNN(groups=[0, 1, 0]).fit(X_train, y_train)


def test_a_map_per_class(wine):
    X, y = wine
    X = scale(X)
    clf = MultiMetricLMNN().fit(X[::2], y[::2])
    assert clf.components_.shape == (3, 13, 13)
    np.testing.assert_array_equal(clf.groups_, y[::2])
    assert np.abs(clf.components_ - clf.shared_components_).max(axis=(1, 2)).min() > 1e-3
    np.testing.assert_allclose(clf.class_feature_weights_, np.square(clf.components_).sum(axis=1))
    assert clf.score(X[1::2], y[1::2]) > 0.9


def test_distances_are_measured_by_the_group_of_the_training_row(wine):
    X, y = wine
    X = scale(X)
    clf = MultiMetricLMNN(alpha=1.0).fit(X[::2], y[::2])
    distances, neighbors = clf.kneighbors(X[1::2], 4)
    maps = clf.components_[clf.groups_]
    expected = np.array(
        [
            [np.linalg.norm(omega @ (query - row)) for row, omega in zip(X[::2], maps, strict=True)]
            for query in X[1::2]
        ]
    )
    np.testing.assert_array_equal(neighbors, np.argsort(expected, axis=1)[:, :4])
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :4])


def test_one_group_with_a_large_alpha_is_lmnn(iris):
    X, y = iris
    X = scale(X)
    lmnn = LMNN(alpha=2.0).fit(X, y)
    clf = MultiMetricLMNN(groups=1, shared_alpha=2.0, alpha=1e9).fit(X, y)
    np.testing.assert_array_equal(clf.shared_components_, lmnn.components_)
    np.testing.assert_allclose(clf.components_[0], lmnn.components_, atol=1e-6)


def test_alpha_keeps_the_maps_near_the_shared_map(iris):
    X, y = iris
    X = scale(X)
    fits = [MultiMetricLMNN(alpha=alpha).fit(X, y) for alpha in (0.0, 10.0, 1e4)]
    changes = [np.linalg.norm(clf.components_ - clf.shared_components_) for clf in fits]
    assert changes[0] > changes[1] > changes[2]
    np.testing.assert_array_equal(fits[0].shared_components_, fits[2].shared_components_)


def test_loss_decreases_over_both_stages(wine):
    X, y = wine
    clf = MultiMetricLMNN(alpha=1.0, shared_alpha=0.0).fit(scale(X), y)
    assert np.all(np.diff(clf.loss_curve_) <= 1e-12)
    assert 0 < clf.n_iter_ < len(clf.loss_curve_)


def test_clusters_depend_on_the_seed_but_not_on_n_jobs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), rng.integers(0, 3, 600)
    one, same, other = (
        MultiMetricLMNN(groups=3, max_iter=4, random_state=seed, n_jobs=n_jobs).fit(X, y)
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    )
    np.testing.assert_array_equal(one.components_, same.components_)
    np.testing.assert_array_equal(one.groups_, same.groups_)
    assert np.any(one.groups_ != other.groups_)
    assert set(one.groups_) == {0, 1, 2}


def test_more_clusters_than_distinct_rows():
    X, y = np.repeat(np.arange(4.0)[:, None], 5, axis=0), np.repeat([0, 1, 0, 1], 5)
    clf = MultiMetricLMNN(groups=10, random_state=0).fit(X, y)
    assert len(clf.components_) == len(np.unique(clf.groups_)) == 4
    assert clf.score(X, y) == 1.0


def test_fewer_components_with_a_constant_feature_and_classes_of_one_row(wine):
    X, y = wine
    X = np.column_stack([scale(X), np.ones(len(X))])
    y = y.copy()
    y[:2] = [7, 8]
    clf = MultiMetricLMNN(n_components=3).fit(X, y)
    assert clf.components_.shape == (5, 3, 14)
    assert np.isfinite(clf.components_).all()
    assert clf.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"groups": "clusters"},
            "groups must be 'class', or an integer of at least 1, or an array .*; got 'clusters'",
        ),
        ({"groups": 0}, "groups must be 'class', or an integer of at least 1, or an array .*; got 0"),
        ({"shared_alpha": -1}, "shared_alpha must be a number of at least 0.*; got -1"),
        ({"alpha": -1}, "alpha must be a number of at least 0 .*; got -1"),
        ({"push_weight": -1}, "push_weight must be a number .*; got -1"),
        ({"n_targets": 1.5}, "n_targets must be an integer .*; got 1.5"),
    ],
)
def test_invalid_parameters_raise(iris, parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiMetricLMNN(**parameters).fit(*iris)
