import pytest

from lann.bench.explanations.cost import Cost, measure_cost
from lann.classifier import LANNClassifier


def test_ratios():
    cost = Cost(
        fit=3.0, first=1.0, explain=0.5, predict=0.25, n_rows=1000, one=0.01, kernel=2.0, ratio_std=0.1
    )
    assert (cost.ratio, cost.faster, cost.faster_alone) == (2.0, 4000.0, 200.0)
    assert cost.as_dict()["ratio"] == 2.0


def test_everything_is_timed_and_without_shap_all_but_that(task):
    model = LANNClassifier(max_iter=2, random_state=0)
    cost = measure_cost(model, task, 2, 1, with_shap=False)
    assert min(cost.fit, cost.first, cost.explain, cost.predict, cost.one) > 0
    assert cost.n_rows == len(task.queries)
    assert cost.kernel is cost.faster is cost.faster_alone is None


def test_kernel_shap_is_timed_on_the_same_model(task):
    pytest.importorskip("shap")
    cost = measure_cost(LANNClassifier(max_iter=2, random_state=0), task, 1, 1, with_shap=True)
    assert cost.faster == pytest.approx(cost.kernel * cost.n_rows / cost.explain)
