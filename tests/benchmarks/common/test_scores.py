import numpy as np
import pytest
from sklearn import metrics

from benchmarks.common.scores import (
    accuracy,
    add_floor,
    balanced_accuracy,
    brier_score,
    count_confident,
    expected_calibration_error,
    log_loss,
)


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    probabilities = rng.dirichlet([0.3, 0.3, 0.3], size=200)
    probabilities[:5] = np.eye(3)[(y[:5] + 1) % 3]  # probability 0 for the correct label
    return y, probabilities, np.arange(3)


def test_accuracies_and_log_loss_equal_those_of_scikit_learn(case):
    y, probabilities, classes = case
    predicted = probabilities.argmax(axis=1)
    assert accuracy(y, predicted) == metrics.accuracy_score(y, predicted)
    assert balanced_accuracy(y, predicted) == pytest.approx(metrics.balanced_accuracy_score(y, predicted))
    assert log_loss(y, probabilities, classes) == pytest.approx(metrics.log_loss(y, probabilities))


def test_every_class_counts_the_same_in_the_balanced_accuracy():
    y = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    predicted = np.array([0, 0, 0, 0, 0, 0, 0, 1])
    assert balanced_accuracy(y, predicted) == 0.75  # (6/6 + 1/2) / 2
    assert accuracy(y, predicted) == 0.875


def test_log_loss_by_hand():
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75]])
    assert log_loss(np.array([4, 7]), probabilities, np.array([4, 7])) == pytest.approx(
        (np.log(2) + np.log(4 / 3)) / 2
    )


def test_a_label_without_a_column_and_invalid_probabilities_raise():
    certain, classes = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([4, 7])
    for score in (log_loss, brier_score):
        with pytest.raises(ValueError, match="labels"):
            score(np.array([4, 5]), certain, classes)
        with pytest.raises(ValueError, match="greater than 1"):
            score(np.array([4, 7]), certain * (1 + 1e-15), classes)
    for invalid in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not all finite"):
            expected_calibration_error(np.array([4, 7]), certain + invalid, classes)


def test_brier_score_by_hand():
    # Two classes: the squared error of one probability. Three: half the sum over the classes.
    assert brier_score(np.array([0, 1]), np.array([[0.8, 0.2], [0.5, 0.5]]), np.arange(2)) == pytest.approx(
        (0.04 + 0.25) / 2
    )
    three = np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert brier_score(np.array([0, 1, 1]), three, np.arange(3)) == pytest.approx(
        (0.25 + 0.09 + 0.04 + 1 + 1) / 2 / 3
    )


def test_a_floor_leaves_the_sum_and_no_zeros():
    probabilities = np.array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    floored = add_floor(probabilities)
    np.testing.assert_allclose(floored[0], [1.005 / 1.02] + 3 * [0.005 / 1.02])
    np.testing.assert_allclose(floored[1], probabilities[1])
    np.testing.assert_allclose(floored.sum(axis=1), 1)
    # What is wrong remains wrong: nothing is scaled to sum 1.
    assert add_floor(np.array([[0.5, 0.0]])).sum() == pytest.approx(0.52 / 1.02)


def test_confident_predictions_are_counted_with_their_labels():
    top = np.array([0.99, 0.995, 1.0, 0.98])
    probabilities = np.column_stack([top, 1 - top])
    assert count_confident(np.array([5, 8, 5, 5]), probabilities, np.array([5, 8])) == (3, 2)
    assert count_confident(np.array([5]), np.array([[0.5, 0.5]]), np.array([5, 8])) == (0, 0)


def test_calibration_by_hand():
    # Four bins: (.5, .75] has .6 (correct) and .7 (wrong); (.75, 1] has .9 and 1 (both correct).
    top = np.array([0.6, 0.7, 0.9, 1.0])
    probabilities = np.column_stack([top, 1 - top])
    y = np.array([0, 1, 0, 0])
    expected = 2 / 4 * abs(1 / 2 - 0.65) + 2 / 4 * abs(1 - 0.95)
    assert expected_calibration_error(y, probabilities, np.arange(2), n_bins=4) == pytest.approx(expected)


def test_bins_are_closed_on_the_right():
    # .5 belongs to (.25, .5] and .51 to (.5, .75]: apart, the errors add up; together they would cancel.
    probabilities = np.array([[0.5, 0.3, 0.2], [0.51, 0.29, 0.2]])
    error = expected_calibration_error(np.array([0, 1]), probabilities, np.arange(3), n_bins=4)
    assert error == pytest.approx((0.5 + 0.51) / 2)


def test_calibration_error_is_from_0_to_1():
    certain = np.eye(2)[[0, 1, 0, 1]]
    assert expected_calibration_error(np.array([0, 1, 0, 1]), certain, np.arange(2)) == 0
    assert expected_calibration_error(np.array([1, 0, 1, 0]), certain, np.arange(2)) == 1


def test_calibration_uses_the_labels_of_the_columns():
    certain = np.eye(2)[[0, 1]]
    assert expected_calibration_error(np.array([5, 8]), certain, np.array([5, 8])) == 0
