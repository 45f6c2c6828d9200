import json

import numpy as np
import pytest

from benchmarks.engine.run import Run
from benchmarks.engine.store import Store
from benchmarks.explanations import benchmark as module
from benchmarks.explanations import explainers, tasks
from benchmarks.explanations.benchmark import ExplanationOptions, Explanations
from benchmarks.explanations.explainers import Explainer
from benchmarks.explanations.summary import (
    ANSWERS,
    CATEGORIES,
    CITIES,
    COST,
    CURVES,
    FAITHFULNESS,
    FIRST,
    FRESH,
    KINDS,
    MODELS,
    PERMUTED,
    PLANTED,
    REAL,
)

NAME = "planted, 8 features"

pytestmark = pytest.mark.usefixtures("fast_lann")


@pytest.fixture(autouse=True)
def small(monkeypatch, tiny):
    monkeypatch.setattr(tasks, "QUICK", tiny)


def finish(store=None, **options):
    run = Run(Explanations(ExplanationOptions(quick=True, n_jobs=1, **options)), store)
    list(run.steps())
    return run


def test_every_part_has_the_same_figures_in_all_outputs(command, tmp_path):
    files = ("--json", tmp_path / "e.json", "--markdown", tmp_path / "e.md")
    chosen = ("--method", "lann", "--method", "permutation-lann", "--seeds", 2)
    done = command("explanations", "--quick", "--jobs", 1, *chosen, *files)
    assert done.code == 0, done.stderr
    records = json.loads((tmp_path / "e.json").read_text())
    document = (tmp_path / "e.md").read_text()
    figures = [record for record in records if record["kind"] == "figure"]
    assert {(record["part"], record["method"]) for record in figures} == {
        (CATEGORIES, "lann"), (CITIES, "lann"), (CATEGORIES, "lann-onehot"), (CITIES, "lann-onehot"),
        (PLANTED, "lann"), (PLANTED, "permutation-lann"), (MODELS, "lann"), (PERMUTED, "lann"),
        (REAL, "lann"), (COST, "lann"), (KINDS, "lann"), (KINDS, "permutation-lann"), (FAITHFULNESS, "lann"),
        (ANSWERS, "lann"), (CURVES, "lann"), (CURVES, "lann-support"), (CURVES, "random"), (FIRST, "lann"),
        (FRESH, "lann"),
    }  # fmt: skip
    for record in (figure for figure in figures if figure["part"] == PLANTED):
        shown = f"{record['mean']:.3f} ± {record['std']:.3f}".replace("0.", ".")
        assert shown in done.stdout
        assert shown in document
        assert record["n_repeats"] == 2
    assert f"lann on {NAME}, seed 1: auc lann 0." in done.stderr
    assert "lann on iris, split 1: deletion lann" in done.stderr
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Wrote")) <= 80


def test_a_resumed_run_fits_again_what_it_needs(tmp_path):
    store = Store(tmp_path)
    first = finish(store, method=("lann",), only=("planted",))
    again = finish(store, method=("lann", "lann-support"), only=("planted",))
    assert again.n_reused == 2
    assert again.results.cells[PLANTED, "lann", NAME] == first.results.cells[PLANTED, "lann", NAME]
    alone = finish(method=("lann-support",), only=("planted",))
    found = again.results.cells[PLANTED, "lann-support", NAME][0]
    assert found["aucs"] == alone.results.cells[PLANTED, "lann-support", NAME][0]["aucs"]


def test_a_method_that_fails_does_not_stop_the_others(monkeypatch):
    def fail(model, task):
        raise ValueError("It failed.")

    both = [
        Explainer("failing", "failing", "knn", fail, "A test.", "tests"),
        Explainer("ones", "ones", "knn", lambda model, task: np.ones_like, "A test.", "tests"),
    ]
    monkeypatch.setattr(module, "choose_explainers", lambda names: both)
    results = finish(seeds=2).results
    assert results.failures == {(PLANTED, "failing", NAME): "It failed."}
    assert results.part(PLANTED).mean("ones", NAME, "auc") == 0.5
    # Without LANN there is nothing else to measure.
    assert {part for part, _, _ in results.cells} == {PLANTED, MODELS}


def test_planted_data_are_among_those_of_faithfulness_and_curves():
    results = finish(only=("faithfulness", "curves", "answers"), method=("lann",)).results
    assert not results.failures
    assert {name for part, _, name in results.cells if part == FAITHFULNESS} == {NAME, "iris"}
    assert {name for part, _, name in results.cells if part == CURVES} == {NAME, "iris"}
    assert {name for part, _, name in results.cells if part == ANSWERS} == {"iris"}


def test_further_kinds_of_data_are_for_methods_that_are_compared():
    names = {job.method for job in Explanations(ExplanationOptions(quick=True, only=("kinds",))).jobs()}
    assert {"lann", "lann-support", "permutation-lann", "permutation-forest", "forest"} <= names
    assert "lann-neighbors" not in names


def test_methods_whose_package_is_missing_are_skipped(monkeypatch):
    monkeypatch.setattr(explainers, "find_spec", lambda name: None)
    benchmark = Explanations(ExplanationOptions(quick=True, method=("lime-knn", "permutation-forest")))
    assert [explainer.name for explainer in benchmark.explainers] == ["permutation-forest"]
    assert benchmark.skipped["lime-knn"].startswith("needs lime, which is not installed")
