import numpy as np
import pytest

from lann.training.choose_neighbors import choose_neighbors


def choose(neighbor_labels, labels, distances=None, **options):
    neighbor_labels = np.asarray(neighbor_labels)
    if distances is None:
        distances = np.tile(np.arange(1.0, neighbor_labels.shape[1] + 1), (len(neighbor_labels), 1))
    return choose_neighbors(distances, neighbor_labels, np.asarray(labels), 2, 1e-9, **options)


def test_the_first_stays_where_nothing_is_better():
    assert choose(np.zeros((50, 20), int), np.zeros(50, int)) == 5


def test_more_neighbors_where_they_are_clearly_right():
    neighbor_labels = np.zeros((50, 20), int)
    neighbor_labels[:, :5] = 1  # the five nearest are wrong
    distances = np.tile(np.linspace(1.0, 1.1, 20), (50, 1))
    assert choose(neighbor_labels, np.zeros(50, int), distances) == 20


def test_the_power_of_the_vote_counts():
    # Five near ones are wrong, the rest at twice the distance right: 15 of them win by 1/d, not by 1/d⁴.
    neighbor_labels = np.zeros((50, 20), int)
    neighbor_labels[:, :5] = 1
    distances = np.tile(np.repeat([1.0, 2.0], [5, 15]), (50, 1))
    assert choose(neighbor_labels, np.zeros(50, int), distances, power=1.0) == 20
    assert choose(neighbor_labels, np.zeros(50, int), distances, power=4.0) == 5


def test_one_lucky_point_is_not_enough():
    neighbor_labels = np.zeros((50, 20), int)
    neighbor_labels[0, :5] = 1
    distances = np.tile(np.linspace(1.0, 1.1, 20), (50, 1))
    assert choose(neighbor_labels, np.zeros(50, int), distances) == 5


@pytest.mark.parametrize("n_columns", [1, 3, 7])
def test_there_may_be_fewer_neighbors(n_columns):
    assert choose(np.zeros((10, n_columns), int), np.zeros(10, int)) == min(5, n_columns)


def test_only_what_is_offered_is_chosen():
    assert choose(np.zeros((50, 20), int), np.zeros(50, int), neighbors=(7,)) == 7
