import numpy as np
import pytest

from lann.training.choose_vote import choose_vote


def choose(neighbor_labels, labels, distances=None, **options):
    neighbor_labels = np.asarray(neighbor_labels)
    if distances is None:
        distances = np.tile(np.arange(1.0, neighbor_labels.shape[1] + 1), (len(neighbor_labels), 1))
    return choose_vote(distances, neighbor_labels, np.asarray(labels), 2, 1e-9, **options)


def test_the_default_stays_where_nothing_is_better():
    assert choose(np.zeros((50, 20), int), np.zeros(50, int)) == (5, 2.0)


def test_more_neighbours_where_they_are_clearly_right():
    neighbor_labels = np.zeros((50, 20), int)
    neighbor_labels[:, :5] = 1  # the five nearest are wrong
    distances = np.tile(np.linspace(1.0, 1.1, 20), (50, 1))
    assert choose(neighbor_labels, np.zeros(50, int), distances)[0] == 20


def test_a_flatter_vote_where_it_is_clearly_right():
    # The nearest is wrong and half as far as the other four: 1/d loses against them, 1/d³ wins.
    neighbor_labels = np.tile([1, 0, 0, 0, 0], (50, 1))
    distances = np.tile([1.0, 2.5, 2.5, 2.5, 2.5], (50, 1))
    chosen = choose(neighbor_labels, np.zeros(50, int), distances, neighbors=(5,), powers=(2.0, 1.0))
    assert chosen == (5, 1.0)


def test_one_lucky_point_is_not_enough():
    neighbor_labels = np.zeros((50, 20), int)
    neighbor_labels[0, :5] = 1
    distances = np.tile(np.linspace(1.0, 1.1, 20), (50, 1))
    assert choose(neighbor_labels, np.zeros(50, int), distances) == (5, 2.0)


@pytest.mark.parametrize("n_columns", [1, 3, 7])
def test_there_may_be_fewer_neighbours(n_columns):
    k, power = choose(np.zeros((10, n_columns), int), np.zeros(10, int))
    assert k == min(5, n_columns)
    assert power == 2.0


def test_only_what_is_offered_is_chosen():
    assert choose(np.zeros((50, 20), int), np.zeros(50, int), neighbors=(7,), powers=(1.5,)) == (7, 1.5)
