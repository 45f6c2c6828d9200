import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann import _native
from lann.vote import (
    VoteChoice,
    VoteRule,
    class_shares,
    counted_weights,
    held_out_losses,
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


# The kinds of `LossRule`, with the rounding of the loss.
LOSSES = {"shares": (0, 1e-12), "softmax": (1, 1e-9), "crps": (2, 1e-12)}


@pytest.mark.parametrize("kind", LOSSES)
@given(
    seed=st.integers(0, 10**6),
    power=st.sampled_from([1.0, 2.0, 3.0]),
    strength=st.sampled_from([0.02, 0.5, 20.0]),
    weighted=st.booleans(),
)
def test_losses_and_their_slopes(reference, kind, seed, power, strength, weighted):
    distances, labels, label = neighborhood(seed)
    number, tolerance = LOSSES[kind]
    strength = max(strength, 0.3) if kind == "softmax" else strength
    rng = np.random.default_rng(seed)
    weights, values = rng.uniform(0.5, 2.0, len(distances)) ** weighted, rng.normal(size=len(distances) + 1)

    def plain(d):
        if kind == "crps":
            return 1.5 * strength * reference.crps(d, values[:-1], values[-1], power, weights)
        return 1.5 * reference.weighted_loss(kind, d, labels, label, power, strength, weights, 4)

    slopes = np.empty(len(distances))
    rule = (number, len(distances), power, strength, 4)
    targets = (np.append(labels, label), values, np.append(weights, 1.5))
    loss = _native.vote_loss(rule, distances, targets, slopes)
    assert loss == pytest.approx(plain(distances), rel=tolerance, abs=tolerance)
    np.testing.assert_allclose(slopes, reference.slopes(plain, distances), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("power", "expected"), [(1.0, [1.0, 0.5, 2.0]), (0.0, [1.0, 1.0, 8.0])])
def test_class_weights_multiply_the_support(power, expected):
    rule = VoteRule(power, 0.0, np.array([1.0, 8.0]))
    shares = rule.shares(np.array([[1.0, 2.0, 4.0]]), np.array([[0, 0, 1]]))
    np.testing.assert_allclose(shares, np.array([expected]) / np.sum(expected))


@pytest.mark.parametrize("class_weight", [None, np.array([1.0, 2.0, 0.5, 1.0])])
def test_held_out_losses_are_those_of_each_vote(class_weight):
    rng = np.random.default_rng(0)
    distances, labels = np.sort(rng.uniform(0.1, 2.0, (30, 12)), axis=1), rng.integers(0, 3, (30, 12))
    own = rng.integers(0, 4, 30)
    votes = np.array([[3, 1.0, 0.02], [12, 0.5, 0.2], [1, 4.0, 0.005], [20, 1.0, 0.02], [5, 1.0, 0.1]])
    rule = VoteRule(9.0, 0.01, class_weight)
    losses = held_out_losses(distances, labels, own, 4, votes, rule)
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
    distances, labels = np.arange(1.0, len(weights) + 1), np.zeros((1, len(weights)), np.int64)
    shares = VoteRule(2.0).shares(distances[None], labels, np.array([weights], dtype=float), n_votes)
    expected = counted[0] * (distances + 1.0) ** -2.0
    np.testing.assert_allclose(shares[0], expected / expected.sum(), rtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_of_votes_has_the_mean_shares_and_the_mean_probabilities(weighted):
    rng = np.random.default_rng(0)
    distances, labels = np.sort(rng.uniform(0.1, 2.0, (30, 12)), axis=1), rng.integers(0, 3, (30, 12))
    counts = rng.choice([0.5, 1.0, 3.0], (30, 12)) if weighted else None
    votes = np.array([[3, 1, 0.02], [12, 0.5, 0.2], [1, 4, 0.005], [3, 1, 0.1], [90, 6, 0.02], [5, 1, 0.1]])
    choice = VoteChoice(votes, np.array([0.1, 0.3, 0.2, 0.1, 0.0, 0.3]), np.zeros(6))
    rule = choice.rule(np.array([1.0, 2.0, 0.5, 1.0]))
    shares = rule.shares(distances, labels, counts)
    found = rule.probabilities(class_shares(shares, labels, 4))
    expected, of_neighbors = np.zeros((30, 4)), np.zeros((30, 12))
    for (k, power, floor), weight in zip(votes, choice.weights, strict=True):
        vote = VoteRule(power, 1.0, rule.class_weight, floor)
        own = vote.shares(distances, labels, counts, k)
        of_neighbors += weight * own / (1 + floor)
        expected += weight * vote.probabilities(class_shares(own, labels, 4))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(shares * of_neighbors.sum(axis=1, keepdims=True), of_neighbors, rtol=1e-12)
    assert choice.n_neighbors == 12


def test_votes_are_weighted_by_their_losses():
    rng = np.random.default_rng(0)
    votes = np.array([[7, 3, 0.02], [5, 1, 0.02], [15, 1, 0.02], [40, 1, 0.02]])
    losses = 0.5 + np.array([0.3, 0.0, 0.01, 0.2]) + 0.1 * rng.random((40, 1))
    choice = VoteChoice.of(votes, losses)
    expected = np.exp(-losses.sum(axis=0) / 2.0) * [0, 1, 1, 0]
    np.testing.assert_allclose(choice.weights, expected / expected.sum(), rtol=1e-10)
    mean = -np.log(np.exp(-losses) @ choice.weights).mean()
    assert choice.log_loss == pytest.approx(mean)
    assert choice.gain == pytest.approx(losses[:, 0].mean() - mean)
    assert choice.gain > 2 * choice.gain_error
    # A row of weight 2 is the row twice; with ten times as many rows, the best vote is left.
    twice = VoteChoice.of(votes, np.repeat(losses, 2, axis=0))
    np.testing.assert_allclose(VoteChoice.of(votes, losses, np.full(40, 2.0)).weights, twice.weights)
    many = VoteChoice.of(votes, np.tile(losses, (20, 1)))
    np.testing.assert_array_equal(many.weights, [0, 1, 0, 0])


@pytest.mark.parametrize("class_weight", [None, np.array([1.0, 2.0, 0.5, 1.0])])
def test_held_out_losses_of_weighted_neighbors(class_weight):
    rng = np.random.default_rng(0)
    distances, labels = np.sort(rng.uniform(0.1, 2.0, (30, 12)), axis=1), rng.integers(0, 3, (30, 12))
    own, weights = rng.integers(0, 4, 30), rng.choice([0.0, 0.3, 1.0, 4.0], (30, 12))
    weights[:, 0] = 1e20 * (np.arange(30) == 3)
    votes = np.array([[3, 1.0, 0.02], [12, 0.5, 0.2], [1, 4.0, 0.005], [90, 1.0, 0.02], [5, 1.0, 0.1]])
    rule = VoteRule(9.0, 0.01, class_weight)
    losses = held_out_losses(distances, labels, own, 4, votes, rule, weights=weights)
    for number, (k, power, floor) in enumerate(votes):
        vote = VoteRule(power, 0.01, class_weight, floor)
        shares = class_shares(vote.shares(distances, labels, weights, k), labels, 4)
        expected = -np.log(vote.probabilities(shares)[np.arange(30), own])
        np.testing.assert_allclose(losses[:, number], expected, rtol=1e-12)
