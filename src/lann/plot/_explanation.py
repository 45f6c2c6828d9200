"""ExplanationDisplay: how the features of one row add up to its prediction, and the neighbors behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.inputs import check_ids
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, OneOf, validate
from lann.columns.inputs import take_rows
from lann.explain import Explanation
from lann.plot._axes import (
    INK,
    NEUTRAL,
    SMALL,
    TEXT,
    Display,
    class_colors,
    escape_math,
    is_number,
    label_lines,
    label_percent,
    largest_first,
    line_height,
    short_names,
    short_value,
    shorten,
    shorten_unique,
    split_unit,
    style_axes,
    text_width,
    title_lines,
    wrap_text,
)
from lann.plot._rows import check_class_names, select_rows, stored_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The smallest range of the axis of supports, if they do not start at a base value.
MIN_RANGE = 0.05
# Shares of the vote below this are 0 when rounded to a tenth of a percent, and to a percent.
NEGLIGIBLE, INVISIBLE = 0.005, 0.0005
# The number of features whose values are listed beside the neighbors.
N_VALUE_COLUMNS = 3
# The widths of the panels without their labels, in inches: features, neighbors and a column of values.
FEATURES_WIDTH, NEIGHBORS_WIDTH, COLUMN_WIDTH = 3.9, 1.5, 0.9
# Against the prediction, if there are more than two classes.
AGAINST_COLOR = "#B4B4B4"
# The number of characters of a value in a column.
LONGEST_VALUE = 13


class ExplanationDisplay(Display):
    """One prediction: how its feature values add up to the probability, and its neighbors.

    The left panel starts at the base value, the mean vote for the predicted class at the nearest training
    rows of other classes. Each bar below is the support by the value of a feature, the largest first: to the
    right for the prediction, to the left against it. The bars add up to the probability of the prediction,
    the last bar. The number of all other features, and their sum, is in one bar. For a model without base
    values, the bars start at 0; for one without supports, they are the relevances.

    The right panel shows the neighbors that vote, nearest first, with their labels and their shares of the
    vote in the colors of their classes. The nearest that hold 90 % of the vote have a bar of their own, five
    at least and ten at most; all others share one. Beside them are their values of the features with the
    largest support, below the values of the row itself and what 80 % of the training rows of the predicted
    class have. The percentile of a value is its rank among the training rows.

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
    data_name : str, default=""
        The name of the data, for the title.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes of the features.
    neighbors_ax_ : matplotlib Axes
        The axes of the neighbors.
    values_ax_ : matplotlib Axes or None
        The axes with the values of the neighbors; None if they are unknown.

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
        data_name: str = "",
    ) -> None:
        self.explanation = explanation[row]
        self.data_name = data_name
        self.feature_names = explanation.feature_names if feature_names is None else np.asarray(feature_names)
        self.class_names = check_class_names(explanation.classes, class_names)
        self._predicted = int(self.explanation.predicted_class_indices[0])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int = 0,
        ids: ArrayLike | None = None,
        class_names: ArrayLike | None = None,
        data_name: str = "",
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
        ids : array-like of shape (n_training_rows,) or None, default=None
            The names of the training rows; None for the index of the training data, or else their positions.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
        n_features : int, default=10
            The number of features with a bar of their own; all others are summed in one bar.
        kind : {"waterfall", "bars"}, default="waterfall"
            With "waterfall", each bar starts where the bar above ends, the first one at the base value; with
            "bars", all bars start at 0.
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
        n_rows = len(X)
        if not -n_rows <= row < n_rows:
            raise ValueError(f"row must be one of the {n_rows} rows of X; got {row}.")
        start = row % n_rows
        rows = select_rows(estimator, take_rows(X, np.array([start])), None)
        explanation = replace(rows.explain(), queries=rows.X_given)
        if explanation.query_ids is None:
            explanation = replace(explanation, query_rows=np.array([start]))
        if rows.is_transformed:
            # The neighbors' values before the transformers are unknown.
            explanation = replace(explanation, _training_values=None)
        if ids is not None:
            row_ids = check_ids(ids, len(stored_rows(rows.model)[0]))
            explanation = replace(explanation, neighbor_ids=row_ids[explanation.neighbors])
        display = cls(
            explanation, feature_names=rows.feature_names, class_names=class_names, data_name=data_name
        )
        return display.plot(ax, n_features=n_features, kind=kind)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        row: int = 0,
        class_names: ArrayLike | None = None,
        data_name: str = "",
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
        data_name : str, default=""
            The name of the data, for the title.
        n_features : int, default=10
            The number of features with a bar of their own; all others are summed in one bar.
        kind : {"waterfall", "bars"}, default="waterfall"
            With "waterfall", each bar starts where the bar above ends, the first one at the base value; with
            "bars", all bars start at 0.
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
        display = cls(explanation, row=row, class_names=class_names, data_name=data_name)
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
            With "waterfall", each bar starts where the bar above ends, the first one at the base value; with
            "bars", all bars start at 0.

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
        bars = self._feature_bars(n_features, kind)
        neighbors = self._neighbor_bars()
        columns = self._value_columns(neighbors, bars.features[:N_VALUE_COLUMNS])
        headings = ["this row"] * bool(columns)
        if any(column.typical is not None for column in columns):
            headings.append(f"typical of {shorten(self.class_names[self._predicted], 18)} (80 %)")
        n_lines = max(len(bars.names), len(headings) + len(neighbors.names))
        height, fontsize = line_height(n_lines)
        widths = [FEATURES_WIDTH, NEIGHBORS_WIDTH]
        if columns:
            widths.append(COLUMN_WIDTH * len(columns))
        labels = text_width(bars.names, fontsize) + text_width([*headings, *neighbors.names], fontsize)
        size = (sum(widths) + labels + 0.6, max(1.5 + height * n_lines, 2.8))
        axes = self._create_panels(ax, self._title(size[0]), (1, len(widths)), size, width_ratios=widths)
        self.ax_, self.neighbors_ax_ = axes[0][:2]
        style_axes(self.ax_, grid="x")
        label_lines(self.ax_, bars.names, fontsize)
        self._draw_features(bars)
        _draw_neighbors(self.neighbors_ax_, neighbors, headings, fontsize)
        self.values_ax_ = axes[0][2] if columns else None
        if columns:
            _draw_values(axes[0][2], columns, n_lines=len(headings) + len(neighbors.names))
        return self

    def _title(self, width: float) -> str:
        explanation, predicted, row = self.explanation, self._predicted, self.explanation.row(0)
        name, share = row.title, explanation.probabilities[0, predicted]
        title = f"{self.data_name}, {name[0].lower()}{name[1:]}: " if self.data_name else f"{name}: "
        title += f"predicted {shorten(self.class_names[predicted], 40)}, probability {100 * share:.0f} %"
        second_share = float(np.sort(explanation.probabilities[0])[-2])
        if second_share >= NEGLIGIBLE:
            runner_up = shorten(self.class_names[int(explanation.runner_up_class_indices[0])], 40)
            title += f"; runner-up {runner_up}, {100 * second_share:.0f} %"
        notes = ["nothing similar was seen in training"] * bool(row.is_far)
        notes += ["a training row, which does not vote on itself"] * (row.left_out is not None)
        return title_lines(title, "; ".join(notes), width=width)

    def _feature_bars(self, n_features: int, kind: str) -> _FeatureBars:
        """Return the bars of the features, the largest first, all others in one bar."""
        explanation = self.explanation
        signed = explanation.has_supports
        values = explanation.support[0] if signed else explanation.relevances[0]
        n_all = len(values)
        # A single other feature is shown with its name, as it takes no more space.
        shown = largest_first(np.abs(values), None if n_all <= n_features + 1 else n_features)
        names = self._value_texts(shown)
        lengths = values[shown]
        if len(shown) < n_all:
            names.append(f"{n_all - len(shown)} other features")
            lengths = np.append(lengths, values.sum() - lengths.sum())
        starts, has_base = np.zeros(len(lengths)), False
        if signed and kind == "waterfall" and explanation.base_values is not None:
            base, has_base = float(explanation.base_values[0, self._predicted]), True
            starts = base + np.cumsum(lengths) - lengths
            names = ["base value (rows of other classes)", *names, "this row"]
        return _FeatureBars(names, starts, lengths, shown, signed=signed, has_base=has_base)

    def _value_texts(self, features: Indices) -> list[str]:
        """Return the names and values of features; whether values are new, or else their percentiles."""
        explanation, texts = self.explanation, []
        for name, feature in zip(short_names(self.feature_names[features]), features.tolist(), strict=True):
            value, (bare_name, unit) = explanation.query_values[0][feature], split_unit(name)
            text = f"{shorten(bare_name, 44)} = {short_value(value, 44)}"
            if unit and is_number(value):
                text += f" {unit}"
            if explanation.unseen is not None and explanation.unseen[0, feature]:
                text += " (unseen)"
            elif explanation.percentiles is not None and not np.isnan(explanation.percentiles[0, feature]):
                text += f" (percentile {explanation.percentiles[0, feature]:.0f})"
            texts.append(text)
        return texts

    def _draw_features(self, bars: _FeatureBars) -> None:
        from matplotlib.patches import Patch

        predicted = shorten(self.class_names[self._predicted], 28)
        classes = class_colors(len(self.class_names))
        # With two classes, what is against one of them is for the other one.
        against = classes[1 - self._predicted] if len(classes) == 2 else AGAINST_COLOR
        colors = (classes[self._predicted], against) if bars.signed else (NEUTRAL, NEUTRAL)
        _draw_bars(self.ax_, bars, *colors)
        if bars.signed:
            labels = (f"for {predicted}", f"against {predicted}")
            pairs = zip(colors, labels, strict=True)
            handles = [Patch(color=color, label=escape_math(text)) for color, text in pairs]
            self.ax_.legend(
                handles=handles, fontsize=TEXT, frameon=False, ncols=2, loc="lower center",
                bbox_to_anchor=(0.5, 1.0), borderaxespad=0.1, handlelength=0.9,
            )  # fmt: skip
        if bars.has_base:
            label = f"probability of {predicted}: base value + support by each feature"
        elif bars.signed:
            label = f"support of {predicted} by each feature (share of the vote)"
        else:
            label = "relevance (share of the vote that depends on the feature)"
        self.ax_.set_xlabel(escape_math(wrap_text(label, FEATURES_WIDTH + 0.5)), fontsize=TEXT)

    def _neighbor_bars(self) -> _NeighborBars:
        """Return the bars of the neighbors that are listed, and of all others together, if there are any."""
        row = self.explanation.row(0)
        labels = np.searchsorted(row.classes, row.neighbor_labels)
        shares = np.zeros((len(row.classes), len(labels)))
        shares[labels, np.arange(len(labels))] = row.vote_shares
        ids = row.neighbors if row.neighbor_ids is None else row.neighbor_ids
        prefix = "row " if ids.dtype.kind in "iu" else ""
        class_names = shorten_unique(self.class_names, 18)
        names = [f"{prefix}{shorten(ids[k], 16)} · {class_names[labels[k]]}" for k in range(row.n_listed)]
        if row.others is not None:
            names.append(row.others.title)
            others = shares[:, row.n_listed :].sum(axis=1, keepdims=True)
            shares = np.concatenate([shares[:, : row.n_listed], others], axis=1)
        return _NeighborBars(names, shares, row.n_listed)

    def _value_columns(self, neighbors: _NeighborBars, features: Indices) -> list[_ValueColumn]:
        """Return the values of some features of the row and its neighbors; none if they are unknown."""
        values = self.explanation.neighbor_values
        if values is None:
            return []
        query = self.explanation.query_values[0]
        typical = self.explanation.typical_texts(self.explanation.predictions[0])
        has_typical = any(typical)
        headers = short_names(self.feature_names[features], 24)
        return [
            _ValueColumn(
                header,
                short_value(query[feature]),
                typical[feature] if has_typical else None,
                [short_value(value) for value in values[0, : neighbors.n_listed, feature]],
            )
            for header, feature in zip(headers, features.tolist(), strict=True)
        ]


