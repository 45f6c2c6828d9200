import json

import pytest

from benchmarks.embeddings import benchmark as module
from benchmarks.embeddings import tasks
from benchmarks.embeddings.benchmark import EmbeddingOptions, Embeddings
from benchmarks.embeddings.measure import METHODS, VARIANTS
from benchmarks.embeddings.tasks import make_task


@pytest.fixture(autouse=True)
def small(monkeypatch, tiny):
    def fast_task(*arguments):
        task = make_task(*arguments)
        for classifier in (task.classifier, *task.others.values()):
            classifier.set_params(max_iter=1)
        return task

    monkeypatch.setattr(tasks, "QUICK", tiny)
    monkeypatch.setattr(module, "make_task", fast_task)
    monkeypatch.setattr(module, "missing", lambda part: "No file." if part == "segmentation" else None)


def test_every_method_has_the_same_figures_in_all_outputs(command, tmp_path):
    files = ("--json", tmp_path / "e.json", "--markdown", tmp_path / "e.md")
    chosen = ("--only", "licorice", "--only", "segmentation", "--seeds", 2)
    done = command("embeddings", "--quick", "--jobs", 1, *chosen, *files)
    assert done.code == 0, done.stderr
    records = json.loads((tmp_path / "e.json").read_text())
    document = (tmp_path / "e.md").read_text()
    figures = {record["method"]: record for record in records if record["kind"] == "figure"}
    assert list(figures) == ["all methods", *METHODS, *VARIANTS]
    seconds = figures.pop("all methods")["seconds"]
    assert seconds >= sum(figures[name]["seconds"] for name in METHODS)
    for record in figures.values():
        shown = f"{record['mean']:.3f} ± {record['std']:.3f}".replace("0.", ".")
        assert shown in done.stdout
        assert shown in document
        scores = {name: score["mean"] for name, score in record["scores"].items()}
        assert 0 <= scores["least_around"] <= scores["around"] <= 1
        assert "pair_error" not in scores
    assert "all methods on licorice, seed 1: LANN" in done.stderr
    assert "Without segmentation: No file." in done.stdout
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Wrote")) <= 80


def test_jobs_of_every_part():
    jobs = list(Embeddings(EmbeddingOptions(seeds=2)).jobs())
    assert [(job.part, job.repeat) for job in jobs if job.part != "cost"] == [
        ("licorice", 0), ("licorice", 1), ("licorice-any", 0), ("licorice-any", 1)
    ]  # fmt: skip
    assert [job.data_set for job in jobs if job.part == "cost"] == [
        "image-segmentation", "generated, 10000 × 20", "generated, 50000 × 20"
    ]  # fmt: skip


def test_without_umap_it_says_what_to_install(command, monkeypatch):
    def fail():
        raise ImportError("Embeddings need umap-learn: pip install 'lann[embed]'.")

    monkeypatch.setattr(module, "compile_umap", fail)
    done = command("embeddings", "--quick")
    assert done.code == 2
    assert done.stderr == "Embeddings need umap-learn: pip install 'lann[embed]'.\n"
