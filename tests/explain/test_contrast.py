"""The nearest training row of another class."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain import nearest_other_class


@pytest.fixture(
    scope="module",
    params=[
        {"n_candidates": None},
        {"n_candidates": None, "metric": "full"},
        {"n_candidates": None, "levels": ("point",)},
        {"n_candidates": 10},
    ],
    ids=["exhaustive", "matrices", "points", "shortlist"],
)
def fitted(request, wine):
    X, y = wine
    names = np.array(["a", "b", "c"])[y]
    return LANNClassifier(random_state=0, max_iter=5, **request.param).fit(X[::2], names[::2])


def all_distances(clf, X):
    """Return the squared distances of every query to every training row: (n_queries, n_train)."""
    levels = clf.model_.levels
    everyone = np.tile(np.arange(len(levels.X)), (len(X), 1))
    return levels.contributions(levels.curves.transform(X), everyone).sum(axis=2)


def test_it_is_the_nearest_of_all_rows_of_other_classes(fitted, wine):
    X, y = wine
    queries, labels = X[1::2], np.array(["a", "b", "c"])[y][::2]
    contrast = nearest_other_class(fitted, queries)
    other = labels[None, :] != fitted.predict(queries)[:, None]
    distances = np.where(other, all_distances(fitted, queries), np.inf)
    if fitted.n_candidates is None:
        np.testing.assert_array_equal(contrast.rows, distances.argmin(axis=1))
    else:  # the nearest of some candidates: not much farther
        assert np.mean(contrast.rows == distances.argmin(axis=1)) > 0.7
    at = distances[np.arange(len(queries)), contrast.rows]
    np.testing.assert_allclose(contrast.distances**2, at, rtol=1e-9)
    np.testing.assert_allclose(contrast.contributions.sum(axis=1), at, rtol=1e-9)
    np.testing.assert_array_equal(contrast.labels, labels[contrast.rows])
    np.testing.assert_array_equal(contrast.values, X[::2][contrast.rows])
    assert (contrast.labels != contrast.predictions).all()


def test_a_given_class(fitted, wine):
    contrast = nearest_other_class(fitted, wine[0][1::2], target="b")
    assert (contrast.labels == "b").all()
    assert (contrast.predictions == "b").any()


def test_invalid_arguments_raise(wine):
    X, y = wine
    clf = LANNClassifier(random_state=0, max_iter=0).fit(X, y)
    with pytest.raises(ValueError, match=r"target must be one of the classes \[0, 1, 2\]; got 7"):
        nearest_other_class(clf, X, target=7)
    alone = LANNClassifier(n_neighbors=1).partial_fit(X[:3], y[:3], classes=[0, 1])
    with pytest.raises(ValueError, match="There is no training row of another class"):
        nearest_other_class(alone, X)
