"""FeatureCurvesDisplay: the learned curves of the features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._support.format import percent
from lann._support.types import Floats
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lann.columns.schema import TableSchema
    from lann.metric import Encoding, FeatureCurves

# The number of values at which a curve is drawn; curves have about fifteen knots.
N_VALUES = 240
# The excess of the slope over the mean slope, relative to the latter, that is shaded darkest.
MAX_EXCESS = 1.0
# The number of categories that are named, the most frequent ones, and the least vertical space for a name.
MAX_NAMED, LINE = 8, 0.115
# The number of ordered categories that are all named.
MAX_STEPS = 4
SECONDS_PER_DAY = 86_400
# The number of different values up to which each has a bar in the histogram.
MAX_DISTINCT = 12
# Where a curve is steep, and rows.
SHADE, HISTOGRAM = "#E8A800", "#C4C8CC"
# A curve with which differences count the same everywhere, and the height of missing values.
EVEN: dict[str, Any] = {"color": "#555555", "linewidth": 0.8, "linestyle": "--"}
GAP: dict[str, Any] = {"color": base.AGAINST, "linewidth": 1.2, "linestyle": ":"}


class CategoryPanel(NamedTuple):
    """The categories of a feature at their learned positions.

    Attributes
    ----------
    names : tuple of str
        The categories, and missing values if the training data have them.
    heights : ndarray of shape (n_categories,)
        Their positions along the direction in which these vary most, from 0 to 1.
    shares : ndarray of shape (n_categories,)
        Their shares of the training rows.
    """

    names: tuple[str, ...]
    heights: Floats
    shares: Floats


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureCurvesDisplay(base.Display):
    """Learned curve of each feature: the steeper, the more a difference counts there.

    A curve rises from the lowest value of the feature to the highest, over the range of the middle 99% of
    the rows. The dashed line is the curve with which differences would count the same everywhere; ranges in
    which the curve is steeper are shaded, the darker the steeper. A vertical line is a jump at a threshold:
    values on different sides of it differ, however close they are. Gray bars are a histogram of the rows. A
    dotted line is the height of missing values. Above each panel is the relevance of the feature, averaged
    over the rows, and below it its name and unit. A legend names all of this.

    The categories of a feature are drawn at their learned positions, along the direction in which these vary
    most: the farther apart, the more the difference of two categories counts. The larger the circle of a
    category, the more training rows have it.

    It is recommended to use :meth:`from_estimator` to create the display.

    Parameters
    ----------
    values : ndarray of shape (n_values, n_features)
        Values of each feature, ascending; a threshold at which its curve jumps occurs twice.
    heights : ndarray of shape (n_values, n_features)
        The curves at these values, from 0 to 1; at a threshold, before and after the jump.
    data : ndarray of shape (n_rows, n_features)
        The rows of the histograms.
    feature_names : array-like of shape (n_features,)
        The names of the features.
    relevances : ndarray of shape (n_features,)
        The relevance of each feature, by which the panels are ordered.
    schema : TableSchema or None, default=None
        The kinds of the features; None if all are numbers.
    categories : mapping of int to CategoryPanel, default={}
        For each feature that has categories, their names, heights and shares.
    gaps : mapping of int to tuple of float, default={}
        For each number with missing values their height, from 0 to 1, and their share of the training rows.
    subtitle : str, default=""
        The last line of the title, such as the data and the number of rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of shape (n_shown,)
        The panels, most relevant feature first.
    shown_ : ndarray of shape (n_shown,)
        The indices of the features that are shown.

    See Also
    --------
    RelevanceDisplay : The relevance of the features, by class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import FeatureCurvesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    >>> display = FeatureCurvesDisplay.from_estimator(clf, n_features=2)
    >>> len(display.axes_)
    2
    """

    values: Floats
    heights: Floats
    data: Floats
    feature_names: Any
    relevances: Floats
    schema: TableSchema | None = None
    categories: Mapping[int, CategoryPanel] = field(default_factory=dict)
    gaps: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    subtitle: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        data_name: str = "",
        n_features: int | None = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curves of a fitted model.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNClassifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features) or None, default=None
            The rows of the histograms, over which the relevances are averaged; None for the training rows.
        data_name : str, default=""
            The name of the data, for the title.
        n_features : int or None, default=12
            The maximum number of features, the most relevant ones; None for all.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.

        Returns
        -------
        display : FeatureCurvesDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If the model has no feature curves.
        """
        rows = base.select_rows(estimator, X, None, max_rows=base.MAX_ROWS)
        curves = getattr(rows.model, "curves_", None)
        if curves is None:
            raise ValueError(f"{type(rows.model).__name__} has no feature curves; LANNClassifier has them.")
        values, heights, gaps = _curve_points(curves, rows.model.encoding_, rows.X)
        display = cls(
            values=values,
            heights=heights,
            data=rows.X,
            feature_names=rows.axis_labels,
            relevances=rows.explain().relevances.mean(axis=0),
            schema=rows.schema,
            categories=_category_panels(rows.model.encoding_, rows.schema),
            gaps=gaps,
            subtitle=rows.describe(data_name),
        )
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = 12) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.
        n_features : int or None, default=12
            The maximum number of features, the most relevant ones; None for all.

        Returns
        -------
        display : FeatureCurvesDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        self.shown_ = shown = base.most_important(self.relevances, n_features)
        n_columns = min(len(shown), max(2, min(8, round(len(shown) ** 0.5 + 0.3))))
        n_rows = -(-len(shown) // n_columns)
        width = 3.4 if n_columns == 1 else 2.3 if n_columns <= 4 else 1.55
        is_small = n_columns > 4
        size = (0.6 + width * n_columns, 1.3 + (0.72 * width + 0.55) * n_rows)
        title, handles = self._title_and_legend()
        self._create_panels(ax, title, (n_rows, n_columns), size, n_panels=len(shown), sharey=True)
        names = base.short_names([self.feature_names[feature] for feature in shown], 30 if is_small else 50)
        for panel, feature, name in zip(self.axes_, shown, names, strict=True):
            if feature in self.categories:
                _draw_categories(panel, self.categories[feature], small=is_small)
            else:
                self._draw_curve(panel, feature)
            self._label_panel(panel, feature, name, width=width)
        for panel in self.axes_[::n_columns]:
            panel.set_ylabel("learned scale", fontsize=base.TINY if is_small else base.SMALL)
        base.draw_legend(self.ax_.figure, handles, "below", width=size[0])
        return self

    def _title_and_legend(self) -> tuple[list[str], list[Any]]:
        """Return the lines of the title, and the entries of the legend for what is drawn."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        title, handles = [], []
        shown = set(self.shown_.tolist())
        if not shown <= set(self.categories):
            title.append("Feature curves: the steeper, the more a difference counts")
            handles += [
                Line2D([], [], color=base.INK, linewidth=1.8, label="learned curve"),
                Line2D([], [], **EVEN, label="counts the same everywhere"),
                Patch(color=SHADE, alpha=0.6, label="steeper: counts more here"),
                Patch(color=HISTOGRAM, label="rows, the middle 99%"),
            ]
        if shown & set(self.gaps):
            handles.append(Line2D([], [], **GAP, label="missing values"))
        if shown & set(self.categories):
            title.append("Categories: the farther apart, the more they differ")
            dot: dict[str, Any] = {"color": base.INK, "alpha": 0.6, "marker": "o", "linestyle": ""}
            handles.append(Line2D([], [], **dot, label="category (size: rows)"))
        number = f"the {len(shown)} most relevant of {len(self.feature_names)} features"
        number = number if len(shown) < len(self.feature_names) else ""
        return [*title, "; ".join(note for note in (self.subtitle, number) if note)], handles

    def _draw_curve(self, panel: Axes, feature: int) -> None:
        from matplotlib.colors import to_rgb
        from matplotlib.patheffects import withStroke

        x, height = self.values[:, feature], self.heights[:, feature]
        rise = np.diff(np.interp(np.linspace(x[0], x[-1], N_VALUES), x, height))
        excess = rise * (N_VALUES - 1) - 1.0  # slope divided by mean slope, minus 1
        shades = [(*to_rgb(SHADE), 0.6 * dark) for dark in np.clip(excess / MAX_EXCESS, 0.0, 1.0)]
        panel.imshow([shades], extent=(x[0], x[-1], 0.0, 1.04), aspect="auto", interpolation="nearest")
        centers, widths, counts = _histogram(self.data[:, feature], x[0], x[-1])
        panel.bar(centers, 0.36 * counts / max(counts.max(), 1), widths, color=HISTOGRAM)
        panel.plot(x[[0, -1]], height[[0, -1]], **EVEN)
        panel.plot(x, height, color=base.INK, linewidth=1.8)
        if feature in self.gaps:
            gap, share = self.gaps[feature]
            panel.axhline(gap, **GAP)
            shift, side = (0.02, "bottom") if gap < 0.85 else (-0.02, "top")
            panel.text(
                0.05, gap + shift, f"missing: {percent(share)}", transform=panel.get_yaxis_transform(),
                fontsize=base.TINY, color=base.AGAINST, va=side,
                path_effects=[withStroke(linewidth=2, foreground="white", alpha=0.85)],
            )  # fmt: skip
        margin = 0.03 * (x[-1] - x[0])
        panel.set(xlim=(x[0] - margin, x[-1] + margin), ylim=(0.0, 1.04), yticks=[])

    def _label_panel(self, panel: Axes, feature: int, name: str, *, width: float) -> None:
        """Label the horizontal axis with the user's values, and write the relevance and the name."""
        is_small = width < 2
        fontsize = base.TINY if is_small else base.SMALL
        kind = "number" if self.schema is None else self.schema.features[feature].kind
        if kind == "number":
            data = self.data[:, feature]
            are_integers = bool(np.all((data == np.round(data)) | np.isnan(data)))
            panel.locator_params(axis="x", nbins=3 if is_small else 4, integer=are_integers)
        elif feature not in self.categories:
            self._label_steps(panel, feature)
        panel.set_title(
            f"relevance {100 * self.relevances[feature]:.1f}%", fontsize=fontsize, color=base.SOFT
        )
        panel.tick_params(labelsize=fontsize)
        label = base.wrap_text(name.replace("…", "… "), 0.85 * width, fontsize)
        panel.set_xlabel(label, fontsize=fontsize if is_small else base.TEXT)

    def _label_steps(self, panel: Axes, feature: int) -> None:
        """Label the ticks of a bool, a date or ordered categories."""
        described, (low, high) = self.schema.features[feature], panel.get_xlim()  # type: ignore[union-attr]
        if described.kind == "date":
            ticks = np.rint(np.linspace(low, high, 7)[[1, 5]])
            # The day for a range of several days, the time for a shorter one.
            part = slice(11, 16) if described.unit == "s" and high - low < 2 * SECONDS_PER_DAY else slice(10)
            names = [described.value(tick)[part] for tick in ticks]
        else:
            ticks = np.arange(np.ceil(low), np.floor(high) + 1)
            if len(ticks) > MAX_STEPS:
                ticks = ticks[[0, len(ticks) // 2, -1]]
            names = [base.shorten(described.value(tick), 10) for tick in ticks]
        panel.set_xticks(ticks, [base.escape_math(name) for name in names])


def _histogram(data: Floats, low: float, high: float) -> tuple[Floats, Floats, Floats]:
    """Return the centers, the widths and the heights of the bars of a histogram.

    A feature with few different values has a bar at each of them.
    """
    data = data[(data >= low) & (data <= high)]
    distinct, n_equal = np.unique(data, return_counts=True)
    if 1 < len(distinct) <= MAX_DISTINCT:
        width = min(0.6 * float(np.diff(distinct).min()), 0.06 * (high - low))
        return distinct, np.full(len(distinct), width), n_equal.astype(np.float64)
    counts, edges = np.histogram(data, bins=24, range=(low, high))
    return (edges[:-1] + edges[1:]) / 2, np.diff(edges), counts.astype(np.float64)


def _curve_points(
    curves: FeatureCurves, encoding: Encoding, rows: Floats
) -> tuple[Floats, Floats, dict[int, tuple[float, float]]]:
    """Return values of each feature and its curve there, both (n_values, n_features), and the gaps.

    The values are equidistant over the range of nearly all rows, and thresholds in the range occur twice:
    before and after the jump. The curves are scaled to heights from 0 to 1. Features that are categories
    have NaN. Gaps are the heights and shares of missing values, by feature.
    """
    features, gaps = encoding.number_features, {}
    if not len(features):
        return np.empty((0, rows.shape[1])), np.empty((0, rows.shape[1])), {}
    X = encoding.numbers_of(rows)
    low, high = np.nanquantile(X, (0.005, 0.995), axis=0)
    is_constant = high <= low
    low = np.where(is_constant, np.nanmin(X, axis=0) - 0.5, low)
    high = np.where(is_constant, np.nanmax(X, axis=0) + 0.5, high)
    # A threshold out of the range is replaced by an end of it, where nothing jumps.
    thresholds = np.clip(curves.thresholds.T, low, high)
    before = np.maximum(np.nextafter(thresholds, -np.inf), low)
    points = np.sort(np.concatenate([np.linspace(low, high, N_VALUES), before, thresholds]), axis=0)
    transformed = curves.transform(points)
    bottom, span = transformed[0], np.maximum(np.ptp(transformed, axis=0), np.finfo(float).tiny)
    values, heights = np.full((2, len(points), rows.shape[1]), np.nan)
    values[:, features], heights[:, features] = points, (transformed - bottom) / span
    centers = (curves.transform(encoding.gaps.centers[None])[0] - bottom) / span
    for number in np.flatnonzero(encoding.gaps.present):
        gaps[int(features[number])] = (float(np.clip(centers[number], 0, 1)), encoding.gaps.shares[number])
    return values, heights, gaps


def _category_panels(encoding: Encoding, schema: TableSchema | None) -> dict[int, CategoryPanel]:
    """Return the positions of the categories of each feature that has them."""
    panels = {}
    for feature, positions in zip(encoding.category_features, encoding.positions, strict=True):
        names = schema.features[feature].categories if schema is not None else ()
        if positions.has_gaps:
            names = (*names, "missing")
        along = positions.main_direction()
        heights = (along - along.min()) / max(np.ptp(along), np.finfo(float).tiny)
        panels[feature] = CategoryPanel(names, heights, positions.shares)
    return panels


def _draw_categories(panel: Axes, categories: CategoryPanel, *, small: bool) -> None:
    """Draw the categories of a feature from bottom to top, and name the most frequent ones."""
    heights, shares = 0.06 + 0.88 * categories.heights, categories.shares
    panel.plot([0.1, 0.1], [0.06, 0.94], color="#CCCCCC", linewidth=1.0, zorder=0)
    panel.scatter(
        np.full(len(shares), 0.1), heights, s=14 + 220 * shares, color=base.INK, alpha=0.6, linewidths=0.4,
        edgecolors="white",
    )  # fmt: skip
    named = base.largest_first(shares, None if len(shares) <= MAX_NAMED else MAX_NAMED - 1)
    named = named[np.argsort(heights[named], kind="stable")]
    n_others = len(shares) - len(named)
    levels = _spread(heights[named], LINE, lowest=0.16 if n_others else 0.06)
    fontsize = base.TINY if small or len(named) > 4 else base.SMALL
    for category, level in zip(named, levels, strict=True):
        panel.plot([0.14, 0.22], [heights[category], level], color="#999999", linewidth=0.6)
        name = base.shorten(categories.names[category], 12 if small else 18)
        text = base.escape_math(f"{name} ({percent(shares[category])})")
        panel.text(0.24, level, text, fontsize=fontsize, va="center")
    if n_others:
        options: dict[str, Any] = {"color": "#555555", "va": "bottom", "ha": "right"}
        panel.text(0.98, 0.01, f"and {n_others} more", fontsize=base.TINY, **options)
    panel.set(xlim=(0.0, 1.0), ylim=(0.0, 1.04), xticks=[], yticks=[])


def _spread(levels: Floats, distance: float, lowest: float) -> Floats:
    """Return ascending levels moved so that neighbors are at least some distance apart.

    They stay below 1, and above the lowest level if there is space.
    """
    steps = distance * np.arange(len(levels))
    upward = np.maximum.accumulate(np.maximum(levels, lowest) - steps) + steps
    highest = 0.97 - steps[::-1]
    return np.minimum(upward, highest)
