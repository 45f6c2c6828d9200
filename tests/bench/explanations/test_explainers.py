import re

import numpy as np
import pytest

from lann.bench import methods
from lann.bench.explanations import explainers
from lann.bench.explanations.explainers import all_explainers, choose_explainers
from lann.bench.methods import Method
from lann.classifier import LANNClassifier


def test_every_name_is_one_words_and_its_model_is_registered():
    names = [explainer.name for explainer in all_explainers()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    assert {explainer.model for explainer in all_explainers()} <= {m.name for m in methods.all_methods()}


def test_a_baseline_has_a_row_as_soon_as_it_is_registered(monkeypatch):
    before = {name: method for name, method in methods._registry.items() if name != "dann"}
    monkeypatch.setattr(methods, "PROVIDERS", ())
    monkeypatch.setattr(methods, "_registry", before)
    assert "dann" not in [explainer.name for explainer in all_explainers()]
    fake = Method("dann", "Fake", lambda n_jobs, seed: None, "A test.", "tests")
    monkeypatch.setattr(methods, "_registry", {**before, "dann": fake})
    row = next(explainer for explainer in all_explainers() if explainer.name == "dann")
    assert (row.label, row.model) == ("Fake", "dann")


def test_readings_of_lann(task):
    model = LANNClassifier(random_state=0).fit(task.X, task.y)
    explanation = model.explain(task.queries)
    for name, expected in (
        ("lann", explanation.relevances),
        ("lann-neighbors", explanation.feature_weights),
        ("lann-support", np.abs(explanation.support)),
    ):
        (explainer,) = choose_explainers([name])
        np.testing.assert_array_equal(explainer.prepare(model, task)(task.queries), expected)


def test_what_is_not_installed_says_so(monkeypatch):
    monkeypatch.setattr(explainers, "find_spec", lambda name: None)
    missing = {explainer.name for explainer in all_explainers() if explainer.missing}
    assert {"tree-shap", "kernel-shap-lann", "kernel-shap-knn", "lime-lann", "lime-knn"} == missing
    (lime,) = choose_explainers(["lime-knn"])
    assert lime.missing == "needs lime, which is not installed: pip install 'lann[bench]'."


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="There is no method 'oracle'; the methods are lann,"):
        choose_explainers(["oracle"])
