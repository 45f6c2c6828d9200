"""Rows that are drawn before they are read, and arrays that are mapped from files."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from lann import LANNClassifier, _row_draw
from lann._row_draw import rows_to_forget, rows_to_learn_from

N_KEPT = 60


@pytest.fixture(autouse=True)
def few_others(monkeypatch):
    """Let 60 rows that are kept, and as many others, be learned from; blocks are small."""
    monkeypatch.setattr(_row_draw, "FEWEST_OTHERS", 20)
    monkeypatch.setattr(_row_draw, "BLOCK_NUMBERS", 200)
    monkeypatch.setattr(_row_draw, "BLOCK_LABELS", 70)
    monkeypatch.setattr("lann._base.BLOCK_QUERIES", 50)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    y = np.digitize(X[:, 0] + 0.2 * rng.normal(size=700), [0.3, 1.4])
    return X, np.array(["low", "middle", "high"])[y]


def clf_of(**parameters):
    return LANNClassifier(max_iter=1, max_points=N_KEPT, random_state=0).set_params(**parameters)


def mapped(X, folder, dtype=np.float64):
    np.save(folder / "X.npy", X.astype(dtype))
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("policy", ["recent", "reservoir", "balanced"])
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_are_those_that_are_kept_of_all_and_others(policy, seed, monkeypatch):
    monkeypatch.setattr("lann._row_draw.BLOCK_ROWS", 37)
    labels = np.random.default_rng(seed).choice(3, 500, p=[0.9, 0.08, 0.02])
    forgotten = rows_to_forget(policy, labels, np.arange(500), N_KEPT, seed=seed)
    kept = np.setdiff1d(np.arange(500), forgotten)
    rows = rows_to_learn_from(policy, lambda part: labels[part], 500, N_KEPT, 30, seed=seed)
    assert len(rows) == N_KEPT + 30
    assert np.all(np.diff(rows) > 0)
    assert np.isin(kept, rows).all()
    # A part of the others lies anywhere.
    others = np.setdiff1d(rows, kept)
    assert others.min() < 150
    assert others.max() > 300
    again = rows_to_learn_from(policy, lambda part: labels[part], 500, N_KEPT, 30, seed=seed)
    assert_array_equal(rows, again)


@pytest.mark.parametrize("policy", ["recent", "reservoir", "balanced"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_mapped_array_gives_the_model_of_the_array_in_memory(policy, dtype, data, tmp_path):
    X, y = data
    in_memory = clf_of(forget_policy=policy).fit(X.astype(dtype), y)
    from_file = clf_of(forget_policy=policy).fit(mapped(X, tmp_path, dtype), y)
    assert_array_equal(from_file.ids_, in_memory.ids_)
    assert from_file.n_seen_ == len(X)
    assert from_file.model_.n_rows == N_KEPT
    assert_array_equal(from_file.predict_proba(X), in_memory.predict_proba(X))
    assert from_file.score(X, y) > 0.6


@pytest.mark.parametrize("policy", ["recent", "reservoir", "balanced"])
def test_the_rows_that_stay_are_those_of_the_policy(policy, data):
    X, y = data
    clf = clf_of(forget_policy=policy).fit(X, y)
    kept = clf.ids_
    assert_array_equal(clf.model_.X, X[kept])
    assert_array_equal(clf.classes_[clf.model_.labels], y[kept])
    if policy == "recent":
        assert_array_equal(kept, np.arange(640, 700))
    if policy == "balanced":
        assert_array_equal(np.bincount(clf.model_.labels), [20, 20, 20])
    if policy == "reservoir":
        assert 250 < kept.mean() < 450


def test_the_first_partial_fit_draws_as_fit_does(data):
    X, y = data
    fitted, added = clf_of().fit(X, y), clf_of().partial_fit(X, y)
    assert_array_equal(added.ids_, fitted.ids_)
    assert_array_equal(added.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("make", [pd.DataFrame, lambda X: pl.DataFrame(X, schema=list("abcd"))])
def test_tables_are_drawn_alike(make, data):
    X, y = data
    from_table = clf_of(forget_policy="balanced").fit(make(X), y)
    from_array = clf_of(forget_policy="balanced").fit(X, y)
    assert_array_equal(from_table.ids_, from_array.ids_)
    assert_array_equal(from_table.predict_proba(make(X)), from_array.predict_proba(X))


def test_names_of_rows_stay_with_them(data):
    X, y = data
    names = [f"row {i}" for i in range(len(X))]
    clf = clf_of(forget_policy="reservoir").fit(pd.DataFrame(X, index=names), y)
    numbers = clf_of(forget_policy="reservoir").fit(X, y).ids_
    assert clf.ids_.tolist() == [names[i] for i in numbers]


def test_rows_of_weight_zero_are_not_drawn(data):
    X, y = data
    weights = np.where(np.arange(700) % 3 == 0, 0.0, 2.0)
    clf = clf_of(forget_policy="recent").fit(X, y, sample_weight=weights)
    counted = np.flatnonzero(weights)
    assert clf.n_seen_ == len(counted)
    assert_array_equal(clf.model_.X, X[counted[-N_KEPT:]])


def test_an_invalid_value_anywhere_is_an_error(data, tmp_path):
    X, y = data
    X = X.copy()
    X[3, 2] = np.inf  # not among the last rows
    with pytest.raises(ValueError, match="infinity"):
        clf_of().fit(mapped(X, tmp_path), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clf_of().fit(data[0], y[1:])
    with pytest.raises(ValueError, match="Unknown label type"):
        clf_of().fit(data[0], np.linspace(0, 1, 700))


def test_one_class_among_the_drawn_rows_is_an_error(data):
    X, _ = data
    y = np.repeat(["rare", "common"], [1, 699])
    with pytest.raises(ValueError, match="one class only, 'common'; raise max_points"):
        clf_of(forget_policy="recent", random_state=3).fit(X, y)
    assert clf_of(forget_policy="balanced").fit(X, y).classes_.tolist() == ["common", "rare"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_queries_are_read_in_blocks(dtype, data, tmp_path, monkeypatch):
    X, y = data
    clf = clf_of().fit(X, y)
    queries = mapped(X, tmp_path, dtype)
    by_block, labels = clf.predict_proba(queries), clf.predict(queries)
    monkeypatch.setattr("lann._base.BLOCK_QUERIES", 10_000)
    assert_array_equal(by_block, clf.predict_proba(queries))
    assert_array_equal(labels, clf.predict(queries))


def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """A file of 32 MB, which takes 64 MB as numbers of double precision."""
    for name, value in {"BLOCK_NUMBERS": 1 << 16, "BLOCK_LABELS": 1 << 14}.items():
        monkeypatch.setattr(_row_draw, name, value)
    monkeypatch.setattr("lann._row_draw.BLOCK_ROWS", 1 << 14)
    monkeypatch.setattr("lann._base.BLOCK_QUERIES", 1000)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.float32, shape=(500_000, 16))
    X[:] = np.tile(np.random.default_rng(0).random((1000, 16), np.float32), (500, 1))
    y = np.lib.format.open_memmap(tmp_path / "y.npy", mode="w+", dtype=np.int8, shape=(500_000,))
    y[:] = X[:, 0] > 0.5
    clf = clf_of(forget_policy="balanced")
    clf.fit(X[:300], y[:300]).predict(X[:300])  # what is compiled or imported is not counted
    tracemalloc.start()
    try:
        clf.fit(X, y)
        fit_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        labels = clf.predict(X[:40_000])
        predict_peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert clf.n_seen_ == 500_000
    assert (labels == y[:40_000]).mean() > 0.8
    assert fit_peak < 8e6
    assert predict_peak < 8e6
