"""SupportBeeswarmDisplay: the support of a class by the features, over many rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._support.types import Floats
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Dots of a feature within the same bin of the x-axis are drawn side by side.
N_BINS = 90
# The number of categories of a feature that are named.
MAX_NAMED = 5
LOW_TO_HIGH = ("#EDBB3F", "#C2606B", "#3B1561")


@dataclass(kw_only=True, eq=False, repr=False)
class SupportBeeswarmDisplay(base.Display):
    """Support of a class by the values of each feature, one dot per row.

    Dots to the right of 0 are values for the class, dots to the left are values against it. The position is
    the support: the share of the vote that the value moves to the class, or away from it. The color is the
    rank of the value, from the lowest of the feature, light, to the highest, dark; categories and missing
    values, which have no rank, are green, and the most frequent categories are named at their median.
    Features with the largest mean absolute support come first.

    It is recommended to use :meth:`from_estimator` to create the display.

    Parameters
    ----------
    supports : ndarray of shape (n_rows, n_features)
        The support of the class by each feature.
    values : ndarray of shape (n_rows, n_features)
        The values of the features; categories as codes, NaN for missing values.
    feature_names : array-like of shape (n_features,)
        The names of the features.
    class_name : str, default="the predicted class"
        The class, as named in the axis label and the title.
    categories : mapping of int to sequence of str, default={}
        For each feature that has categories their names, in the order of the codes.
    subtitle : str, default=""
        The second line of the title, such as the data and the number of rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.
    shown_ : ndarray of shape (n_shown,)
        The indices of the features that are shown, from the top.

    See Also
    --------
    ExplanationDisplay : The support of a single prediction.
    RelevanceDisplay : The relevance of the features, by class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import SupportBeeswarmDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    >>> display = SupportBeeswarmDisplay.from_estimator(clf, X, label=2)
    >>> display.supports.shape
    (150, 4)
    """

    supports: Floats
    values: Floats
    feature_names: Any
    class_name: str = "the predicted class"
    categories: Mapping[int, Sequence[str]] = field(default_factory=dict)
    subtitle: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        label: Any = None,
        class_names: ArrayLike | None = None,
        data_name: str = "",
        n_features: int | None = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Explain rows with a fitted model and draw the supports.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNClassifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features) or None, default=None
            The rows to explain; None for the training rows. Of more than 2000 rows a stratified sample is
            drawn.
        label : object or None, default=None
            The label of the class whose support is drawn. If None, the second one of two classes; with more
            classes, the predicted class of each row.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
        n_features : int or None, default=20
            The maximum number of features, those with the largest mean absolute support; None for all.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : SupportBeeswarmDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If the label is unknown.
        """
        rows = base.select_rows(estimator, X, None, max_rows=base.MAX_ROWS)
        classes = rows.model.classes_.tolist()
        if label is None and len(classes) == 2:
            label = classes[1]
        if label is not None and label not in classes:
            raise ValueError(f"label must be one of the classes {classes}, or None; got {label!r}.")
        texts = rows.texts(class_names, data_name)
        names, explanation = texts.pop("class_names"), rows.explain()
        predicted = np.searchsorted(explanation.classes, explanation.predictions)
        supports = explanation.supports[np.arange(len(explanation)), predicted]
        class_name = "the predicted class"
        if label is not None:
            class_index = classes.index(label)
            supports, class_name = explanation.supports[:, class_index], names[class_index]
        features = [] if rows.schema is None else rows.schema.features
        categories: dict[int, Any] = {k: f.categories for k, f in enumerate(features) if f.kind == "category"}
        is_binary = np.flatnonzero(np.isin(rows.X, (0.0, 1.0)).all(axis=0)).tolist()
        bools = [k for k, f in enumerate(features) if f.kind == "bool"]
        categories = dict.fromkeys([*is_binary, *bools], ("no", "yes")) | categories
        display = cls(supports=supports, values=rows.X, class_name=class_name, categories=categories, **texts)
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = 20) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.
        n_features : int or None, default=20
            The maximum number of features, those with the largest mean absolute support; None for all.

        Returns
        -------
        display : SupportBeeswarmDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        self.shown_ = shown = base.most_important(np.abs(self.supports).mean(axis=0), n_features)
        height, fontsize = base.line_height(len(shown))
        names = base.short_names(self.feature_names[shown], 36)
        width = 5.4 + base.text_width(names, fontsize)
        self._create_axes(ax, (width, 1.7 + 1.15 * height * len(shown)), grid="y", percent="x")
        dots = self._draw_dots()
        base.label_lines(self.ax_, names, fontsize)
        self.ax_.axvline(0, color="#444444", linewidth=0.9, zorder=0)
        name = base.shorten(self.class_name, 44)
        label = f"support of {name} (share of the vote)\n← against    for →"
        self.ax_.set_xlabel(base.escape_math(label))
        shrink, label = min(1.0, 12 / len(shown)), "value of the feature"
        bar = self._draw_color_bar(dots, label, height=3.0, aspect=30, shrink=shrink, ticks=[0.0, 1.0])
        bar.ax.set_yticklabels(["low", "high"])
        bar.ax.yaxis.labelpad = -14
        numbers = [feature for feature in range(self.values.shape[1]) if feature not in self.categories]
        has_gaps = np.isnan(self.values[:, numbers]).any()
        unranked = ["category"] * bool(self.categories) + ["missing value"] * bool(has_gaps)
        if unranked:
            dot = self.ax_.scatter([], [], color=base.UNRANKED, s=16, label=" or ".join(unranked))
            base.draw_legend(self.ax_, [dot], "above")
        number = f"{len(shown)} of {len(self.feature_names)} features, largest mean support first"
        number = number if len(shown) < len(self.feature_names) else ""
        lines = (f"Support of {name} by the values of the features", self.subtitle, number)
        self._set_title(*lines, width=width, pad=20 if unranked else None)
        return self

    def _draw_dots(self) -> Any:
        """Draw the dots of each feature; return those of the last."""
        from matplotlib.colors import LinearSegmentedColormap

        # No colors of the first classes, so that values are not taken for classes.
        colors = LinearSegmentedColormap.from_list("low_to_high", LOW_TO_HIGH).with_extremes(
            bad=base.UNRANKED
        )
        low, high = self.supports[:, self.shown_].min(), self.supports[:, self.shown_].max()
        size = 3 if len(self.shown_) > 40 else 9 if len(self.supports) <= 300 else 5
        for y, feature in enumerate(self.shown_):
            x, is_category = self.supports[:, feature], feature in self.categories
            ranks = np.full(len(x), np.nan) if is_category else _relative_ranks(self.values[:, feature])
            dots = self.ax_.scatter(
                x, y + _vertical_offsets(x, low, high), c=ranks, plotnonfinite=True, cmap=colors,
                vmin=0.0, vmax=1.0, s=size, linewidths=0, rasterized=True,
            )  # fmt: skip
            if is_category and len(self.shown_) <= 20:
                self._name_categories(feature, y, 0.008 * (high - low))
        return dots

    def _name_categories(self, feature: int, y: int, half_character: float) -> None:
        """Write the names of the most frequent categories at their median supports, where there is space."""
        from matplotlib.patheffects import withStroke

        codes, names = self.values[:, feature], self.categories[feature]
        named: list[tuple[float, float]] = []
        present, counts = np.unique(codes[codes >= 0], return_counts=True)
        for code in present[base.largest_first(counts, MAX_NAMED)]:
            x = float(np.median(self.supports[codes == code, feature]))
            name = base.shorten(names[int(code)], 12)
            half_width = half_character * max(len(name), 3)
            if all(abs(x - other) > half_width + width for other, width in named):
                named.append((x, half_width))
                self.ax_.text(
                    x, y, base.escape_math(name), fontsize=base.TINY, ha="center", va="center",
                    path_effects=[withStroke(linewidth=2, foreground="white")],
                )  # fmt: skip


def _vertical_offsets(x: Floats, low: float, high: float) -> Floats:
    """Return the vertical offset of each dot, so that dots with nearly the same x are side by side."""
    bins = np.floor((x - low) / max(high - low, 1e-12) * N_BINS).astype(np.int64)
    order = np.argsort(bins, kind="stable")
    counts = np.bincount(bins)
    # The number of each dot in its bin, which becomes an offset from the center: 0, 1, -1, 2, -2, …
    number = np.empty(len(x), np.int64)
    number[order] = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    offsets = np.where(number % 2 == 1, (number + 1) // 2, -(number // 2))
    return offsets * np.minimum(0.1, 0.8 / np.maximum(counts, 1))[bins]


def _relative_ranks(values: Floats) -> Floats:
    """Return the ranks of values from 0 to 1, so that an outlier does not change the other colors.

    NaN has none.
    """
    from scipy.stats import rankdata

    ranks = rankdata(values, method="dense", nan_policy="omit") - 1
    return ranks / max(np.nan_to_num(ranks).max(), 1)
