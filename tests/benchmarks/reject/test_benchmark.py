import json

import pytest

from benchmarks.reject.benchmark import Reject, RejectOptions
from benchmarks.reject.plan import PART
from benchmarks.reject.tables import make_tables

CHOICE = ("--method", "forest", "--data", "iris", "--splits", 1, "--jobs", 1)


@pytest.fixture(autouse=True)
def bundled_sets(monkeypatch):
    """Take rows of data sets that need no file."""
    monkeypatch.setattr("benchmarks.reject.plan.OTHER_SETS", ("iris", "wine"))


def test_the_command_measures_writes_and_resumes(command, tmp_path):
    files = ("--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md")
    done = command("reject", *CHOICE, *files)
    assert done.code == 0, done.stderr
    records = json.loads((tmp_path / "r.json").read_text())
    (figure,) = [record for record in records if record["kind"] == "figure"]
    assert (figure["method"], figure["data_set"], figure["score"]) == ("forest", "iris", "aurc_combined")
    assert 0 < figure["mean"] < 0.1
    assert f"{100 * figure['mean']:.2f} ± 0.00" in (tmp_path / "r.md").read_text()
    again = command("reject", *CHOICE)
    assert "of the errors gone" in done.stderr
    assert "of the errors gone" not in again.stderr


def test_jobs_are_all_methods_on_all_splits():
    jobs = list(Reject(RejectOptions(data=("iris", "wine"), splits=2)).jobs())
    assert len(jobs) == 3 * 2 * 2
    assert {job.method for job in jobs} == {"lann", "forest", "svm"}
    assert {job.part for job in jobs} == {PART}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "tree"), "There is no method 'tree'; the methods are forest, svm, lann."),
        (("--splits", 0), "--splits must be from 1 to 10"),
    ],
)
def test_wrong_input_is_one_sentence(command, arguments, message):
    done = command("reject", *arguments)
    assert done.code == 2
    assert message in done.stderr


def test_tables_have_all_data_sets_and_methods(made_up):
    results, plan = made_up()
    tables = make_tables(results.part(PART), plan)
    assert len(tables) == 8
    areas = tables[0]
    assert areas.head[1:3] == ("forest, combined", "forest, probability")
    assert [row.name for row in areas.rows] == [*plan.data_sets, "mean"]
    assert areas.rows[0].cells[-1] == "1.00 ± 0.00"
    assert areas.rows[0].best == {4, 5}
    thresholds = next(table for table in tables if table.title.startswith("One threshold"))
    assert [heading for heading, _ in thresholds.sections] == ["random forest", "SVM (RBF)", "LANN"]


def test_missing_results_are_dashes(made_up):
    results, plan = made_up()
    results.cells.clear()
    for table in make_tables(results.part(PART), plan):
        assert {cell for row in table.rows for cell in row.cells} == {"–"}
