import numpy as np
import pytest

from lann.metrics import DiagonalMetric
from lann.training import Settings
from lann.training.judges import clearly_fewer, draw_judges, errors


def test_a_judge_is_wrong_where_its_candidates_outvote_it():
    points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    labels = np.array([0, 0, 1, 1, 1, 0])
    metric = DiagonalMetric(points, np.ones(1))
    judges = np.array([0, 2, 5])
    candidates = np.array([[1, 2], [1, 0], [4, 3]])
    np.testing.assert_array_equal(errors(metric, labels, 2, judges, candidates, Settings()), [0, 1, 1])
    # Only the candidates are asked, and -1 is none.
    candidates = np.array([[2, -1], [3, -1], [0, 1]])
    np.testing.assert_array_equal(errors(metric, labels, 2, judges, candidates, Settings()), [1, 0, 0])


def test_class_weights_of_classes_count():
    points = np.array([[0.0], [1.0], [2.0]])
    labels = np.array([1, 0, 1])
    metric = DiagonalMetric(points, np.ones(1))
    judge, candidates = np.array([0]), np.array([[1, 2]])
    assert errors(metric, labels, 2, judge, candidates, Settings()) == [1]
    assert errors(metric, labels, 2, judge, candidates, Settings(class_weight=np.array([1.0, 9.0]))) == [0]
    # And an error counts as often as the class of the judge has votes.
    assert errors(metric, labels, 2, judge, np.array([[1]]), Settings(class_weight=np.array([1.0, 9.0]))) == [
        9
    ]


def test_judges_are_some_of_many_and_none_of_few():
    rng = np.random.default_rng(0)
    rows = np.arange(5, 4005)
    judges = draw_judges(rows, Settings(), rng)
    assert len(set(judges)) == 200
    assert set(judges) <= set(rows)
    assert np.all(np.diff(judges) > 0)
    assert len(draw_judges(np.arange(100_000), Settings(), rng)) == 1000
    assert len(draw_judges(rows[:1000], Settings(), rng)) == 0
    assert len(draw_judges(rows, Settings(drop_levels=False), rng)) == 0


@pytest.mark.parametrize(
    ("n_better", "n_worse", "clear"),
    [(9, 2, True), (3, 1, False), (2, 2, False), (0, 5, False), (0, 0, False)],
)
def test_fewer_is_not_enough_it_has_to_be_clear(n_better, n_worse, clear):
    others, own = np.zeros(60), np.zeros(60)
    others[:n_better] = 1
    own[20 : 20 + n_worse] = 1
    assert clearly_fewer(own, others) == clear
