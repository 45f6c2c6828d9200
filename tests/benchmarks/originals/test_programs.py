import json
import sys

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.originals.programs import measure, run


@pytest.fixture
def split(tmp_path, blobs):
    X, y = blobs
    np.savez(tmp_path / "toy.npz", X_train=X[::2], y_train=y[::2], X_test=X[1::2], y_test=y[1::2])
    return tmp_path / "toy.npz"


def test_a_split_is_fitted_and_scored(split, blobs):
    X, y = blobs
    expected = KNeighborsClassifier(3).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    measured = measure(KNeighborsClassifier(3), split)
    assert measured["accuracy"] == expected
    assert set(measured) == {"accuracy", "fit_seconds", "fit_cpu_seconds", "predict_seconds"}


def test_an_error_is_a_failure(split):
    assert measure(KNeighborsClassifier(999), split)["failure"].startswith("ValueError: ")


def test_the_command_prints_a_line_for_each_split(split, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["programs.py", "knn", str(split.parent), "--seed", "3", "--n-jobs", "2"]
    )
    made = []
    run({"knn": lambda n_jobs, seed: made.append((n_jobs, seed)) or KNeighborsClassifier(3)})
    line = json.loads(capsys.readouterr().out)
    assert (line["method"], line["split"]) == ("knn", "toy")
    assert set(made) == {(2, 3)}