class _FeatureBars(NamedTuple):
    """The bars of the features.

    Attributes
    ----------
    names : list of str
        The labels of the lines; with a base value, the first and the last are of sums.
    starts, lengths : ndarray of shape (n_bars,)
    features : ndarray of shape (n_shown,)
        The features with a bar of their own.
    signed : bool
        Whether the lengths are for (positive) and against (negative) the prediction.
    has_base : bool
        Whether each bar starts where the bar before ends, between bars of the base value and the probability.
    """

    names: list[str]
    starts: Floats
    lengths: Floats
    features: Indices
    signed: bool
    has_base: bool


class _NeighborBars(NamedTuple):
    """Names of neighbors, and their shares of the vote by class, (n_classes, n_bars); the last may be all
    others."""

    names: list[str]
    shares: Floats
    n_listed: int


class _ValueColumn(NamedTuple):
    """The values of a feature, as texts: of the row, what is typical of the prediction, of the neighbors."""

    header: str
    own: str
    typical: str | None
    neighbors: list[str]


def _draw_neighbors(ax: Axes, bars: _NeighborBars, headings: list[str], fontsize: float) -> None:
    """Draw the vote shares in the colors of the classes, below lines without bars."""
    totals, lines = bars.shares.sum(axis=0), len(headings) + np.arange(len(bars.names))
    starts = np.cumsum(bars.shares, axis=0) - bars.shares
    for label, color in enumerate(class_colors(len(bars.shares))):
        drawn = bars.shares[label] > 0
        ax.barh(lines[drawn], bars.shares[label, drawn], left=starts[label, drawn], color=color, height=0.66)
    for y, share in zip(lines.tolist(), totals, strict=True):
        ax.text(share, y, f" {100 * share:.0f} %", va="center", fontsize=SMALL)
    style_axes(ax)
    label_lines(ax, headings + bars.names, fontsize)
    ax.set_xlim(0, 1.35 * totals.max())
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    ax.set_title("neighbors that vote,\nnearest first", fontsize=TEXT)
    ax.set_xlabel("share of the vote", fontsize=TEXT)


