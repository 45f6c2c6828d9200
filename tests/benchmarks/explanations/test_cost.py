import pytest

from benchmarks.explanations.cost import measure_cost, measure_first, ratios
from lann import LANNClassifier


def test_ratios():
    values = ratios({"explain": 0.5, "predict": 0.25, "n_rows": 1000, "one": 0.01, "kernel": 2.0})
    assert values == {"ratio": 2.0, "speedup": 4000.0, "speedup_of_one": 200.0}
    without = ratios({"explain": 0.5, "predict": 0.25, "n_rows": 1000, "one": 0.01, "kernel": None})
    assert without == {"ratio": 2.0, "speedup": None, "speedup_of_one": None}


@pytest.mark.parametrize("with_shap", [False, True])
def test_kernel_shap_is_timed_on_the_same_model_if_installed(task, with_shap):
    if with_shap:
        pytest.importorskip("shap")
    cost = measure_cost(LANNClassifier(max_iter=2, random_state=0), task, 1, 1, with_shap=with_shap)
    assert (
        min(cost[name] for name in ("fit", "first", "explain", "predict", "details", "one", "one_in_words"))
        > 0
    )
    assert cost["n_rows"] == len(task.X_test)
    assert (cost["kernel"] is None) == (not with_shap)


def test_the_first_call_is_compared_with_the_fit(task):
    cost = measure_first(LANNClassifier(max_iter=2, random_state=0), task, 3)
    assert cost["ratio"] > 0
    assert cost["fit"] > 0
    assert cost["first"] > 0
