"""Rows that are added one by one and forgotten: the same results as a model that is built from the rows."""

import pickle
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from lann import LANNClassifier, load, save
from lann._row_draw import rows_to_forget
from lann.model import LocalModel
from lann.search import ExactSearch, _cell_search


def clf_of(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 3} | options))


@pytest.fixture(scope="module")
def data():
    X, y = make_blobs(400, 4, centers=6, cluster_std=2.0, random_state=0)
    return X, y % 3


def rebuilt(clf):
    """Return the model that is built from the rows and metrics of a classifier."""
    model = clf.model_
    rule = model.vote_rule
    return LocalModel(
        pickle.loads(pickle.dumps(model.levels)),
        n_candidates=model.n_candidates,
        n_neighbors=model.n_neighbors,
        **vars(rule),
    )


def assert_same_model(clf, queries):
    model, other = clf.model_, rebuilt(clf)
    for n_queries in (1, 7, len(queries)):
        some = queries[:n_queries]
        for one, expected in zip(model.voters(some), other.voters(some), strict=True):
            np.testing.assert_array_equal(one, expected)
        expected = other.vote(*other.voters(some)).probabilities
        np.testing.assert_array_equal(clf.predict_proba(some), expected)


def updates(clf, X, y, start, stop):
    """Add rows one by one, and forget some."""
    for row in range(start, stop):
        clf.partial_fit(X[row : row + 1], y[row : row + 1])
        if row % 4 == 0:
            ids = np.arange(clf.n_seen_) if clf.ids_ is None else clf.ids_
            clf.forget(ids[[row % len(ids)]])
        yield row


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_candidates": None},
        {"n_candidates": 5},
        {"metric": "full"},
        {"metric": "full", "n_candidates": None},
        {"class_weight": "balanced", "levels": ("curves", "class", "point")},
        {"max_iter": 0},
        {"max_points": 120, "forget_policy": "reservoir"},
    ],
)
def test_every_version_predicts_like_a_model_that_is_built_from_its_rows(data, options):
    X, y = data
    clf = clf_of(**options).partial_fit(X[:150], y[:150], classes=[0, 1, 2])
    for row in updates(clf, X, y, 150, 260):
        if row % 9 == 0:
            assert_same_model(clf, X[300:] + 0.01)
    assert clf.n_seen_ == 260
    assert clf.model_.n_rows == len(clf.model_.X) < 260


def test_a_loaded_model_goes_on_with_the_same_bits(data, tmp_path):
    X, y = data
    clf = clf_of(max_points=150, forget_policy="balanced").partial_fit(X[:200], y[:200])
    for _ in updates(clf, X, y, 200, 230):
        pass
    save(clf, tmp_path / "model.lann")
    loaded, pickled = load(tmp_path / "model.lann"), pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(loaded.ids_, clf.ids_)
    for one in (clf, loaded, pickled):
        for _ in updates(one, X, y, 230, 330):
            pass
    for other in (loaded, pickled):
        np.testing.assert_array_equal(other.ids_, clf.ids_)
        np.testing.assert_array_equal(other.feature_weights_, clf.feature_weights_)
        np.testing.assert_array_equal(other.predict_proba(X), clf.predict_proba(X))


# cells


def test_rows_are_added_to_the_cells(monkeypatch):
    monkeypatch.setattr(_cell_search, "FEWEST_POINTS", 500)
    X, y = make_blobs(2600, 5, centers=10, cluster_std=3.0, random_state=0)
    clf = clf_of(max_iter=0, n_neighbors=5).fit(X[:1000], y[:1000])
    partition = clf.model_.index.partition
    for row in range(1000, 1100):
        clf.partial_fit(X[row : row + 1], y[row : row + 1])
    clf.forget(np.arange(0, 1000, 10))
    index = clf.model_.index
    assert index.partition is partition
    np.testing.assert_array_equal(index.cells, partition.assign(clf.model_.metric.points))
    found, _ = clf.model_.voters(X)
    exact, _ = ExactSearch(clf.model_.metric).query(clf.model_.transform(X), 5)
    assert (found == exact).mean() > 0.95
    one_by_one = np.array([clf.model_.voters(X[row : row + 1])[0][0] for row in range(60)])
    np.testing.assert_array_equal(one_by_one, found[:60])
    clf.partial_fit(X[1100:2500], y[1100:2500])
    assert clf.model_.index.partition is not partition  # most rows are newer than the cells
    assert clf.model_.index.n_seen == 2500


