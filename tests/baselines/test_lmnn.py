"""LMNN with one map, and with a map per group."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from lann.baselines import LMNN, MultiMetricLMNN
from lann.baselines._baseline import nearest_by_class
from lann.baselines._lmnn_loss import LargeMarginLoss


def make_problem(n_groups=1, rank=4, n_rows=60, seed=0):
    """Return rows of classes of different sizes, one of them a single row, far from the origin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)) + 10.0
    labels = rng.permutation(np.r_[np.arange(5), [3, 4], rng.integers(1, 4, n_rows - 7)])
    groups = rng.permutation(np.arange(n_rows) % n_groups)
    maps = 0.5 * rng.normal(size=(n_groups, rank, 4))
    return X, labels, nearest_by_class(X, labels, 3, same=True), groups, maps


def reference_loss(X, labels, targets, groups, maps, push_weight):
    """Return the loss, one triplet at a time, and the number of triplets with a positive hinge."""

    def distance(i, j):
        return np.sum((maps[groups[j]] @ (X[i] - X[j])) ** 2)

    pull, hinges = 0.0, []
    for i, row_targets in enumerate(targets):
        for target in row_targets[row_targets >= 0]:
            pull += distance(i, target)
            for other in np.flatnonzero(labels != labels[i]):
                hinges.append(max(0.0, 1.0 + distance(i, target) - distance(i, other)))
    n_pairs = np.count_nonzero(targets >= 0)
    loss = ((1 - push_weight) * pull + push_weight * np.sum(np.square(hinges))) / n_pairs
    return loss, np.count_nonzero(hinges)


groups_and_ranks = pytest.mark.parametrize(("n_groups", "rank"), [(1, 4), (1, 2), (3, 4), (5, 1)])


@groups_and_ranks
@pytest.mark.parametrize("push_weight", [0.0, 0.3, 1.0])
def test_loss_equals_the_sum_over_triplets(n_groups, rank, push_weight):
    X, labels, targets, groups, maps = make_problem(n_groups, rank)
    assert (targets < 0).any()
    expected, n_positive = reference_loss(X, labels, targets, groups, maps, push_weight)
    assert n_positive > 100
    loss, _ = LargeMarginLoss(X, labels, targets, groups, push_weight=push_weight)(maps)
    assert loss == pytest.approx(expected, rel=1e-9)


@groups_and_ranks
def test_gradient_equals_finite_differences(reference, n_groups, rank):
    X, labels, targets, groups, maps = make_problem(n_groups, rank)
    loss = LargeMarginLoss(X, labels, targets, groups, push_weight=0.4)
    _, gradient = loss(maps)
    expected = reference.slopes(lambda changed: loss(changed)[0], maps)
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_same_bits_with_any_n_jobs(n_groups):
    X, labels, targets, groups, maps = make_problem(n_groups, n_rows=700)
    one, other = (
        LargeMarginLoss(X, labels, targets, groups, push_weight=0.5, n_jobs=n_jobs)(maps) for n_jobs in (1, 2)
    )
    assert one[0] == other[0]
    np.testing.assert_array_equal(one[1], other[1])


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


def test_loss_decreases_and_is_printed(iris, capsys):
    X, y = iris
    clf = LMNN(max_iter=7, tol=0.0, verbose=1).fit(scale(X), y)
    assert len(clf.loss_curve_) == clf.n_iter_ == 7
    assert np.all(np.diff(clf.loss_curve_) < 0)
    assert capsys.readouterr().out.count("[LMNN] iteration") == 7


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
