"""Relevances tell what matters where something does, and nothing where nothing does."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.baselines import PublishedLANN
from lann.datasets import make_artificial_classification

MODELS = {
    "default": lambda seed: LANNClassifier(random_state=seed),
    "points": lambda seed: LANNClassifier(levels=("point",), random_state=seed, max_iter=6),
    "published": lambda seed: PublishedLANN(random_state=seed, max_iter=5, temperature=1.0),
}


def draw(seed, permute=False):
    """Two informative, two redundant and eight noise columns, of like scales."""
    X, y, roles = make_artificial_classification(400, 12, random_state=seed, return_roles=True)
    if permute:
        y = np.random.default_rng(seed).permutation(y)
    strong = np.zeros(12, bool)
    strong[[*roles.informative, *roles.redundant]] = True
    return (X - X.mean(axis=0)) / X.std(axis=0), y, strong


def rank_of_the_strong(relevances, strong):
    """Mean rank of the strong columns, from 0 (least) to 1 (most relevant); .5 is chance."""
    ranks = np.argsort(np.argsort(relevances)) / (len(relevances) - 1)
    return ranks[strong].mean()


@pytest.mark.parametrize("model", MODELS)
def test_columns_that_carry_the_class_get_the_weight(model):
    shares, ranks = [], []
    for seed in range(3):
        X, y, strong = draw(seed)
        relevances = MODELS[model](seed).fit(X, y).mean_feature_weights_
        shares.append(relevances[strong].sum() / relevances.sum())
        ranks.append(rank_of_the_strong(relevances, strong))
    # A third of the columns; at chance they would hold a third of the weight.
    assert np.mean(shares) > (0.6 if model == "default" else 1 / 3)
    assert np.mean(ranks) > 0.65


@pytest.mark.parametrize("model", ["default", "points"])
def test_permuted_labels_leave_no_signal(model):
    """On shuffled labels the very columns that rank at .86 on real ones rank where chance puts them.

    They are correlated, so that their mean rank spreads by about .2 a draw: .06 over twelve.
    """
    ranks = []
    for seed in range(12):
        X, y, strong = draw(seed, permute=True)
        ranks.append(rank_of_the_strong(MODELS[model](seed).fit(X, y).mean_feature_weights_, strong))
    assert abs(np.mean(ranks) - 0.5) < 0.15


def test_permuted_labels_are_predicted_at_chance():
    scores = []
    for seed in range(4):
        X, y, _ = draw(seed, permute=True)
        scores.append(LANNClassifier(random_state=seed).fit(X[::2], y[::2]).score(X[1::2], y[1::2]))
    assert abs(np.mean(scores) - 0.5) < 0.1


def test_signal_is_held_stronger_than_noise():
    """What is learned from real labels is more uneven than what is learned from shuffled ones."""
    real, shuffled = (
        np.mean(
            [
                np.max(r := MODELS["default"](seed).fit(*draw(seed, permute)[:2]).mean_feature_weights_)
                / r.sum()
                for seed in range(2)
            ]
        )
        for permute in (False, True)
    )
    assert real > shuffled


def test_learned_curves_are_monotone():
    X, y, _ = draw(0)
    for learning_rate in (None, 5.0):
        clf = LANNClassifier(random_state=0, max_iter=4, learning_rate=learning_rate).fit(X, y)
        grid = np.repeat(np.linspace(-6, 6, 2000)[:, None], 12, axis=1)
        assert np.all(np.diff(clf.curves_.transform(grid), axis=0) > 0)
