from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_score, recall_score

from lann.reject import (
    accuracy_reject_curve,
    aurc,
    precision_reject_curve,
    recall_reject_curve,
    risk_coverage_curve,
)


@pytest.fixture
def predictions():
    """Labels, predicted labels and certainties of 60 rows, with ties."""
    rng = np.random.default_rng(0)
    y_true = rng.integers(3, size=60)
    y_pred = np.where(rng.random(60) < 0.7, y_true, rng.integers(3, size=60))
    return y_true, y_pred, rng.integers(20, size=60) / 20


def accepted_sets(certainty):
    """Yield the accepted rows for every distinct threshold, the fewest first."""
    for threshold in sorted(set(certainty), reverse=True):
        yield certainty >= threshold


def test_risk_coverage_counts_every_threshold(predictions):
    y_true, y_pred, certainty = predictions
    expected = [(a.mean(), np.mean(y_true[a] != y_pred[a])) for a in accepted_sets(certainty)]
    coverage, risk = risk_coverage_curve(y_true, y_pred, certainty)
    np.testing.assert_allclose(np.column_stack([coverage, risk]), expected)
    assert coverage[-1] == 1.0


def test_accuracy_reject_is_the_same_from_the_other_side(predictions):
    y_true, y_pred, certainty = predictions
    expected = [(1 - a.mean(), accuracy_score(y_true[a], y_pred[a])) for a in accepted_sets(certainty)]
    found = accuracy_reject_curve(y_true, y_pred, certainty)
    np.testing.assert_allclose(np.column_stack(found), expected[::-1])


@pytest.mark.parametrize(
    ("curve", "score"), [(precision_reject_curve, precision_score), (recall_reject_curve, recall_score)]
)
def test_precision_and_recall_of_a_class(predictions, curve, score):
    y_true, y_pred, certainty = predictions
    expected = [
        score(y_true[a], y_pred[a], labels=[1], average=None, zero_division=np.nan)[0]
        for a in accepted_sets(certainty)
    ]
    rejected, found = curve(y_true, y_pred, certainty, label=1)
    np.testing.assert_allclose(found, expected[::-1])
    np.testing.assert_allclose(rejected, accuracy_reject_curve(y_true, y_pred, certainty)[0])


def test_precision_is_nan_where_the_class_is_not_predicted():
    _, precision = precision_reject_curve(["a", "b"], ["a", "b"], [0.9, 0.1], label="b")
    assert precision[0] == 1.0
    assert np.isnan(precision[1])


def test_aurc_is_the_mean_of_the_risks(predictions):
    y_true, y_pred, _ = predictions
    certainty = np.random.default_rng(1).permutation(60)
    order = np.argsort(-certainty)
    wrong = (y_true != y_pred)[order]
    expected = np.mean([wrong[:n].mean() for n in range(1, 61)])
    assert aurc(y_true, y_pred, certainty) == pytest.approx(expected)
    assert aurc(y_true, y_pred, certainty) == pytest.approx(
        risk_coverage_curve(y_true, y_pred, certainty)[1].mean()
    )


def test_aurc_of_ties_is_the_mean_over_their_orders():
    y_true, y_pred = np.array([0, 0, 0, 0, 0]), np.array([0, 1, 0, 1, 0])
    certainty = np.array([0.9, 0.5, 0.5, 0.5, 0.1])
    areas = []
    for order in permutations([0.4, 0.5, 0.6]):
        broken = certainty.copy()
        broken[1:4] = order
        areas.append(aurc(y_true, y_pred, broken))
    assert aurc(y_true, y_pred, certainty) == pytest.approx(np.mean(areas))


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (lambda: aurc([0, 1], [0, 1], [0.5, np.nan]), "a certainty that is not NaN"),
        (lambda: aurc([0, 1], [0, 1], [0.5]), "inconsistent numbers of samples"),
        (lambda: aurc([], [], []), "at least one row"),
        (lambda: aurc(["0", "1"], [0, 1], [0.5, 0.6]), "Mix of label input types"),
        (
            lambda: recall_reject_curve([0, 1], [0, 1], [0.5, 0.6], label=2),
            "label=2 is neither in y_true nor",
        ),
    ],
)
def test_invalid_arguments(curve, message):
    with pytest.raises(ValueError, match=message):
        curve()
