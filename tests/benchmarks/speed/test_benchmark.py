import json

import pytest

from benchmarks.common import datasets
from benchmarks.speed import search
from benchmarks.speed.benchmark import Speed, SpeedOptions


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(search, "SIZES", ((300, 4, 3.0, 2.0),))
    monkeypatch.setattr(search, "N_QUERIES", 40)


def test_the_table_and_the_records_have_the_same_figures(command, small, tmp_path):
    file = tmp_path / "speed.json"
    done = command("speed", "--only", "search", "--repeats", 1, "--jobs", 1, "--json", file)
    assert done.code == 0, done.stderr
    figures = [record for record in json.loads(file.read_text()) if record["kind"] == "figure"]
    assert len(figures) == 3
    for figure in figures:
        assert f"{figure['mean']:.2f}×" in done.stdout
        target = figure["scores"]["target"]["mean"]
        assert f" {target:g}×" in done.stdout
        assert figure["reached"] == (
            figure["mean"] >= target if figure["more_is_better"] else figure["mean"] <= target
        )
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Wrote")) <= 80


def test_nothing_is_stored(command, small, tmp_path):
    for _ in range(2):
        done = command("speed", "--only", "search", "--repeats", 1, "--jobs", 1)
        assert "reused" not in done.stderr
    assert not list(tmp_path.rglob("*.json"))


def test_data_that_cannot_be_loaded_are_skipped(monkeypatch):
    def fail(*args, **kwargs):
        raise FileNotFoundError("There is no file.")

    monkeypatch.setattr(datasets, "load", fail)
    benchmark = Speed(SpeedOptions(only=("fit",)))
    assert list(benchmark.jobs()) == []
    assert benchmark.skipped["digits"] == "There is no file."


def test_quick_leaves_out_what_takes_long():
    assert Speed(SpeedOptions(quick=True)).chosen == ["search", "predict", "fit", "startup"]
