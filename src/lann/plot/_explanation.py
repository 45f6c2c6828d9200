"""ExplanationDisplay: one prediction, what spoke for it and against it, and the neighbors that made it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._inputs import check_ids
from lann._types import Floats
from lann._validation import Integer, OneOf, validate
from lann.explain.explanation import Explanation
from lann.plot._rows import names_of_classes, rows_of, training_points
from lann.plot._style import (
    AGAINST,
    FOR,
    NEUTRAL,
    SMALL,
    TEXT,
    largest_first,
    name_rows,
    panels,
    plain,
    row_size,
    short,
    tidy,
    value_with_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The axis of supports is at least so long.
NARROWEST = 0.05
# Shares of the vote below this are 0 when rounded.
WORTH_SAYING = 0.005


class ExplanationDisplay:
    """A prediction's features beside its neighbors.

    Left, what each value brings: how much more of the vote the predicted class has by it than by other
    values of the feature, from what matters most to what matters least. Values that speak for the prediction
    step to the right, others to the left. (Each step is the effect of that feature alone. Where features work
    together the effects overlap, so that their sum is not the probability; ``kind="bars"`` draws each from
    0.) For a model that does not tell for and against, the bars are the relevances.

    Right, the neighbors that voted, nearest first, with their labels and their shares of the vote: blue for
    the prediction, vermilion against it.

    Parameters
    ----------
    explanation
        Of any number of rows.
    row
        Which of them.
    feature_names : (n_features,) or None for those of the explanation
    class_names : (n_classes,) in the order of `explanation.classes`; None shows the labels

    Attributes
    ----------
    figure_, ax_ : where it was drawn; `ax_` are the axes of the features
    neighbors_ax_ : the axes of the neighbors

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import ExplanationDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    >>> display = ExplanationDisplay.from_estimator(clf, X, row=70)
    >>> display.explanation.neighbors.shape
    (1, 5)
    """

    def __init__(
        self,
        explanation: Explanation,
        *,
        row: int = 0,
        feature_names: NDArray[Any] | None = None,
        class_names: ArrayLike | None = None,
    ) -> None:
        self.explanation = explanation[row]
        self.feature_names = explanation.feature_names if feature_names is None else feature_names
        self.class_names = names_of_classes(explanation.classes, class_names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        row: int = 0,
        ids: ArrayLike | None = None,
        class_names: ArrayLike | None = None,
        n_features: int = 10,
        kind: str = "waterfall",
        ax: Axes | None = None,
    ) -> Self:
        """Explain one row and draw it.

        Parameters
        ----------
        estimator
            A fitted LANNClassifier, one of the baselines, or a pipeline that ends in one.
        X : (n_rows, n_features)
        row
            Which row of X.
        ids : (n_train,) what the training points are called
        class_names : (n_classes,) in the order of `classes_`; None shows the labels
        n_features
            How many features get a bar of their own; the others share one.
        kind
            "waterfall": each bar starts where the one above ends; "bars": all start at 0.
        ax
            Where to draw; None makes a figure.
        """
        n_rows = len(np.asarray(X))
        if not -n_rows <= row < n_rows:
            raise ValueError(f"row must be one of the {n_rows} rows of X; got {row}.")
        wanted = row % n_rows
        one = X.iloc[wanted : wanted + 1] if hasattr(X, "iloc") else np.asarray(X)[wanted : wanted + 1]
        rows = rows_of(estimator, one, None, at_most=None)
        explanation = replace(rows.explain(), queries=rows.as_given)
        if ids is not None:
            called = check_ids(ids, len(training_points(rows.model)[0]))
            explanation = replace(explanation, neighbor_ids=called[explanation.neighbors])
        display = cls(explanation, feature_names=rows.feature_names, class_names=class_names)
        return display.plot(ax, n_features=n_features, kind=kind)

    def plot(self, ax: Axes | None = None, *, n_features: int = 10, kind: str = "waterfall") -> Self:
        """Draw, on new axes or those given; see `from_estimator`."""
        validate("kind", kind, OneOf("waterfall", "bars"))
        validate("n_features", n_features, Integer(1))
        told, predicted = self.explanation, int(self.explanation.predicted_places[0])
        share = told.probabilities[0, predicted]
        name = short(self.class_names[predicted])
        title = f"{name}: {100 * share:.0f} % of the vote"
        second = float(np.sort(told.probabilities[0])[-2])
        if second >= WORTH_SAYING:
            title += (
                f", before {short(self.class_names[int(told.runner_up_places[0])])}: {100 * second:.0f} %"
            )
        sizes, signed = _sizes(told)
        names, steps = self._bars(sizes, n_features)
        n_neighbors = told.neighbors.shape[1]
        height, text = row_size(max(len(names), n_neighbors))
        self.figure_, axes = panels(
            ax, (1, 2), (9.0, max(1.4 + height * max(len(names), n_neighbors), 2.6)), title=title,
            widths=(1.75, 1.0),
        )  # fmt: skip
        self.ax_, self.neighbors_ax_ = axes[0]
        tidy(self.ax_, grid="x")
        name_rows(self.ax_, names, text)
        _draw_steps(self.ax_, steps, signed=signed, cumulate=signed and kind == "waterfall")
        what = f"share of the vote for {short(name, 18)} that the value brings" if signed else "relevance"
        self.ax_.set_xlabel(plain(what), fontsize=TEXT)
        self._draw_neighbors(self.neighbors_ax_, text)
        return self

    def _bars(self, sizes: Floats, n_features: int) -> tuple[list[str], Floats]:
        """What the bars are called and how long they are, the largest first, the rest as one."""
        n_all = len(sizes)
        # A single feature left over is shown, as it takes the room of "1 other".
        shown = largest_first(np.abs(sizes), None if n_all <= n_features + 1 else n_features)
        values = self.explanation.queries[0]
        names = [value_with_name(self.feature_names[place], values[place]) for place in shown]
        steps = sizes[shown]
        if len(shown) < n_all:
            names.append(f"{n_all - len(shown)} other features")
            steps = np.append(steps, sizes.sum() - steps.sum())
        return names, steps

    def _draw_neighbors(self, ax: Axes, text: float) -> None:
        told = self.explanation
        places = np.searchsorted(told.classes, told.neighbor_labels[0])
        called = told.neighbors[0] if told.neighbor_ids is None else told.neighbor_ids[0]
        word = "row " if told.neighbor_ids is None else ""
        names = [
            f"{word}{short(who, 16)} · {short(self.class_names[place], 16)}"
            for who, place in zip(called, places, strict=True)
        ]
        shares = told.vote_shares[0]
        colors = [FOR if place == told.predicted_places[0] else AGAINST for place in places]
        ax.barh(np.arange(len(shares)), shares, color=colors, height=0.66)
        for y, share in enumerate(shares):
            ax.text(share, y, f" {100 * share:.0f} %", va="center", fontsize=SMALL)
        tidy(ax)
        name_rows(ax, names, text)
        ax.set_xlim(0, 1.2 * shares.max())
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
        ax.set_title("its neighbors, nearest first", fontsize=TEXT)
        ax.set_xlabel("share of the vote", fontsize=TEXT)


def _sizes(told: Explanation) -> tuple[Floats, bool]:
    """What each feature brings, (n_features,), and whether that has a sign."""
    if told.readings is None:
        return told.relevances[0], False
    return told.support[0], True


def _draw_steps(ax: Axes, steps: Floats, *, signed: bool, cumulate: bool) -> None:
    steps = np.round(steps, 3)
    starts = np.concatenate([[0.0], np.cumsum(steps)[:-1]]) if cumulate else np.zeros(len(steps))
    ends = starts + steps
    colors = np.where(steps > 0, FOR, AGAINST) if signed else np.full(len(steps), NEUTRAL)
    y = np.arange(len(steps))
    ax.barh(y, steps, left=starts, color=colors.tolist(), height=0.66)
    span = max(np.ptp(np.concatenate([starts, ends, [0.0]])), NARROWEST)
    for place, step in enumerate(steps):
        right = max(starts[place], ends[place]) + 0.012 * span
        size = f"{step:+.2f}" if signed and abs(step) >= WORTH_SAYING else f"{abs(step):.2f}"
        ax.text(right, place, size, va="center", fontsize=SMALL)
    if signed and np.all(np.abs(steps) < WORTH_SAYING):
        ax.text(0.5, 0.5, "no value by itself\nwould change the vote", transform=ax.transAxes, ha="center")
    if cumulate:
        ax.vlines(ends[:-1], y[:-1] - 0.33, y[1:] + 0.33, color="#777777", linewidth=0.7)
    ax.axvline(0, color="#444444", linewidth=0.9)
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    ax.set_xlim(low - 0.03 * span, max(high, low + span) + 0.12 * span)
    if signed:
        from matplotlib.patches import Patch

        keys = [Patch(color=FOR, label="speaks for it"), Patch(color=AGAINST, label="speaks against it")]
        ax.legend(
            handles=keys, fontsize=TEXT, frameon=False, ncols=2, loc="lower center",
            bbox_to_anchor=(0.5, 1.0), borderaxespad=0.1, handlelength=0.9,
        )  # fmt: skip
