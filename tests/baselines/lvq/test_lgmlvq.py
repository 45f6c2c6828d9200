"""LGMLVQ learns a matrix per prototype."""

import numpy as np
import pytest

from lann.baselines import GMLVQ, LGMLVQ


def test_classes_that_stretch_in_different_directions_are_told_apart():
    # A cross: one class along either diagonal, both around the origin.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    long, short = 3 * rng.normal(size=300), 0.2 * rng.normal(size=300)
    signs = np.where(y == 0, 1.0, -1.0)
    X = np.stack([long + short, signs * (long - short)], axis=1)
    assert LGMLVQ().fit(X, y).score(X, y) > 0.9 > GMLVQ().fit(X, y).score(X, y)


@pytest.mark.parametrize(("rank", "per_class"), [(1, 1), (2, 2), (None, 1)])
def test_transform_says_how_far_the_prototypes_are(rank, per_class, iris):
    X, y = iris
    clf = LGMLVQ(n_components=rank, prototypes_per_class=per_class, random_state=0).fit(X, y)
    assert clf.components_.shape == (3 * per_class, rank or 4, 4)
    np.testing.assert_allclose(np.square(clf.components_).sum(axis=(1, 2)), 1.0)
    seen = clf.transform(X)
    steps = X[:, None, :] - clf.prototypes_
    np.testing.assert_allclose(
        seen, np.linalg.norm(np.einsum("prf,ipf->ipr", clf.components_, steps), axis=2)
    )
    assert np.array_equal(clf.prototype_labels_[seen.argmin(axis=1)], clf.predict(X))
    assert list(clf.get_feature_names_out()) == [f"lgmlvq{place}" for place in range(3 * per_class)]


def test_relevances_are_the_diagonals(iris):
    clf = LGMLVQ(n_components=2).fit(*iris)
    expected = [np.diag(omega.T @ omega) for omega in clf.components_]
    np.testing.assert_allclose(clf.feature_weights_, expected)
