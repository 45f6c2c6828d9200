"""GMLVQ learns one matrix, which transforms rows."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann.baselines import GMLVQ


def test_matrix_combines_features():
    # The classes are separated across the diagonal only, not by either feature.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 80)
    along, across = 5 * rng.normal(size=160), 0.3 * rng.normal(size=160) + np.where(y == 0, -1, 1)
    X = np.stack([along + across, along - across], axis=1)
    clf = GMLVQ(n_components=1).fit(X, y)
    assert clf.score(X, y) > 0.98
    assert clf.components_[0, 0] * clf.components_[0, 1] == pytest.approx(-0.5, abs=0.02)


@pytest.mark.parametrize("n_components", [1, 2, None])
def test_distances_are_euclidean_after_the_transform(n_components, iris):
    X, y = iris
    clf = GMLVQ(n_components=n_components).fit(X, y)
    assert clf.components_.shape == (n_components or 4, 4)
    assert np.square(clf.components_).sum() == pytest.approx(1.0)
    transformed, prototypes = clf.transform(X), clf.transform(clf.prototypes_)
    assert transformed.shape == (150, n_components or 4)
    expected = np.square(transformed[:, None] - prototypes).sum(axis=2)
    np.testing.assert_allclose(clf.explain(X).distances, np.sqrt(np.sort(expected, axis=1)))


def test_transform_in_a_pipeline_has_feature_names(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), GMLVQ(n_components=2)).set_output(transform="pandas").fit(X, y)
    assert list(pipeline.transform(X).columns) == ["gmlvq0", "gmlvq1"]
    assert pipeline.score(X, y) > 0.94
