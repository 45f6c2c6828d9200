import matplotlib.pyplot as plt
import numpy as np
import pytest

from lann.plot import ExplanationDisplay


def bars(ax):
    return [(patch.get_x(), patch.get_width()) for patch in ax.patches]


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_a_waterfall_steps_through_the_support(two_class, tumours, assert_legible):
    X, _ = tumours
    told = two_class.explain(X)
    row = int(told.support.min(axis=1).argmin())  # something speaks against it
    display = ExplanationDisplay.from_estimator(two_class, X, row=row, n_features=6)
    support = told.support[row]
    order = np.argsort(-np.abs(support), kind="stable")
    steps = np.array([width for _, width in bars(display.ax_)])
    np.testing.assert_allclose(steps[:6], support[order[:6]], atol=1e-3)
    assert steps[6] == pytest.approx(support[order[6:]].sum(), abs=1e-3)
    starts = [start for start, _ in bars(display.ax_)]
    np.testing.assert_allclose(starts, np.concatenate([[0], np.cumsum(steps)[:-1]]), atol=1e-9)
    assert names(display.ax_)[-1] == "24 other features"
    assert_legible(display.figure_)


def test_bars_start_at_nothing(two_class, tumours):
    display = ExplanationDisplay.from_estimator(two_class, tumours[0], row=4, kind="bars")
    assert {start for start, _ in bars(display.ax_)} == {0.0}


def test_neighbors_stand_beside_it(clf, flowers):
    X, _ = flowers
    ids = np.array([f"flower {place}" for place in range(150)])
    class_names = ["setosa", "versicolor", "virginica"]
    display = ExplanationDisplay.from_estimator(clf, X, row=75, ids=ids, class_names=class_names)
    told = clf.explain(X[75:76])
    assert names(display.neighbors_ax_) == [
        f"flower {row} · {class_names[label]}"
        for row, label in zip(told.neighbors[0], told.neighbor_labels[0], strict=True)
    ]
    np.testing.assert_allclose([width for _, width in bars(display.neighbors_ax_)], told.vote_shares[0])
    assert any(name.endswith(" cm") for name in names(display.ax_))


def test_a_model_without_supports_shows_relevances(weighing, flowers):
    display = ExplanationDisplay.from_estimator(weighing, flowers[0].to_numpy(), row=-1)
    widths = sorted(width for _, width in bars(display.ax_))
    np.testing.assert_allclose(widths, np.sort(weighing.feature_weights_[0]), atol=1e-3)
    assert display.ax_.get_legend() is None


def test_an_explanation_can_be_drawn_by_itself(clf, flowers):
    told = clf.explain(flowers[0][:5])
    display = ExplanationDisplay(told, row=3).plot()
    assert display.explanation.neighbors.tolist() == told.neighbors[3:4].tolist()


def test_what_nothing_speaks_for_is_said(two_class, tumours):
    X, _ = tumours
    quiet = int(np.abs(two_class.explain(X).support).max(axis=1).argmin())
    display = ExplanationDisplay.from_estimator(two_class, X, row=quiet)
    assert any("would change the vote" in text.get_text() for text in display.ax_.texts)


def test_it_draws_where_it_is_told(clf, flowers):
    figure, axes = plt.subplots(1, 2, figsize=(12, 3), layout="constrained")
    display = ExplanationDisplay.from_estimator(clf, flowers[0], ax=axes[0])
    assert display.figure_ is figure


def test_what_is_refused(clf, flowers):
    with pytest.raises(ValueError, match="row must be one of the 150 rows"):
        ExplanationDisplay.from_estimator(clf, flowers[0], row=150)
    with pytest.raises(ValueError, match="kind must be one of"):
        ExplanationDisplay.from_estimator(clf, flowers[0], kind="pie")
    with pytest.raises(ValueError, match="ids must name the 150 training points"):
        ExplanationDisplay.from_estimator(clf, flowers[0], ids=[1, 2])
