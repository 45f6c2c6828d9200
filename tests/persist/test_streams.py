"""Classifiers for streams in model files: they go on as if they had never been saved."""

import numpy as np
import pytest

from lann import load, save
from lann.streams import SAMKNN, SAMLANN

CLASSIFIERS = [SAMKNN, SAMLANN]
SMALL = {"window_size": 120, "min_window_size": 20, "random_state": 0}


def rows_with_drift(n_rows, *, gaps=False):
    """Return rows of three classes whose boundaries turn now and then."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    turned = np.arange(n_rows) // 150 % 2 == 1
    y = np.array(["a", "b", "c"])[np.digitize(np.where(turned, X[:, 0], X[:, 1]), [-0.5, 0.5])]
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(params=CLASSIFIERS, ids=lambda cls: cls.__name__)
def cls(request):
    return request.param


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_rows", [5, 333])
def test_a_loaded_model_goes_on_with_the_same_bits(cls, tmp_path, n_rows, gaps):
    X, y = rows_with_drift(1000, gaps=gaps)
    clf = cls(**SMALL).partial_fit(X[:n_rows], y[:n_rows])
    save(clf, tmp_path / "model.lann")
    loaded = load(tmp_path / "model.lann")
    np.testing.assert_array_equal(loaded.predict_proba(X[-50:]), clf.predict_proba(X[-50:]))
    assert loaded.get_params() == clf.get_params()
    more = [model.test_then_train(X[n_rows:], y[n_rows:]) for model in (loaded, clf)]
    np.testing.assert_array_equal(*more)
    assert loaded.resets_ == clf.resets_
    assert loaded.alarms_ == clf.alarms_
    assert loaded.detector_.to_dict() == clf.detector_.to_dict()
    assert loaded.n_seen_ == clf.n_seen_ == 1000
    np.testing.assert_array_equal(loaded.memory_weights_, clf.memory_weights_)


def test_classes_and_sizes_of_a_loaded_model(cls, tmp_path):
    """Classes can be added, and sizes that were set after the first row have no effect before `fit`."""
    X, y = rows_with_drift(300)
    clf = cls(**SMALL).partial_fit(X, y, classes=["a", "b", "c", "never"])
    clf.set_params(window_size=10, n_neighbors=3)
    save(clf, tmp_path / "model.lann")
    loaded = load(tmp_path / "model.lann")
    for model in (clf, loaded):
        model.partial_fit(X[:5], ["aa"] * 5)
    assert loaded.classes_.tolist() == ["a", "aa", "b", "c", "never"]
    assert loaded.limits_ == clf.limits_
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


# Hostile files


@pytest.fixture
def saved_stream(cls, tmp_path):
    X, y = rows_with_drift(700)
    path = tmp_path / "stream.lann"
    save(cls(**SMALL).partial_fit(X, y), path)
    return path


SCALARS = [
    ("limits_/n_neighbors", 0), ("limits_/n_neighbors", 30), ("limits_/total", 60),
    ("limits_/total", 10**12), ("limits_", None),     ("n_features_in_", 2), ("classes_", None),
    ("detector_", None), ("detector_/rows_per_false_alarm", 0), ("detector_/n_alarms", -1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), SCALARS)
def test_values_that_are_invalid(saved_stream, changes, name, value, load_fails):
    changed = changes(saved_stream)
    *owners, last = name.split("/")
    record = changed.fitted
    for owner in owners:
        record = record[owner]
    assert repr(record[last]) != repr(value)
    record[last] = value
    load_fails(changed.write(), "cannot be loaded: (its|in its) ")


def change_array(changed, entry, change):
    """Write the file again with another array."""
    changed.replace_array(entry, change(changed.array(entry))).write()


DETECTORS = {
    "NaN": lambda a: a * np.nan,
    "infinite": lambda a: a + np.inf,
    "fewer exponents": lambda a: a[:, :-1].copy(),
    "more errors than rows": lambda a: a + np.array([0.0, 0.0, 10_000.0]),
}


@pytest.mark.parametrize("change", DETECTORS.values(), ids=DETECTORS)
def test_states_of_the_detector_that_are_invalid(saved_stream, changes, change, load_fails):
    change_array(changes(saved_stream), "model/detector_/state", change)
    load_fails(saved_stream, "cannot be loaded: (its|in its) ")


VALUES = {
    "labels out of range": ("short_labels", lambda a: a + 1000),
    "infinite": ("short_X", lambda a: a + np.inf),
    "windows beyond the rows": ("window_starts", lambda a: a + 10_000),
    "negative counters": ("counters", lambda a: a - 10_000),
    "fewer labels": ("short_labels", lambda a: a[:-1].copy()),
    "fewer features": ("long_X", lambda a: a[:-1].copy()),
    "another type": ("short_arrivals", lambda a: a.astype(np.float64)),
    "more votes": ("hits", lambda a: np.tile(a, (50, 1))),
}


@pytest.mark.parametrize(("name", "change"), VALUES.values(), ids=VALUES)
def test_arrays_that_are_invalid(saved_stream, changes, name, change, load_fails):
    change_array(changes(saved_stream), f"model/memories/{name}", change)
    load_fails(saved_stream, "cannot be loaded: (its|in its) ")


METRICS = {
    "NaN": ("metric_/center", lambda a: a * np.nan),
    "fewer features": ("metric_/slopes", lambda a: a[:-1].copy()),
    "fewer bins": ("metric_/features", lambda a: a[:, :, :-1].copy()),
    "another type": ("metric_/schedule", lambda a: a.astype(np.float64)),
    "infinite extras": ("memories/short_extras", lambda a: a + np.inf),
}


@pytest.mark.parametrize(("name", "change"), METRICS.values(), ids=METRICS)
def test_metrics_that_are_invalid(tmp_path, changes, name, change, load_fails):
    path = tmp_path / "metric.lann"
    save(SAMLANN(**SMALL).partial_fit(*rows_with_drift(200)), path)
    change_array(changes(path), f"model/{name}", change)
    load_fails(path, "cannot be loaded: (its|in its) ")


def test_a_large_window_takes_no_memory_before_it_is_used(saved_stream, changes):
    """Sizes are those that the file says, but rows take their space when they come."""
    changed = changes(saved_stream)
    changed.fitted["limits_"]["total"] = 150
    changed.parameters["window_size"] = 10**9
    loaded = load(changed.write())
    assert loaded.window_size == 10**9
    assert loaded.memories_.short_X.shape[1] < 1000
