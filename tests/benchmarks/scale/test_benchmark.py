import json

import pytest

from benchmarks.scale import benchmark as definition
from benchmarks.scale.benchmark import Scale, ScaleOptions
from benchmarks.scale.plan import COVERTYPE, DASK, ROWS, WIDE


@pytest.fixture
def calls(monkeypatch, values_of):
    """Tasks of child processes, which are not started."""
    found = []

    def run(module, task, minutes):
        found.append(task)
        return values_of(module, task, minutes)

    monkeypatch.setattr(definition, "run_child", run)
    return found


def test_the_command_measures_writes_and_resumes(command, calls, tmp_path):
    files = ("--json", tmp_path / "s.json", "--markdown", tmp_path / "s.md")
    done = command("scale", "--quick", "--only", "rows", "--features", 50, *files)
    assert done.code == 0, done.stderr
    assert len(calls) == 1 + 2 * 7  # a warm-up, and seven methods on two sizes
    records = json.loads((tmp_path / "s.json").read_text())
    figures = {(r["method"], r["data_set"]): r for r in records if r["kind"] == "figure"}
    assert figures["lann", "31600 × 50"]["mean"] == pytest.approx(31.6)
    assert "lann on 31600 × 50: fit 31.6 s, 0.29 GB, 6000 rows/s, recall 0.9900" in done.stderr
    document = (tmp_path / "s.md").read_text()
    assert "## Fit, seconds" in document
    assert "## LANN by the number of rows" in document
    again = command("scale", "--quick", "--only", "rows", "--features", 50)
    assert len(calls) == 1 + 2 * 7
    assert "14 measurements of earlier runs are reused." in again.stderr


def test_the_most_telling_measurements_come_first(covertype_folder, calls):
    jobs = list(Scale(ScaleOptions(only=(ROWS, COVERTYPE))).jobs())
    largest = next(i for i, job in enumerate(jobs) if job.data_set == "1000000 × 50")
    assert {job.method for job in jobs[: largest + 2]} > {"lann", "faiss-hnsw"}
    assert {job.method for job in jobs[7 : largest + 2]} == {"lann", "faiss-hnsw"}
    assert jobs[largest + 2].part == COVERTYPE
    assert len({job.cell for job in jobs}) == len(jobs) == 5 * 2 * 7 + 10
    assert all(job.expected is not None for job in jobs)


def test_recall_is_measured_for_lann_only():
    jobs = list(Scale(ScaleOptions(only=("recall",))).jobs())
    assert {job.method for job in jobs} == {"lann"}
    assert {job.part for job in jobs} == {ROWS}  # the same measurement, stored once
    assert len(jobs) == 10


def test_quick_and_fewer_rows_share_stored_measurements():
    quick, small = (
        {job.cell: job.fingerprint for job in Scale(options).jobs()}
        for options in (ScaleOptions(only=(ROWS,), quick=True), ScaleOptions(only=(ROWS,), rows=31_600))
    )
    assert quick == small
    assert Scale(ScaleOptions(quick=True)).variant == Scale(ScaleOptions()).variant == "seed-0"


def test_without_data_and_packages_parts_are_skipped(monkeypatch):
    monkeypatch.delenv("LANN_DATA", raising=False)
    monkeypatch.setattr(definition, "find_spec", lambda name: None)
    benchmark = Scale(ScaleOptions(only=(COVERTYPE, DASK)))
    assert list(benchmark.jobs()) == []
    assert benchmark.skipped["covtype"].startswith("needs streams/covtype.csv.gz")
    assert benchmark.skipped[DASK] == "needs dask and distributed and lann.distributed."


def test_wide_tables_are_measured_by_two_methods(calls):
    jobs = list(Scale(ScaleOptions(only=(WIDE,))).jobs())
    planted = [job for job in jobs if "usps" not in job.data_set]
    assert [job.data_set for job in planted[::2]] == ["60 × 1000", "60 × 3000", "60 × 10000", "30 × 20000"]
    assert {job.method for job in planted} == {"lann", "forest"}
    assert planted[0].run()["lann"]["n_features"] == 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "tree"), "There is no method 'tree'; the methods are lann,"),
        (("--features", 30), "There is no feature count '30'; the feature counts are 20, 50."),
        (("--rows", 10), "--rows must be at least 10000; got 10."),
    ],
)
def test_wrong_input_is_one_sentence(command, arguments, message):
    done = command("scale", *arguments)
    assert done.code == 2
    assert done.stderr.startswith(message)
