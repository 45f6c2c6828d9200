"""The prequential evaluation against scikit-learn's scores of the same predictions."""

import json
import math

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss

from lann.streams import PrequentialEvaluation

CLASSES = np.array(["a", "b", "c"])


def make_predictions(seed, n_rows=400):
    """Return labels that often stay the same, predictions that are often right, and probabilities."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(n_rows, dtype=int)
    for i in range(1, n_rows):
        labels[i] = labels[i - 1] if rng.random() < 0.6 else rng.integers(3)
    probabilities = rng.dirichlet(np.ones(3), size=n_rows)
    probabilities[np.arange(n_rows), labels] += rng.random(n_rows)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return labels, probabilities


def feed(evaluation, labels, probabilities, batches=(1,)):
    start, turn = 0, 0
    while start < len(labels):
        rows = slice(start, start + batches[turn % len(batches)])
        predicted = CLASSES[probabilities[rows].argmax(axis=1)]
        true = probabilities[rows][np.arange(len(labels[rows])), labels[rows]]
        evaluation.update(CLASSES[labels[rows]], predicted, true)
        start, turn = rows.stop, turn + 1
    return evaluation


def no_change_accuracy(labels, start=0):
    before = np.r_[-1, labels[:-1]]
    return float(np.mean(labels[start:] == before[start:]))


def majority_accuracy(labels, start=0):
    """Predict the most frequent label so far; of equally frequent ones, the one that was so first."""
    best, counts, correct = None, dict.fromkeys(range(3), 0), []
    for label in labels.tolist():
        correct.append(label == best)
        counts[label] += 1
        if best is None or counts[label] > counts[best]:
            best = label
    return float(np.mean(correct[start:]))


def check_scores(scores, labels, probabilities, start=0):
    predicted = probabilities.argmax(axis=1)
    rows = slice(start, None)
    accuracy = accuracy_score(labels[rows], predicted[rows])
    no_change = no_change_accuracy(labels, start)
    assert scores.n_rows == len(labels) - start
    assert scores.accuracy == pytest.approx(accuracy, abs=1e-12)
    assert scores.kappa == pytest.approx(cohen_kappa_score(labels[rows], predicted[rows]), abs=1e-12)
    assert scores.kappa_temporal == pytest.approx((accuracy - no_change) / (1 - no_change), abs=1e-12)
    expected = log_loss(labels[rows], probabilities[rows], labels=[0, 1, 2])
    assert scores.log_loss == pytest.approx(expected, rel=1e-10)
    assert scores.no_change_accuracy == pytest.approx(no_change, abs=1e-12)
    assert scores.majority_accuracy == pytest.approx(majority_accuracy(labels, start), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_scikit_learn(seed):
    labels, probabilities = make_predictions(seed)
    evaluation = feed(PrequentialEvaluation(window_size=150), labels, probabilities)
    check_scores(evaluation.scores, labels, probabilities)
    check_scores(evaluation.window_scores, labels, probabilities, start=250)


def test_curve_has_the_scores_of_the_window_at_its_rows():
    labels, probabilities = make_predictions(5)
    evaluation = feed(PrequentialEvaluation(window_size=100), labels, probabilities)
    curve = evaluation.curve
    assert curve.rows.tolist() == list(range(10, 401, 10))
    for i in (20, 39):
        row = curve.rows[i]
        before = feed(PrequentialEvaluation(window_size=100), labels[:row], probabilities[:row])
        expected = before.window_scores
        assert [column[i] for column in curve[1:7]] == list(expected[1:])


def test_batches_do_not_change_scores():
    labels, probabilities = make_predictions(6)
    one = feed(PrequentialEvaluation(window_size=50), labels, probabilities)
    other = feed(PrequentialEvaluation(window_size=50), labels, probabilities, batches=(7, 64, 129))
    assert one.to_dict() == other.to_dict()


def test_a_probability_of_zero_counts_as_in_scikit_learn():
    evaluation = PrequentialEvaluation()
    evaluation.update([1, 0], [0, 0], [0.0, 1.0])
    expected = log_loss([1, 0], [[1.0, 0.0], [1.0, 0.0]], labels=[0, 1])
    assert evaluation.scores.log_loss == pytest.approx(expected, rel=1e-10)


def test_no_prediction_is_not_correct_and_belongs_to_no_label():
    evaluation = PrequentialEvaluation()
    evaluation.update(["a", "b", "a"], [None, "b", "a"], [0.0, 0.5, 0.5])
    assert evaluation.scores.accuracy == pytest.approx(2 / 3)
    assert evaluation.scores.kappa == pytest.approx(cohen_kappa_score(["a", "b", "a"], ["none", "b", "a"]))


def test_scores_without_rows_or_changes_are_defined():
    evaluation = PrequentialEvaluation()
    assert evaluation.scores.n_rows == 0
    assert evaluation.window_scores.accuracy == 0.0
    evaluation.update([1] * 5, [1] * 5, [1.0] * 5)
    assert evaluation.scores.accuracy == 1.0
    assert math.isfinite(evaluation.scores.kappa)


def test_memory_is_constant():
    evaluation = PrequentialEvaluation(window_size=20, max_points=16)
    sizes = set()
    for start in range(0, 4000, 500):
        labels = np.arange(start, start + 500) % 3
        evaluation.update(labels, labels, np.full(500, 0.5), resets=range(start, start + 500))
        state = evaluation.to_dict()
        sizes.add((len(state["window"]), len(state["points"]) <= 16, len(state["resets"]) <= 1000))
    assert sizes == {(20, True, True)}
    assert evaluation.n_resets == 4000
    np.testing.assert_array_equal(evaluation.curve.n_resets, evaluation.curve.rows)
    assert evaluation.curve.rows[-1] == 4000
    spacing = np.diff(evaluation.curve.rows[:-1])
    assert len(spacing) >= 7
    assert set(spacing) == {spacing[0]}


def test_state_continues_with_the_same_bits():
    labels, probabilities = make_predictions(7)
    whole = feed(PrequentialEvaluation(window_size=60, max_points=8), labels, probabilities)
    half = feed(PrequentialEvaluation(window_size=60, max_points=8), labels[:222], probabilities[:222])
    restored = PrequentialEvaluation.from_dict(json.loads(json.dumps(half.to_dict())))
    assert feed(restored, labels[222:], probabilities[222:]).to_dict() == whole.to_dict()


def test_invalid_input_gets_one_sentence():
    with pytest.raises(ValueError, match="window_size must be an integer of at least 2; got 0"):
        PrequentialEvaluation(window_size=0)
    evaluation = PrequentialEvaluation()
    with pytest.raises(ValueError, match="same length; got 2, 1 and 2"):
        evaluation.update([0, 1], [0], [0.5, 0.5])
    with pytest.raises(ValueError, match="from 0 to 1"):
        evaluation.update([0], [0], [math.nan])
