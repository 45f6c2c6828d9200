import re

import numpy as np
import pytest

from benchmarks.common.methods import METHODS
from benchmarks.explanations import explainers
from benchmarks.explanations.explainers import LOCAL_METHODS, all_explainers, choose_explainers
from lann import LANNClassifier


def test_names_are_unique_and_every_model_is_a_method():
    names = [explainer.name for explainer in all_explainers()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    assert {explainer.model for explainer in all_explainers()} <= {method.name for method in METHODS}
    assert set(LOCAL_METHODS) <= set(names)


def test_explanations_of_lann(task):
    model = LANNClassifier(random_state=0).fit(task.X, task.y)
    explanation = model.explain(task.X_test)
    for name, expected in (
        ("lann", explanation.relevances),
        ("lann-neighbors", explanation.feature_weights),
        ("lann-support", np.abs(explanation.support)),
    ):
        (explainer,) = choose_explainers([name])
        np.testing.assert_array_equal(explainer.prepare(model, task)(task.X_test), expected)


def test_methods_whose_package_is_missing_say_so(monkeypatch):
    monkeypatch.setattr(explainers, "find_spec", lambda name: None)
    missing = {explainer.name for explainer in all_explainers() if explainer.missing}
    assert {"tree-shap", "kernel-shap-lann", "kernel-shap-knn", "lime-lann", "lime-knn"} == missing
    (lime,) = choose_explainers(["lime-knn"])
    assert lime.missing == "needs lime, which is not installed: pip install 'lann[benchmarks]'."


def test_an_unknown_method_raises():
    with pytest.raises(ValueError, match="There is no method 'unknown'; the methods are lann,"):
        choose_explainers(["unknown"])
