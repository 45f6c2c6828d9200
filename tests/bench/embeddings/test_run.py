import pytest

from lann.bench.embeddings import run as runs
from lann.bench.embeddings.cost import Cost
from lann.bench.embeddings.run import EmbeddingRun, choose_parts


@pytest.fixture
def faked(monkeypatch, made_up):
    """Measurements that are made up, at once."""
    outcomes = made_up().outcomes
    monkeypatch.setattr(runs, "warm_up", lambda: None)
    monkeypatch.setattr(runs, "missing", lambda part: "No file." if part == "segmentation" else None)
    monkeypatch.setattr(runs, "make_task", lambda part, seed, sizes, n_jobs: (part, seed))
    monkeypatch.setattr(runs, "measure_task", lambda task, n_jobs: outcomes[task[0]][task[1] % 2])
    cost = Cost("made", "prefit", 1.0, 1.0, 1.0, 0.0, 1)
    monkeypatch.setattr(runs, "measure_costs", lambda data_set, sizes: [cost])


def test_every_part_and_seed_is_measured_and_told(faked, tiny):
    run = EmbeddingRun(tiny)
    steps = list(run.steps())
    assert steps[0].what == "UMAP compiles itself"
    assert steps[-1].done == steps[-1].total == 5
    results = run.results
    assert {part: list(found) for part, found in results.outcomes.items()} == {
        "licorice": [0], "licorice-any": [0]
    }  # fmt: skip
    assert len(results.costs) == 3
    assert results.skipped == {"segmentation": "No file."}
    said = [step.said for step in steps if step.said]
    assert said[0].startswith(
        "all methods on licorice, seed 0: LANN 0.980, held out 0.960; UMAP 0.980, held out 0.900"
    )


def test_without_umap_nothing_runs(faked, tiny, monkeypatch):
    def refuse():
        raise ImportError("Embeddings need umap-learn.")

    monkeypatch.setattr(runs, "warm_up", refuse)
    with pytest.raises(ImportError, match="umap-learn"):
        list(EmbeddingRun(tiny).steps())


def test_parts():
    assert choose_parts(None) == ("licorice", "licorice-any", "segmentation", "cost")
    assert choose_parts(None, quick=True) == ("licorice", "licorice-any", "segmentation")
    assert choose_parts(["cost", "licorice"]) == ("licorice", "cost")
    with pytest.raises(ValueError, match="There is no part 'all'; the parts are licorice,"):
        choose_parts(["all"])
    with pytest.raises(ValueError, match="There is no part 'cost' with --quick; the parts are licorice,"):
        choose_parts(["cost"], quick=True)
