import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.vote import (
    VoteRule,
    choose_n_neighbors,
    class_shares,
    counted_weights,
    share_loss,
    softmax_loss,
    zero_distance_guard,
)


def neighborhood(seed, k=None):
    """Distances, labels and a label over 4 classes, the last of which never has a neighbor."""
    rng = np.random.default_rng(seed)
    k = k or int(rng.integers(1, 8))
    return np.sort(rng.uniform(0.2, 3.0, k)), rng.integers(0, 3, k), int(rng.integers(0, 4))


def shares_of(distances, **rule):
    return VoteRule(**rule).shares(distances, np.zeros(distances.shape, np.int64))


def test_all_neighbors_count_alike_with_power_zero():
    distances = np.array([[0.0, 1.0, 5.0, 9.0], [0.0, 0.0, 1e-300, np.inf]])
    np.testing.assert_array_equal(shares_of(distances, power=0.0, epsilon=0.1), np.full((2, 4), 0.25))


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 7.0])
def test_votes_are_powers_of_the_distance(power):
    distances = np.array([[0.5, 1.0, 4.0], [2.0, 2.0, 8.0]])
    shares = shares_of(distances, power=power, epsilon=0.0)
    expected = distances**-power
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), rtol=1e-14)


@given(
    st.lists(st.floats(0, 1e300), min_size=1, max_size=9),
    st.floats(1e-300, 1e3),
    st.floats(0.1, 50),
)
def test_vote_shares_add_up_to_one_at_any_scale(distances, epsilon, power):
    shares = shares_of(np.sort(distances)[None], power=power, epsilon=epsilon)
    assert np.all(np.isfinite(shares))
    assert np.all(np.diff(shares[0]) <= 1e-15)
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)


def test_class_shares_sum_the_votes_of_a_class():
    shares = np.array([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1]])
    labels = np.array([[2, 0, 2], [1, 1, 1]])
    np.testing.assert_allclose(class_shares(shares, labels, 4), [[0.3, 0, 0.7, 0], [0, 1.0, 0, 0]])


@pytest.mark.parametrize(
    ("distances", "guard"),
    [
        ([[1.0, 3.0], [2.0, 4.0]], 2.5e-3),
        ([[0.0, 0.0], [0.0, 4.0]], 4e-3),  # most rows are duplicates: only positive distances count
        ([[0.0, 0.0]], 1.0),
        ([[1e-200, 1e-200]], 1e-203),
    ],
)
def test_epsilon_is_a_thousandth_of_the_typical_distance(distances, guard):
    assert zero_distance_guard(np.array(distances)) == pytest.approx(guard)


@given(st.integers(0, 10**6), st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([0.02, 0.5]))
def test_share_loss_and_slopes(reference, seed, power, floor):
    distances, labels, label = neighborhood(seed)

    def plain(d):
        return reference.share_loss(d, labels, label, power, floor)

    slopes = np.empty(len(distances))
    loss = share_loss(distances, labels, label, len(distances), power, floor, slopes)
    assert loss == pytest.approx(plain(distances), rel=1e-12, abs=1e-14)
    np.testing.assert_allclose(slopes, reference.slopes(plain, distances), rtol=1e-4, atol=1e-7)


@given(st.integers(0, 10**6), st.sampled_from([1.0, 2.0]), st.sampled_from([0.3, 1.0, 20.0]))
def test_softmax_loss_and_slopes(reference, seed, power, temperature):
    distances, labels, label = neighborhood(seed)

    def plain(d):
        return reference.softmax_loss(d, labels, label, power, temperature, 4)

    slopes = np.empty(len(distances))
    loss = softmax_loss(distances, labels, label, len(distances), power, temperature, 4, slopes)
    assert loss == pytest.approx(plain(distances), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(slopes, reference.slopes(plain, distances), rtol=1e-4, atol=1e-6)


@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 5.0]))
def test_softmax_slopes_are_the_papers(seed, temperature):
    distances, labels, label = neighborhood(seed)
    scores = np.array([np.sum(1 / distances[labels == c]) for c in range(4)]) / temperature
    probabilities = np.exp(scores - scores.max())
    probabilities /= probabilities.sum()
    same = (1 - probabilities[label]) / (temperature * distances**2)
    other = -probabilities[labels] / (temperature * distances**2)
    slopes = np.empty(len(distances))
    softmax_loss(distances, labels, label, len(distances), 1.0, temperature, 4, slopes)
    np.testing.assert_allclose(slopes, np.where(labels == label, same, other), rtol=1e-9, atol=1e-12)


