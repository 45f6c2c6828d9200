"""RelevanceMapDisplay: the relevance of the features to single rows, with similar rows adjacent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._class_colors import N_COLORS, class_color
from lann._types import Floats, Indices, Labels
from lann._validation import Integer, OneOf, validate
from lann.plot._axes import (
    column_width,
    label_columns,
    label_percent,
    legend_above,
    line_height,
    single_axes,
    style_axes,
    title_lines,
)
from lann.plot._colors import class_colors
from lann.plot._quantities import QUANTITIES, row_quantities
from lann.plot._ranking import largest_first, natural_order
from lann.plot._rows import check_class_names
from lann.plot._text import SMALL, TEXT, escape_math, shorten_unique, text_width, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

# The quantile of the relevances with the darkest color, so that outliers do not make all others pale.
DARKEST_QUANTILE = 0.995


class RelevanceMapDisplay:
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

    def __init__(
        self,
        *,
        relevances: Floats,
        labels: Labels,
        feature_names: ArrayLike,
        class_names: ArrayLike,
        quantity: str = "relevances",
        subtitle: str = "",
    ) -> None:
        self.relevances = relevances
        self.labels = labels
        self.feature_names = np.asarray(feature_names)
        self.class_names = np.asarray(class_names)
        self.quantity = quantity
        self.subtitle = subtitle

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
        rows, values, used = row_quantities(estimator, X, y, quantity=quantity, max_rows=n_rows)
        display = cls(
            relevances=values,
            labels=rows.labels,
            feature_names=rows.feature_names,
            class_names=check_class_names(rows.model.classes_, class_names),
            quantity=used,
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
        validate("n_features", n_features, Integer(1), OneOf(None))
        self.shown_ = shown = largest_first(self.relevances.mean(axis=0), n_features)
        present = np.unique(self.labels)
        present = present[natural_order([self.class_names[label] for label in present])]
        by_class = len(present) > N_COLORS
        self.row_order_ = self._rows_by_class(present) if by_class else _cluster_order(self.relevances)
        names = shorten_unique(self.class_names, 40)
        columns = column_width(len(shown)) * len(shown)
        line, fontsize = line_height(len(present))
        labels = text_width([names[label] for label in present], fontsize) if by_class else 0.0
        width = max(2.0 + columns + labels, 4.6)
        height = max(3.6, 0.8 * line * len(present)) if by_class else 3.6
        self.figure_, self.ax_ = single_axes(ax, (width, height + 2.2))
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
            handles = [_patch(label, names[label]) for label in present]
            pad += legend_above(self.ax_, handles, max(columns + 0.6, 3.0))
        bar = self.figure_.colorbar(drawn, ax=self.ax_, aspect=40, pad=0.02)
        bar.set_label(wrap_text(QUANTITIES[self.quantity].axis_label, height, SMALL), fontsize=SMALL)
        label_percent(bar.ax.yaxis)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)
        title = f"{QUANTITIES[self.quantity].title}, by row"
        lines = title_lines(title, self.subtitle, width=width)
        self.ax_.set_title(escape_math(lines), fontsize=TEXT + 1, pad=pad)
        return self

    def _rows_by_class(self, present: Indices) -> Indices:
        """Return the rows in the order of their classes, similar ones of a class adjacent."""
        members = [np.flatnonzero(self.labels == label) for label in present]
        return np.concatenate([rows[_cluster_order(self.relevances[rows])] for rows in members])

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


def _patch(label: int, name: str) -> Patch:
    """Return the entry of a class in a legend."""
    from matplotlib.patches import Patch

    return Patch(color=class_color(label), label=escape_math(name))


def _cluster_order(relevances: Floats) -> Indices:
    """Return an order of the rows in which similar rows are adjacent; needs memory for n_rows² numbers."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(relevances) < 3:
        return np.arange(len(relevances))
    return leaves_list(linkage(relevances, "ward", optimal_ordering=len(relevances) <= 600)).astype(np.int64)
