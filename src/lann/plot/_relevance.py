"""RelevanceDisplay and RelevanceMapDisplay: the relevance of the features, by class and by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._support.format import N_COLORS, class_color
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, OneOf, validate
from lann.plot._axes import (
    MARKERS,
    SMALL,
    TEXT,
    Display,
    class_colors,
    column_width,
    escape_math,
    label_columns,
    label_lines,
    label_percent,
    largest_first,
    legend_above,
    line_height,
    natural_order,
    short_names,
    shorten_unique,
    style_axes,
    text_width,
    title_lines,
    wrap_text,
)
from lann.plot._rows import MAX_ROWS, QUANTITIES, check_class_names, row_quantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# More classes get one panel each, and still more a line each in a heat map.
MAX_CLASSES_PER_PANEL, MAX_PANELS = 3, 8
# The widths in inches of a single panel and of one of several panels, without labels.
WIDTH, PANEL_WIDTH = 4.6, 1.15
# The quantile of the relevances with the darkest color, so that outliers do not make all others pale.
DARKEST_QUANTILE = 0.995


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceDisplay(Display):
    """Relevance of every feature to the rows of each class.

    A marker is the mean over the rows of a class, and the bar behind it extends between two quantiles. Up to
    three classes share a panel, up to eight have a panel each. The means of more classes are drawn as a heat
    map with a line for each class: the darker, the more relevant.

    It is recommended to use :meth:`from_estimator` to create the display.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_features)
        The mean relevance; NaN for a class without rows.
    lows : ndarray of shape (n_classes, n_features)
        The lower quantile.
    highs : ndarray of shape (n_classes, n_features)
        The upper quantile.
    feature_names : array-like of shape (n_features,)
        The names of the features.
    class_names : array-like of shape (n_classes,)
        The names of the classes.
    quantity : {"relevances", "feature_weights"}, default="relevances"
        The quantity, as named in the title and the axis label.
    quantiles : tuple of two floats, default=(0.1, 0.9)
        The quantiles that `lows` and `highs` are, as named in the axis label.
    subtitle : str, default=""
        The second line of the title, such as the data and the number of rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of shape (n_panels,)
        One panel for each of four to eight classes, otherwise one panel.

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
    quantiles: tuple[float, float] = (0.1, 0.9)
    subtitle: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        quantity: str = "relevances",
        quantiles: tuple[float, float] = (0.1, 0.9),
        class_names: ArrayLike | None = None,
        data_name: str = "",
        n_features: int | None = None,
        sort: bool = True,
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
        quantiles : tuple of two floats, default=(0.1, 0.9)
            The quantiles between which the bars extend.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
        n_features : int or None, default=None
            The maximum number of features, the most relevant ones; None for all.
        sort : bool, default=True
            Whether to sort the features by relevance instead of keeping their order.
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
        if not 0 <= quantiles[0] <= quantiles[1] <= 1:
            raise ValueError(f"quantiles must be two ascending numbers from 0 to 1; got {quantiles!r}.")
        rows, values = row_quantities(estimator, X, y, quantity=quantity, max_rows=MAX_ROWS)
        means, lows, highs = np.full((3, len(rows.model.classes_), values.shape[1]), np.nan)
        for label in np.unique(rows.labels):
            members = values[rows.labels == label]
            means[label] = members.mean(axis=0)
            lows[label], highs[label] = np.quantile(members, quantiles, axis=0)
        display = cls(
            means=means,
            lows=lows,
            highs=highs,
            feature_names=rows.feature_names,
            class_names=check_class_names(rows.model.classes_, class_names),
            quantity=quantity,
            quantiles=quantiles,
            subtitle=rows.describe(data_name),
        )
        return display.plot(ax, n_features=n_features, sort=sort)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = None, sort: bool = True) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.
        n_features : int or None, default=None
            The maximum number of features, the most relevant ones; None for all.
        sort : bool, default=True
            Whether to sort the features by relevance instead of keeping their order.

        Returns
        -------
        display : RelevanceDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate("n_features", n_features, Integer(1), OneOf(None))
        shown = largest_first(np.nan_to_num(self.means).max(axis=0), n_features)
        if not sort:
            shown = np.sort(shown)
        present = np.flatnonzero(~np.isnan(self.means).all(axis=1))
        if len(present) > MAX_PANELS:
            self._plot_heat_map(ax, present, shown)
        else:
            self._plot_panels(ax, present, shown)
        return self

    def _plot_panels(self, ax: Axes | None, present: Indices, shown: Indices) -> None:
        one_panel = len(present) <= MAX_CLASSES_PER_PANEL
        n_panels = 1 if one_panel else len(present)
        height, fontsize = line_height(len(shown))
        if one_panel and len(shown) <= 20:
            height *= 1 + 0.2 * (len(present) - 1)
        names = short_names([self.feature_names[feature] for feature in shown], 36)
        width = text_width(names, fontsize) + (WIDTH if one_panel else 0.3 + PANEL_WIDTH * n_panels)
        size = (width, (1.7 if one_panel else 2.0) + height * len(shown))
        self.axes_ = self._create_panels(
            ax, self._title(len(shown), width), (1, n_panels), size, shared={"sharex": True, "sharey": True}
        )[0]
        self.ax_ = self.axes_[0]
        class_names, handles = shorten_unique(self.class_names, 40 if one_panel else 34), []
        for number, label in enumerate(present):
            if one_panel:  # classes are slightly shifted
                shift = 0.56 * ((number + 0.5) / len(present) - 0.5)
                handles.append(self._draw_class(self.ax_, label, shown, shift=shift))
                handles[-1].set_label(escape_math(class_names[label]))
            else:
                self._draw_class(self.axes_[number], label, shown, shift=0.0)
                name = class_names[label].replace("…", "… ")
                name = wrap_text(name, PANEL_WIDTH - 0.15, SMALL, max_lines=4)
                self.axes_[number].set_title(escape_math(name), fontsize=SMALL)
        if one_panel:
            legend_above(self.ax_, handles, min(width, WIDTH + 0.5), fontsize=TEXT)
        for panel in self.axes_:
            style_axes(panel, grid="both" if len(shown) > 8 else "x")
            panel.set_xlim(left=0)
            panel.tick_params(axis="y", length=0)
            panel.locator_params(axis="x", nbins=6 if one_panel else 2)
            label_percent(panel.xaxis)
        label_lines(self.ax_, names, fontsize)
        low, high = (f"{100 * quantile:.3g}" for quantile in self.quantiles)
        lines = (QUANTITIES[self.quantity].axis_label, f"marker: mean; bar: {low}–{high} % of the rows")
        label = "\n".join(wrap_text(line, width - 1.0) for line in lines)
        self.axes_[n_panels // 2].set_xlabel(label, fontsize=TEXT)

    def _plot_heat_map(self, ax: Axes | None, present: Indices, shown: Indices) -> None:
        """Draw the means of many classes: a line for each class, a column for each feature."""
        height, fontsize = line_height(len(present))
        present = present[natural_order([self.class_names[label] for label in present])]
        names = shorten_unique([self.class_names[label] for label in present], 44)
        columns = column_width(len(shown)) * len(shown)
        width = max(text_width(names, fontsize) + columns + 1.2, 5.0)
        self._create_axes(ax, (width, 3.2 + 0.85 * height * len(present)))
        self.axes_ = np.array([self.ax_], dtype=object)
        means = self.means[np.ix_(present, shown)]
        drawn = self.ax_.imshow(means, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0.0)
        label_lines(self.ax_, names, fontsize, margin=0.5)
        style_axes(self.ax_)
        self.ax_.tick_params(axis="y", labelsize=fontsize)
        self.ax_.set_ylabel("class", fontsize=TEXT)
        self.ax_.spines[:].set_visible(False)
        label_columns(self.ax_, [self.feature_names[feature] for feature in shown])
        label = f"mean over the rows of a class: {QUANTITIES[self.quantity].axis_label}"
        self._draw_color_bar(drawn, label, 2.2 + 0.6 * height * len(present))
        self.ax_.set_title(escape_math(self._title(len(shown), width)), fontsize=TEXT + 1)

    def _title(self, n_shown: int, width: float) -> str:
        n_features = len(self.feature_names)
        number = "" if n_shown == n_features else f"{n_shown} of {n_features} features, the largest first"
        title = f"{QUANTITIES[self.quantity].title}, by class"
        return title_lines(title, self.subtitle, number, width=width)

    def _draw_class(self, panel: Axes, label: int, shown: Indices, *, shift: float) -> Line2D:
        """Draw the means and quantiles of one class; return the markers of the means."""
        color, marker = class_color(label), MARKERS[label % len(MARKERS)]
        y = np.arange(len(shown)) + shift
        few = len(shown) <= 40
        panel.hlines(
            y, self.lows[label, shown], self.highs[label, shown], color=color,
            linewidth=3.2 if few else 2.2, alpha=0.38,
        )  # fmt: skip
        (means,) = panel.plot(
            self.means[label, shown], y, marker, color=color, markersize=4.5 if few else 3.2
        )
        return means


@dataclass(kw_only=True, eq=False, repr=False)
class RelevanceMapDisplay(Display):
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
        rows, values = row_quantities(estimator, X, y, quantity=quantity, max_rows=n_rows)
        display = cls(
            relevances=values,
            labels=rows.labels,
            feature_names=rows.feature_names,
            class_names=check_class_names(rows.model.classes_, class_names),
            quantity=quantity,
            subtitle=rows.describe(data_name),
        )
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

        validate("n_features", n_features, Integer(1), OneOf(None))
        self.shown_ = shown = largest_first(self.relevances.mean(axis=0), n_features)
        present = np.unique(self.labels)
        present = present[natural_order([self.class_names[label] for label in present])]
        by_class = len(present) > N_COLORS
        groups = [np.flatnonzero(self.labels == label) for label in present] if by_class else []
        groups = groups or [np.arange(len(self.labels))]
        self.row_order_ = np.concatenate([rows[_cluster_order(self.relevances[rows])] for rows in groups])
        names = shorten_unique(self.class_names, 40)
        columns = column_width(len(shown)) * len(shown)
        line, fontsize = line_height(len(present))
        labels = text_width([names[label] for label in present], fontsize) if by_class else 0.0
        width = max(2.0 + columns + labels, 4.6)
        height = max(3.6, 0.8 * line * len(present)) if by_class else 3.6
        self._create_axes(ax, (width, height + 2.2))
        image = self.relevances[np.ix_(self.row_order_, shown)]
        drawn = self.ax_.imshow(
            image, aspect="auto", interpolation="nearest", cmap="Blues",
            vmin=0.0, vmax=float(np.quantile(image, DARKEST_QUANTILE)) or 1.0,
        )  # fmt: skip
        self.ax_.set_yticks([])
        style_axes(self.ax_)
        self.ax_.spines[:].set_visible(False)
        label_columns(self.ax_, [self.feature_names[feature] for feature in shown])
        pad = 6.0  # between the title and the heat map, in points
        strip = self._draw_strip(width=0.16 / max(columns, 2.4))
        if by_class:
            self._name_classes(strip, present, names, fontsize)
        else:
            strip.set_ylabel(f"{len(self.row_order_)} rows, similar ones adjacent", fontsize=SMALL)
            handles = [Patch(color=class_color(label), label=escape_math(names[label])) for label in present]
            pad += legend_above(self.ax_, handles, max(columns + 0.6, 3.0))
        quantity = QUANTITIES[self.quantity]
        self._draw_color_bar(drawn, quantity.axis_label, height)
        self._set_title(f"{quantity.title}, by row", self.subtitle, width=width, pad=pad)
        return self

    def _draw_strip(self, width: float) -> Axes:
        """Draw the classes of the rows to the left of the heat map."""
        from matplotlib.colors import ListedColormap

        colors = class_colors(len(self.class_names))
        strip = self.ax_.inset_axes((-1.4 * width, 0.0, width, 1.0))
        strip.imshow(
            self.labels[self.row_order_][:, None], aspect="auto", interpolation="nearest",
            cmap=ListedColormap(colors), vmin=-0.5, vmax=len(colors) - 0.5,
        )  # fmt: skip
        strip.set(xticks=[], yticks=[])
        strip.spines[:].set_visible(False)
        return strip

    def _name_classes(self, strip: Axes, present: Indices, names: list[str], fontsize: float) -> None:
        """Write the names of the classes beside their rows, with lines between the classes."""
        counts = np.bincount(self.labels)[present]
        ends = np.cumsum(counts)
        texts = [escape_math(names[label]) for label in present]
        strip.set_yticks(ends - counts / 2 - 0.5, texts, fontsize=fontsize)
        strip.tick_params(axis="y", length=0)
        strip.set_ylabel("class", fontsize=SMALL)
        for end in ends[:-1]:
            for panel in (self.ax_, strip):
                panel.axhline(end - 0.5, color="white", linewidth=0.8)


def _cluster_order(relevances: Floats) -> Indices:
    """Return an order of the rows in which similar rows are adjacent; needs memory for n_rows² numbers."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(relevances) < 3:
        return np.arange(len(relevances))
    return leaves_list(linkage(relevances, "ward", optimal_ordering=len(relevances) <= 600)).astype(np.int64)
