"""GRLVQ finds the features that tell classes apart."""

import numpy as np

from lann.baselines import GRLVQ


def test_the_two_features_that_matter_are_found():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 8))
    X[:, [2, 5]] += np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[y]
    relevances = GRLVQ().fit(X, y).mean_feature_weights_
    assert set(np.argsort(relevances)[-2:]) == {2, 5}
    assert relevances[[2, 5]].min() > 3 * np.delete(relevances, [2, 5]).max()
    # The penalty keeps some of every feature; without it, others are ignored.
    assert GRLVQ(alpha=0.0).fit(X, y).mean_feature_weights_[[2, 5]].sum() > 0.95


def test_distances_follow_the_feature_weights(iris):
    X, y = iris
    clf = GRLVQ().fit(X, y)
    steps = X[:5, None, :] - clf.prototypes_
    expected = (clf.mean_feature_weights_ * steps**2).sum(axis=2)
    np.testing.assert_allclose(clf.explain(X[:5]).distances, np.sqrt(np.sort(expected, axis=1)))
