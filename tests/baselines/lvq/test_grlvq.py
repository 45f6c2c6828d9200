"""GRLVQ finds the features that separate the classes."""

import numpy as np

from lann.baselines import GRLVQ


def test_relevant_features_have_the_largest_weights():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 8))
    X[:, [2, 5]] += np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[y]
    weights = GRLVQ().fit(X, y).mean_feature_weights_
    assert set(np.argsort(weights)[-2:]) == {2, 5}
    assert weights[[2, 5]].min() > 3 * np.delete(weights, [2, 5]).max()
    # Without the regularization, the other weights go to 0.
    assert GRLVQ(alpha=0.0).fit(X, y).mean_feature_weights_[[2, 5]].sum() > 0.95


def test_distances_follow_from_the_feature_weights(iris):
    X, y = iris
    clf = GRLVQ().fit(X, y)
    steps = X[:5, None, :] - clf.prototypes_
    expected = (clf.mean_feature_weights_ * steps**2).sum(axis=2)
    np.testing.assert_allclose(clf.explain(X[:5]).distances, np.sqrt(np.sort(expected, axis=1)))