def _draw_values(ax: Axes, columns: list[_ValueColumn], *, n_lines: int) -> None:
    """Write the values of the features beside the neighbors."""
    ax.set_axis_off()
    ax.set_xlim(0, len(columns))
    ax.set_ylim(n_lines - 1 + 0.6, -0.6)
    for x, column in enumerate(columns):
        header = wrap_text(column.header.replace("…", "… "), COLUMN_WIDTH - 0.1, SMALL, max_lines=3)
        ax.text(
            x + 0.95, 1.01, escape_math(header), transform=ax.get_xaxis_transform(), fontsize=SMALL,
            ha="right", va="bottom",
        )  # fmt: skip
        typical = [] if column.typical is None else [_short_range(column.typical)]
        for y, text in enumerate([column.own, *typical, *column.neighbors]):
            weight = "bold" if y == 0 else "normal"
            ax.text(
                x + 0.95, y, escape_math(text), fontsize=SMALL, ha="right", va="center", fontweight=weight
            )


def _draw_bars(ax: Axes, bars: _FeatureBars, for_color: str, against_color: str) -> None:
    """Draw the bars of the features, between those of the base value and of the sum if there are any."""
    starts, lengths = bars.starts, bars.lengths
    ends = starts + lengths
    y = np.arange(len(lengths)) + bars.has_base
    colors = np.where(lengths > 0, for_color, against_color)
    ax.barh(y, lengths, left=starts, color=colors.tolist(), height=0.66)
    texts = [f"{100 * length:+.1f} %" if bars.signed else f"{100 * length:.1f} %" for length in lengths]
    texts = ["0.0 %" if abs(length) < INVISIBLE else t for t, length in zip(texts, lengths, strict=True)]
    low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
    if bars.has_base:
        base, total = starts[0], ends[-1]
        ax.barh([0, y[-1] + 1], [base, total], color=["white", INK], edgecolor=INK, height=0.62)
        for line, value in ((0, base), (y[-1] + 1, total)):
            text = f"{100 * value:.1f} %".replace("-", "−")
            ax.text(max(value, 0.0) + 0.012, line, text, va="center", fontsize=SMALL)
        # Each value is joined to the bar that starts there.
        ax.vlines(
            [base, *ends], np.append(0, y) - 0.31, np.append(y, y[-1] + 1) + 0.31, color="#777777",
            linewidth=0.7,
        )  # fmt: skip
        high = max(high, 1.0)
    span = max(high - low, MIN_RANGE)
    for line, text, right in zip(y.tolist(), texts, np.maximum(starts, ends), strict=True):
        ax.text(right + 0.012 * span, line, text.replace("-", "−"), va="center", fontsize=SMALL)
    ax.axvline(0, color="#444444", linewidth=0.9)
    ax.set_xlim(low - (0.03 * span if low < 0 or not bars.has_base else 0.0), low + span + 0.14 * span)
    if bars.has_base:
        ax.set_xticks(np.arange(np.ceil(5 * low), np.floor(5 * high) + 1) / 5)
    label_percent(ax.xaxis)


def _short_range(text: str) -> str:
    """Return what is typical of a class in few characters: a range, or the most frequent category.

    >>> _short_range("4.5172 to 5.5"), _short_range("red 61%, a long color name 30%")
    ('4.52–5.5', 'red 61%')
    >>> _short_range("0.0044312 to 0.0095432"), _short_range("1480.5 to 2000")
    ('0.0044–0.0095', '1480–2000')
    """
    low, separator, high = text.partition(" to ")
    if not separator:
        return shorten(text.partition(", ")[0], LONGEST_VALUE)
    try:
        numbers = (float(low), float(high))
    except ValueError:  # dates, ordered categories, or numbers with a unit
        return shorten(f"{low}–{high}", LONGEST_VALUE)
    long = "–".join(short_value(number) for number in numbers)
    if len(long) < LONGEST_VALUE:
        return long
    return "–".join(f"{number:.2g}" if abs(number) < 1 else short_value(number) for number in numbers)
