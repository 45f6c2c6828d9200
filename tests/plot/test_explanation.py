from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lann.plot import ExplanationDisplay


def bars(ax):
    """Return the starts and the lengths of horizontal bars."""
    return np.array([(patch.get_x(), patch.get_width()) for patch in ax.patches]).T


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_waterfall_sums_the_supports(binary_clf, breast_cancer, assert_legible):
    X, _ = breast_cancer
    explanation = binary_clf.explain(X)
    row = int(explanation.support.min(axis=1).argmin())  # with values against the prediction
    display = ExplanationDisplay.from_estimator(binary_clf, X, row=row, n_features=6)
    support = explanation.support[row]
    order = np.argsort(-np.abs(support), kind="stable")
    starts, lengths = bars(display.ax_)
    np.testing.assert_allclose(lengths[:6], support[order[:6]], atol=1e-3)
    assert lengths[6] == pytest.approx(support[order[6:]].sum(), abs=1e-3)
    np.testing.assert_allclose(starts, np.concatenate([[0], np.cumsum(lengths)[:-1]]), atol=1e-9)
    assert names(display.ax_)[-1] == "24 other features"
    assert_legible(display.figure_)


def test_bars_start_at_zero(binary_clf, breast_cancer):
    display = ExplanationDisplay.from_estimator(binary_clf, breast_cancer[0], row=4, kind="bars")
    assert set(bars(display.ax_)[0]) == {0.0}


def test_neighbors_have_ids_labels_and_vote_shares(clf, iris_frame):
    X, _ = iris_frame
    ids = np.array([f"flower {k}" for k in range(150)])
    class_names = ["setosa", "versicolor", "virginica"]
    display = ExplanationDisplay.from_estimator(clf, X, row=75, ids=ids, class_names=class_names)
    explanation = clf.explain(X[75:76])
    assert names(display.neighbors_ax_) == [
        f"flower {row} · {class_names[label]}"
        for row, label in zip(explanation.neighbors[0, :5], explanation.neighbor_labels[0, :5], strict=True)
    ] + ["2 others"]
    listed = np.append(explanation.vote_shares[0, :5], explanation.vote_shares[0, 5:].sum())
    lengths = bars(display.neighbors_ax_)[1].reshape(2, -1)  # for and against
    np.testing.assert_allclose(lengths.sum(axis=0), listed)
    predicted = explanation.neighbor_labels[0, : len(listed) - 1] == explanation.predictions[0]
    np.testing.assert_allclose(lengths[0, :-1], np.where(predicted, listed[:-1], 0))
    assert any(name.endswith(" cm") for name in names(display.ax_))


def test_without_supports_the_relevances_are_drawn(clf, iris_frame):
    explanation = replace(clf.explain(iris_frame[0][50:51]), _readings=None)
    display = ExplanationDisplay.from_explanation(explanation)
    lengths = np.sort(bars(display.ax_)[1])
    np.testing.assert_allclose(lengths, np.sort(explanation.relevances[0]), atol=1e-3)
    assert display.ax_.get_legend() is None


def test_from_explanation_draws_the_given_row(clf, iris_frame):
    explanation = clf.explain(iris_frame[0][:5])
    display = ExplanationDisplay.from_explanation(explanation, row=3)
    assert display.explanation.neighbors.tolist() == explanation.neighbors[3:4].tolist()
    assert names(display.neighbors_ax_)[0] == f"row {explanation.neighbors[3, 0]} · 0"


def test_message_if_no_single_value_changes_the_vote(binary_clf, breast_cancer):
    X, _ = breast_cancer
    row = int(np.abs(binary_clf.explain(X).support).max(axis=1).argmin())
    display = ExplanationDisplay.from_estimator(binary_clf, X, row=row)
    assert any("changes the vote" in text.get_text() for text in display.ax_.texts)


def test_draws_on_the_given_axes(clf, iris_frame):
    figure, axes = plt.subplots(1, 2, figsize=(12, 3), layout="constrained")
    display = ExplanationDisplay.from_estimator(clf, iris_frame[0], ax=axes[0])
    assert display.figure_ is figure


def test_invalid_parameters_raise(clf, iris_frame):
    with pytest.raises(ValueError, match="row must be one of the 150 rows"):
        ExplanationDisplay.from_estimator(clf, iris_frame[0], row=150)
    with pytest.raises(ValueError, match="kind must be one of"):
        ExplanationDisplay.from_estimator(clf, iris_frame[0], kind="pie")
    with pytest.raises(ValueError, match="ids must"):
        ExplanationDisplay.from_estimator(clf, iris_frame[0], ids=[1, 2])
