import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.common.measure import PROBABILITY_SCORES, SCORES, measure, warm_up

SPLIT = np.arange(0, 90, 2), np.arange(1, 90, 2)


def test_rows_are_scaled_by_the_training_rows(blobs):
    X, y = blobs
    X = X * [1.0, 100.0, 1.0, 0.01]
    train, test = SPLIT
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(5)).fit(X[train], y[train])
    measured = measure(KNeighborsClassifier(5), X, y, SPLIT, 1)
    assert measured["accuracy"] == model.score(X[test], y[test])
    assert (measured["n_train"], measured["n_test"]) == (45, 45)
    assert set(SCORES) <= measured.keys()
    assert None not in measured.values()
    assert 0 <= measured["ece"] <= 1


def test_without_probabilities_there_is_no_log_loss(blobs):
    measured = measure(SVC(), *blobs, SPLIT, 1)
    assert measured["accuracy"] > 0.5
    assert {measured[name] for name in PROBABILITY_SCORES} == {None}
    assert measured["errors"] == {}


class Returning(GaussianNB):
    """Returns its probabilities times a factor."""

    factor = 1.0

    def predict_proba(self, X):
        return super().predict_proba(X) * self.factor


@pytest.mark.parametrize(
    ("factor", "failed", "message"),
    [
        (1 + 1e-15, {"log_loss", "brier"}, "greater than 1"),  # with a floor they are below 1
        (1.5, {"log_loss", "brier", "log_loss_floored", "brier_floored"}, "greater than 1"),
        (np.nan, set(PROBABILITY_SCORES), "NaN"),
    ],
)
def test_a_score_that_fails_is_recorded_and_the_others_are_measured(blobs, factor, failed, message):
    X, y = blobs
    X = X + 10 * np.eye(3, 4)[y]  # certain predictions
    estimator = Returning()
    estimator.factor = factor
    measured = measure(estimator, X, y, SPLIT, 1)
    assert measured["accuracy"] == 1
    assert measured["errors"].keys() == failed
    assert {name for name in PROBABILITY_SCORES if measured[name] is None} == failed
    assert message in measured["errors"]["log_loss"]
    json.dumps(measured, allow_nan=False)


def test_a_score_that_is_not_a_number_is_recorded_as_failed(blobs, monkeypatch):
    monkeypatch.setattr("benchmarks.common.measure.brier_score", lambda y, probabilities, classes: np.nan)
    measured = measure(GaussianNB(), *blobs, SPLIT, 1)
    assert measured["brier"] is measured["brier_floored"] is None
    assert measured["errors"] == dict.fromkeys(("brier_floored", "brier"), "the score is nan")


def test_probabilities_that_raise_an_error_leave_the_accuracy(blobs):
    class Raising(GaussianNB):
        def predict_proba(self, X):
            raise RuntimeError("no  probabilities")

    measured = measure(Raising(), *blobs, SPLIT, 1)
    assert measured["accuracy"] > 0.5
    assert measured["errors"] == dict.fromkeys(PROBABILITY_SCORES, "RuntimeError: no probabilities")


def test_labels_in_a_column_are_labels(blobs):
    class Column(GaussianNB):
        def predict(self, X):
            return super().predict(X)[:, np.newaxis]

    assert (
        measure(Column(), *blobs, SPLIT, 1)["accuracy"] == measure(GaussianNB(), *blobs, SPLIT, 1)["accuracy"]
    )


def test_a_warm_up_fits_and_leaves_failures_to_the_measurement(blobs):
    estimator = KNeighborsClassifier()
    warm_up(estimator, 1)
    assert estimator.n_samples_fit_ == 150
    warm_up(KNeighborsClassifier(5_000), 1)
    with pytest.raises(ValueError, match="n_neighbors"):
        measure(KNeighborsClassifier(5_000), *blobs, SPLIT, 1)
