"""RelevanceDisplay and RelevanceMapDisplay: the relevance of the features, by class and by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._support.format import N_COLORS, class_color
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, OneOf, validate
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The bars extend between these quantiles of the rows of a class.
QUANTILES = (0.1, 0.9)
# More classes have a line each in a heat map.
MAX_PANELS = 8
# The least widths in inches of all panels and of one panel, without labels.
WIDTH, PANEL_WIDTH = 4.6, 1.15
# The quantile of the relevances with the darkest color, so that outliers do not make all others pale.
DARKEST_QUANTILE = 0.995


# The title of a figure and the label of its axis, for each measure of the importance of features.
QUANTITIES = {
    "relevances": ("Relevance of the features", "share of the vote that depends on the feature"),
    "feature_weights": ("Feature weights", "share of a row's feature weights"),
}


def _row_quantities(rows: base.Rows, quantity: str) -> Floats:
    """Return the importance of every feature to each row; feature weights are scaled to sum to 1."""
    validate("quantity", quantity, OneOf(*QUANTITIES))
    if quantity == "relevances":
        return rows.explain().relevances
    if rows.source == "row":
        weights = rows.model.neighbor_feature_weights(rows.given)
    else:
        weights = np.asarray(rows.model.feature_weights_)[rows.indices]
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)


def _draw_heat_map(ax: Axes, image: Floats, features: Any, vmax: float | None = None) -> Any:
    """Draw a heat map with a column for each feature."""
    drawn = ax.imshow(image, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0.0, vmax=vmax)
    ax.spines[:].set_visible(False)
    texts = base.short_names(features, 28)
    few = len(texts) <= 8
    fontsize = base.TEXT if few else base.SMALL if len(texts) <= 32 else base.TINY
    options: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(len(texts)), texts, fontsize=fontsize, **(options if few else {"rotation": 90}))
    ax.tick_params(axis="x", length=2)
    return drawn


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(base.Display):
    """Relevance of every feature to the rows of each class.

    A marker is the mean over the rows of a class, and the bar behind it covers the middle 80% of them. Up to
    eight classes have a panel each. The means of more classes are drawn as a heat map with a line for each
    class: the darker, the more relevant.

    It is recommended to use :meth:`from_estimator` to create the display.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_features)
        The mean relevance; NaN for a class without rows.
    lows : ndarray of shape (n_classes, n_features)
        The quantile of 10% of the rows of the class.
    highs : ndarray of shape (n_classes, n_features)
        The quantile of 90%.
    feature_names : array-like of shape (n_features,)
        The names of the features.
    class_names : array-like of shape (n_classes,)
        The names of the classes.
    quantity : {"relevances", "feature_weights"}, default="relevances"
        The quantity, as named in the title and the axis label.
    subtitle : str, default=""
        The second line of the title, such as the data and the number of rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of shape (n_panels,)
        One panel for each of up to eight classes, or that of the heat map.

    See Also
    --------
    RelevanceMapDisplay : The relevance of the features to single rows.
    SupportBeeswarmDisplay : The values of the features that are for and against a class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import RelevanceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    >>> display = RelevanceDisplay.from_estimator(clf, class_names=["setosa", "versicolor", "virginica"])
    >>> display.means.shape
    (3, 4)
    """

    means: Floats
    lows: Floats
    highs: Floats
    feature_names: Any
    class_names: Any
    quantity: str = "relevances"
    subtitle: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        quantity: str = "relevances",
        class_names: ArrayLike | None = None,
        data_name: str = "",
        n_features: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the relevances of a fitted model.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNClassifier, a baseline, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features) or None, default=None
            The rows whose relevances are drawn; None for the training rows.
        y : array-like of shape (n_samples,) or None, default=None
            The labels of X. If None, the predicted labels; for training rows, their own labels.
        quantity : {"relevances", "feature_weights"}, default="relevances"
            "relevances": the share of the vote that depends on each feature, as in `Explanation.relevances`.
            "feature_weights": how much a difference in each feature counts, as in the paper, scaled so that
            the weights of each row sum to 1.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
        n_features : int or None, default=None
            The maximum number of features, the most relevant ones; None for all.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.

        Returns
        -------
        display : RelevanceDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If a parameter is invalid or the model does not have the quantity.
        """
        rows = base.select_rows(estimator, X, y, max_rows=base.MAX_ROWS)
        values, texts = _row_quantities(rows, quantity), rows.texts(class_names, data_name)
        means, lows, highs = np.full((3, len(rows.model.classes_), values.shape[1]), np.nan)
        for label in np.unique(rows.labels):
            members = values[rows.labels == label]
            means[label] = members.mean(axis=0)
            lows[label], highs[label] = np.quantile(members, QUANTILES, axis=0)
        display = cls(means=means, lows=lows, highs=highs, quantity=quantity, **texts)
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.
        n_features : int or None, default=None
            The maximum number of features, the most relevant ones; None for all.

        Returns
        -------
        display : RelevanceDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        shown = base.most_important(np.nan_to_num(self.means).max(axis=0), n_features)
        present = np.flatnonzero(~np.isnan(self.means).all(axis=1))
        if len(present) > MAX_PANELS:
            self._plot_heat_map(ax, present, shown)
        else:
            self._plot_panels(ax, present, shown)
        return self

    def _plot_panels(self, ax: Axes | None, present: Indices, shown: Indices) -> None:
        """Draw the means and quantiles of each class in a panel of its own."""
        height, fontsize = base.line_height(len(shown))
        names = base.short_names(self.feature_names[shown], 36)
        panel_width = max(PANEL_WIDTH, WIDTH / len(present))
        width = base.text_width(names, fontsize) + 0.3 + panel_width * len(present)
        self._create_panels(
            ax, self._title(len(shown)), (1, len(present)), (width, 1.9 + height * len(shown)),
            grid="both" if len(shown) > 8 else "x", percent="x", sharex=True, sharey=True,
        )  # fmt: skip
        few, y = len(shown) <= 40, np.arange(len(shown))
        for panel, label in zip(self.axes_, present, strict=True):
            color, marker = class_color(label), base.MARKERS[label % len(base.MARKERS)]
            low, high = self.lows[label, shown], self.highs[label, shown]
            panel.hlines(y, low, high, color=color, linewidth=3.2 if few else 2.2, alpha=0.38)
            panel.plot(self.means[label, shown], y, marker, color=color, markersize=4.5 if few else 3.2)
            name = base.shorten(self.class_names[label], 34).replace("…", "… ")
            panel.set_title(
                base.escape_math(base.wrap_text(name, panel_width - 0.15, base.SMALL)), fontsize=base.SMALL
            )
            panel.set_xlim(left=0)
            panel.tick_params(axis="y", length=0)
            panel.locator_params(axis="x", nbins=2 if panel_width < 2 else 4)
        base.label_lines(self.ax_, names, fontsize)
        lines = f"{QUANTITIES[self.quantity][1]}\nmarker: mean; bar: the middle 80% of the rows"
        self.ax_.figure.supxlabel(base.wrap_text(lines, width - 1.0), fontsize=base.TEXT)

    def _plot_heat_map(self, ax: Axes | None, present: Indices, shown: Indices) -> None:
        """Draw the means of many classes: a line for each class, a column for each feature."""
        height, fontsize = base.line_height(len(present))
        names = base.short_names(self.class_names[present], 44)
        width = max(base.text_width(names, fontsize) + _column_width(len(shown)) * len(shown) + 1.2, 5.0)
        height = 0.85 * height * len(present)
        self._create_axes(ax, (width, 3.2 + height))
        drawn = _draw_heat_map(self.ax_, self.means[np.ix_(present, shown)], self.feature_names[shown])
        base.label_lines(self.ax_, names, fontsize, margin=0.5)
        self.ax_.set_ylabel("class")
        label = f"mean over the rows of a class: {QUANTITIES[self.quantity][1]}"
        self._draw_color_bar(drawn, label, height=2.2 + 0.7 * height, format=base.percent_label)
        self._set_title(*self._title(len(shown)), width=width)

    def _title(self, n_shown: int) -> tuple[str, ...]:
        n_features = len(self.feature_names)
        number = "" if n_shown == n_features else f"{n_shown} of {n_features} features, the largest first"
        return f"{QUANTITIES[self.quantity][0]}, by class", self.subtitle, number


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceMapDisplay(base.Display):
    """Heat map of rows by features: the darker, the more the prediction of a row depends on the feature.

    The rows are ordered by hierarchical clustering, so that rows with similar relevances are adjacent and
    blocks are groups of rows whose predictions depend on the same features. The strip to the left is the
    class of each row. With more than ten classes, the rows of a class are adjacent, with the name of the
    class beside them. The columns are ordered by mean relevance.

    It is recommended to use :meth:`from_estimator` to create the display.

    Parameters
    ----------
    relevances : ndarray of shape (n_rows, n_features)
        The relevance of each feature to each row.
    labels : ndarray of shape (n_rows,)
        The class indices of the rows.
    feature_names : array-like of shape (n_features,)
        The names of the features.
    class_names : array-like of shape (n_classes,)
        The names of the classes.
    quantity : {"relevances", "feature_weights"}, default="relevances"
        The quantity, as named in the title and the label of the color bar.
    subtitle : str, default=""
        The second line of the title, such as the data and the number of rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes of the heat map.
    row_order_ : ndarray of shape (n_rows,)
        The indices of the rows, from the top.
    shown_ : ndarray of shape (n_shown,)
        The indices of the features that are shown, from the left.

    See Also
    --------
    RelevanceDisplay : The relevance of the features, by class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import RelevanceMapDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    >>> display = RelevanceMapDisplay.from_estimator(clf, X, y)
    >>> display.relevances.shape
    (150, 4)
    """

    relevances: Floats
    labels: Labels
    feature_names: Any
    class_names: Any
    quantity: str = "relevances"
    subtitle: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        quantity: str = "relevances",
        class_names: ArrayLike | None = None,
        data_name: str = "",
        n_features: int | None = None,
        n_rows: int = 400,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the relevances of a fitted model.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNClassifier, a baseline, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features) or None, default=None
            The rows whose relevances are drawn; None for the training rows.
        y : array-like of shape (n_samples,) or None, default=None
            The labels of X. If None, the predicted labels; for training rows, their own labels.
        quantity : {"relevances", "feature_weights"}, default="relevances"
            The quantity to draw, see :meth:`RelevanceDisplay.from_estimator`.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
        n_features : int or None, default=None
            The maximum number of features, the most relevant ones; None for all.
        n_rows : int, default=400
            The maximum number of rows. If there are more, a stratified sample is drawn.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : RelevanceMapDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If a parameter is invalid or the model does not have the quantity.
        """
        validate("n_rows", n_rows, Integer(1))
        rows = base.select_rows(estimator, X, y, max_rows=n_rows)
        relevances, texts = _row_quantities(rows, quantity), rows.texts(class_names, data_name)
        display = cls(relevances=relevances, labels=rows.labels, quantity=quantity, **texts)
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.
        n_features : int or None, default=None
            The maximum number of features, the most relevant ones; None for all.

        Returns
        -------
        display : RelevanceMapDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        from matplotlib.patches import Patch

        self.shown_ = shown = base.most_important(self.relevances.mean(axis=0), n_features)
        present, counts = np.unique(self.labels, return_counts=True)
        by_class = len(present) > N_COLORS
        groups = [np.flatnonzero(self.labels == label) for label in present]
        groups = groups if by_class else [np.arange(len(self.labels))]
        self.row_order_ = np.concatenate([rows[_cluster_order(self.relevances[rows])] for rows in groups])
        names = base.short_names(self.class_names[present], 40)
        columns = _column_width(len(shown)) * len(shown)
        line, fontsize = base.line_height(len(present))
        width = max(2.0 + columns + (base.text_width(names, fontsize) if by_class else 0.0), 4.6)
        height = max(3.6, 0.8 * line * len(present)) if by_class else 3.6
        self._create_axes(ax, (width, height + 2.2))
        image = self.relevances[np.ix_(self.row_order_, shown)]
        darkest = float(np.quantile(image, DARKEST_QUANTILE)) or 1.0
        drawn = _draw_heat_map(self.ax_, image, self.feature_names[shown], vmax=darkest)
        self.ax_.set_yticks([])
        strip = self._draw_strip(width=0.16 / max(columns, 2.4))
        pad = 6.0  # between the title and the heat map, in points
        if by_class:  # the names of the classes beside their rows, and lines between the classes
            ends = np.cumsum(counts)
            strip.set_yticks(ends - counts / 2 - 0.5, names, fontsize=fontsize)
            strip.tick_params(axis="y", length=0)
            strip.set_ylabel("class", fontsize=base.SMALL)
            for panel in (self.ax_, strip):
                panel.hlines(ends[:-1] - 0.5, *panel.get_xlim(), color="white", linewidth=0.8)
        else:
            strip.set_ylabel(f"{len(self.row_order_)} rows, similar ones adjacent", fontsize=base.SMALL)
            pairs = zip(present, names, strict=True)
            handles = [Patch(color=class_color(label), label=name) for label, name in pairs]
            legend = base.draw_legend(self.ax_, handles, "above", width=max(columns + 0.6, 3.0))
            pad += legend.get_window_extent().height * 72 / self.figure_.dpi
        title, label = QUANTITIES[self.quantity]
        self._draw_color_bar(drawn, label, height=height, format=base.percent_label)
        self._set_title(f"{title}, by row", self.subtitle, width=width, pad=pad)
        return self

    def _draw_strip(self, width: float) -> Axes:
        """Draw the classes of the rows to the left of the heat map."""
        from matplotlib.colors import ListedColormap

        colors = base.class_colors(len(self.class_names))
        strip = self.ax_.inset_axes((-1.4 * width, 0.0, width, 1.0))
        strip.imshow(
            self.labels[self.row_order_][:, None], aspect="auto", interpolation="nearest",
            cmap=ListedColormap(colors), vmin=-0.5, vmax=len(colors) - 0.5,
        )  # fmt: skip
        strip.set(xticks=[], yticks=[])
        strip.spines[:].set_visible(False)
        return strip


def _cluster_order(relevances: Floats) -> Indices:
    """Return an order of the rows in which similar rows are adjacent; needs memory for n_rows² numbers."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(relevances) < 3:
        return np.arange(len(relevances))
    return leaves_list(linkage(relevances, "ward", optimal_ordering=len(relevances) <= 600)).astype(np.int64)


def _column_width(n_columns: int) -> float:
    """Return the width of each column of a heat map, in inches."""
    return 0.5 if n_columns <= 8 else 0.27 if n_columns <= 32 else 0.16
