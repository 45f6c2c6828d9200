"""What users combine with a classifier: scorers, calibration, pipelines, search."""

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, get_scorer_names, log_loss
from sklearn.model_selection import cross_val_score

from lann import LANNClassifier


@pytest.fixture(scope="module")
def noisy():
    """Three classes of which a quarter of the labels is random: rows for training, calibration and test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = np.where(rng.random(900) < 0.25, rng.integers(0, 3, 900), np.digitize(X[:, 0], [-0.4, 0.4]))
    labels = np.array(["low", "middle", "high"])[y]
    return X[:300], labels[:300], X[300:600], labels[300:600], X[600:], labels[600:]


@pytest.fixture(scope="module")
def fitted(noisy):
    return LANNClassifier(max_iter=4, random_state=0).fit(*noisy[:2])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score", "roc_auc", "d2_log_loss_score"])
def test_scores_of_probabilities(scoring):
    if scoring not in get_scorer_names():
        pytest.skip(f"this version of scikit-learn has no {scoring}")
    breast_cancer = load_breast_cancer(return_X_y=True)
    scores = cross_val_score(
        LANNClassifier(max_iter=2, random_state=0), *breast_cancer, scoring=scoring, cv=3
    )
    assert np.isfinite(scores).all()
    assert scores.min() > (-0.25 if scoring.startswith("neg") else 0.6)


def test_log_loss_of_noisy_labels_is_better_than_without_probabilities(noisy, fitted):
    """Constant probabilities have log 3; a classifier with probabilities of 0 and 1 would be far above it."""
    *_, X_test, y_test = noisy
    assert log_loss(y_test, fitted.predict_proba(X_test), labels=fitted.classes_) < 0.8 * np.log(3)


@pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.8"), reason="scikit-learn before 1.8 has no temperature scaling"
)
def test_temperature_scaling(noisy, fitted):
    X_train, y_train, _, _, X_test, y_test = noisy
    calibrated = CalibratedClassifierCV(
        LANNClassifier(max_iter=4, random_state=0), method="temperature", cv=3
    ).fit(X_train, y_train)
    losses = [
        log_loss(y_test, model.predict_proba(X_test), labels=fitted.classes_)
        for model in (fitted, calibrated)
    ]
    # There is little to calibrate, and nothing is lost.
    assert losses[1] < losses[0] + 0.03
    assert brier_score_loss(y_test, calibrated.predict_proba(X_test), labels=fitted.classes_) < 0.5
