import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.reject import RejectOption
from lann.reject._fold_votes import vote_as
from lann.reject._held_out import Fold


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return X, (X[:, 0] > 0).astype(int)


def fitted(rows, n_neighbors):
    return LANNClassifier(n_neighbors, max_iter=1, random_state=0).fit(*rows)


def test_classifiers_of_folds_vote_as_that_of_all_rows(rows):
    every, narrow, same = (fitted(rows, k) for k in (9, 3, 9))
    folds = [Fold(clf, np.arange(2), np.arange(2, 4)) for clf in (narrow, same)]
    changed = vote_as(folds, every)
    assert [fold.estimator.n_neighbors_ for fold in changed] == [9, 9]
    assert changed[1].estimator is same
    assert narrow.n_neighbors_ == 3
    np.testing.assert_array_equal(changed[0].held_out, folds[0].held_out)


def test_pipelines_and_other_classifiers(rows):
    every = make_pipeline(StandardScaler(), LANNClassifier(9, max_iter=1, random_state=0)).fit(*rows)
    narrow = make_pipeline(StandardScaler(), LANNClassifier(3, max_iter=1, random_state=0)).fit(*rows)
    linear = LogisticRegression().fit(*rows)
    none = np.arange(1)
    changed = vote_as([Fold(narrow, none, none), Fold(linear, none, none)], every)
    assert changed[0].estimator[-1].n_neighbors_ == 9
    assert narrow[-1].n_neighbors_ == 3
    assert changed[1].estimator is linear
    assert vote_as([Fold(narrow, none, none)], linear)[0].estimator is narrow


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
