from dataclasses import replace

import numpy as np
import pytest

from lann.bench import methods
from lann.bench.explanations import explainers
from lann.bench.explanations.explainers import Explainer, choose_explainers
from lann.bench.explanations.run import ExplanationRun, choose_parts
from lann.bench.methods import Method
from lann.classifier import LANNClassifier


@pytest.fixture(autouse=True)
def quick_lann(monkeypatch):
    methods.all_methods()
    quick = Method(
        "lann",
        "LANN",
        lambda n_jobs, seed: LANNClassifier(max_iter=2, random_state=seed),
        "A test.",
        "tests",
    )
    monkeypatch.setattr(methods, "_registry", {**methods._registry, "lann": quick})


def finish(run):
    steps = list(run.steps())
    assert steps[-1].done == steps[-1].total == len(steps) - 1
    return [step.said for step in steps if step.said]


def test_every_part_is_measured_and_told(tiny):
    run = ExplanationRun(choose_explainers(["lann", "permutation-lann"]), tiny, n_jobs=1)
    said = finish(run)
    results = run.results
    assert not results.failures
    assert set(results.agreements) == {("lann", 8), ("permutation-lann", 8)}
    assert list(results.agreements["lann", 8]) == [0, 1]
    assert results.n_rows("lann", 8) == 30
    assert set(results.models) == {("lann", 8)}
    assert len(results.permuted["lann"]) == 4
    assert set(results.deletions) == {("lann", "iris"), ("lann", "wine")}
    assert results.costs[8].kernel is None
    assert any(line.startswith("lann on planted, 8 features, seed 1: AUC 0.") for line in said)
    assert any(line.startswith("lann on wine, split 1: change lann") for line in said)


def test_twice_the_same(tiny):
    found = []
    for _ in range(2):
        small = replace(tiny, n_seeds=1, n_permutations=1, real_sets=("iris",))
        run = ExplanationRun(choose_explainers(["lann"]), small, ("planted", "permuted", "real"), n_jobs=1)
        finish(run)
        results = run.results
        found.append((results.mean("lann", 8), results.permuted, results.deletion("lann", "iris")))
    assert found[0] == found[1]


def test_one_that_fails_does_not_stop_the_others(tiny):
    def refuse(model, task):
        raise ValueError("I will not.")

    both = [
        Explainer("obstinate", "obstinate", "knn", refuse, "A test.", "tests"),
        Explainer("ones", "ones", "knn", lambda model, task: np.ones_like, "A test.", "tests"),
    ]
    run = ExplanationRun(both, tiny, n_jobs=1)
    said = finish(run)
    assert run.results.failures == {
        ("obstinate", f"planted, 8 features, seed {seed}"): "I will not." for seed in range(2)
    }
    assert run.results.mean("ones", 8) == 0.5
    # Without LANN there is nothing to permute, to delete and to time.
    assert run.results.permuted == run.results.deletions == run.results.costs == {}
    assert any("obstinate on planted, 8 features, seed 0: failed: I will not." in line for line in said)


def test_what_is_not_installed_is_left_out_with_its_reason(tiny, monkeypatch):
    monkeypatch.setattr(explainers, "find_spec", lambda name: None)
    run = ExplanationRun(choose_explainers(["lime-knn", "permutation-forest"]), tiny, ("planted",))
    assert [explainer.name for explainer in run.results.explainers] == ["permutation-forest"]
    assert run.results.skipped["lime-knn"].startswith("needs lime, which is not installed")


def test_parts():
    assert choose_parts(None) == ("planted", "permuted", "real", "cost")
    assert choose_parts(["cost", "planted"]) == ("planted", "cost")
    with pytest.raises(ValueError, match="There is no part 'all'; the parts are planted,"):
        choose_parts(["all"])