# forget


@pytest.mark.parametrize("named", [False, True])
def test_threads_predict_while_rows_are_added_and_forgotten(data, named):
    X, y = data
    table = pd.DataFrame(X, index=[f"r{row}" for row in range(len(X))]) if named else X
    clf = clf_of().fit(table[:200], y[:200])
    stop = time.monotonic() + 1.5

    def read(n_queries):
        while time.monotonic() < stop:
            probabilities = clf.predict_proba(table[:n_queries])
            np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
            clf.kneighbors(table[:n_queries])
            ids = clf.explain(table[:n_queries], leave_out=None).neighbor_ids
            assert ids is None or ids.shape[0] == n_queries

    def write():
        row = 200
        while time.monotonic() < stop:
            rows = np.arange(row, row + 3) % len(X)
            clf.partial_fit(table.iloc[rows] if named else table[rows], y[rows])
            clf.forget(clf.ids_[:3] if clf.ids_ is not None else [0, 1, 2])
            row += 3

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(3) as pool:
            for task in [pool.submit(read, 20), pool.submit(read, 5), pool.submit(write)]:
                task.result()
    finally:
        sys.setswitchinterval(interval)
    assert_same_model(clf, X[300:340])


def test_forgotten_rows_are_no_neighbors(data):
    X, y = data
    clf = clf_of().fit(X[:200], y[:200])
    assert clf.ids_ is None
    assert clf.kneighbors(X[5:6], 1, return_distance=False)[0, 0] == 5
    assert clf.forget([5, 3]) is clf
    assert clf.kneighbors(X[5:6], 1)[0][0, 0] > 0
    np.testing.assert_array_equal(clf.ids_, np.delete(np.arange(200), [3, 5]))
    np.testing.assert_array_equal(clf.model_.X, np.delete(X[:200], [3, 5], axis=0))
    assert clf.explain(X[6:7], leave_out=None).neighbor_ids[0, 0] == 6
    clf.partial_fit(X[5:6], y[5:6])  # a new row, with a new number
    assert clf.explain(X[5:6], leave_out=None).neighbor_ids[0, 0] == 200
    clf.forget(200)
    assert clf.n_seen_ == 201
    assert clf.model_.n_rows == 198


def test_rows_are_forgotten_by_name(data):
    X, y = data
    names = [f"row {number}" for number in range(200)]
    clf = clf_of().fit(pd.DataFrame(X[:200], index=names), y[:200])
    clf.forget(pd.Index(["row 7", "row 100"])).forget("row 3")
    assert len(clf.ids_) == 197
    assert not np.isin(["row 3", "row 7", "row 100"], clf.ids_).any()
    clf.partial_fit(pd.DataFrame(X[200:202], index=["row 1", "new"]), y[200:202])
    clf.forget("row 1")  # both of them
    assert clf.ids_.tolist().count("row 1") == 0
    np.testing.assert_array_equal(clf.model_.X[-1], X[201])
    assert clf.explain(pd.DataFrame(X[201:202]), leave_out=None).neighbor_ids[0, 0] == "new"


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (200, "ids has 200, which is not the id of a training row"),
        ([9, -1], "ids has -1, which"),
        ([7], "ids has 7, which"),
        (["a"], r"ids must be integers, .* got 'a'\."),
        ([1.0], "ids must be integers"),
        ([True], "ids must be integers"),
        ([[1, 2]], r"one id or a list of ids; got an array of shape \(1, 2\)"),
        (range(8, 200), "ids are those of all training rows; at least one row has to remain"),
    ],
)
def test_ids_that_cannot_be_forgotten(data, ids, message):
    X, y = data
    clf = clf_of(max_iter=1).fit(X[:200], y[:200]).forget(range(8))
    before = clf.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        clf.forget(list(ids) if isinstance(ids, range) else ids)
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    assert clf.model_.n_rows == 192


