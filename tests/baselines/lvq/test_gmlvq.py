"""GMLVQ learns one matrix, and a picture of the data."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann.baselines import GMLVQ


def test_features_that_matter_only_together_are_seen():
    # Along the diagonal the classes overlap, across it they do not.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 80)
    along, across = 5 * rng.normal(size=160), 0.3 * rng.normal(size=160) + np.where(y == 0, -1, 1)
    X = np.stack([along + across, along - across], axis=1)
    clf = GMLVQ(n_components=1).fit(X, y)
    assert clf.score(X, y) > 0.98
    assert clf.components_[0, 0] * clf.components_[0, 1] == pytest.approx(-0.5, abs=0.02)


@pytest.mark.parametrize("rank", [1, 2, None])
def test_distances_are_euclidean_after_the_transform(rank, iris):
    X, y = iris
    clf = GMLVQ(n_components=rank).fit(X, y)
    assert clf.components_.shape == (rank or 4, 4)
    assert np.square(clf.components_).sum() == pytest.approx(1.0)
    seen, prototypes = clf.transform(X), clf.transform(clf.prototypes_)
    assert seen.shape == (150, rank or 4)
    expected = np.square(seen[:, None] - prototypes).sum(axis=2)
    np.testing.assert_allclose(clf.explain(X).distances, np.sqrt(np.sort(expected, axis=1)))


def test_the_picture_has_names_and_is_a_step_of_a_pipeline(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), GMLVQ(n_components=2)).set_output(transform="pandas").fit(X, y)
    assert list(pipeline.transform(X).columns) == ["gmlvq0", "gmlvq1"]
    assert pipeline.score(X, y) > 0.94
