"""Local matrices equal second differences of the distances."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lann import LANNClassifier
from lann.explain import local_matrices

STEP = 1e-4
FORMS = {
    "point weights": {"levels": ("point",)},
    "all levels": {},
    "point matrices": {"metric": "full", "levels": ("point",)},
    "all levels, full": {"metric": "full"},
    "all levels, low rank": {"metric": "low_rank", "n_components": 2},
}


@pytest.fixture(scope="module")
def quadrants():
    X = np.random.default_rng(0).normal(size=(200, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def distance(levels, j, x):
    """Return d_j(x) by its formula."""
    z = levels.curves.transform(x[None])[0] - levels.curves.transform(levels.X[[j]])[0]
    z = z if levels.components is None else levels.components @ z
    z = np.exp(0.5 * (levels.class_log_weights[levels.labels[j]] + levels.point_log_weights[j])) * z
    return np.sum(z**2 if levels.point_matrices is None else (levels.point_matrices[j].T @ z) ** 2)


def half_hessian(function, x):
    """Return half the second derivatives, by differences of STEP."""
    n, found = len(x), np.empty((len(x), len(x)))
    step = STEP * np.eye(n)
    for a in range(n):
        for b in range(n):
            both = function(x + step[a] + step[b]) + function(x)
            found[a, b] = (both - function(x + step[a]) - function(x + step[b])) / (2 * STEP**2)
    return found


def away_from_edges(levels):
    """Return rows whose neighborhoods lie within one bin of every curve."""
    gaps = np.abs(levels.X[:, :, None] - levels.curves.edges[None])
    return np.flatnonzero((gaps > 3 * STEP).all(axis=(1, 2)))


@pytest.mark.parametrize("form", FORMS)
def test_they_are_half_the_hessian_of_the_distance(quadrants, form):
    clf = LANNClassifier(random_state=0, **FORMS[form]).fit(*quadrants)
    levels = clf.model_.levels
    rows = away_from_edges(levels)[::7]
    assert len(rows) > 10
    found = local_matrices(clf, rows)
    expected = np.array([half_hessian(lambda x, j=j: distance(levels, j, x), levels.X[j]) for j in rows])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("form", ["all levels", "all levels, full"])
def test_feature_weights_are_their_diagonals(quadrants, form):
    X, y = quadrants
    clf = LANNClassifier(random_state=0, **FORMS[form]).fit(X, y)
    diagonals = np.diagonal(local_matrices(clf), axis1=1, axis2=2)
    # Feature weights have the mean slopes of bins, with their jumps, in place of the slopes.
    curves = clf.curves_
    scale = X.std(axis=0) * curves.mean_slopes_at(X) / curves.slopes_at(X)
    np.testing.assert_allclose(clf.feature_weights_, diagonals * scale**2)


def test_one_row_or_some(quadrants):
    clf = LANNClassifier(max_iter=2, random_state=0).fit(*quadrants)
    everyone = local_matrices(clf)
    assert everyone.shape == (200, 3, 3)
    np.testing.assert_array_equal(local_matrices(clf, 5), everyone[[5]])
    np.testing.assert_array_equal(local_matrices(clf, [7, 3]), everyone[[7, 3]])


def test_invalid_arguments_raise(quadrants):
    with pytest.raises(NotFittedError):
        local_matrices(LANNClassifier())
    clf = LANNClassifier(max_iter=0).fit(*quadrants)
    with pytest.raises(ValueError, match="rows of the training data, from 0 to 199; got 200"):
        local_matrices(clf, 200)
