"""Queries to which nothing similar was seen."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.datasets import make_local_relevance
from lann.explain._landmarks import spacing_of
from lann.explain._training_rows import Queries


def slow_relative(clf, query, without=None):
    """Return the distance of a query to its neighbors relative to that of the training rows around."""
    model = clf.model_

    def nearest(row, *, left_out):
        distances = np.sqrt(model.distances(row[None], np.arange(len(model.X))[None])[0])
        order = [j for j in np.argsort(distances, kind="stable") if j != left_out]
        return distances[order[:3]].mean(), order[:10]

    own = np.array([nearest(row, left_out=j)[0] for j, row in enumerate(model.X)])
    distance, around = nearest(query, left_out=without)
    least = 0.1 * own.mean()
    if distance < np.quantile(own, 0.9):
        return 0.0
    return (distance + least) / (own[around].mean() + least)


@pytest.fixture(scope="module")
def fitted(wine):
    X, y = wine
    return LANNClassifier(max_iter=3, n_candidates=None, random_state=0).fit(X[::2], y[::2])


def test_relative_distances(fitted, wine):
    queries = np.concatenate([wine[0][1:20:4], wine[0][1:60:5] * 1.1])
    spacing = spacing_of(fitted.model_)
    distances = fitted.explain(queries, leave_out=None).distances[:, :3].mean(axis=1)
    found = spacing.relative(Queries(fitted.model_, queries), distances)
    expected = [slow_relative(fitted, query) for query in queries]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert 2 < np.count_nonzero(found) < len(queries) - 2


def held_out(name, seed):
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        X, y, _ = make_local_relevance(1000, 8, random_state=seed)
    X_train, X_test, y_train, _ = train_test_split(X, y, stratify=y, test_size=0.4, random_state=seed)
    return LANNClassifier(random_state=seed).fit(X_train, y_train), X_train, X_test


@pytest.mark.parametrize("name", ["breast cancer", "planted"])
def test_rows_of_the_same_distribution_are_rarely_far_and_others_are(name):
    rates = []
    for seed in range(2):
        clf, X_train, X_test = held_out(name, seed)
        rates.append(clf.explain(X_test).is_far.mean())
        rng = np.random.default_rng(seed)
        mean, scale = X_train.mean(axis=0), X_train.std(axis=0)
        assert clf.explain(mean + 10 * scale * rng.normal(size=(50, len(mean)))).is_far.all()
        assert clf.explain(np.full((1, len(mean)), 1e6)).is_far.all()
        assert clf.explain(np.full((1, len(mean)), -1e6)).is_far.all()
    assert np.mean(rates) < 0.035


def test_a_value_that_is_not_measured_can_be_outside_the_range():
    """The second feature has no weight: distances do not show how far it is."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=200), rng.uniform(0, 1e-9, 200), np.ones(200)], axis=1)
    clf = LANNClassifier(max_iter=0, levels=()).fit(X, X[:, 0] > 0)
    queries = np.array([[0.5, 5e-10, 1.0], [0.5, 1.9e-9, 1.0], [0.5, 2.1e-9, 1.0], [0.5, 5e-10, 1.0001]])
    explanation = clf.explain(queries)
    assert explanation._outside.tolist() == [
        [False, False, False],
        [False, True, False],
        [False, True, False],
        [False, False, True],
    ]
    # A constant has no width to compare with.
    assert explanation.is_far.tolist() == [False, False, True, False]


def test_other_classifiers(wine):
    X, y = (wine[0] - wine[0].mean(axis=0)) / wine[0].std(axis=0), wine[1]
    queries = np.concatenate([X[1:2], X[1:2] + 50])
    assert LMNN(max_iter=2).fit(X[::2], y[::2]).explain(queries).is_far.tolist() == [False, True]
    explanation = GMLVQ(max_iter=2, random_state=0).fit(X, y).explain(queries)
    for name in ("is_far", "_outside", "_percentiles", "_category_shares"):
        assert getattr(explanation, name) is None
    assert explanation.row(0).typical is None
    assert not explanation.row(1).is_far
    assert explanation.left_out.tolist() == [-1, -1]
