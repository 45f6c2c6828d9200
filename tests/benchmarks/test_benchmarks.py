"""One small run of every benchmark, and the harness that runs them."""

import argparse
import json
import math
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import harness
from benchmarks.explanations import actions
from benchmarks.harness import Benchmark, Job, Report, Table, share


@pytest.fixture
def command(tmp_path, capsys, monkeypatch):
    """Run `python -m benchmarks`; return the exit code, what is printed, and the values by cell."""
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")  # set by the command: restored after the test

    def run(*arguments):
        file = tmp_path / "values.json"
        files = (
            ["--results", str(tmp_path / "results"), "--json", str(file)] if arguments[0][:1] != "-" else []
        )
        code = harness.main([*arguments, *files])
        printed = capsys.readouterr()
        records = json.loads(file.read_text()) if file.is_file() else []
        values = {(r["part"], r["method"], r["data"]): r for r in records if "repeat" in r}
        failures = [record["failure"] for record in records if "failure" in record]
        return SimpleNamespace(code=code, out=printed.out, err=printed.err, values=values, failures=failures)

    return run


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """A folder with a small table and a small stream, as LANN_DATA."""
    rng = np.random.default_rng(0)
    target = np.where(rng.random(1200) < 0.5, "a", "b")
    x = rng.normal(size=1200) + (target == "a")
    level = np.where(rng.random(1200) < 0.3, "u", "v")
    for name, more in (
        ("mixed/crx", {"level": level}),
        ("streams/electricity", {"y": rng.normal(size=1200)}),
    ):
        path = tmp_path / f"{name}.csv.gz"
        path.parent.mkdir()
        table = pd.DataFrame({"x": x.round(3), **more, "target": target})
        table[: 200 if "crx" in name else None].to_csv(path, index=False)
    (tmp_path / "mixed" / "columns.json").write_text(json.dumps({"crx": {"categorical": ["level"]}}))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))


class Toy(Benchmark):
    """Two methods, of which the second can fail."""

    parts = ("one", "slow")
    slow_parts = ("slow",)
    quick = "one part."
    n_runs = 0

    def jobs(self):
        for repeat in range(2):
            for method in ("good", "bad"):
                yield Job("one", method, "x", repeat, lambda m=method, r=repeat: self.measure(m, r), key="k")

    def measure(self, method, repeat):
        type(self).n_runs += 1
        if method == "bad" and repeat == 1:
            raise ValueError("does not work")
        return {method: {"accuracy": 0.5 + 0.1 * repeat}}

    def report(self, results):
        return Report(
            "How.", [Table("T", ("", "x"), [("good", share(results.mean("one", "good", "x", "accuracy")))])]
        )


@pytest.fixture
def toy(tmp_path):
    def make(**options):
        given = {"only": None, "quick": False, "fresh": False, **options}
        kind = type("FreshToy", (Toy,), {"n_runs": 0})
        return kind(argparse.Namespace(**given)), tmp_path / "toy.jsonl"

    return make


def test_measurements_are_stored_and_reused_but_failures_are_not(toy):
    benchmark, store = toy()
    results = harness.run_jobs(benchmark, store)
    assert benchmark.n_runs == 4
    assert results.mean("one", "good", "x", "accuracy") == pytest.approx(0.55)
    assert math.isnan(results.mean("one", "bad", "x", "accuracy"))
    assert results.notes() == ["bad failed on x: does not work"]
    again, _ = toy()
    harness.run_jobs(again, store)
    assert again.n_runs == 1
    fresh, _ = toy(fresh=True)
    harness.run_jobs(fresh, store)
    assert fresh.n_runs == 4


