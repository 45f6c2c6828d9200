"""The nearest unlike training point."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.explain import nearest_unlike


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
    """Of every query to every training point, one by one: (n_queries, n_train)."""
    levels = clf._model.levels
    everyone = np.tile(np.arange(len(levels.X)), (len(X), 1))
    return levels.contributions(levels.curves.transform(X), everyone).sum(axis=2)


def test_it_is_the_nearest_of_all_points_of_other_classes(fitted, wine):
    X, y = wine
    queries, labels = X[1::2], np.array(["a", "b", "c"])[y][::2]
    contrast = nearest_unlike(fitted, queries)
    unlike = labels[None, :] != fitted.predict(queries)[:, None]
    distances = np.where(unlike, all_distances(fitted, queries), np.inf)
    if fitted.n_candidates is None:
        np.testing.assert_array_equal(contrast.points, distances.argmin(axis=1))
    else:  # the nearest of some candidates: not much farther
        assert np.mean(contrast.points == distances.argmin(axis=1)) > 0.7
    at = distances[np.arange(len(queries)), contrast.points]
    np.testing.assert_allclose(contrast.distances, at, rtol=1e-9)
    np.testing.assert_allclose(contrast.contributions.sum(axis=1), at, rtol=1e-9)
    np.testing.assert_array_equal(contrast.labels, labels[contrast.points])
    np.testing.assert_array_equal(contrast.values, X[::2][contrast.points])
    assert (contrast.labels != contrast.predictions).all()


def test_a_class_to_look_in(fitted, wine):
    contrast = nearest_unlike(fitted, wine[0][1::2], target="b")
    assert (contrast.labels == "b").all()
    assert (contrast.predictions == "b").any()


def test_frame_and_repr(fitted, wine):
    contrast = nearest_unlike(fitted, wine[0][:4])
    frame = contrast.to_frame()
    assert len(frame) == len(contrast) == 4
    assert frame["point"].tolist() == contrast.points.tolist()
    assert frame["contribution of x12"].tolist() == contrast.contributions[:, 12].tolist()
    assert "4 queries" in repr(contrast)


def test_what_separates_two_classes_keeps_them_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 1] > 0
    contrast = nearest_unlike(LANNClassifier(random_state=0).fit(X, y), X)
    assert contrast.contributions.mean(axis=0).argmax() == 1


def test_clear_errors(wine):
    X, y = wine
    clf = LANNClassifier(random_state=0, max_iter=0).fit(X, y)
    with pytest.raises(ValueError, match=r"target must be one of the classes \[0, 1, 2\]; got 7"):
        nearest_unlike(clf, X, target=7)
    pipeline = make_pipeline(StandardScaler(), clf).fit(X, y)
    with pytest.raises(ValueError, match=r"Pipeline has no training points that vote; .* last step"):
        nearest_unlike(pipeline, X)
    alone = LANNClassifier(n_neighbors=1).partial_fit(X[:3], y[:3], classes=[0, 1])
    with pytest.raises(ValueError, match="There is no training point of another class"):
        nearest_unlike(alone, X)
