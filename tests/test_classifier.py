"""LANNClassifier: prediction, neighbors, reproducibility and memory."""

import hashlib
import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_iris

from lann import LANNClassifier

DIGEST = """
import hashlib, json
import numpy as np
from sklearn.datasets import load_iris
from lann import LANNClassifier
X, y = load_iris(return_X_y=True)
clf = LANNClassifier(**{options})
clf.fit(X, y)
digest = hashlib.sha256(clf.feature_weights_.tobytes() + clf.predict_proba(X + 0.01).tobytes())
print(json.dumps(digest.hexdigest()))
"""


def digest(clf, X):
    return hashlib.sha256(clf.feature_weights_.tobytes() + clf.predict_proba(X + 0.01).tobytes()).hexdigest()


@pytest.fixture(scope="module")
def noisy():
    """Labels of which a quarter are random."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    return X, np.where(rng.random(600) < 0.25, rng.integers(0, 2, 600), X[:, 0] > 0)


@pytest.mark.parametrize("options", [{"early_stopping": True}])
def test_the_same_random_state_gives_the_same_bits(iris, in_new_process, options):
    X, y = iris
    options = {"random_state": 3, "max_iter": 3, **options}
    digests = {digest(LANNClassifier(n_jobs=n_jobs, **options).fit(X, y), X) for n_jobs in (1, 2, None)}
    digests |= {in_new_process(DIGEST.format(options={**options, "n_jobs": n_jobs})) for n_jobs in (1, 2)}
    assert len(digests) == 1


@pytest.fixture(scope="module")
def fitted(wine):
    return LANNClassifier(random_state=0, max_iter=4).fit(wine[0][::2], wine[1][::2])


def test_fitted_attributes(fitted, wine):
    X, y = wine[0][::2], wine[1][::2]
    assert fitted.feature_weights_.shape == X.shape
    assert np.all(np.isfinite(fitted.feature_weights_))
    assert np.all(fitted.feature_weights_ >= 0)
    np.testing.assert_allclose(fitted.mean_feature_weights_, fitted.feature_weights_.mean(axis=0))
    for label in range(3):
        np.testing.assert_allclose(
            fitted.class_feature_weights_[label], fitted.feature_weights_[y == label].mean(axis=0)
        )
    np.testing.assert_array_equal(fitted.classes_, [0, 1, 2])
    assert fitted.n_features_in_ == 13
    assert (fitted.n_neighbors_, fitted.power_) == (fitted.vote_.n_neighbors, fitted.vote_.power)
    assert fitted.n_iter_ == len(fitted.loss_curve_) == 4
    assert fitted.validation_curve_ == []


def test_neighbors_are_nearest_by_the_formula(wine):
    """d_j(x) = Σ w_jl (φ_l(x_jl) − φ_l(x_l))², with w = feature weight / (φ' · scale)²."""
    X, queries = wine[0][::2], wine[0][1:20:2]
    levels = ("curves", "class", "point")
    fitted = LANNClassifier(5, levels=levels, random_state=0).fit(X, wine[1][::2])
    assert fitted.components_ is None
    slopes = fitted.curves_.mean_slopes_at(X) * X.std(axis=0)
    weights = fitted.feature_weights_ / slopes**2
    curved, curved_queries = fitted.curves_.transform(X), fitted.curves_.transform(queries)
    exhaustive = np.einsum("jl,qjl->qj", weights, (curved_queries[:, None] - curved) ** 2)
    lengths, indices = fitted.kneighbors(queries)
    np.testing.assert_allclose(lengths**2, np.take_along_axis(exhaustive, indices, axis=1), rtol=1e-9)
    np.testing.assert_allclose(lengths, np.sqrt(np.sort(exhaustive, axis=1)[:, :5]), rtol=1e-9)


def test_the_linear_map_leads_from_features_to_axes(wine):
    """d(x) = Σ_a (M (φ(x_j) − φ(x)))_a² with the linear map M; weights: Σ_a M_al² (φ' · scale)²."""
    X, queries = wine[0][::2], wine[0][1:20:2]
    fitted = LANNClassifier(5, levels=("curves", "map"), random_state=0).fit(X, wine[1][::2])
    assert fitted.components_.shape == (13, 13)
    curved, curved_queries = fitted.curves_.transform(X), fitted.curves_.transform(queries)
    exhaustive = np.sum(((curved_queries[:, None] - curved) @ fitted.components_.T) ** 2, axis=2)
    lengths, _ = fitted.kneighbors(queries)
    np.testing.assert_allclose(lengths, np.sqrt(np.sort(exhaustive, axis=1)[:, :5]), rtol=1e-9)
    scale = fitted.curves_.mean_slopes_at(X) * X.std(axis=0)
    squares = np.sum(fitted.components_**2, axis=0)
    np.testing.assert_allclose(fitted.feature_weights_, squares * scale**2)


def test_kneighbors_of_the_training_rows_exclude_each_itself(fitted, wine):
    lengths, indices = fitted.kneighbors(n_neighbors=3)
    assert indices.shape == lengths.shape == (89, 3)
    assert not np.any(indices == np.arange(89)[:, None])
    np.testing.assert_array_equal(fitted.kneighbors(n_neighbors=3, return_distance=False), indices)
    with_itself = fitted.kneighbors(wine[0][::2], n_neighbors=1)
    np.testing.assert_array_equal(with_itself[1][:, 0], np.arange(89))
    np.testing.assert_array_equal(with_itself[0], 0)


def test_probabilities_are_above_0_and_below_1(noisy):
    X, y = noisy
    for y_of_two in (y, np.where(X[:, 0] > 0, 1, 0)):
        clf = LANNClassifier(max_iter=2, random_state=0).fit(X, y_of_two)
        probabilities = clf.predict_proba(X)
        assert probabilities.min() > 0
        assert probabilities.max() < 1
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-14)


def test_chosen_neighbors_are_the_nearest_of_twice_as_many(noisy):
    X, y = noisy
    clf = LANNClassifier(max_iter=0).fit(X, y)
    assert clf.model_.n_candidates == 1.5 * clf.n_neighbors_
    assert LANNClassifier(40, max_iter=0).fit(X, y).model_.n_candidates == 50


def test_memory_of_a_prediction_stays_far_below_all_distances():
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(20_000, 8)), rng.normal(size=(5_000, 8))
    clf = LANNClassifier(max_iter=0).fit(X, (X[:, 0] > 0).astype(int))
    clf.predict(queries[:10])
    for method in (clf.predict, clf.kneighbors):
        tracemalloc.start()
        try:
            method(queries)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 0.05 * 20_000 * 5_000 * 8


def test_with_vote_changes_the_vote_alone():
    X, y = load_iris(return_X_y=True)
    clf = LANNClassifier(max_iter=2, random_state=0).fit(X, y)
    wide = LANNClassifier(15, power=1.0, max_iter=1, random_state=0).fit(X[::2], y[::2])
    before = clf.predict_proba(X)
    other = clf.with_vote(wide.vote_)
    assert (other.n_neighbors_, other.power_) == (15, 1.0)
    assert other.explain(X[:3]).neighbors.shape == (3, 15)
    # The metrics are the same, and so are the nearest neighbors.
    np.testing.assert_array_equal(other.kneighbors(X, 5)[1], clf.kneighbors(X, 5)[1])
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    np.testing.assert_array_equal(other.with_vote(clf.vote_).predict_proba(X), before)
