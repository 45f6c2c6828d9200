"""SAMKNN on streams: state, classes that appear later, missing values, drift, bounded memory."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from lann.streams import SAMKNN, MemoryReset
from lann.streams._memory import N_BEFORE, N_LONG, START, STOP


def make_stream(n_rows=700, *, gaps=0.0, seed=0):
    """Return rows of three classes by name; the third appears in the middle, with a drift."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    late = np.arange(n_rows) > n_rows // 2
    y = np.array(["b", "c", "a"])[(X[:, 0] > 0).astype(int) + (late & (X[:, 1] > 0))]
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def in_order_of(classes, clf, probabilities):
    """Return probabilities by the columns of more classes."""
    full = np.zeros(len(classes))
    full[np.searchsorted(classes, clf.classes_)] = probabilities
    return full


def assert_same_state(mine, other):
    """Compare the columns that are in use, and whatever else there is."""
    np.testing.assert_array_equal(mine.counters, other.counters)
    start, stop, n_long, n_before = mine.counters[[START, STOP, N_LONG, N_BEFORE]]
    used = {"short": slice(start, stop), "long": slice(n_long), "before": slice(n_before)}
    for name, values in vars(mine).items():
        others = getattr(other, name)
        columns = used.get(name.split("_")[0], slice(None))
        np.testing.assert_array_equal(values[..., columns], others[..., columns], err_msg=name)


@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_one_pass_equals_row_by_row_to_the_bit(gaps):
    X, y = make_stream(gaps=gaps)
    fused = SAMKNN(window_size=120, random_state=0)
    probabilities = fused.test_then_train(X, y)
    single = SAMKNN(window_size=120, random_state=0)
    for row in range(len(X)):
        if row:
            found = single.predict_proba(X[row : row + 1])[0]
            np.testing.assert_array_equal(in_order_of(fused.classes_, single, found), probabilities[row])
        single.partial_fit(X[row : row + 1], y[row : row + 1])
    batches = SAMKNN(window_size=120, random_state=0)
    for start in range(0, len(X), 97):
        batches.partial_fit(X[start : start + 97], y[start : start + 97])
    for other in (single, batches, clone(fused).fit(X, y)):
        assert_same_state(fused.memories_, other.memories_)


def test_a_pickled_model_continues_with_the_same_bits():
    X, y = make_stream()
    whole, first = (SAMKNN(window_size=150, random_state=3) for _ in range(2))
    expected = whole.test_then_train(X, y)[400:]
    first.partial_fit(X[:400], y[:400])
    again = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(again.test_then_train(X[400:], y[400:]), expected)


def test_a_model_in_a_mapped_file_can_learn(tmp_path):
    X, y = make_stream(300)
    clf = SAMKNN(random_state=0).fit(X[:200], y[:200])
    joblib.dump(clf, tmp_path / "model")
    again = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(
        again.partial_fit(X[200:], y[200:]).predict_proba(X),
        clf.partial_fit(X[200:], y[200:]).predict_proba(X),
    )


def test_classes_that_appear_later():
    X, y = make_stream()
    clf = SAMKNN(random_state=0)
    probabilities = clf.test_then_train(X, y)
    assert clf.classes_.tolist() == ["a", "b", "c"]
    seen = np.array([np.logical_or.accumulate(y == label) for label in clf.classes_]).T
    np.testing.assert_array_equal(probabilities[1:] > 0, seen[:-1])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(probabilities[0], 1 / 3)
    announced = SAMKNN(random_state=0).test_then_train(X, y, classes=["a", "b", "c"])
    assert (announced > 0).all()
    np.testing.assert_array_equal(announced.argmax(axis=1)[400:], probabilities.argmax(axis=1)[400:])


def test_one_class_so_far():
    clf = SAMKNN().partial_fit([[0.0], [1.0]], [7, 7])
    assert clf.predict_proba([[5.0]]).tolist() == [[1.0]]
    clf.partial_fit([[0.0]], [3])
    assert clf.classes_.tolist() == [3, 7]
    probabilities = clf.predict_proba([[0.0], [1.0]])
    assert (probabilities > 0).all()
    assert clf.predict([[1.0]]).tolist() == [7]