def test_all_benchmarks_are_listed(command):
    out = command("--list").out
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert {"paper", "speed", "streams"} < set(listed)
    assert all(len(line.split()) > 5 for line in out.splitlines() if line.startswith("  "))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "There is no benchmark 'nothing'"),
        (["paper", "--method", "none"], "There is no method 'none'"),
        (["streams", "--baseline-rows", "1500"], "--baseline-rows must be a multiple of 1000; got 1500."),
    ],
)
def test_invalid_input_is_one_sentence(command, arguments, message):
    done = command(*arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


@pytest.mark.slow
def test_paper(command, tmp_path):
    page = tmp_path / "page.md"
    options = ["--data", "iris", "--data", "wine", "--method", "lann", "--method", "knn", "--splits", "2"]
    done = command("paper", *options, "--details", "--markdown", str(page))
    assert done.code == 0
    assert set(done.values) == {("splits", m, d) for m in ("lann", "knn") for d in ("iris", "wine")}
    assert all(
        v["accuracy"] > 0.85 and v["log_loss"] < 9 and v["fit_seconds"] > 0 for v in done.values.values()
    )
    assert "## Accuracy\n\n| accuracy | iris | wine | mean |" in page.read_text("utf-8")
    assert "published LANN" in done.out
    again = command("paper", *options)
    assert "8 measurements of earlier runs are reused." in again.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noisy", "mixed"])
def test_tables_of_files(command, data_folder, name):
    methods = {"noisy": ("forest", "lann"), "mixed": ("lann-onehot", "lann", "catboost")}[name]
    done = command(name, "--data", "crx", "--splits", "1", *(f"--method={method}" for method in methods))
    assert done.code == 0
    assert [v["accuracy"] > 0.5 and 0 < v["ece"] < 1 for v in done.values.values()] == [True] * len(methods)
    assert ("Votes" in done.out, "Ranks" in done.out) == (name == "noisy", name == "mixed")


@pytest.mark.slow
def test_missing(command):
    done = command("missing", "--data", "wine", "--data", "planted-gaps", "--splits", "1", "--method", "lann")
    assert set(done.values) == {
        ("random", "lann", "wine"), ("complete", "lann", "wine"), ("informative", "lann", "planted-gaps")
    }  # fmt: skip
    # Accuracies on few rows can be equal; probabilities are worse without a fifth of the cells.
    losses = [done.values[part, "lann", "wine"]["log_loss"] for part in ("complete", "random")]
    assert losses[0] < losses[1]
    assert "Best possible accuracy on planted-gaps: .818" in done.out


@pytest.mark.slow
def test_reject(command, monkeypatch):
    monkeypatch.setattr("benchmarks.reject.OTHER_SETS", ("iris", "wine"))
    done = command("reject", "--data", "iris", "--splits", "1", "--method", "lann")
    values = done.values["splits", "lann", "iris"]
    assert 0 <= values["aurc_combined"] < values["error"] < 0.2
    assert values["far_all_outside_5"] == 1.0


@pytest.mark.slow
def test_streams(command, data_folder):
    methods = ["--method=majority", "--method=samknn"]
    done = command(
        "streams", "--only", "streams", "--data", "electricity", "--baseline-rows", "1000", *methods
    )
    ours, majority = (done.values["streams", m, "electricity"] for m in ("samknn", "majority"))
    assert ours["accuracy"] > majority["accuracy"]
    assert set(ours["at"]) == {"1000", "1200"}
    assert "Means over 1 streams, first 1000 rows" in done.out


@pytest.mark.slow
def test_speed(command):
    done = command("speed", "--only", "predict", "--repeats", "1")
    (values,) = done.values.values()
    assert values["figure"] == pytest.approx(values["other_seconds"] / values["seconds"])


@pytest.mark.slow
def test_start(command):
    done = command("start", "--only", "commands", "--repeats", "1")
    assert len(done.values) == 4
    assert all(0.0 < values["ours"] < 120.0 for values in done.values.values())


@pytest.mark.slow
def test_soak(command):
    done = command("soak", "--minutes", "0.01", "--threads", "2", "--call", "predict", "--call", "kneighbors")
    (values,) = done.values.values()
    assert (done.code, values["n_faults"]) == (0, 0)
    assert set(values["counts"]) <= {"predict", "kneighbors"}
    assert values["n_calls"] > 0


@pytest.mark.slow
def test_originals(command, tmp_path, monkeypatch):
    from benchmarks.originals import benchmark

    # The old programs are not installed here: their side fails, and ours is measured.
    monkeypatch.setattr(benchmark, "python_of", lambda folder: sys.executable)
    monkeypatch.setattr(benchmark, "make_environment", lambda folder: None)
    folder = str(tmp_path / "environment")
    done = command(
        "originals", "--data", "iris", "--method", "sklvq-gmlvq", "--splits", "1", "--environment", folder
    )
    assert done.values["ours", "gmlvq beside sklvq-gmlvq", "iris"]["accuracy"] > 0.9
    assert done.failures == ["ended with code 1: ModuleNotFoundError: No module named 'sklvq'"]


@pytest.mark.slow
def test_scale(command):
    methods = ["--method=lann", "--method=faiss-hnsw", "--method=forest"]
    done = command("scale", "--quick", "--rows", "10000", "--features", "20", *methods)
    assert not done.failures
    ours = done.values["rows", "lann", "10000 × 20"]
    assert ours["recall"] > 0.99
    assert 0 < ours["above_gb"] < ours["peak_gb"]
    assert done.values["rows", "faiss-hnsw", "10000 × 20"]["list_seconds"] > 0
    assert done.values["wide", "lann", "60 × 1000"]["accuracy"] > 0.8


@pytest.mark.slow
def test_explanations(command):
    done = command("explanations", "--quick", "--seeds", "1", "--method", "lann", "--method", "tree-shap")
    assert not done.failures
    parts = {part for part, _, _ in done.values}
    assert parts >= {"planted", "kinds", "models", "categories", "cities", "permuted", "real", "faithfulness"}
    assert parts >= {"answers", "curves", "cost", "first call", "fresh"}
    assert done.values["planted", "lann", "planted, 12 features"]["auc"] > 0.97
    assert done.values["faithfulness", "lann", "breast-cancer"]["rank"] > 0.95


@pytest.mark.slow
def test_embeddings(command):
    done = command("embeddings", "--quick", "--only", "licorice")
    assert not done.failures
    ours, umap = (done.values["licorice", method, "licorice"] for method in ("LANN", "UMAP"))
    assert ours["held_out_accuracy"] > umap["held_out_accuracy"]


@pytest.mark.slow
def test_actions(command, data_folder, monkeypatch):
    monkeypatch.setitem(actions.CHANGED_TABLES, "crx", ((), {"x": "up"}))
    done = command("explanations", "--quick", "--only", "counterfactuals", "--only", "suspects")
    assert (done.code, done.failures) == (0, [])
    changes = {method: done.values["counterfactuals", method, "crx"] for method in ("lann", *actions.DICE)}
    assert changes["lann"]["valid"] == changes["lann"]["kept"] == 1.0
    assert len(changes["lann"]["plausible_rows"]) == 5
    assert max(changes[method]["found"] for method in actions.DICE) > 0
    suspects = {method: done.values["suspects", method, "crx, 20%"] for method in ("lann", "cleanlab")}
    assert all(0.2 < values["ap"] < 1 and 0 < values["recall"] <= 1 for values in suspects.values())
    assert "Counterfactuals, mean" in done.out
