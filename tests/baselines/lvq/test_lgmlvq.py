"""LGMLVQ learns a matrix per prototype."""

import numpy as np
import pytest

from lann.baselines import GMLVQ, LGMLVQ


def test_better_than_one_matrix_if_classes_extend_in_different_directions():
    # A cross: one class along either diagonal, both around the origin.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    long, short = 3 * rng.normal(size=300), 0.2 * rng.normal(size=300)
    signs = np.where(y == 0, 1.0, -1.0)
    X = np.stack([long + short, signs * (long - short)], axis=1)
    assert LGMLVQ().fit(X, y).score(X, y) > 0.9 > GMLVQ().fit(X, y).score(X, y)


@pytest.mark.parametrize(("n_components", "per_class"), [(1, 1), (2, 2), (None, 1)])
def test_transform_returns_the_distances_to_all_prototypes(n_components, per_class, iris):
    X, y = iris
    clf = LGMLVQ(n_components=n_components, prototypes_per_class=per_class, random_state=0).fit(X, y)
    assert clf.components_.shape == (3 * per_class, n_components or 4, 4)
    np.testing.assert_allclose(np.square(clf.components_).sum(axis=(1, 2)), 1.0)
    transformed = clf.transform(X)
    steps = X[:, None, :] - clf.prototypes_
    expected = np.linalg.norm(np.einsum("prf,ipf->ipr", clf.components_, steps), axis=2)
    np.testing.assert_allclose(transformed, expected)
    assert np.array_equal(clf.prototype_labels_[transformed.argmin(axis=1)], clf.predict(X))
    assert list(clf.get_feature_names_out()) == [f"lgmlvq{number}" for number in range(3 * per_class)]


def test_feature_weights_are_the_diagonals(iris):
    clf = LGMLVQ(n_components=2).fit(*iris)
    expected = [np.diag(omega.T @ omega) for omega in clf.components_]
    np.testing.assert_allclose(clf.feature_weights_, expected)
