import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss

from benchmarks.streams.scores import FLOOR, Record, score_up_to


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=300)
    shares = rng.dirichlet(np.ones(4), size=300)
    shares[::50] = np.eye(4)[rng.integers(4, size=6)]  # exact zeros and ones
    record = Record(shares.argmax(axis=1), shares[np.arange(300), y])
    found = score_up_to(record, y, 4, 200)
    y, shares = y[:200], shares[:200]
    accuracy = accuracy_score(y, shares.argmax(axis=1))
    no_change = np.mean(np.r_[-1, y[:-1]] == y)
    assert found["accuracy"] == pytest.approx(accuracy)
    assert found["kappa"] == pytest.approx(cohen_kappa_score(y, shares.argmax(axis=1)))
    assert found["kappa_temporal"] == pytest.approx((accuracy - no_change) / (1 - no_change))
    assert found["log_loss"] == pytest.approx(log_loss(y, shares, labels=range(4)))
    floored = (shares + FLOOR / 4) / (1 + FLOOR)
    assert found["log_loss_floored"] == pytest.approx(log_loss(y, floored, labels=range(4)))


def test_the_scores_are_those_of_the_library():
    from lann.streams import PrequentialEvaluation

    rng = np.random.default_rng(1)
    y, predicted = rng.integers(3, size=(2, 400))
    predicted[0] = -1
    probability = rng.random(400)
    evaluation = PrequentialEvaluation()
    labels = [None if label < 0 else label for label in predicted.tolist()]
    evaluation.update(y, labels, probability)
    found = score_up_to(Record(predicted, probability), y, 3, 400)
    for name in ("accuracy", "kappa", "kappa_temporal", "log_loss"):
        assert found[name] == pytest.approx(getattr(evaluation.scores, name))


def test_a_perfect_no_change_is_defined():
    record = Record(np.zeros(5, dtype=int), np.ones(5))
    assert np.isfinite(list(score_up_to(record, np.zeros(5, dtype=int), 1, 5).values())).all()