def test_share_loss_is_independent_of_the_scale():
    distances, labels, label = neighborhood(3, k=6)
    values = []
    for scale in (1e-60, 1.0, 1e60):
        slopes = np.empty(6)
        values.append(share_loss(distances * scale, labels, label, 6, 3.0, 0.02, slopes))
        assert np.all(np.isfinite(slopes))
    np.testing.assert_allclose(values, values[0], rtol=1e-10)


def test_share_loss_is_bounded_by_its_floor():
    slopes = np.empty(3)
    loss = share_loss(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), 2, 3, 3.0, 0.02, slopes)
    assert loss == pytest.approx(-np.log(0.02 / 1.02))
    np.testing.assert_allclose(slopes, 0, atol=1e-12)
    loss = share_loss(np.array([1.0, 2.0, 3.0]), np.array([2, 2, 2]), 2, 3, 3.0, 0.02, slopes)
    assert loss == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(("power", "expected"), [(1.0, [1.0, 0.5, 2.0]), (0.0, [1.0, 1.0, 8.0])])
def test_class_weights_multiply_the_support(power, expected):
    rule = VoteRule(power, 0.0, np.array([1.0, 8.0]))
    shares = rule.shares(np.array([[1.0, 2.0, 4.0]]), np.array([[0, 0, 1]]))
    np.testing.assert_allclose(shares, np.array([expected]) / np.sum(expected))


class TestChoiceOfNeighbors:
    @staticmethod
    def choose(neighbor_labels, distances=None, power=1.0):
        """Choose for rows of class 0."""
        n_rows, k = neighbor_labels.shape
        if distances is None:
            distances = np.tile(np.arange(1.0, k + 1), (n_rows, 1))
        return choose_n_neighbors(distances, neighbor_labels, np.zeros(n_rows, int), 2, VoteRule(power, 1e-9))

    def test_the_default_stays_if_nothing_is_better(self):
        assert self.choose(np.zeros((50, 20), int)) == 5

    def test_more_neighbors_if_these_are_significantly_better(self):
        neighbor_labels = np.zeros((50, 20), int)
        neighbor_labels[:, :5] = 1  # the five nearest are wrong
        assert self.choose(neighbor_labels, np.tile(np.linspace(1.0, 1.1, 20), (50, 1))) == 20

    def test_the_power_of_the_vote_matters(self):
        # The five nearest are wrong, 15 at twice the distance are right: they win by 1/d, not by 1/d⁴.
        neighbor_labels = np.zeros((50, 20), int)
        neighbor_labels[:, :5] = 1
        distances = np.tile(np.repeat([1.0, 2.0], [5, 15]), (50, 1))
        assert self.choose(neighbor_labels, distances, power=1.0) == 20
        assert self.choose(neighbor_labels, distances, power=4.0) == 5

    def test_one_row_is_not_enough(self):
        neighbor_labels = np.zeros((50, 20), int)
        neighbor_labels[0, :5] = 1
        assert self.choose(neighbor_labels, np.tile(np.linspace(1.0, 1.1, 20), (50, 1))) == 5

    @pytest.mark.parametrize("k", [1, 3, 7])
    def test_there_may_be_fewer_neighbors(self, k):
        assert self.choose(np.zeros((10, k), int)) == min(5, k)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(1, 12))
def test_integer_weights_are_repeated_neighbors(weights, n_votes):
    repeated = np.repeat(np.arange(len(weights)), weights)[:n_votes]
    counted = counted_weights(np.array([weights], dtype=float), n_votes)
    np.testing.assert_array_equal(counted, [np.bincount(repeated, minlength=len(weights))])


def test_the_last_neighbor_counts_with_what_is_left():
    counted = counted_weights(np.array([[0.5, 2.5, 4.0, 1.0]]), 5)
    np.testing.assert_array_equal(counted, [[0.5, 2.5, 2.0, 0.0]])
    np.testing.assert_array_equal(counted_weights(np.array([[0.5, 0.25]]), 5), [[0.5, 0.25]])


def test_weights_multiply_the_support():
    rule = VoteRule(1.0, 0.0, np.array([1.0, 8.0]))
    shares = rule.shares(np.array([[1.0, 2.0, 4.0]]), np.array([[0, 0, 1]]), np.array([[3.0, 1.0, 0.5]]))
    np.testing.assert_allclose(shares, np.array([[3.0, 0.5, 1.0]]) / 4.5)


def test_neighbors_of_weight_0_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    distances, labels = np.sort(rng.random((50, 30)), axis=1), rng.integers(0, 2, (50, 30))
    weights = np.where(np.arange(30) < 7, rng.random((50, 30)), 0.0)
    every = VoteRule(1.0, 0.1).shares(distances, labels, weights)
    few = VoteRule(1.0, 0.1).shares(distances[:, :7], labels[:, :7], weights[:, :7])
    np.testing.assert_array_equal(every[:, :7], few)
    assert np.all(every[:, 7:] == 0)
