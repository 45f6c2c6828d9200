import numpy as np
import pytest

from lann import LANNClassifier
from lann.reject import RejectOption


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return X, (X[:, 0] > 0).astype(int)


def fitted(rows, n_neighbors):
    return LANNClassifier(n_neighbors, max_iter=1, random_state=0).fit(*rows)


def test_held_out_rows_are_predicted_by_the_same_vote(rows):
    """Folds that have chosen other votes give the certainties of folds with the vote of all rows."""
    X, y = rows
    every = fitted(rows, 9)
    halves = np.arange(0, 80, 2), np.arange(1, 80, 2)
    options = []
    for k in (3, 9):
        folds = [
            (LANNClassifier(k, max_iter=0, random_state=0).fit(X[train], y[train]), train, held_out)
            for train, held_out in (halves, halves[::-1])
        ]
        options.append(RejectOption.from_folds(every, X, y, folds, coverage=0.8, random_state=0))
    one, other = (option.held_out_.certainties for option in options)
    np.testing.assert_allclose(one, other)
