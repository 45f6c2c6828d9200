"""The cells of a large model in its file: nothing is determined again, and nothing wrong is read."""

import io

import numpy as np
import pytest

from lann import LANNClassifier, load, save
from lann.persist._npy import write_array
from lann.search import CellIndex, _cell_search

INDEX = "model/model_/index"


@pytest.fixture(scope="module")
def large():
    """A model that is searched by cells, and queries."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cell_search, "FEWEST_POINTS", 100)
        clf = LANNClassifier(max_iter=1, n_candidates=20, random_state=0, storage="float32")
        clf.fit(X[:300], (X[:300, 0] > 0).astype(int))
    return clf, X[300:]


@pytest.fixture
def path(large, tmp_path):
    save(large[0], tmp_path / "model.lann")
    return tmp_path / "model.lann"


def test_a_loaded_model_has_the_same_cells_and_determines_none(monkeypatch, large, path):
    clf, queries = large
    index = clf.model_.index
    assert index is not None
    assert 1 < index.n_probed < index.partition.n_cells

    def fail(*args, **kwargs):
        raise AssertionError("The cells are known.")

    monkeypatch.setattr(CellIndex, "build", fail)
    monkeypatch.setattr(_cell_search, "FEWEST_POINTS", 100)
    loaded = load(path)
    same = loaded.model_.index
    for name in ("centers", "offset", "scale"):
        np.testing.assert_array_equal(getattr(same.partition, name), getattr(index.partition, name))
    np.testing.assert_array_equal(same.cells, index.cells)
    assert same.cells.dtype == np.int32
    assert (same.n_probed, same.n_seen) == (index.n_probed, index.n_seen)
    for rows in (queries, queries[:1]):
        for values, expected in zip(loaded.kneighbors(rows), clf.kneighbors(rows), strict=True):
            np.testing.assert_array_equal(values, expected)
    added = loaded.partial_fit(queries[:5], np.ones(5, int)).model_
    points = clf.model_.transform(queries[:5].astype(np.float32))
    np.testing.assert_array_equal(added.index.cells[-5:], index.partition.assign(points))


WRONG = {
    "cells out of range": ("cells", lambda a: a + 1000),
    "negative cells": ("cells", lambda a: a - 1000),
    "cells of another type": ("cells", lambda a: a.astype(np.int64)),
    "fewer cells than rows": ("cells", lambda a: a[:-1].copy()),
    "NaN as center": ("centers", lambda a: a * np.nan),
    "centers far away": ("centers", lambda a: a + 1e6),
    "no centers": ("centers", lambda a: a[:0].copy()),
    "fewer centers": ("centers", lambda a: a[:2].copy()),
    "centers on other axes": ("centers", lambda a: a[:, :2].copy()),
    "an infinite scale": ("scale", lambda a: a * np.inf),
    "a negative scale": ("scale", lambda a: -a),
    "NaN as offset": ("offset", lambda a: a * np.nan),
}


@pytest.mark.parametrize(("name", "change"), WRONG.values(), ids=WRONG)
def test_arrays_of_cells_that_are_invalid(path, changes, name, change, load_fails):
    changed, entry = changes(path), f"{INDEX}/{name}"
    array = change(np.load(io.BytesIO(changed.entries[f"{entry}.npy"])))
    dtype = array.dtype.newbyteorder("<").str
    changed.array(entry).update(dtype=dtype, shape=list(array.shape))
    changed.entries[f"{entry}.npy"] = write_array(array, dtype, "C")
    load_fails(changed.write(), "cannot be loaded: (its|in its) ")


@pytest.mark.parametrize(("name", "value"), [("n_probed", 0), ("n_probed", 10**6), ("n_seen", -1)])
def test_numbers_of_cells_that_are_invalid(path, changes, name, value, load_fails):
    changed = changes(path)
    changed.fitted["model_"]["index"][name] = value
    load_fails(changed.write(), f"its {INDEX}/{name} has to be an integer from ")


def test_weights_that_overflow_single_precision(path, changes, load_fails):
    changed, entry = changes(path), "model/model_/levels/point_log_weights"
    array = np.load(io.BytesIO(changed.entries[f"{entry}.npy"])) + np.float32(100)
    changed.entries[f"{entry}.npy"] = write_array(array, "<f4", "C")
    load_fails(changed.write(), "the weights are too large for float32")


def test_cells_at_any_place_leave_a_model_that_answers(large, path, changes):
    changed = changes(path)
    for name, change in {
        "scale": lambda a: a * 1e300,
        "cells": np.zeros_like,
        "offset": lambda a: a + 1e300,
    }.items():
        entry = f"{INDEX}/{name}.npy"
        array = change(np.load(io.BytesIO(changed.entries[entry])))
        changed.entries[entry] = write_array(array, array.dtype.str, "C")
    loaded, queries = load(changed.write()), large[1]
    for rows in (queries, queries[:1], queries[:20] * 1e130):
        lengths, found = loaded.kneighbors(rows)
        assert found.min() >= 0
        assert found.max() < 300
        assert not np.isnan(lengths).any()
