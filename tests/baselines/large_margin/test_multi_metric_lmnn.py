import numpy as np
import pytest
from sklearn.preprocessing import scale

from lann.baselines import LMNN, MultiMetricLMNN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def crossed():
    """Two classes side by side for x < 0, and one above the other for x > 0: no one map is right."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    side = rng.integers(0, 2, 400)
    apart, along = 0.8 * (2 * y - 1) + 0.3 * rng.normal(size=400), 6.0 * rng.normal(size=400)
    X = np.where(side[:, None] == 0, np.column_stack([apart, along]), np.column_stack([along, apart]))
    X[:, 0] += np.where(side == 0, -40.0, 40.0)
    return X[:200], y[:200], X[200:], y[200:]


def test_a_map_per_cluster_beats_one_map_where_places_differ(crossed):
    X, y, queries, truth = crossed
    several = MultiMetricLMNN(partition=2, random_state=0).fit(X, y)
    assert several.score(queries, truth) > LMNN().fit(X, y).score(queries, truth) + 0.05
    left, right = several.components_[several.groups_[[X[:, 0].argmin(), X[:, 0].argmax()]]]
    for own, relevant in ((left, 0), (right, 1)):
        relevances = np.square(own).sum(axis=0)
        assert relevances[relevant] > 5 * relevances[1 - relevant]


def test_a_partition_can_be_given(crossed):
    X, y, queries, truth = crossed
    given = MultiMetricLMNN(partition=np.where(X[:, 0] < 0, "west", "east")).fit(X, y)
    found = MultiMetricLMNN(partition=2, random_state=0).fit(X, y)
    assert np.array_equal(given.groups_, (X[:, 0] < 0).astype(int))
    assert given.score(queries, truth) == found.score(queries, truth)
    with pytest.raises(ValueError, match=r"a label for each of the 200 training points; got .* \(3,\)"):
        MultiMetricLMNN(partition=[0, 1, 0]).fit(X, y)


def test_classes_have_maps_of_their_own(wine):
    X, y = wine
    X = scale(X)
    model = MultiMetricLMNN().fit(X[::2], y[::2])
    assert model.components_.shape == (3, 13, 13)
    np.testing.assert_array_equal(model.groups_, y[::2])
    assert np.abs(model.components_ - model.shared_components_).max(axis=(1, 2)).min() > 1e-3
    np.testing.assert_allclose(model.class_feature_weights_, np.square(model.components_).sum(axis=1))
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_the_group_of_the_training_point_measures(wine):
    X, y = wine
    X = scale(X)
    model = MultiMetricLMNN(alpha=1.0).fit(X[::2], y[::2])
    lengths, neighbors = model.kneighbors(X[1::2], 4)
    expected = np.array(
        [
            [
                np.linalg.norm(model.components_[g] @ (x - p))
                for p, g in zip(X[::2], model.groups_, strict=True)
            ]
            for x in X[1::2]
        ]
    )
    np.testing.assert_array_equal(neighbors, np.argsort(expected, axis=1)[:, :4])
    np.testing.assert_allclose(lengths, np.sort(expected, axis=1)[:, :4])


def test_one_group_that_may_not_depart_is_lmnn(iris):
    X, y = iris
    X = scale(X)
    alone = LMNN(alpha=2.0).fit(X, y)
    model = MultiMetricLMNN(partition=1, shared_alpha=2.0, alpha=1e9).fit(X, y)
    np.testing.assert_array_equal(model.shared_components_, alone.components_)
    np.testing.assert_allclose(model.components_[0], alone.components_, atol=1e-6)


def test_a_penalty_keeps_the_maps_near_the_shared_one(iris):
    X, y = iris
    X = scale(X)
    models = [MultiMetricLMNN(alpha=penalty).fit(X, y) for penalty in (0.0, 10.0, 1e4)]
    departures = [np.linalg.norm(model.components_ - model.shared_components_) for model in models]
    assert departures[0] > departures[1] > departures[2]
    np.testing.assert_array_equal(models[0].shared_components_, models[2].shared_components_)


def test_the_loss_of_the_groups_falls_from_that_of_the_shared_map(wine):
    X, y = wine
    model = MultiMetricLMNN(alpha=1.0, shared_alpha=0.0).fit(scale(X), y)
    curve = model.loss_curve_
    assert np.all(np.diff(curve) <= 1e-12)
    assert 0 < model.n_iter_ < len(curve)


def test_clusters_depend_on_the_seed_alone():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), rng.integers(0, 3, 600)
    one, same, other = (
        MultiMetricLMNN(partition=3, max_iter=4, random_state=seed, n_jobs=n_jobs).fit(X, y)
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    )
    np.testing.assert_array_equal(one.components_, same.components_)
    np.testing.assert_array_equal(one.groups_, same.groups_)
    assert np.any(one.groups_ != other.groups_)
    assert set(one.groups_) == {0, 1, 2}


def test_more_clusters_than_different_points():
    X = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    model = MultiMetricLMNN(partition=10, random_state=0).fit(X, np.repeat([0, 1, 0, 1], 5))
    assert len(model.components_) == len(np.unique(model.groups_)) == 4
    assert model.score(X, np.repeat([0, 1, 0, 1], 5)) == 1.0


def test_fewer_components_constant_columns_and_classes_of_one_point(wine):
    X, y = wine
    X = np.column_stack([scale(X), np.ones(len(X))])
    labels = y.copy()
    labels[:2] = [7, 8]
    model = MultiMetricLMNN(n_components=3).fit(X, labels)
    assert model.components_.shape == (5, 3, 14)
    assert np.isfinite(model.components_).all()
    assert model.score(X, labels) > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"partition": "clusters"},
            "partition must be 'class', or an integer of at least 1, or an array .*; got 'clusters'",
        ),
        (
            {"partition": 0},
            "partition must be 'class', or an integer of at least 1, or an array .*; got 0",
        ),
        ({"shared_alpha": -1}, "shared_alpha must be a number of at least 0; got -1"),
        ({"alpha": -1}, "alpha must be a number of at least 0; got -1"),
        ({"push": -1}, "push must be a number"),
        ({"n_targets": 1.5}, "n_targets must be an integer"),
    ],
)
def test_parameters_are_checked(iris, parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiMetricLMNN(**parameters).fit(*iris)
