"""LGRLVQ finds the relevant features of each class."""

import numpy as np

from lann.baselines import LGRLVQ


def test_each_class_weights_the_feature_in_which_it_is_narrow():
    # Class 0 is narrow in the first feature, class 1 in the second; the third is noise.
    rng = np.random.default_rng(0)
    narrow, wide = 0.2 * rng.normal(size=100), 3.0 * rng.normal(size=100)
    X = np.concatenate([np.stack([narrow, wide], axis=1), np.stack([wide, 1.0 + narrow], axis=1)])
    X = np.column_stack([X, rng.normal(size=200)])
    y = np.repeat([0, 1], 100)
    clf = LGRLVQ().fit(X, y)
    assert clf.class_feature_weights_.argmax(axis=1).tolist() == [0, 1]
    assert clf.score(X, y) > 0.9


def test_distances_follow_from_the_feature_weights(iris):
    X, y = iris
    clf = LGRLVQ().fit(X, y)
    expected = (clf.feature_weights_ * (X[:5, None, :] - clf.prototypes_) ** 2).sum(axis=2)
    np.testing.assert_allclose(clf.explain(X[:5]).distances, np.sqrt(np.sort(expected, axis=1)))
