"""ExplanationDisplay: the features for and against one prediction, and the neighbors behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._inputs import check_ids
from lann._types import Floats
from lann._validation import Integer, OneOf, validate
from lann.encoding import as_table
from lann.explain import Explanation
from lann.plot._axes import PanelGrid, label_lines, line_height, panel_axes, style_axes
from lann.plot._colors import AGAINST, FOR, NEUTRAL
from lann.plot._ranking import largest_first
from lann.plot._rows import check_class_names, kept_rows, select_rows
from lann.plot._text import SMALL, TEXT, escape_math, format_value, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The smallest range of the axis of supports.
MIN_RANGE = 0.05
# Shares of the vote below this are 0 when rounded to two digits.
NEGLIGIBLE = 0.005


class ExplanationDisplay:
    """One prediction: the support by its feature values, and its neighbors.

    The left panel shows the support of the predicted class by each feature value, the largest first: how much
    more of the vote the class has with this value than with other values of the feature. Values for the
    prediction extend to the right, values against it to the left. Each bar is the effect of a single
    feature. The effects of features that interact overlap, so that their sum is not the probability. For a
    model without supports, the bars are the relevances.

    The right panel shows the neighbors that vote, nearest first, with their labels and their shares of the
    vote: blue for the prediction, vermilion against it. The nearest that hold 90 % of the vote have a bar of
    their own, five at least and ten at most; all others share one.

    It is recommended to use :meth:`from_estimator` or :meth:`from_explanation` to create the display.

    Parameters
    ----------
    explanation : Explanation
        The explanation of any number of rows.
    row : int, default=0
        The row to show.
    feature_names : array-like of shape (n_features,) or None, default=None
        The names of the features; None for those of the explanation.
    class_names : array-like of shape (n_classes,) or None, default=None
        The names of the classes, in the order of `explanation.classes`; None for the labels.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes of the features.
    neighbors_ax_ : matplotlib Axes
        The axes of the neighbors.

    See Also
    --------
    SupportBeeswarmDisplay : The supports of many rows.
    lann.explain.Explanation : The explanation that is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import ExplanationDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    >>> display = ExplanationDisplay.from_estimator(clf, X, row=70)
    >>> display.explanation.neighbors.shape
    (1, 7)
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
        self.feature_names = explanation.feature_names if feature_names is None else np.asarray(feature_names)
        self.class_names = check_class_names(explanation.classes, class_names)

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
        """Explain one row with a fitted model and draw the explanation.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNClassifier, a baseline, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            The rows, one of which is explained.
        row : int, default=0
            The row of X to explain.
        ids : array-like of shape (ntraining_rows,) or None, default=None
            The names of the training rows; None for the index of the training data, or else their positions.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        n_features : int, default=10
            The number of features with a bar of their own; all others are summed in one bar.
        kind : {"waterfall", "bars"}, default="waterfall"
            With "waterfall", each bar starts where the bar above ends; with "bars", all bars start at 0.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by two panels. If None, a new figure is created.

        Returns
        -------
        display : ExplanationDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If a parameter is invalid or the model has no explanations.
        """
        n_rows = _n_rows(X)
        if not -n_rows <= row < n_rows:
            raise ValueError(f"row must be one of the {n_rows} rows of X; got {row}.")
        start = row % n_rows
        query = _one_row(X, start)
        rows = select_rows(estimator, query, None)
        explanation = replace(rows.explain(), queries=rows.X_given)
        if ids is not None:
            row_ids = check_ids(ids, len(kept_rows(rows.model)[0]))
            explanation = replace(explanation, neighbor_ids=row_ids[explanation.neighbors])
        display = cls(explanation, feature_names=rows.feature_names, class_names=class_names)
        return display.plot(ax, n_features=n_features, kind=kind)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        row: int = 0,
        class_names: ArrayLike | None = None,
        n_features: int = 10,
        kind: str = "waterfall",
        ax: Axes | None = None,
    ) -> Self:
        """Draw one row of an explanation.

        Parameters
        ----------
        explanation : Explanation
            The explanation of any number of rows.
        row : int, default=0
            The row to show.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `explanation.classes`; None for the labels.
        n_features : int, default=10
            The number of features with a bar of their own; all others are summed in one bar.
        kind : {"waterfall", "bars"}, default="waterfall"
            With "waterfall", each bar starts where the bar above ends; with "bars", all bars start at 0.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by two panels. If None, a new figure is created.

        Returns
        -------
        display : ExplanationDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        IndexError
            If the explanation does not have the row.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann import LANNClassifier
        >>> from lann.plot import ExplanationDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> explanation = LANNClassifier(max_iter=3, random_state=0).fit(X, y).explain(X[::10])
        >>> display = ExplanationDisplay.from_explanation(explanation, row=3, kind="bars")
        """
        display = cls(explanation, row=row, class_names=class_names)
        return display.plot(ax, n_features=n_features, kind=kind)

    def plot(self, ax: Axes | None = None, *, n_features: int = 10, kind: str = "waterfall") -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by two panels. If None, a new figure is created.
        n_features : int, default=10
            The number of features with a bar of their own; all others are summed in one bar.
        kind : {"waterfall", "bars"}, default="waterfall"
            With "waterfall", each bar starts where the bar above ends; with "bars", all bars start at 0.

        Returns
        -------
        display : ExplanationDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate("kind", kind, OneOf("waterfall", "bars"))
        validate("n_features", n_features, Integer(1))
        signed = self.explanation.has_supports
        values = self.explanation.support[0] if signed else self.explanation.relevances[0]
        names, lengths = self._bars(values, n_features)
        neighbors = self._neighbor_bars()
        n_lines = max(len(names), len(neighbors.names))
        height, fontsize = line_height(n_lines)
        grid = PanelGrid((1, 2), (9.0, max(1.4 + height * n_lines, 2.6)), width_ratios=(1.75, 1.0))
        self.figure_, axes = panel_axes(ax, grid, self._title())
        self.ax_, self.neighbors_ax_ = axes[0]
        style_axes(self.ax_, grid="x")
        label_lines(self.ax_, names, fontsize)
        _draw_bars(self.ax_, lengths, signed=signed, cumulative=signed and kind == "waterfall")
        predicted = self.class_names[int(self.explanation.predicted_class_indices[0])]
        label = f"support of {shorten(predicted, 18)} (share of the vote)" if signed else "relevance"
        self.ax_.set_xlabel(escape_math(label), fontsize=TEXT)
        _draw_neighbors(self.neighbors_ax_, neighbors, fontsize)
        return self

    def _title(self) -> str:
        explanation = self.explanation
        predicted = int(explanation.predicted_class_indices[0])
        share = explanation.probabilities[0, predicted]
        title = f"Prediction: {shorten(self.class_names[predicted])}, probability {100 * share:.0f} %"
        second_share = float(np.sort(explanation.probabilities[0])[-2])
        if second_share >= NEGLIGIBLE:
            runner_up = shorten(self.class_names[int(explanation.runner_up_class_indices[0])])
            title += f"; runner-up: {runner_up}, {100 * second_share:.0f} %"
        return title

    def _bars(self, values: Floats, n_features: int) -> tuple[list[str], Floats]:
        """Return the labels and lengths of the bars, the largest first, all others in one bar."""
        n_all = len(values)
        # A single other feature is shown with its name, as it takes no more space.
        shown = largest_first(np.abs(values), None if n_all <= n_features + 1 else n_features)
        query = self.explanation.query_values[0]
        names = [self._value_text(feature, query[feature]) for feature in shown]
        lengths = values[shown]
        if len(shown) < n_all:
            names.append(f"{n_all - len(shown)} other features")
            lengths = np.append(lengths, values.sum() - lengths.sum())
        return names, lengths

    def _value_text(self, feature: int, value: Any) -> str:
        text, unseen = format_value(self.feature_names[feature], value), self.explanation.unseen
        return f"{text} (unseen)" if unseen is not None and unseen[0, feature] else text

    def _neighbor_bars(self) -> _NeighborBars:
        """Return the bars of the neighbors that are listed, and of all others together, if there are any."""
        row = self.explanation.row(0)
        labels = np.searchsorted(row.classes, row.neighbor_labels)
        supports = np.where(row.neighbor_labels == row.prediction, row.vote_shares, 0.0)
        bars = np.stack([supports, row.vote_shares - supports])
        ids = row.neighbors if row.neighbor_ids is None else row.neighbor_ids
        prefix = "row " if ids.dtype.kind in "iu" else ""
        names = [
            f"{prefix}{shorten(ids[k], 16)} · {shorten(self.class_names[labels[k]], 16)}"
            for k in range(row.n_listed)
        ]
        if row.others is not None:
            names.append(row.others.title)
            others = bars[:, row.n_listed :].sum(axis=1, keepdims=True)
            bars = np.concatenate([bars[:, : row.n_listed], others], axis=1)
        return _NeighborBars(names, *bars)


