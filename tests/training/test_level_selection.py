import numpy as np
import pytest

from lann.metrics import DiagonalMetric
from lann.training._level_selection import draw_selection_rows, is_significantly_better, weighted_errors
from lann.training._loss import Targets


def test_a_row_is_an_error_if_its_candidates_vote_for_another_class():
    points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    targets = Targets.equal(np.array([0, 0, 1, 1, 1, 0]))
    metric = DiagonalMetric(points, np.ones(1))
    rows = np.array([0, 2, 5])
    candidates = np.array([[1, 2], [1, 0], [4, 3]])
    np.testing.assert_array_equal(weighted_errors(metric, targets, rows, candidates), [0, 1, 1])
    # Only candidates vote, and -1 is none.
    candidates = np.array([[2, -1], [3, -1], [0, 1]])
    np.testing.assert_array_equal(weighted_errors(metric, targets, rows, candidates), [1, 0, 0])


def test_weights_multiply_votes_and_errors():
    points = np.array([[0.0], [1.0], [2.0]])
    equal = Targets.equal(np.array([1, 0, 1]))
    unequal = equal._replace(weights=np.array([7.0, 1.0, 9.0]))
    metric = DiagonalMetric(points, np.ones(1))
    row, candidates = np.array([0]), np.array([[1, 2]])
    assert weighted_errors(metric, equal, row, candidates) == [1]
    assert weighted_errors(metric, unequal, row, candidates) == [0]
    assert weighted_errors(metric, unequal, row, np.array([[1]])) == [7]


def test_selection_rows_are_some_of_many_rows_and_none_of_few():
    rng = np.random.default_rng(0)
    rows = np.arange(5, 4005)
    drawn = draw_selection_rows(rows, rng)
    assert len(set(drawn)) == 200
    assert set(drawn) <= set(rows)
    assert np.all(np.diff(drawn) > 0)
    assert len(draw_selection_rows(np.arange(100_000), rng)) == 1000
    assert len(draw_selection_rows(rows[:1000], rng)) == 0


@pytest.mark.parametrize(
    ("n_better", "n_worse", "significant"),
    [(9, 2, True), (3, 1, False), (2, 2, False), (0, 5, False), (0, 0, False)],
)
def test_slightly_fewer_errors_are_not_significantly_better(n_better, n_worse, significant):
    others, errors = np.zeros(60), np.zeros(60)
    others[:n_better] = 1
    errors[20 : 20 + n_worse] = 1
    assert is_significantly_better(errors, others) == significant
