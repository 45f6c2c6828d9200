"""ExplanationDisplay: how the features of one row add up to its prediction, and the neighbors behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.format import percent, signed_percent, value_text
from lann._support.inputs import check_ids
from lann._support.types import Floats
from lann._support.validation import Integer, validate
from lann.columns.inputs import row_ids, take_rows
from lann.explain import Explanation
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The least range of the axis of supports.
MIN_RANGE = 0.05
# The number of features whose values are listed beside the neighbors.
N_VALUE_COLUMNS = 3
# The widths of the panels without their labels, in inches: features and neighbors.
FEATURES_WIDTH, NEIGHBORS_WIDTH = 3.9, 1.5
# Against the prediction, if there are more than two classes.
AGAINST_COLOR = "#B4B4B4"
# The number of characters of a value in a column, and of the header.
LONGEST_VALUE, LONGEST_HEADER = 24, 12


class ExplanationDisplay(base.Display):
    """One prediction: how its feature values add up to the probability, and its neighbors.

    The left panel starts at the base value, the probability of the predicted class where nothing is known of
    the row. Each bar below is the support by the value of a feature, the largest first: to the right for the
    prediction, to the left against it; ± is two standard errors. The bars add up to
    the probability of the prediction, the last bar. The number of all other features, and their sum, is in
    one bar.

    The right panel shows the neighbors that vote, nearest first, with their labels and their shares of the
    vote in the colors of their classes. The nearest that hold 90% of the vote have a bar of their own, five
    at least and ten at most; all others share one. Beside them are their values of the most relevant
    features, below the values of the row itself and what 80% of the training rows of the predicted
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
    >>> clf = LANNClassifier(7, max_iter=3, random_state=0).fit(X, y)
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
        if feature_names is not None:
            explanation = replace(explanation, feature_names=np.asarray(feature_names))
        self.explanation = explanation[row]
        self.class_names = base.check_class_names(explanation.classes, class_names)
        self.data_name = data_name
        self._row = self.explanation.row(0)
        if self._row.is_value:
            raise ValueError(
                "Figures show labels; show predicted numbers by to_html, or by lann.explain.to_shap and a "
                "plot of the shap package."
            )
        self._predicted = self._row.class_index(self._row.prediction)

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
        rows = base.select_rows(estimator, take_rows(X, np.array([start])), None)
        explanation = rows.explain()
        if rows.is_transformed:  # the neighbors' values before the transformers are unknown
            explanation = replace(explanation, _query_values=np.asarray(rows.X_given), _training_values=None)
        names = row_ids(X)
        explanation = replace(explanation, query_ids=None if names is None else names[[start]])
        if names is None or names.dtype.kind not in "iu":  # integers name rows alone
            explanation = replace(explanation, _query_rows=np.array([start]))
        if ids is not None:
            training_ids = check_ids(ids, len(base.stored_rows(rows.model)[0]))
            explanation = replace(explanation, neighbor_ids=training_ids[explanation.neighbors])
        display = cls(
            explanation, feature_names=rows.feature_names, class_names=class_names, data_name=data_name
        )
        return display.plot(ax, n_features=n_features)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        row: int = 0,
        class_names: ArrayLike | None = None,
        data_name: str = "",
        n_features: int = 10,
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
        >>> display = ExplanationDisplay.from_explanation(explanation, row=3)
        """
        display = cls(explanation, row=row, class_names=class_names, data_name=data_name)
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: Axes | None = None, *, n_features: int = 10) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by two panels. If None, a new figure is created.
        n_features : int, default=10
            The number of features with a bar of their own; all others are summed in one bar.

        Returns
        -------
        display : ExplanationDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate("n_features", n_features, Integer(1))
        features, neighbors = self._feature_lines(n_features), self._neighbor_lines()
        columns = self._value_columns()
        n_lines = max(len(features[0]), len(neighbors[0]))
        height, fontsize = base.line_height(n_lines)
        widths = [
            0.2 + base.text_width([*column[1:], "0" * LONGEST_HEADER], base.SMALL) for column in columns
        ]
        sizes = [FEATURES_WIDTH, NEIGHBORS_WIDTH, *([sum(widths)] if columns else [])]
        labels = base.text_width(features[0], fontsize) + base.text_width(neighbors[0], fontsize)
        size = (sum(sizes) + labels + 0.6, max(1.5 + height * n_lines, 2.8))
        panels = self._create_panels(ax, self._title(), (1, len(sizes)), size, width_ratios=sizes)
        self.neighbors_ax_ = panels[1]
        self.values_ax_ = panels[2] if columns else None
        self._draw_features(*features, fontsize)
        self._draw_neighbors(*neighbors, fontsize)
        if columns:
            _draw_values(panels[2], columns, widths, n_lines=len(neighbors[0]))
        return self

    def _title(self) -> tuple[str, str]:
        row = self._row
        name = f"{self.data_name}, {row.title[0].lower()}{row.title[1:]}" if self.data_name else row.title
        title = f"{name}: predicted {self._name(row.prediction)}, probability {percent(row.probability)}; "
        title += f"runner-up {self._name(row.runner_up)}, {percent(row.runner_up_probability)}"
        notes = ["nothing similar was seen in training"] * row.is_far
        notes += ["a training row, which does not vote on itself"] * (row.left_out is not None)
        return title, "; ".join(notes)

    def _name(self, label: Any, length: int = 40) -> str:
        return base.shorten(self.class_names[self._row.class_index(label)], length)

    def _feature_lines(self, n_features: int) -> tuple[list[str], Floats, Floats]:
        """Return the names, starts and ends of the bars, the largest support first, all others in one."""
        row, n_all = self._row, len(self._row.feature_names)
        # A single other feature is shown with its name, as it takes no more space.
        n_shown = n_all if n_all <= n_features + 1 else n_features
        names = base.short_names(row.feature_names[:n_shown], 44)
        names = [f"{name} = {self._value(feature)}" for feature, name in enumerate(names)]
        lengths = row.support[:n_shown]
        if n_shown < n_all:
            names.append(f"{n_all - n_shown} other features")
            lengths = np.append(lengths, row.support[n_shown:].sum())
        ends = np.cumsum(lengths)
        first = row.base_value
        names = ["base value (nothing known)", *names, "this row"]
        starts = np.concatenate([[0.0, first], first + ends[:-1], [0.0]])
        return names, starts, np.concatenate([[first], first + ends, [first + ends[-1]]])

    def _value(self, feature: int) -> str:
        """Return the value of a feature, whether it is new, or else where it is among the training rows."""
        row = self._row
        text, note = base.shorten(value_text(row.values[feature]), 44), row.value_note(feature)
        note = note or row.percentile_text(feature)
        return base.escape_math(f"{text} ({note})" if note else text)

    def _draw_features(self, names: list[str], starts: Floats, ends: Floats, fontsize: float) -> None:
        from matplotlib.patches import Patch

        predicted, lengths = base.shorten(self.class_names[self._predicted], 28), ends - starts
        classes = base.class_colors(len(self.class_names))
        # With two classes, what is against one of them is for the other one.
        against = classes[1 - self._predicted] if len(classes) == 2 else AGAINST_COLOR
        pair = (classes[self._predicted], against)
        colors = np.where(lengths >= 0, *pair).tolist()
        texts = [signed_percent(length) for length in lengths]
        n_alone = min(len(names) - 2, len(self._row.feature_names))
        if len(names) - 2 < len(self._row.feature_names):  # the last one is of several features
            n_alone -= 1
        for j, error in enumerate(self._row.support_errors[:n_alone]):
            texts[1 + j] += f" ± {200 * error:.1f}"
        colors[0], colors[-1] = "white", base.INK
        texts[0], texts[-1] = percent(ends[0]), percent(ends[-1])
        # Each value is joined to the bar that starts there.
        y = np.arange(len(names) - 1)
        self.ax_.vlines(ends[:-1], y - 0.33, y + 1.33, color="#777777", linewidth=0.7)
        edges = [base.INK if color == "white" else color for color in colors]
        bars = self.ax_.barh(
            np.arange(len(names)), lengths, left=starts, color=colors, edgecolor=edges, height=0.66
        )
        self.ax_.bar_label(bars, texts, padding=3, fontsize=base.SMALL)
        self.ax_.axvline(0, color="#444444", linewidth=0.9)
        low, high = min(0.0, starts.min(), ends.min()), max(0.0, starts.max(), ends.max())
        space = 0.24 * max(high - low, MIN_RANGE)  # for the texts
        self.ax_.set_xlim(low - (space if low < 0 else 0.0), high + space)
        base.style(self.ax_, grid="x", percent="x")
        base.label_lines(self.ax_, names, fontsize)
        pairs = zip(pair, (f"for {predicted}", f"against {predicted}"), strict=True)
        handles = [Patch(color=color, label=base.escape_math(text)) for color, text in pairs]
        base.draw_legend(self.ax_, handles, "above", width=FEATURES_WIDTH + 1.0)
        label = f"probability of {predicted}: base value + support by each feature"
        self.ax_.set_xlabel(base.escape_math(base.wrap_text(label, FEATURES_WIDTH + 0.5)))

    def _neighbor_lines(self) -> tuple[list[str], Floats]:
        """Return the names of the neighbors, and their shares of the vote by class: (n_classes, n_lines).

        Above them are lines for the values of the row itself, and for what is typical of its prediction.
        """
        row, headings = self._row, []
        if row.neighbor_values is not None:
            headings = ["this row"]
            if row.typical is not None:
                headings.append(f"typical of {self._name(row.prediction, 18)} (80%)")
        ids = row.neighbors if row.neighbor_ids is None else row.neighbor_ids
        prefix = "row " if ids.dtype.kind in "iu" else ""
        labels = [row.class_index(label) for label in row.neighbor_labels]
        classes = base.short_names(self.class_names, 18)
        names = [
            f"{prefix}{base.escape_math(base.shorten(neighbor, 16))} · {classes[label]}"
            for neighbor, label in zip(ids[: row.n_listed], labels, strict=False)
        ]
        if row.others is not None:
            names.append(row.others.title)
        lines = len(headings) + np.minimum(np.arange(len(labels)), row.n_listed)
        shares = np.zeros((len(classes), len(headings) + len(names)))
        np.add.at(shares, (np.array(labels), lines), row.vote_shares)
        return [base.escape_math(heading) for heading in headings] + names, shares

    def _draw_neighbors(self, names: list[str], shares: Floats, fontsize: float) -> None:
        """Draw the vote shares in the colors of the classes."""
        ax, totals = self.neighbors_ax_, shares.sum(axis=0)
        starts = np.cumsum(shares, axis=0) - shares
        for label, color in enumerate(base.class_colors(len(shares))):
            drawn = np.flatnonzero(shares[label])
            ax.barh(drawn, shares[label, drawn], left=starts[label, drawn], color=color, height=0.66)
        for y in np.flatnonzero(totals):
            ax.text(totals[y], y, f" {percent(totals[y])}", va="center", fontsize=base.SMALL)
        base.label_lines(ax, names, fontsize)
        ax.set(xlim=(0, 1.35 * totals.max()), xticks=[])
        ax.spines["bottom"].set_visible(False)
        ax.set_title("neighbors that vote,\nnearest first", fontsize=base.TEXT)
        ax.set_xlabel("share of the vote")

    def _value_columns(self) -> list[list[str]]:
        """Return the most relevant features as columns of text: the name, and values beside the neighbors."""
        row, columns = self._row, []
        if row.neighbor_values is None:
            return []
        for feature, header in enumerate(base.short_names(row.feature_names[:N_VALUE_COLUMNS], 24)):
            values = [row.values[feature]]
            if row.typical is not None:  # a range, or the most frequent category
                values.append(row.typical[feature].partition(", ")[0].replace(" to ", "–"))
            values += row.neighbor_values[: row.n_listed, feature].tolist()
            texts = [base.escape_math(base.shorten(value_text(value), LONGEST_VALUE)) for value in values]
            columns.append([header, *texts])
        return columns


def _draw_values(ax: Axes, columns: list[list[str]], widths: list[float], *, n_lines: int) -> None:
    """Write the values of the features beside the neighbors; widths are in inches."""
    ax.set_axis_off()
    ax.set(xlim=(0, sum(widths)), ylim=(n_lines - 1 + 0.6, -0.6))
    for x, width, (header, *texts) in zip(np.cumsum(widths), widths, columns, strict=True):
        header = base.wrap_text(header.replace("…", "… "), width - 0.1, base.SMALL)
        top = ax.get_xaxis_transform()
        ax.text(x, 1.01, header, transform=top, fontsize=base.SMALL, ha="right", va="bottom")
        for y, text in enumerate(texts):
            weight = "bold" if y == 0 else "normal"
            ax.text(x, y, text, fontsize=base.SMALL, ha="right", va="center", fontweight=weight)
