"""The forms of point metrics, and class weights, in the classifier."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier

from lann import LANNClassifier

FORMS = [{"metric": "full"}, {"metric": "low_rank", "n_components": 2}]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        240, 6, n_informative=4, n_redundant=1, n_classes=3, n_clusters_per_class=1, random_state=1
    )
    return X, y


def fitted(data, **parameters):
    X, y = data
    return LANNClassifier(random_state=0, **({"max_iter": 4} | parameters)).fit(X[:160], y[:160])


@pytest.mark.parametrize("form", FORMS, ids=["full", "low rank"])
def test_matrices_are_learned_and_measure_by_their_formula(data, form):
    clf = fitted(data, n_neighbors=5, **form, n_candidates=None)
    X = data[0]
    levels = clf.model_.levels
    n_axes = 2 if "n_components" in form else 6
    assert levels.point_matrices.shape == (160, n_axes, n_axes)
    assert not np.allclose(levels.point_matrices, np.eye(n_axes))
    assert np.all(np.isfinite(levels.point_matrices))
    queries = levels.transform(X[160:170])
    steps = queries[:, None] - levels.points
    projected = np.einsum("jar,qja->qjr", levels.point_matrices, np.sqrt(levels.weights) * steps)
    expected = np.sort(np.square(projected).sum(axis=2), axis=1)[:, :5]
    lengths, _ = clf.kneighbors(X[160:170])
    np.testing.assert_allclose(lengths**2, expected, rtol=1e-9)


def test_matrices_too_large_for_memory_raise(data, monkeypatch):
    monkeypatch.setattr("lann.training._initial.MOST_NUMBERS", 100)
    for form in ({"metric": "full"}, {"metric": "low_rank"}):
        with pytest.raises(ValueError, match=r"Matrices over 6 axes for 160 rows take about .* GB to learn"):
            fitted(data, **form)


@pytest.mark.parametrize("form", FORMS, ids=["full", "low rank"])
def test_with_nothing_learned_it_is_plain_knn(data, form):
    X, y = data
    clf = LANNClassifier(5, **form, max_iter=0, power=0.0, n_candidates=None).fit(X[:160], y[:160])
    plain = KNeighborsClassifier(5).fit(X[:160], y[:160])
    np.testing.assert_array_equal(clf.predict(X[160:]), plain.predict(X[160:]))
    assert clf.levels_ == ()
    assert clf.components_ is None


def test_levels_in_use(data):
    assert fitted(data, max_iter=14).levels_ == ("curves", "map", "class", "point")
    assert fitted(data, max_iter=1).levels_ == ("curves", "map", "class")
    assert fitted(data, levels=("class", "point")).levels_ == ("class", "point")
    warm = fitted(data, warm_start=True, max_iter=4)
    assert warm.set_params(max_iter=0).fit(data[0][:160], data[1][:160]).levels_ != ()


def test_full_matrices_learn_directions_that_differ_between_regions():
    """Stripes have one direction on the left and another on the right: no shared linear map has both."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1200, 2))
    along = np.where(X[:, 0] > 0, X[:, 0] + X[:, 1], X[:, 0] - X[:, 1])
    y = (np.floor(along / 0.25) % 2).astype(int)
    scores = {
        metric: LANNClassifier(7, metric=metric, random_state=0).fit(X[:600], y[:600]).score(X[600:], y[600:])
        for metric in ("diagonal", "full")
    }
    assert scores["full"] > scores["diagonal"] + 0.01


# Classes of different sizes


@pytest.fixture(scope="module")
def imbalanced():
    return make_classification(
        1600, 6, n_informative=4, weights=[0.94], class_sep=0.7, flip_y=0.02, random_state=3
    )


def test_balanced_weights_predict_the_rare_class_more_often(imbalanced):
    X, y = imbalanced
    scores = {}
    for class_weight in (None, "balanced"):
        clf = LANNClassifier(class_weight=class_weight, max_iter=6, random_state=0)
        clf.fit(X[:800], y[:800])
        scores[class_weight] = balanced_accuracy_score(y[800:], clf.predict(X[800:]))
    assert scores["balanced"] > scores[None] + 0.02
