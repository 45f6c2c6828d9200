import json

import pytest

from benchmarks.noisy.benchmark import Noisy, NoisyOptions


def test_slow_methods_come_last_and_are_not_in_quick_runs(folder):
    pytest.importorskip("interpret")
    benchmark = Noisy(NoisyOptions(method=("forest", "ebm"), splits=2))
    jobs = [(job.method, job.repeat, job.data_set) for job in benchmark.jobs()]
    assert jobs == [
        (method, split, name)
        for method in ("forest", "ebm")
        for split in (0, 1)
        for name in ("titanic", "sea")
    ]
    assert "ebm" not in Noisy(NoisyOptions(quick=True)).plan.method_names
    assert "ebm" not in benchmark.warm_ups(list(benchmark.jobs()))


def test_the_command_measures_writes_and_resumes(command, folder, tmp_path):
    files = ("--json", tmp_path / "n.json", "--markdown", tmp_path / "n.md")
    choice = ("--method", "knn", "--method", "lann", "--splits", 1, "--jobs", 1)
    done = command("noisy", *choice, "--details", *files)
    assert done.code == 0, done.stderr
    records = json.loads((tmp_path / "n.json").read_text())
    figures = {(r["method"], r["data_set"]): r for r in records if r["kind"] == "figure"}
    assert set(figures) == {(method, name) for method in ("knn", "lann") for name in ("titanic", "sea")}
    document = (tmp_path / "n.md").read_text()
    for figure in figures.values():
        assert 0.5 < figure["mean"] <= 1
        assert f"{figure['mean']:.3f} ± .000".removeprefix("0") in document
    votes = [record for record in records if record["kind"] == "vote"]
    assert [record["method"] for record in votes] == ["lann", "lann"]
    assert all(record["vote"].startswith("k=") for record in votes)
    assert "Without adult: needs mixed/adult.csv.gz" in " ".join(done.stdout.split())
    assert len([record for record in records if record["kind"] == "check"]) == 5
    assert "Brier score as returned" in done.stdout
    again = command("noisy", *choice)
    assert again.code == 0
    assert "accuracy 0." in done.stderr
    assert "accuracy 0." not in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "iris"), "There is no data set 'iris'; the data sets are adult, bank-marketing,"),
        (("--method", "tree"), "There is no method 'tree'; the methods are knn,"),
        (("--splits", 11), "--splits must be from 1 to 10; got 11."),
    ],
)
def test_wrong_input_is_one_sentence(command, folder, arguments, message):
    done = command("noisy", *arguments)
    assert done.code == 2
    assert done.stderr.startswith(message)


def test_without_files_there_is_nothing_to_measure(command, monkeypatch):
    monkeypatch.delenv("LANN_DATA", raising=False)
    done = command("noisy")
    assert done.code == 2
    assert done.stderr.startswith("No data set could be loaded: adult needs mixed/adult.csv.gz")


def test_a_method_without_its_package_is_skipped(folder, monkeypatch):
    monkeypatch.setattr("benchmarks.common.methods.method.find_spec", lambda name: None)
    benchmark = Noisy(NoisyOptions())
    assert benchmark.plan.method_names == ["knn-cv", "forest", "boosting", "lann"]
    assert benchmark.skipped["catboost"].startswith("needs catboost, which is not installed")
