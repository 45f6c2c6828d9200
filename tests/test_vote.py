import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.vote import (
    VoteRule,
    class_shares,
    counted_weights,
    leave_one_out_losses,
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


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 7.0])
def test_votes_are_powers_of_the_distance(power):
    distances = np.array([[0.5, 1.0, 4.0], [2.0, 2.0, 8.0]])
    shares = shares_of(distances, power=power, epsilon=0.0)
    expected = distances**-power
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), rtol=1e-14)


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


@pytest.mark.parametrize(("power", "expected"), [(1.0, [1.0, 0.5, 2.0]), (0.0, [1.0, 1.0, 8.0])])
def test_class_weights_multiply_the_support(power, expected):
    rule = VoteRule(power, 0.0, np.array([1.0, 8.0]))
    shares = rule.shares(np.array([[1.0, 2.0, 4.0]]), np.array([[0, 0, 1]]))
    np.testing.assert_allclose(shares, np.array([expected]) / np.sum(expected))


@pytest.mark.parametrize("class_weight", [None, np.array([1.0, 2.0, 0.5, 1.0])])
def test_leave_one_out_losses_are_those_of_each_vote(class_weight):
    rng = np.random.default_rng(0)
    distances, labels = np.sort(rng.uniform(0.1, 2.0, (30, 12)), axis=1), rng.integers(0, 3, (30, 12))
    own = rng.integers(0, 4, 30)
    votes = np.array([[3, 1.0, 0.02], [12, 0.5, 0.2], [1, 4.0, 0.005], [20, 1.0, 0.02], [5, 1.0, 0.1]])
    rule = VoteRule(9.0, 0.01, class_weight)
    losses = leave_one_out_losses(distances, labels, own, 4, votes, rule)
    for number, (k, power, floor) in enumerate(votes):
        vote, k = VoteRule(power, 0.01, class_weight, floor), int(k)
        shares = class_shares(vote.shares(distances[:, :k], labels[:, :k]), labels[:, :k], 4)
        expected = -np.log(vote.probabilities(shares)[np.arange(30), own])
        np.testing.assert_allclose(losses[:, number], expected, rtol=1e-12)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(1, 12))
def test_integer_weights_are_repeated_neighbors(weights, n_votes):
    repeated = np.repeat(np.arange(len(weights)), weights)[:n_votes]
    counted = counted_weights(np.array([weights], dtype=float), n_votes)
    np.testing.assert_array_equal(counted, [np.bincount(repeated, minlength=len(weights))])


@pytest.mark.parametrize("class_weight", [None, np.array([1.0, 2.0, 0.5, 1.0])])
def test_leave_one_out_losses_of_weighted_neighbors(class_weight):
    rng = np.random.default_rng(0)
    distances, labels = np.sort(rng.uniform(0.1, 2.0, (30, 12)), axis=1), rng.integers(0, 3, (30, 12))
    own, weights = rng.integers(0, 4, 30), rng.choice([0.0, 0.3, 1.0, 4.0], (30, 12))
    weights[:, 0] = 1e20 * (np.arange(30) == 3)
    votes = np.array([[3, 1.0, 0.02], [12, 0.5, 0.2], [1, 4.0, 0.005], [90, 1.0, 0.02], [5, 1.0, 0.1]])
    rule = VoteRule(9.0, 0.01, class_weight)
    losses = leave_one_out_losses(distances, labels, own, 4, votes, rule, weights=weights)
    for number, (k, power, floor) in enumerate(votes):
        vote = VoteRule(power, 0.01, class_weight, floor)
        shares = class_shares(vote.shares(distances, labels, counted_weights(weights, k)), labels, 4)
        expected = -np.log(vote.probabilities(shares)[np.arange(30), own])
        np.testing.assert_allclose(losses[:, number], expected, rtol=1e-12)
