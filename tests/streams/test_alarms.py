"""Alarms: the compiled test against a slow one, its rate of false alarms, and what raises alarms."""

import numpy as np
import pytest

from lann.streams import SAMKNN, SAMLANN, DriftDetector, PrequentialEvaluation


def draw_errors(rates, n_rows, seed=0):
    """Return errors with some rates, one after the other for the same number of rows."""
    return np.random.default_rng(seed).random(len(rates) * n_rows) < np.repeat(rates, n_rows)


def find_alarms(errors, threshold):
    """Add up what all bets since the last restart have won, each from its start, and return the alarms."""
    alarms, start = [], 0
    rises, falls = [], []  # by row since the last restart, what a bet of each exponent has won
    exponents = np.array([0.3, 0.6, 0.9])
    for row in range(len(errors)):
        n_errors, n_rows = errors[start:row].sum() + 1, row - start + 2
        low, high = (0, n_errors + 1) if errors[row] else (n_errors, n_rows)
        a, b = low / n_rows, high / n_rows
        rises.append((b**exponents - a**exponents) / (b - a))
        falls.append(((1 - a) ** exponents - (1 - b) ** exponents) / (b - a))
        rise, fall = (np.cumprod(bets[::-1], axis=0).sum(axis=0).mean() for bets in (rises, falls))
        if rise >= threshold:
            alarms.append(row)
        if rise >= threshold or fall >= threshold:
            start, rises, falls = row + 1, [], []
    return alarms


@pytest.mark.parametrize(
    "rates", [[0.1, 0.3, 0.05, 0.2], [0.0, 1.0, 0.0], [0.02, 0.05, 0.5], [0.9, 1.0, 0.9]]
)
def test_alarms_are_those_of_the_slow_test(rates):
    errors = draw_errors(rates, 150)
    expected = find_alarms(errors, 300.0)
    detector = DriftDetector(rows_per_false_alarm=300)
    assert [alarm.row for alarm in detector.update(errors)] == expected
    assert detector.n_alarms == len(expected) > 0


def test_batches_and_a_saved_state_give_the_same():
    errors = draw_errors([0.05, 0.3, 0.1, 0.5], 400)
    whole, parts = DriftDetector(), DriftDetector()
    whole.update(errors)
    for start in range(0, len(errors), 77):
        parts = DriftDetector.from_dict(parts.to_dict())
        parts.update(errors[start : start + 77].tolist())
    assert parts.to_dict() == whole.to_dict()
    assert whole.n_alarms >= 2


def test_an_alarm_says_when_errors_became_more_frequent():
    detector = DriftDetector()
    (alarm,) = detector.update(draw_errors([0.1, 0.5], 1000))
    assert detector.alarms == [alarm]
    assert 1000 <= alarm.row < 1060
    assert abs(alarm.onset - 1000) < 20
    assert alarm.error_before == pytest.approx(0.1, abs=0.03)
    assert alarm.error_after == pytest.approx(0.5, abs=0.25)


@pytest.mark.parametrize("rate", [0.001, 0.05, 0.3, 0.8])
def test_false_alarms_are_as_rare_as_stated(rate):
    """With 2000 rows between false alarms, 500 are expected at most in a million rows."""
    detector = DriftDetector(rows_per_false_alarm=2000)
    detector.update(draw_errors([rate], 1_000_000))
    assert detector.n_alarms <= 1.2 * 500


def test_a_classifier_that_improves_raises_no_alarm():
    rates = 0.02 + 0.5 * np.exp(-np.arange(20_000) / 2000)
    detector = DriftDetector()
    detector.update(np.random.default_rng(0).random(20_000) < rates)
    assert detector.n_alarms == 0
    # It has not forgotten what it can: a rise to a rate below that of the beginning is an alarm.
    (alarm,) = detector.update(draw_errors([0.2], 100))
    assert alarm.error_before < 0.05


def test_a_single_error_is_no_alarm():
    detector = DriftDetector(rows_per_false_alarm=10_000)
    detector.update(np.arange(100_001) % 100_000 == 99_999)
    assert detector.n_alarms == 0


def test_only_the_last_alarms_are_kept():
    detector = DriftDetector(rows_per_false_alarm=1)
    detector.update(np.ones(1500, bool))
    assert detector.n_alarms == 1500
    assert len(detector.alarms) == 1000
    assert detector.alarms[-1].row == 1499


def test_invalid_input_gets_one_sentence():
    with pytest.raises(ValueError, match="rows_per_false_alarm must be an integer of at least 1; got 0"):
        DriftDetector(rows_per_false_alarm=0)
    detector = DriftDetector()
    with pytest.raises(ValueError, match="errors must be true or false"):
        detector.update([0.1, 0.9])
    assert not detector.state.any()


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
def test_alarms_of_a_classifier_are_those_of_its_errors(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = np.where((X[:, 0] > 0) == (np.arange(3000) < 1500), "up", "down")
    clf = cls(random_state=0)
    probabilities = clf.test_then_train(X, y)
    errors = clf.classes_[probabilities.argmax(axis=1)] != y
    errors[0] = True  # no class was known
    detector = DriftDetector()
    assert clf.alarms_ == detector.update(errors)
    assert [1500 < alarm.row < 1530 for alarm in clf.alarms_] == [True]
    assert clf.n_resets_ > clf.n_alarms_
    # Row by row, without probabilities, it is the same; learning from the beginning forgets alarms.
    other = cls(random_state=0)
    for i in range(3000):
        other.partial_fit(X[i : i + 1], y[i : i + 1])
    assert other.alarms_ == clf.alarms_
    assert clf.fit(X[:100], y[:100]).alarms_ == []


def test_an_evaluation_raises_alarms_for_any_classifier():
    labels = np.random.default_rng(1).integers(2, size=2000)
    errors = draw_errors([0.1, 0.6], 1000)
    evaluation = PrequentialEvaluation()
    evaluation.update(labels, np.where(errors, 1 - labels, labels), np.full(2000, 0.5))
    assert list(evaluation.alarms) == DriftDetector().update(errors)
    assert evaluation.n_alarms == 1
