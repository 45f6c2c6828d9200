import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from lann.baselines import LMNN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def noisy():
    """Two classes apart in the first feature, under a second one that is large and means nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 240)
    X = np.column_stack([2.0 * y + 0.4 * rng.normal(size=240), 10.0 * rng.normal(size=(240, 2))])
    return X[:120], y[:120], X[120:], y[120:]


def test_beats_euclid_where_a_large_feature_is_noise(noisy):
    X, y, queries, truth = noisy
    euclid = KNeighborsClassifier().fit(X, y).score(queries, truth)
    model = LMNN(alpha=0.0).fit(X, y)
    assert euclid < 0.8
    assert model.score(queries, truth) > 0.93
    first, *others = model.mean_feature_weights_
    assert first > 30 * max(others)


def test_votes_are_those_of_neighbors_in_the_transformed_space(wine):
    X, y = wine
    X = scale(X)
    model = LMNN().fit(X[::2], y[::2])
    np.testing.assert_array_equal(model.transform(X), X @ model.components_.T)
    plain = KNeighborsClassifier().fit(model.transform(X[::2]), y[::2])
    np.testing.assert_array_equal(model.predict(X[1::2]), plain.predict(model.transform(X[1::2])))
    lengths, neighbors = model.kneighbors(X[1::2])
    expected, same = plain.kneighbors(model.transform(X[1::2]))
    np.testing.assert_array_equal(neighbors, same)
    np.testing.assert_allclose(lengths, expected)


def test_fewer_components_give_a_narrower_map(wine):
    X, y = wine
    X = scale(X)
    model = LMNN(n_components=2).fit(X[::2], y[::2])
    assert model.components_.shape == (2, 13)
    assert model.transform(X).shape == (len(X), 2)
    assert model.get_feature_names_out().tolist() == ["lmnn0", "lmnn1"]
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_a_turned_start_leads_to_the_same_distances(wine):
    X, y = wine
    X = scale(X)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(13, 13)))[0]
    plain, turned = (LMNN(init=init, alpha=0.0, max_iter=10).fit(X, y) for init in ("pca", turn))
    np.testing.assert_allclose(plain.kneighbors()[0], turned.kneighbors()[0], rtol=1e-6)


def test_target_neighbors_are_those_of_the_starting_map():
    # By the second feature alone, each point's target is at distance 0 and nothing has to be learned.
    X = np.array([[0.0, 0.0], [9.0, 0.0], [0.1, 5.0], [9.1, 5.0], [0.2, 0.0], [9.2, 5.0]])
    y = np.array([0, 0, 1, 1, 0, 1])
    model = LMNN(2, n_targets=1, init=[[0.0, 1.0]]).fit(X, y)
    np.testing.assert_array_equal(model.components_, [[0.0, 1.0]])


def test_the_units_of_the_data_do_not_matter(wine):
    X, y = wine
    X = scale(X)
    plain, large = LMNN().fit(X, y), LMNN().fit(1000.0 * X, y)
    np.testing.assert_allclose(large.components_, plain.components_, rtol=1e-4, atol=1e-6)
    assert large.margin_ == pytest.approx(1e6 * plain.margin_)


def test_no_iterations_leave_the_starting_map(iris):
    model = LMNN(max_iter=0).fit(*iris)
    np.testing.assert_array_equal(model.components_, np.eye(4))
    assert model.n_iter_ == 0
    assert model.loss_curve_ == []


def test_the_loss_falls_and_is_reported(iris, capsys):
    X, y = iris
    model = LMNN(max_iter=7, tol=0.0, verbose=1).fit(scale(X), y)
    assert len(model.loss_curve_) == model.n_iter_ == 7
    assert np.all(np.diff(model.loss_curve_) < 0)
    assert capsys.readouterr().out.count("[LMNN] iteration") == 7


def test_push_and_penalty_count(iris):
    X, y = iris
    X = scale(X)
    sizes = [np.linalg.norm(LMNN(push=push, alpha=0.0).fit(X, y).components_) for push in (0.01, 0.9)]
    assert sizes[0] < sizes[1]  # who only pulls, shrinks
    departures = [
        np.linalg.norm(LMNN(alpha=penalty).fit(X, y).components_ - np.eye(4)) for penalty in (0.0, 1e4)
    ]
    assert departures[1] < departures[0] / 10


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_classes_smaller_than_the_number_of_targets():
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(30), np.arange(20)]  # twenty pairs and ten points without another of their class
    X = np.column_stack([y + 0.01 * rng.normal(size=50), rng.normal(size=50)])
    model = LMNN(1).fit(X, y)
    assert np.isfinite(model.components_).all()
    assert model.score(X, y) == 1.0
    alone = LMNN(1).fit(X[:30], y[:30])
    np.testing.assert_array_equal(alone.components_, np.eye(2))


def test_a_constant_column_changes_no_prediction(iris):
    X, y = iris
    X = scale(X)
    plain = LMNN().fit(X[::2], y[::2])
    padded = np.column_stack([X, np.full(len(X), 5.0)])
    model = LMNN().fit(padded[::2], y[::2])
    np.testing.assert_array_equal(model.predict(padded[1::2]), plain.predict(X[1::2]))


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), rng.integers(0, 3, 600)
    one, other = (LMNN(max_iter=5, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.components_, other.components_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_targets": 0}, "n_targets must be an integer of at least 1; got 0"),
        ({"push": 1.5}, "push must be a number of at least 0 and at most 1; got 1.5"),
        ({"alpha": -1}, "alpha must be a number of at least 0; got -1"),
        ({"tol": None}, "tol must be a number of at least 0; got None"),
        ({"init": "random"}, "init must be 'pca', or 'identity', or an array"),
        ({"n_components": 5}, "n_components=5 is more than the 4 features there are"),
    ],
)
def test_parameters_are_checked(iris, parameters, message):
    with pytest.raises(ValueError, match=message):
        LMNN(**parameters).fit(*iris)
