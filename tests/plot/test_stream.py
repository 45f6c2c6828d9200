import matplotlib.pyplot as plt
import numpy as np
import pytest

from lann.plot import StreamDisplay
from lann.streams import PrequentialEvaluation


def evaluate(n_rows=500, *, resets=(), sizes=(100, 50), accuracy=0.8, window_size=100):
    """Return the evaluation of predictions that are correct as often as wanted, in all or row by row."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=n_rows)
    predictions = np.where(rng.random(n_rows) < accuracy, labels, (labels + 1) % 3)
    evaluation = PrequentialEvaluation(window_size=window_size)
    evaluation.update(labels, predictions, np.full(n_rows, 0.7), memory_sizes=sizes, resets=resets)
    return evaluation


def labels_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_curves_are_those_of_the_evaluation(assert_legible):
    accuracy = np.where(np.arange(500) < 250, 0.9, 0.2)
    evaluation = evaluate(accuracy=accuracy, resets=[120, 300])
    display = StreamDisplay.from_evaluation(evaluation, name="SAMKNN", data_name="weather")
    lines = {
        line.get_linestyle(): line.get_ydata() for line in display.ax_.lines if len(line.get_xdata()) > 2
    }
    np.testing.assert_array_equal(lines["-"], evaluation.curve.accuracy)
    np.testing.assert_array_equal(lines[":"], evaluation.curve.no_change_accuracy)
    np.testing.assert_array_equal(lines["--"], evaluation.curve.majority_accuracy)
    marks = [line.get_xdata()[0] for line in display.ax_.lines if len(line.get_xdata()) == 2]
    assert marks == [alarm.row for alarm in evaluation.alarms]
    assert [250 < row < 270 for row in marks] == [True]
    (resets,) = (line for line in display.axes_[1].lines if line.get_marker() == "|")
    assert resets.get_xdata().tolist() == [120, 300]
    assert len(display.axes_) == 2
    names = ["SAMKNN", "label of the row before", "most frequent label", "short-term memory",
             "long-term memory", "memory reset", "alarm"]  # fmt: skip
    assert [label.partition(" (")[0] for label in labels_of(display)] == names
    title = display.figure_.get_suptitle()
    assert "weather" in title
    assert "1 alarm" in title
    assert_legible(display.figure_)


def test_other_classifiers_are_beside_it(assert_legible):
    display = StreamDisplay.from_evaluation(
        evaluate(sizes=None), name="SAMLANN", others={"SAMKNN": evaluate(accuracy=0.7)}
    )
    assert labels_of(display)[:2] == ["SAMLANN", "SAMKNN"]
    assert len(display.axes_) == 1
    assert len([line for line in display.ax_.lines if len(line.get_xdata()) > 2]) == 4
    assert_legible(display.figure_)


def test_baselines_far_below_do_not_flatten_the_curve():
    display = StreamDisplay.from_evaluation(evaluate(accuracy=0.99))
    low, high = display.ax_.get_ylim()
    assert low > 0.5
    assert high > 1


def test_an_estimator_is_run_and_not_changed():
    from lann.streams import SAMKNN

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    model = SAMKNN(random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(12, 5))
    display = StreamDisplay.from_estimator(model, X, X[:, 0] > 0, window_size=50, ax=axes[0])
    assert display.scores.n_rows == 150
    assert display.figure_ is figure
    assert not hasattr(model, "classes_")


def test_no_rows_get_one_sentence():
    with pytest.raises(ValueError, match="no row has been predicted"):
        StreamDisplay.from_evaluation(PrequentialEvaluation())
