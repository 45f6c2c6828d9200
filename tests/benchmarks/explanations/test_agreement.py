import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.explanations.agreement import deletion, permuted_auc, score_explanations
from benchmarks.explanations.explainers import GLOBAL


@pytest.fixture
def knn(task):
    return KNeighborsClassifier(5).fit(task.X, task.y)


def constant(*relevances):
    return lambda queries: np.tile(np.array(relevances, dtype=float), (len(queries), 1))


def test_the_truth_has_every_score(knn, task, explainer_of):
    found = score_explanations(explainer_of(constant(9, 1, 0, 0, 0)), knn, task, n_rows=40, n_perturbed=10)
    assert [found[score] for score in ("auc", "top_3", "rank", "mass")] == [1, 1, 1, 1]
    assert found["stability"] == pytest.approx(1)
    assert found["n_rows"] == len(found["aucs"]) == 40
    assert found["sparseness"] == pytest.approx(0.75)
    assert found["deletion"] > found["random_deletion"] > 0
    assert found["seconds"] > 0


def test_the_opposite_has_none(knn, task, explainer_of):
    found = score_explanations(explainer_of(constant(0, 0, 1, 1, 1)), knn, task, n_rows=40, n_perturbed=10)
    assert (found["auc"], found["rank"], found["mass"]) == (0, 0, 0)
    assert found["deletion"] < found["random_deletion"]


def test_explanations_that_change_with_a_perturbation_are_unstable(knn, task, explainer_of):
    rng = np.random.default_rng(0)
    random = explainer_of(lambda queries: rng.random(queries.shape) ** 8)
    assert score_explanations(random, knn, task, 40, 40)["stability"] < 0.8


def test_one_ranking_for_all_has_no_time_per_row(knn, task, explainer_of):
    ranking = explainer_of(constant(0, 1, 0, 0, 0), group=GLOBAL)
    assert score_explanations(ranking, knn, task, 10, 2)["seconds"] is None


def test_negative_or_missing_relevances_raise(knn, task, explainer_of):
    for value in (-1.0, np.nan):
        with pytest.raises(ValueError, match="must not be negative"):
            score_explanations(explainer_of(constant(0, value, 0, 0, 0)), knn, task, 10, 2)


def test_deletion_is_reproducible(knn, task):
    relevances = constant(0, 3, 2, 1, 0)(task.X_test)
    again = [deletion(knn, task.X_test, relevances, task.X, 0) for _ in range(2)]
    assert again[0] == again[1]
    assert again[0][0] > again[0][1]


def test_the_gate_is_left_out(task, explainer_of):
    assert permuted_auc(explainer_of(constant(9, 2, 1, 1, 3)), None, task) == pytest.approx(2 / 3)
