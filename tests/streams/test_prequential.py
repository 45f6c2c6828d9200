"""Streams are predicted, scored and learned, row by row."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import BernoulliNB

from lann.streams import PrequentialEvaluation, iter_prequential, prequential


class Reset(NamedTuple):
    row: int
    size_before: int
    size_after: int


class LastLabels:
    """A classifier that predicts the last label, with memories and a reset at every hundredth row."""

    def __init__(self):
        self.n_seen_, self.short_term_size_, self.long_term_size_ = 0, 0, 0
        self.classes_, self.last, self.resets_ = np.array([]), None, []

    def test_then_train(self, X, y, classes=None):
        self.classes_ = np.unique([*self.classes_.tolist(), *y.tolist()])
        found = np.zeros((len(y), len(self.classes_)))
        for i, label in enumerate(y.tolist()):
            if self.last is not None:
                found[i, np.searchsorted(self.classes_, self.last)] = 0.75
            self.last = label
            if self.n_seen_ % 100 == 99:
                self.resets_.append(Reset(self.n_seen_, 100, 50))
                self.short_term_size_ //= 2
            self.n_seen_ += 1
            self.short_term_size_ += 1
        return found


@pytest.fixture
def stream():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 2))
    return X, np.array(["no", "yes"])[(X[:, 0] + 0.3 * rng.normal(size=500) > 0).astype(int)]


def test_rows_are_predicted_before_they_are_learned(stream):
    X, y = stream
    (batch,) = iter_prequential(
        BernoulliNB(), X[:50], y[:50], classes=["no", "yes"], evaluation=PrequentialEvaluation()
    )
    model = BernoulliNB().partial_fit(X[:1], y[:1], classes=["no", "yes"])
    assert batch.predictions[0] is None
    for i in range(1, 50):
        expected = model.predict_proba(X[i : i + 1])[0]
        assert batch.predictions[i] == model.classes_[expected.argmax()]
        assert batch.true_probabilities[i] == expected[list(model.classes_).index(y[i])]
        model.partial_fit(X[i : i + 1], y[i : i + 1])


def test_batches_and_frames_give_the_same(stream):
    X, y = stream
    whole = prequential(LastLabels(), X, y)
    parts = prequential(LastLabels(), ((X[i : i + 33], y[i : i + 33]) for i in range(0, 500, 33)))
    frame = prequential(LastLabels(), pd.DataFrame(X), pd.Series(y))
    assert whole.to_dict() == parts.to_dict() == frame.to_dict()
    assert whole.scores.accuracy == whole.scores.no_change_accuracy


def test_resets_and_sizes_are_noted(stream):
    X, y = stream
    evaluation = PrequentialEvaluation(window_size=50)
    batches = list(iter_prequential(LastLabels(), X, y, evaluation=evaluation, batch_size=64))
    assert evaluation.resets == (99, 199, 299, 399, 499)
    assert [row for batch in batches for row in batch.resets] == [99, 199, 299, 399, 499]
    assert evaluation.curve.rows.tolist() == list(range(5, 501, 5))
    sizes = dict(zip(evaluation.curve.rows.tolist(), evaluation.curve.short_term_size, strict=True))
    assert sizes[95] == 95
    assert sizes[100] == 50
    assert [batch.first_row for batch in batches] == list(range(0, 500, 5))


def test_rows_learned_before_are_not_rows_of_the_stream(stream):
    X, y = stream
    model = LastLabels()
    model.test_then_train(X[:150], y[:150])
    evaluation = prequential(model, X[150:], y[150:])
    assert evaluation.n_rows == 350
    assert evaluation.resets == (49, 149, 249, 349)


def test_an_estimator_that_cannot_learn_row_by_row_gets_one_sentence(stream):
    with pytest.raises(TypeError, match="Perceptron has neither test_then_train nor"):
        prequential(Perceptron(), *stream)
