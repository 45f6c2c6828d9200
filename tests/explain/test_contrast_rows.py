"""Contrast rows: of other classes, typical, in different directions, representative."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain._contrast_rows import (
    N_OF_CLASS,
    nearest_contrasts,
    nearest_representatives,
    representative_rows,
    spread_contrasts,
)


@pytest.fixture(scope="module")
def fitted(wine):
    return LANNClassifier(random_state=0).fit(*wine)


def test_the_nearest_typical_rows_of_other_classes(fitted, wine):
    X, y = wine
    model, own = fitted.model_, y[::20]
    found = nearest_contrasts(model, X[::20], own, 3)
    votes = model.vote(*model.voters(X, exclude=np.arange(len(X)))).probabilities
    typical = votes.argmax(axis=1) == y
    for query, rows, label in zip(X[::20], found, own, strict=True):
        others = np.flatnonzero((y != label) & typical)
        distances = model.distances(query[None], others[None])[0]
        assert typical[rows].all()
        assert rows[0] == others[distances.argmin()]


def test_a_mislabeled_row_is_no_contrast(wine):
    X, y = wine
    wrong = y.copy()
    wrong[0] = 2 if y[0] != 2 else 1
    clf = LANNClassifier(random_state=0).fit(X, wrong)
    near = X[[0]] + 1e-3
    assert 0 not in nearest_contrasts(clf.model_, near, np.array([y[0]]), 4)
    assert 0 not in clf.explain(near).contrast_rows


def test_they_are_spread(fitted, wine):
    X, y = wine
    model = fitted.model_
    pool = np.tile(np.arange(len(X)), (2, 1))
    found = spread_contrasts(model, X[[3, 100]], y[[3, 100]], pool, 3, exclude=np.array([3, 100]))
    points = model.transform(X)
    for query, rows, label in zip(X[[3, 100]], found, y[[3, 100]], strict=True):
        others = np.flatnonzero(y != label)
        assert rows[0] == others[model.distances(query[None], others[None])[0].argmin()]
        gaps = np.square(points[others] - points[rows[0]]).sum(axis=1)
        assert rows[1] == others[gaps.argmax()]
        assert len(set(rows)) == 3


def test_without_a_usable_row_the_nearest_are_taken(fitted, wine):
    X, y = wine
    pool = np.array([np.flatnonzero(y == y[5])[:4]])
    found = spread_contrasts(fitted.model_, X[[5]], y[[5]], pool)
    np.testing.assert_array_equal(found, nearest_contrasts(fitted.model_, X[[5]], y[[5]], found.shape[1]))


def test_representatives_are_the_best_of_their_class(fitted, wine):
    X, y = wine
    model = fitted.model_
    found = representative_rows(model, np.arange(len(X)))
    assert found.shape == (3, N_OF_CLASS)
    votes = model.vote(*model.voters(X, exclude=np.arange(len(X)))).probabilities
    points = model.transform(X)
    for label, rows in enumerate(found):
        own = np.flatnonzero(y == label)
        assert np.isin(rows, own).all()
        typical = own[votes[own].argmax(axis=1) == label]
        gaps = np.sqrt(np.square(points[own][:, None] - points[typical][None]).sum(axis=2))
        assert rows[0] == typical[gaps.sum(axis=0).argmin()]
    nearest = nearest_representatives(model, X[:5], y[:5], found, 2)
    assert (y[nearest] != y[:5, None]).all()
    assert nearest.shape == (5, 2)


def test_few_rows():
    clf = LANNClassifier(1, max_iter=0).fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    explanation = clf.explain([[0.4]])
    assert explanation.contrast_rows[0, 0] == 2
    assert np.isfinite(explanation.supports).all()
    np.testing.assert_allclose(
        explanation.base_values + explanation.supports.sum(axis=2), explanation.probabilities
    )
