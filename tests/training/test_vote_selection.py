import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from lann.metric import Levels
from lann.training import select_vote
from lann.vote import VoteRule, class_shares


def select(X, labels, n_classes, row_weights=None, **options):
    return select_vote(Levels.plain(X, labels, n_classes, row_weights=row_weights), **options)


def draw(noise, n_rows=400, seed=0):
    """Two classes of which a share of the labels is random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)) * [1.0, 20.0, 0.1]
    labels = np.where(rng.random(n_rows) < noise, rng.integers(0, 2, n_rows), X[:, 0] > 0)
    return X, labels.astype(np.int64)


def test_noisy_labels_need_more_neighbors():
    clean, noisy = (select(*draw(noise), 2) for noise in (0.0, 0.4))
    assert noisy.n_neighbors > clean.n_neighbors
    assert noisy.n_neighbors >= 20
    assert noisy.chosen > 0


def test_the_losses_are_those_of_plain_neighbors():
    X, labels = draw(0.3, n_rows=150)
    choice = select(X, labels, 2)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    lengths, indices = NearestNeighbors(n_neighbors=100).fit(Z).kneighbors()
    epsilon = 1e-3 * np.median(lengths[:, :5] ** 2)
    for position in (0, choice.best, -1):
        k, power, floor = choice.votes[position]
        near = labels[indices[:, : int(k)]]
        rule = VoteRule(power, epsilon, None, floor)
        shares = class_shares(rule.shares(lengths[:, : int(k)] ** 2, near), near, 2)
        expected = -np.log(rule.probabilities(shares)[np.arange(150), labels]).mean()
        assert choice.log_losses[position] == pytest.approx(expected, rel=1e-9)


def test_given_values_are_kept():
    X, labels = draw(0.4)
    assert select(X, labels, 2, n_neighbors=4).n_neighbors == 4
    assert select(X, labels, 2, power=1.5).power == 1.5
    both = select(X, labels, 2, n_neighbors=4, power=0.0)
    assert (both.n_neighbors, both.power) == (4, 0.0)
    assert len(both.votes) == 6  # the floors


@pytest.mark.parametrize("class_weight", [None, np.array([1.0, 3.0])])
def test_weights_are_repeated_rows_that_are_left_out_together(class_weight):
    X, labels = draw(0.3, n_rows=150)
    counts = np.random.default_rng(1).integers(1, 4, 150)
    rows = np.repeat(np.arange(150), counts)
    weighted = select(X, labels, 2, class_weight=class_weight, row_weights=counts.astype(float))
    repeated = select(X[rows], labels[rows], 2, class_weight=class_weight)
    np.testing.assert_array_equal(weighted.votes, repeated.votes)
    np.testing.assert_array_equal(weighted.log_losses, repeated.log_losses)
    assert (weighted.chosen, weighted.gain_error) == (repeated.chosen, repeated.gain_error)
    Z = (X - X[rows].mean(axis=0)) / X[rows].std(axis=0)
    squared = ((Z[:, None] - Z) ** 2).sum(axis=2)
    epsilon = 1e-3 * np.median(np.sort(squared, axis=1)[:, 1:6])
    own = counts if class_weight is None else counts * class_weight[labels]
    for position in (0, weighted.best, -1):
        k, power, floor = weighted.votes[position]
        rule, losses = VoteRule(power, epsilon, class_weight, floor), []
        for i in range(150):
            others = rows[rows != i]
            near = others[np.argsort(squared[i, others], kind="stable")[: int(k)]]
            shares = rule.shares(squared[i, near][None], labels[near][None])
            shares = class_shares(shares, labels[near][None], 2)
            losses.append(-np.log(rule.probabilities(shares)[0, labels[i]]))
        assert weighted.log_losses[position] == pytest.approx(np.average(losses, weights=own), rel=1e-9)
