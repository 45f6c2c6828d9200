import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from lann.bench.explanations.agreement import agree, deletion
from lann.bench.explanations.explainers import GLOBAL


@pytest.fixture
def knn(task):
    return KNeighborsClassifier(5).fit(task.X, task.y)


def constant(*relevances):
    return lambda queries: np.tile(np.array(relevances, dtype=float), (len(queries), 1))


def test_the_truth_has_every_score(knn, task, explainer_of):
    found = agree(explainer_of(constant(9, 1, 0, 0, 0)), knn, task, n_rows=40, n_nudged=10)
    assert (found.auc, found.top_3, found.rank, found.mass, found.stability) == (1, 1, 1, 1, pytest.approx(1))
    assert found.n_rows == 40
    assert found.sparseness == pytest.approx(0.75)
    assert found.deletion > found.random_deletion > 0
    assert found.seconds > 0


def test_the_opposite_has_none(knn, task, explainer_of):
    found = agree(explainer_of(constant(0, 0, 1, 1, 1)), knn, task, n_rows=40, n_nudged=10)
    assert (found.auc, found.rank, found.mass) == (0, 0, 0)
    assert found.deletion < found.random_deletion


def test_what_differs_between_neighboring_places_is_unstable(knn, task, explainer_of):
    rng = np.random.default_rng(0)
    found = agree(explainer_of(lambda queries: rng.random(queries.shape) ** 8), knn, task, 40, 40)
    assert found.stability < 0.8


def test_one_ranking_for_all_has_no_time_per_row(knn, task, explainer_of):
    assert agree(explainer_of(constant(0, 1, 0, 0, 0), group=GLOBAL), knn, task, 10, 2).seconds is None


def test_signed_or_missing_relevances_are_refused(knn, task, explainer_of):
    for value in (-1.0, np.nan):
        with pytest.raises(ValueError, match="must not be negative"):
            agree(explainer_of(constant(0, value, 0, 0, 0)), knn, task, 10, 2)


def test_deletion_is_the_same_again(knn, task):
    relevances = constant(0, 3, 2, 1, 0)(task.queries)
    again = [deletion(knn, task.queries, relevances, task.X, 0) for _ in range(2)]
    assert again[0] == again[1]
    assert again[0][0] > again[0][1]