def test_a_class_can_lose_all_its_rows(data):
    X, y = data
    clf = clf_of().fit(X[:200], y[:200])
    clf.forget(np.flatnonzero(y[:200] != 1))
    assert set(clf.predict(X)) == {1}
    assert clf.predict_proba(X).shape == (400, 3)
    clf.forget(clf.ids_[3:])  # fewer rows than neighbors
    assert set(clf.predict(X)) == {1}
    clf.partial_fit(X[200:], y[200:])
    assert clf.score(X, y) > 0.6


# max_points


def kept_out(policy, labels, n_kept):
    seed = np.random.RandomState(0).randint(2**31 - 1)
    return rows_to_forget(policy, labels, np.arange(len(labels)), n_kept, seed=seed)


@pytest.mark.parametrize("policy", ["recent", "reservoir", "balanced"])
@pytest.mark.parametrize("step", [1, 7, 100])
def test_the_limit_is_kept(data, policy, step):
    X, y = data
    clf = clf_of(max_points=90, forget_policy=policy).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    assert clf.model_.n_rows == 90
    for start in range(100, 300, step):
        clf.partial_fit(X[start : start + step], y[start : start + step])
        assert clf.model_.n_rows == len(clf.ids_) == 90
    ids = clf.ids_
    np.testing.assert_array_equal(clf.model_.X, X[ids])
    np.testing.assert_array_equal(clf.model_.labels, y[ids])
    if policy == "recent":
        np.testing.assert_array_equal(ids, np.arange(clf.n_seen_ - 90, clf.n_seen_))
    elif policy == "balanced":
        assert np.bincount(clf.model_.labels).tolist() == [30, 30, 30]
    else:
        assert 0.1 < (ids < 100).mean() < 0.6
        # The same rows, however they arrive.
        np.testing.assert_array_equal(
            ids, np.delete(np.arange(clf.n_seen_), kept_out(policy, y[: clf.n_seen_], 90))
        )


def test_fit_keeps_the_limit_too(data):
    X, y = data
    clf = clf_of(max_points=100).fit(X, y)
    np.testing.assert_array_equal(clf.ids_, np.arange(300, 400))
    everything = clf_of().fit(X, y)
    np.testing.assert_array_equal(clf.curves_.slopes, everything.curves_.slopes)  # all rows are learned from
    assert clf.score(X, y) > everything.score(X, y) - 0.1


def test_a_reservoir_is_a_uniform_sample():
    n_rows, n_kept, n_seeds = 60, 20, 3000
    counts = np.zeros(n_rows)
    together = np.zeros(n_rows - 1)
    for seed in range(n_seeds):
        kept = np.ones(n_rows, bool)
        kept[rows_to_forget("reservoir", np.zeros(n_rows, int), np.arange(n_rows), n_kept, seed=seed)] = False
        assert kept.sum() == n_kept
        counts += kept
        together += kept[1:] & kept[:-1]
    share = n_kept / n_rows
    error = np.sqrt(share * (1 - share) / n_seeds)
    assert np.abs(counts / n_seeds - share).max() < 4 * error
    # χ² of the counts, whose sum is fixed: n_rows - 1 on average.
    chi2 = ((counts - n_seeds * share) ** 2).sum() / (n_seeds * share * (1 - share)) * (1 - 1 / n_rows)
    assert 30 < chi2 < 100
    pairs = share * (n_kept - 1) / (n_rows - 1)
    assert abs(together.mean() / n_seeds - pairs) < 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_points": 1}, "max_points must be an integer of at least 2"),
        ({"max_points": 2.5}, "max_points must be"),
        ({"forget_policy": "oldest"}, "forget_policy must be one of 'recent', 'reservoir', 'balanced'"),
        ({"max_points": 4, "n_neighbors": 5}, "max_points=4 is fewer than n_neighbors=5"),
    ],
)
def test_limits_that_make_no_sense(data, options, message):
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(clf_of(**options), method)(*data)
