"""Queries to which nothing similar was seen."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.datasets import make_local_relevance
from lann.explain import _spacing
from lann.explain._spacing import compute_spacing, spacing_of


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
    found = spacing.relative(fitted.model_, queries, distances)
    expected = [slow_relative(fitted, query) for query in queries]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert 2 < np.count_nonzero(found) < len(queries) - 2


def test_a_training_row_is_measured_without_itself(fitted):
    model = fitted.model_
    relative = [slow_relative(fitted, row, without=j) for j, row in enumerate(model.X)]
    assert spacing_of(model).limit == pytest.approx(max(relative))  # of fewer than 100 rows
    explanation = fitted.explain()
    assert not explanation.is_far.any()


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


def test_rows_whose_values_do_not_belong_together_are_far():
    """Every value is that of some training row, but not of the same one."""
    clf, X_train, _ = held_out("breast cancer", 0)
    rng = np.random.default_rng(0)
    mixed = np.stack([rng.permutation(column) for column in X_train.T], axis=1)[:100]
    explanation = clf.explain(mixed)
    assert not explanation.outside.any()
    assert explanation.is_far.mean() > 0.5


def test_a_value_that_is_not_measured_can_be_outside_the_range():
    """The second feature has no weight: distances do not show how far it is."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=200), rng.uniform(0, 1e-9, 200), np.ones(200)], axis=1)
    clf = LANNClassifier(max_iter=0, levels=()).fit(X, X[:, 0] > 0)
    queries = np.array([[0.5, 5e-10, 1.0], [0.5, 1.9e-9, 1.0], [0.5, 2.1e-9, 1.0], [0.5, 5e-10, 1.0001]])
    explanation = clf.explain(queries)
    assert explanation.outside.tolist() == [
        [False, False, False],
        [False, True, False],
        [False, True, False],
        [False, False, True],
    ]
    # A constant has no width to compare with.
    assert explanation.is_far.tolist() == [False, False, True, False]


def test_a_row_beside_many_copies_is_not_far():
    """The rows around it are at distance 0, but it is nearer to them than others are to each other."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.repeat([[0.0, 0.0]], 100, axis=0), rng.normal(5, 1, (200, 2))])
    clf = LANNClassifier(max_iter=0).fit(X, X[:, 0] > 2)
    assert clf.explain(np.array([[0.05, 0.0], [0.0, 2.5]])).is_far.tolist() == [False, True]


def test_copies_of_training_rows():
    """All training rows have copies: any other row is far."""
    X = np.repeat(np.arange(6.0), 5)[:, None]
    clf = LANNClassifier(3, max_iter=0).fit(X, X[:, 0] > 2)
    assert clf.explain(np.array([[1.0], [1.5]])).is_far.tolist() == [False, True]


def test_it_does_not_depend_on_the_other_queries_or_threads(wine):
    X, y = wine
    weights = np.where(np.arange(len(X)) % 5, 1.0, 9.0)
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X[::2], y[::2], sample_weight=weights[::2])
    queries = np.concatenate([X[1::4], X[1::4] * 1.1])
    together = clf.explain(queries).is_far
    assert 0 < together.sum() < len(queries)
    assert [bool(clf.explain(query[None]).is_far[0]) for query in queries] == together.tolist()
    one, two = (compute_spacing(clf.model_, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.limit == two.limit
    np.testing.assert_array_equal(one.distances, two.distances)


def test_a_sample_of_the_rows_is_measured(monkeypatch):
    clf, _, X_test = held_out("planted", 0)
    monkeypatch.setattr(_spacing, "MOST_ROWS", 150)
    spacing = compute_spacing(clf.model_)
    assert len(spacing.rows) == 150
    clf.model_.derived["spacing"] = spacing
    assert clf.explain(X_test).is_far.mean() < 0.05


def test_very_few_rows():
    X, y = np.array([[0.0], [1.0], [0.1], [1.1]]), [0, 1, 0, 1]
    for n_rows in (2, 3, 4):
        clf = LANNClassifier(1, max_iter=0).fit(X[:n_rows], y[:n_rows])
        assert clf.explain(np.array([[0.05], [50.0]])).is_far.tolist() == [False, True]
        assert (spacing_of(clf.model_) is None) == (n_rows == 2)


def test_other_classifiers(wine):
    X, y = (wine[0] - wine[0].mean(axis=0)) / wine[0].std(axis=0), wine[1]
    queries = np.concatenate([X[1:2], X[1:2] + 50])
    assert LMNN(max_iter=2).fit(X[::2], y[::2]).explain(queries).is_far.tolist() == [False, True]
    explanation = GMLVQ(max_iter=2, random_state=0).fit(X, y).explain(queries)
    for name in ("is_far", "outside", "percentiles", "category_shares", "typical_ranges"):
        assert getattr(explanation, name) is None
    assert explanation.row(0).typical is None
    assert not explanation.row(1).is_far
    assert explanation.left_out.tolist() == [-1, -1]
