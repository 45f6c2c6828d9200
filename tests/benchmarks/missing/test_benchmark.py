import json

import pytest

from benchmarks.missing.benchmark import Missing, MissingOptions
from benchmarks.missing.plan import COMPLETE, INFORMATIVE, RANDOM

CHOICE = ("--method", "forest", "--method", "boosting", "--splits", 1, "--jobs", 1)
DATA = ("--data", "wine", "--data", "house-votes-84", "--data", "planted-gaps")


def test_the_command_measures_writes_and_resumes(command, folder, tmp_path):
    files = ("--json", tmp_path / "m.json", "--markdown", tmp_path / "m.md")
    done = command("missing", *CHOICE, *DATA, *files)
    assert done.code == 0, done.stderr
    records = json.loads((tmp_path / "m.json").read_text())
    figures = {(r["part"], r["method"], r["data_set"]): r for r in records if r["kind"] == "figure"}
    assert set(figures) == {
        (part, method, name)
        for part, name in (
            (RANDOM, "wine"),
            (COMPLETE, "wine"),
            (INFORMATIVE, "house-votes-84"),
            (INFORMATIVE, "planted-gaps"),
        )
        for method in ("forest", "boosting")
    }
    document = (tmp_path / "m.md").read_text()
    for figure in figures.values():
        assert 0.5 < figure["mean"] <= 1
        assert f"{figure['mean']:.3f} ± .000".removeprefix("0") in document
    assert len([record for record in records if record["kind"] == "check"]) == 6
    again = command("missing", *CHOICE, *DATA)
    assert again.code == 0
    assert "accuracy 0." in done.stderr
    assert "accuracy 0." not in again.stderr


def test_imputation_is_not_measured_on_complete_data(folder):
    jobs = list(Missing(MissingOptions(data=("wine",), splits=2)).jobs())
    assert {job.method for job in jobs if job.part == RANDOM} == {"forest", "lann-median", "boosting", "lann"}
    assert {job.method for job in jobs if job.part == COMPLETE} == {"forest", "boosting", "lann"}
    assert [job.repeat for job in jobs if (job.part, job.method) == (RANDOM, "lann")] == [0, 1]


@pytest.mark.parametrize(
    ("part", "measured"), [("random", {RANDOM, COMPLETE}), ("informative", {INFORMATIVE})]
)
def test_a_part_alone(folder, part, measured):
    options = MissingOptions(only=(part,), data=("wine", "house-votes-84", "planted-gaps"))
    assert {job.part for job in Missing(options).jobs()} == measured


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "adult"), "There is no data set 'adult'; the data sets are artificial-classification,"),
        (("--method", "tree"), "There is no method 'tree'; the methods are forest, lann-median,"),
        (("--data", "wine", "--only", "informative"), "No data set could be loaded: no data set belongs"),
    ],
)
def test_wrong_input_is_one_sentence(command, folder, arguments, message):
    done = command("missing", *arguments)
    assert done.code == 2
    assert done.stderr.startswith(message)


def test_without_the_file_votes_are_left_out(monkeypatch):
    monkeypatch.delenv("LANN_DATA", raising=False)
    benchmark = Missing(MissingOptions(only=("informative",)))
    assert benchmark.plans[INFORMATIVE].data_sets == ["planted-gaps"]
    assert benchmark.skipped["house-votes-84"].startswith("needs mixed/house-votes-84.csv.gz")
