import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.common.measure import SCORES, measure, warm_up

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
    assert measured["log_loss"] is measured["ece"] is None


def test_probabilities_must_be_finite(blobs):
    class Broken(GaussianNB):
        def predict_proba(self, X):
            return np.full((len(X), 3), np.nan)

    with pytest.raises(ValueError, match="not all finite"):
        measure(Broken(), *blobs, SPLIT, 1)


def test_a_warm_up_fits_and_leaves_failures_to_the_measurement(blobs):
    estimator = KNeighborsClassifier()
    warm_up(estimator, 1)
    assert estimator.n_samples_fit_ == 150
    warm_up(KNeighborsClassifier(5_000), 1)
    with pytest.raises(ValueError, match="n_neighbors"):
        measure(KNeighborsClassifier(5_000), *blobs, SPLIT, 1)
