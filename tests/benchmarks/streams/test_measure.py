import numpy as np
import pytest

from benchmarks.streams.data import Stream, find_streams, read_stream
from benchmarks.streams.measure import measure_stream, run_river, scores_at
from benchmarks.streams.methods import METHODS
from benchmarks.streams.own_run import run_own

X = np.random.default_rng(0).normal(size=(2300, 2))
Y = np.repeat([0, 1], 1150)


def test_streams_are_read_in_order(folder):
    files, skipped = find_streams(["sea", "outdoor", "covtype"])
    assert set(files) == {"sea", "outdoor"}
    assert skipped["covtype"].startswith("needs streams/covtype.csv.gz in the folder named by LANN_DATA")
    stream = read_stream("sea", files["sea"])
    assert stream.X.shape == (1300, 3)
    assert stream.n_classes == 2
    assert np.mean((stream.X[:, 0] > 0) == (stream.y == 1)) > 0.8  # UP comes after DOWN
    assert len(stream.first(100).y) == 100
    assert stream.first(5000) is stream


def test_no_change_and_majority_are_what_they_say():
    pytest.importorskip("river")
    makers = {method.name: method.make for method in METHODS}
    record = run_river(makers["no-change"](), X, Y)
    np.testing.assert_array_equal(record.predicted, [-1, *Y[:-1]])
    np.testing.assert_array_equal(record.true_probability, np.r_[0, Y[1:] == Y[:-1]])
    record = run_river(makers["majority"](), X[:1200], Y[:1200])
    np.testing.assert_array_equal(record.predicted, [-1, *[0] * 1199])
    assert record.true_probability[1150] == 0.0
    assert record.true_probability[1151] == pytest.approx(1 / 1151)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_learns(method):
    if method.missing is not None:
        pytest.skip(method.missing)
    y = (X[:300, 0] > 0).astype(int)
    record = method.run(method.make(), X[:300], y)
    assert record.predicted[0] == -1
    assert record.true_probability[0] == 0
    assert np.all((record.true_probability >= 0) & (record.true_probability <= 1 + 1e-9))
    if method.name not in ("no-change", "majority"):
        assert np.mean(record.predicted[100:] == y[100:]) > 0.65


def test_scores_are_stored_along_the_stream():
    class LastClass:
        """Predicts class 0."""

        classes_ = np.array([0, 1])

        def test_then_train(self, X, y):
            return np.tile([0.75, 0.25], (len(y), 1))

    values = measure_stream(LastClass(), Stream("s", X, Y, 2, ""), run_own)
    assert list(values["at"]) == ["1000", "2000", "2300"]
    assert scores_at(values, 1000)["accuracy"] == 0.999
    assert scores_at(values, 2000)["accuracy"] == 1149 / 2000
    assert scores_at(values, 10_000)["accuracy"] == values["accuracy"] == 1149 / 2300
    assert scores_at(values, 1500) is None
    assert scores_at(None, 1000) is None
    assert values["rows_per_second"] == pytest.approx(2300 / values["seconds"])