def _n_rows(X: Any) -> int:
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def _one_row(X: Any, row: int) -> Any:
    """Return one row of an array or a table, as an array or a table."""
    if hasattr(X, "iloc"):
        return X.iloc[row : row + 1]
    table = as_table(X)
    return np.asarray(X)[row : row + 1] if table is None else table[row : row + 1].to_native()


class _NeighborBars(NamedTuple):
    """Names of neighbors, and their shares of the vote for and against the prediction: (n_bars,) each."""

    names: list[str]
    supports: Floats
    opposes: Floats


def _draw_neighbors(ax: Axes, bars: _NeighborBars, fontsize: float) -> None:
    names, supports, opposes = bars
    shares, lines = supports + opposes, np.arange(len(names))
    ax.barh(lines, supports, color=FOR, height=0.66)
    ax.barh(lines, opposes, left=supports, color=AGAINST, height=0.66)
    for y, share in enumerate(shares):
        ax.text(share, y, f" {100 * share:.0f} %", va="center", fontsize=SMALL)
    style_axes(ax)
    label_lines(ax, names, fontsize)
    ax.set_xlim(0, 1.2 * shares.max())
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_title("neighbors, nearest first", fontsize=TEXT)
    ax.set_xlabel("share of the vote", fontsize=TEXT)