def test_labels_of_another_type_raise():
    clf = SAMKNN().partial_fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="labels of another type, such as 1"):
        clf.partial_fit([[0.0]], [1])
    assert clf.n_seen_ == 2
    with pytest.raises(ValueError, match="labels of another type, such as 'c', than the classes"):
        clf.partial_fit([[0.0]], ["c"], classes=[1, 2])
    assert clf.classes_.tolist() == ["a", "b"]


def test_the_memory_is_reset_by_a_drift_and_grows_again():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(3000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    y[2000:] = 1 - y[2000:]
    clf = SAMKNN(random_state=0)
    hits = clf.test_then_train(X, y).argmax(axis=1) == y
    assert clf.n_resets_ == len(clf.resets_)
    assert all(isinstance(reset, MemoryReset) for reset in clf.resets_)
    reset = next(reset for reset in clf.resets_ if reset.row >= 2000)
    assert reset.row < 2150
    assert reset.size_before > 2 * reset.size_after
    assert reset.size_after < 150
    last = clf.resets_[-1]
    assert clf.short_term_size_ == last.size_after + 3000 - 1 - last.row
    assert hits[1000:2000].mean() > 0.98
    assert hits[2200:].mean() > 0.95


def test_rows_of_before_come_back_from_the_long_term_memory():
    # Two concepts on different parts of the plane take turns: the long-term memory keeps the other one.
    rng = np.random.default_rng(0)
    turn = np.arange(6000) // 1000 % 2
    X = rng.uniform(size=(6000, 2)) + 2.0 * turn[:, None]
    y = np.where(turn == 0, X[:, 0] > 0.5, X[:, 1] > 2.5).astype(int)
    clf = SAMKNN(random_state=0)
    hits = clf.test_then_train(X, y).argmax(axis=1) == y
    assert hits[3000:3030].mean() > 0.9
    assert hits[2000:].mean() > 0.97


def test_only_the_last_resets_are_kept():
    rng = np.random.default_rng(0)
    n_rows = 30_000
    X, y = rng.normal(size=(n_rows, 1)), rng.integers(0, 2, n_rows)
    clf = SAMKNN(window_size=60, min_window_size=6, n_neighbors=1, random_state=0)
    clf.partial_fit(X, y)
    assert clf.n_resets_ > 1000
    assert len(clf.resets_) == 1000
    rows = [reset.row for reset in clf.resets_]
    assert rows == sorted(rows)
    assert rows[-1] > n_rows - 200


def test_invalid_use():
    with pytest.raises(NotFittedError):
        SAMKNN().predict_proba([[1.0]])
    with pytest.raises(NotFittedError):
        SAMKNN().explain_one([1.0])
    clf = SAMKNN().partial_fit([[0.0, 1.0]], [0])
    with pytest.raises(ValueError, match="'x1' are too large to be squared"):
        clf.partial_fit([[0.0, 1e200]], [0])
    with pytest.raises(ValueError, match="window_size must be an integer of at least 10; got 3"):
        SAMKNN(window_size=3).partial_fit([[0.0]], [0])
    assert clf.n_seen_ == 1


def test_whole_numbers_stay_whole_numbers():
    X, _ = make_stream(40)
    clf = SAMKNN().fit(X[:20], np.arange(20) % 2)
    clf.partial_fit(X[20:], np.arange(20) % 3.0)
    assert clf.classes_.dtype == np.int64
    assert clf.classes_.tolist() == [0, 1, 2]
    clf = SAMKNN().partial_fit(X[:20], np.arange(20) % 2.0, classes=[0, 1, 2])
    assert clf.classes_.dtype == np.int64
    clf = SAMKNN().partial_fit(X[:20], np.arange(20) % 2, classes=[])
    assert clf.classes_.dtype == np.int64
    with pytest.raises(
        ValueError, match=r"labels of another type, such as 2, than the classes \[False, True\]"
    ):
        SAMKNN().fit(X[:4], [True, False] * 2).partial_fit(X[:1], [2])
