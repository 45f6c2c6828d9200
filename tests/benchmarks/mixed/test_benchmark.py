import json

import pytest

from benchmarks.mixed.benchmark import Mixed, MixedOptions
from benchmarks.mixed.methods import METHODS

CHOICE = ("--method", "knn", "--method", "boosting", "--splits", 2, "--jobs", 1)


def test_the_command_measures_writes_and_resumes(command, folder, tmp_path):
    files = ("--json", tmp_path / "n.json", "--markdown", tmp_path / "n.md")
    done = command("mixed", *CHOICE, "--details", *files)
    assert done.code == 0, done.stderr
    records = json.loads((tmp_path / "n.json").read_text())
    figures = {(r["method"], r["data_set"]): r for r in records if r["kind"] == "figure"}
    assert set(figures) == {(m, name) for m in ("knn", "boosting") for name in ("eucalyptus", "titanic")}
    document = (tmp_path / "n.md").read_text()
    for figure in figures.values():
        assert 0.4 < figure["mean"] <= 1
        assert figure["n_repeats"] == 2
        assert 0.5 < figure["scores"]["roc_auc"]["mean"] <= 1
        assert f"{figure['mean']:.3f} ± ".removeprefix("0") in document
    assert "Without adult: needs mixed/adult.csv.gz" in " ".join(done.stdout.split())
    assert len([record for record in records if record["kind"] == "check"]) == 7
    assert "## Ranks and wins" in document
    assert "### Balanced accuracy" in document
    again = command("mixed", *CHOICE)
    assert again.code == 0
    assert "accuracy 0." in done.stderr
    assert "accuracy 0." not in again.stderr


def test_all_methods_have_their_first_split_before_any_has_its_second(folder):
    benchmark = Mixed(MixedOptions(method=("forest", "lann"), splits=2))
    jobs = [(job.repeat, job.data_set, job.method) for job in benchmark.jobs()]
    assert jobs == [
        (split, name, method)
        for split in (0, 1)
        for name in ("eucalyptus", "titanic")
        for method in ("forest", "lann")
    ]
    warm_ups = benchmark.warm_ups(list(benchmark.jobs()))
    assert list(warm_ups) == ["forest", "lann"]
    warm_ups["forest"]()


def test_other_data_and_other_estimators_are_other_measurements(folder):
    jobs = list(Mixed(MixedOptions(method=("forest", "knn"), splits=1)).jobs())
    fingerprints = {str(job.fingerprint) for job in jobs}
    assert len(fingerprints) == len(jobs) == 4


def test_by_default_all_methods_are_compared(folder, monkeypatch):
    assert Mixed(MixedOptions(quick=True)).plan.n_splits == 1
    monkeypatch.setattr("benchmarks.common.methods.method.find_spec", lambda name: None)
    benchmark = Mixed(MixedOptions())
    assert benchmark.plan.method_names == [m.name for m in METHODS if m.needs is None]
    assert benchmark.skipped["catboost"].startswith("needs catboost, which is not installed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "iris"), "There is no data set 'iris'; the data sets are adult, bank-marketing,"),
        (("--method", "tree"), "There is no method 'tree'; the methods are knn, forest, lann-onehot,"),
        (("--splits", 11), "--splits must be from 1 to 10; got 11."),
    ],
)
def test_wrong_input_is_one_sentence(command, folder, arguments, message):
    done = command("mixed", *arguments)
    assert done.code == 2
    assert done.stderr.startswith(message)


def test_without_files_there_is_nothing_to_measure(command, monkeypatch):
    monkeypatch.delenv("LANN_DATA", raising=False)
    done = command("mixed")
    assert done.code == 2
    assert done.stderr.startswith("No data set could be loaded: adult needs mixed/adult.csv.gz")
