import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from benchmarks.streams.benchmark import Streams, StreamsOptions

pytest.importorskip("river")

METHODS = ("--method", "no-change", "--method", "hat", "--method", "samknn")


class SignOfTheFirst(BaseEstimator):
    """Predicts class 1 where the first feature is positive, in place of a classifier that is compiled."""

    def test_then_train(self, X, y):
        self.classes_ = np.unique(y)
        return np.where(X[:, :1] > 0, [[0.1, 0.9]], [[0.9, 0.1]])


def test_the_command_measures_writes_and_resumes(command, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.streams.methods._ours", lambda name: SignOfTheFirst())
    files = ("--json", tmp_path / "s.json", "--markdown", tmp_path / "s.md")
    choice = (*METHODS, "--only", "streams", "--baseline-rows", 1000)
    done = command("streams", *choice, *files)
    assert done.code == 0, done.stderr
    records = json.loads((tmp_path / "s.json").read_text())
    figures = {(r["method"], r["data_set"]): r for r in records if r["kind"] == "figure"}
    assert len(figures) == 6
    assert figures["hat", "sea"]["scores"]["n_rows"]["mean"] == 1000
    assert figures["samknn", "sea"]["scores"]["n_rows"]["mean"] == 1300
    assert figures["samknn", "sea"]["mean"] > figures["no-change", "sea"]["mean"]
    document = (tmp_path / "s.md").read_text()
    assert "## Accuracy, first 1000 rows" in document
    assert "## Accuracy, whole streams, at most 200000 rows" in document
    assert "Without covtype: needs streams/covtype.csv.gz" in " ".join(done.stdout.split())
    again = command("streams", *choice)
    assert again.code == 0
    assert "accuracy 0." in done.stderr
    assert "accuracy 0." not in again.stderr


def test_limits_of_rows(folder):
    benchmark = Streams(StreamsOptions(only=("streams",), rows=1200, baseline_rows=1000))
    limits = {job.method: job.fingerprint["rows"] for job in benchmark.jobs() if job.fingerprint}
    assert limits["samknn"] == limits["no-change"] == 1200
    assert limits["arf"] == limits["srp"] == 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "iris"), "There is no stream 'iris'; the streams are keystroke,"),
        (("--method", "tree"), "There is no method 'tree'; the methods are no-change,"),
        (("--baseline-rows", 1500), "--baseline-rows must be a multiple of 1000; got 1500."),
    ],
)
def test_wrong_input_is_one_sentence(command, folder, arguments, message):
    done = command("streams", *arguments)
    assert done.code == 2
    assert done.stderr.startswith(message)


def test_without_river_its_methods_are_skipped(folder, monkeypatch):
    monkeypatch.setattr("benchmarks.streams.methods.find_spec", lambda name: None)
    benchmark = Streams(StreamsOptions())
    assert "arf" not in benchmark.plan.method_names
    assert benchmark.skipped["arf"].startswith("needs the package river")
