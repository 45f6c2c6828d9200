import json
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.common.datasets import DataSet
from benchmarks.streams import memory, speed
from benchmarks.streams.memory_process import DRIFT_EVERY, batches, main


def test_the_small_window_has_many_rows_without_the_constant_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 19))
    X[:, 2] = 9.0
    rows, labels = speed.make_rows(DataSet("image-segmentation", X, np.arange(700) % 7, ""))
    assert rows.shape == (speed.N_ROWS, 18)
    assert labels.shape == (speed.N_ROWS,)
    assert np.all(rows.std(axis=0) > 0)
    np.testing.assert_array_equal(rows[:700], rows[700:1400])


def test_both_sides_are_timed(monkeypatch):
    pytest.importorskip("river")
    monkeypatch.setattr(speed, "N_ROWS", 300)
    X = np.random.default_rng(0).normal(size=(300, 19))
    found = speed.time_small_window(DataSet("image-segmentation", X, (X[:, 0] > 0).astype(int), ""), 1)
    assert set(found) == {"samknn", "river's KNNClassifier"}
    assert all(values["rows_per_second"] > 0 for values in found.values())


def test_long_streams_have_drifts():
    parts = list(batches(DRIFT_EVERY + 1500))
    assert sum(len(y) for _, y in parts) == DRIFT_EVERY + 1500
    means = [X[y == 0].mean(axis=0) for X, y in parts]
    assert np.abs(means[0] - means[1]).max() < 0.3
    assert np.abs(means[0] - means[-1]).max() > 0.3


def test_the_process_prints_its_memory(capsys):
    main(400)
    found = json.loads(capsys.readouterr().out)
    assert found["megabytes"] > 10
    assert found["accuracy"] > 0.5


def test_memory_is_that_of_the_process(monkeypatch):
    text = json.dumps({"megabytes": 123.4, "accuracy": 0.9, "rows_per_second": 1000.0})
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=text))
    assert memory.measure_memory(1000)["samknn"]["megabytes"] == 123.4