def _draw_bars(ax: Axes, lengths: Floats, *, signed: bool, cumulative: bool) -> None:
    lengths = np.round(lengths, 3)
    starts = np.concatenate([[0.0], np.cumsum(lengths)[:-1]]) if cumulative else np.zeros(len(lengths))
    ends = starts + lengths
    colors = np.where(lengths > 0, FOR, AGAINST) if signed else np.full(len(lengths), NEUTRAL)
    y = np.arange(len(lengths))
    ax.barh(y, lengths, left=starts, color=colors.tolist(), height=0.66)
    span = max(np.ptp(np.concatenate([starts, ends, [0.0]])), MIN_RANGE)
    for line, length in enumerate(lengths):
        right = max(starts[line], ends[line]) + 0.012 * span
        number = f"{length:+.2f}" if signed and abs(length) >= NEGLIGIBLE else f"{abs(length):.2f}"
        ax.text(right, line, number, va="center", fontsize=SMALL)
    if signed and np.all(np.abs(lengths) < NEGLIGIBLE):
        ax.text(0.5, 0.5, "no single value\nchanges the vote", transform=ax.transAxes, ha="center")
    if cumulative:
        ax.vlines(ends[:-1], y[:-1] - 0.33, y[1:] + 0.33, color="#777777", linewidth=0.7)
    ax.axvline(0, color="#444444", linewidth=0.9)
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    ax.set_xlim(low - 0.03 * span, max(high, low + span) + 0.12 * span)
    if signed:
        _draw_legend(ax)


def _draw_legend(ax: Axes) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(color=FOR, label="for the prediction"),
        Patch(color=AGAINST, label="against the prediction"),
    ]
    ax.legend(
        handles=handles, fontsize=TEXT, frameon=False, ncols=2, loc="lower center",
        bbox_to_anchor=(0.5, 1.0), borderaxespad=0.1, handlelength=0.9,
    )  # fmt: skip
