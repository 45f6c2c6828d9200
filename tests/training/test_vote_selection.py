import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.neighbors import NearestNeighbors

from lann import LANNClassifier
from lann.metric import Levels
from lann.training import Settings, for_noisy_labels, train
from lann.vote import VoteRule, class_shares


def select(X, labels, n_classes, row_weights=None, max_iter=0, **options):
    """The vote that is chosen; without training, rows are held out one by one."""
    start = Levels.plain(X, labels, n_classes, row_weights=row_weights)
    return train(start, Settings(max_iter=max_iter, **options), np.random.default_rng(0)).vote


def draw(noise, n_rows=400, seed=0):
    """Two classes of which a share of the labels is random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    labels = np.where(rng.random(n_rows) < noise, rng.integers(0, 2, n_rows), X[:, 0] > 0)
    return X, labels.astype(np.int64)


@pytest.mark.parametrize("max_iter", [0, 3])
def test_noisy_labels_need_more_neighbors_of_the_same_weight(max_iter):
    clean, noisy = (select(*draw(noise), 2, max_iter=max_iter) for noise in (0.0, 0.4))
    assert (noisy.weights @ noisy.votes)[0] > (clean.weights @ clean.votes)[0]
    assert noisy.power < clean.power
    assert noisy.gain > 2 * noisy.gain_error
    assert noisy.is_for_noise


def test_the_loss_of_training_is_another_one_for_noisy_labels():
    clean, noisy = (
        for_noisy_labels(Levels.plain(*draw(noise), 2), Settings(max_iter=0)) for noise in (0.0, 0.4)
    )
    assert clean == Settings(max_iter=0)
    assert (noisy.n_neighbors, noisy.power) == (20, 3.0)


def test_the_losses_are_those_of_rows_that_are_held_out():
    X, labels = draw(0.3, n_rows=150)
    choice = select(X, labels, 2)
    lengths, indices = NearestNeighbors(n_neighbors=100).fit(X).kneighbors()
    epsilon = 1e-3 * np.median(lengths[:, :5] ** 2)
    probabilities = np.zeros((150, 2))
    for position, (k, power, floor) in enumerate(choice.votes):
        near = labels[indices[:, : int(k)]]
        rule = VoteRule(power, epsilon, None, floor)
        shares = class_shares(rule.shares(lengths[:, : int(k)] ** 2, near), near, 2)
        own = rule.probabilities(shares)
        assert choice.log_losses[position] == pytest.approx(log_loss(labels, own), rel=1e-9)
        probabilities += choice.weights[position] * own
    assert choice.log_loss == pytest.approx(log_loss(labels, probabilities), rel=1e-9)
    assert choice.n_rows == 150


@pytest.mark.parametrize("n_rows", [300, 5000])
def test_rows_that_are_held_out_tell_the_loss_of_new_rows(n_rows):
    X, y = make_classification(n_rows + 2000, 8, n_informative=5, flip_y=0.2, random_state=0)
    clf = LANNClassifier(random_state=0, n_jobs=2).fit(X[:n_rows], y[:n_rows])
    vote, found = clf.vote_, log_loss(y[n_rows:], clf.predict_proba(X[n_rows:]))
    assert vote.n_rows == (300 if n_rows == 300 else 500)
    assert found == pytest.approx(vote.log_loss, abs=0.06)


def test_given_values_are_kept():
    X, labels = draw(0.4)
    assert select(X, labels, 2, vote_neighbors=4).n_neighbors == 4
    assert select(X, labels, 2, vote_power=1.5).power == pytest.approx(1.5)
    both = select(X, labels, 2, vote_neighbors=4, vote_power=0.0)
    assert (both.n_neighbors, both.power) == (4, 0.0)
    assert len(both.votes) == 4  # the floors, one of them that of the default vote
    assert both.mixture is None


@pytest.mark.parametrize("class_weight", [None, np.array([1.0, 3.0])])
def test_weights_are_repeated_rows_that_are_held_out_together(class_weight):
    X, labels = draw(0.3, n_rows=150)
    counts = np.random.default_rng(1).integers(1, 4, 150)
    rows = np.repeat(np.arange(150), counts)
    for max_iter in (0, 1):
        weighted = select(X, labels, 2, counts.astype(float), max_iter, class_weight=class_weight)
        repeated = select(X[rows], labels[rows], 2, None, max_iter, class_weight=class_weight)
        for name, value in vars(weighted).items():
            np.testing.assert_array_equal(getattr(repeated, name), value, err_msg=name)
    weighted = select(X, labels, 2, counts.astype(float), class_weight=class_weight)
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    epsilon = 1e-3 * np.median(np.sort(squared, axis=1)[:, 1:6])
    own = counts if class_weight is None else counts * class_weight[labels]
    for position in (0, np.argmin(weighted.log_losses), -1):
        k, power, floor = weighted.votes[position]
        rule, losses = VoteRule(power, epsilon, class_weight, floor), []
        for i in range(150):
            others = rows[rows != i]
            near = others[np.argsort(squared[i, others], kind="stable")[: int(k)]]
            shares = rule.shares(squared[i, near][None], labels[near][None])
            shares = class_shares(shares, labels[near][None], 2)
            losses.append(-np.log(rule.probabilities(shares)[0, labels[i]]))
        assert weighted.log_losses[position] == pytest.approx(np.average(losses, weights=own), rel=1e-9)
