"""RelevanceMapDisplay: the relevance of the features to single rows, with similar rows adjacent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats, Indices, Labels
from lann._validation import Integer, OneOf, validate
from lann.plot._axes import single_axes, style_axes
from lann.plot._colors import class_colors
from lann.plot._quantities import QUANTITIES, row_quantities
from lann.plot._ranking import largest_first
from lann.plot._rows import check_class_names
from lann.plot._text import SMALL, TEXT, TINY, escape_math, shorten, shorten_unique

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The quantile of the relevances with the darkest color, so that outliers do not make all others pale.
DARKEST_QUANTILE = 0.995


class RelevanceMapDisplay:
    """Heat map of rows by features: the darker, the more the prediction of a row depends on the feature.

    The rows are ordered by hierarchical clustering, so that rows with similar relevances are adjacent and
    blocks are groups of rows whose predictions depend on the same features. The strip to the left is the
    class of each row. The columns are ordered by mean relevance.

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
    ) -> None:
        self.relevances = relevances
        self.labels = labels
        self.feature_names = np.asarray(feature_names)
        self.class_names = np.asarray(class_names)
        self.quantity = quantity

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        quantity: str = "relevances",
        class_names: ArrayLike | None = None,
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
        self.row_order_ = _cluster_order(self.relevances)
        n_shown = len(shown)
        column_width = 0.5 if n_shown <= 8 else 0.27 if n_shown <= 32 else 0.16
        self.figure_, self.ax_ = single_axes(ax, (max(2.6 + column_width * n_shown, 4.6), 5.4))
        image = self.relevances[np.ix_(self.row_order_, shown)]
        drawn = self.ax_.imshow(
            image, aspect="auto", interpolation="nearest", cmap="Blues",
            vmin=0.0, vmax=float(np.quantile(image, DARKEST_QUANTILE)) or 1.0,
        )  # fmt: skip
        self._label_columns(shown)
        self._draw_classes(strip_width=0.16 / max(column_width * n_shown, 2.4))
        bar = self.figure_.colorbar(drawn, ax=self.ax_, aspect=40, pad=0.02)
        bar.set_label(QUANTITIES[self.quantity].axis_label, fontsize=SMALL)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)
        self.ax_.set_title(f"{QUANTITIES[self.quantity].title}, by row", fontsize=TEXT + 1, pad=24)
        return self

    def _label_columns(self, shown: Indices) -> None:
        n_shown = len(shown)
        fontsize = TEXT if n_shown <= 8 else SMALL if n_shown <= 32 else TINY
        names = [escape_math(shorten(self.feature_names[feature], 24)) for feature in shown]
        self.ax_.set_xticks(range(n_shown), names, fontsize=fontsize, rotation=40 if n_shown <= 8 else 90)
        if n_shown <= 8:
            for text in self.ax_.get_xticklabels():
                text.set(ha="right", rotation_mode="anchor")
        self.ax_.set_yticks([])
        style_axes(self.ax_)
        self.ax_.spines[:].set_visible(False)
        self.ax_.tick_params(axis="x", labelsize=fontsize, length=2)

    def _draw_classes(self, strip_width: float) -> None:
        """Draw a strip with the classes of the rows, and a legend."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        colors = class_colors(len(self.class_names))
        strip = self.ax_.inset_axes((-1.4 * strip_width, 0.0, strip_width, 1.0))
        strip.imshow(
            self.labels[self.row_order_][:, None], aspect="auto", interpolation="nearest",
            cmap=ListedColormap(colors), vmin=-0.5, vmax=len(colors) - 0.5,
        )  # fmt: skip
        strip.set(xticks=[], yticks=[])
        strip.spines[:].set_visible(False)
        strip.set_ylabel(f"{len(self.row_order_)} rows, similar ones adjacent", fontsize=SMALL)
        names = shorten_unique(self.class_names, 16)
        handles = [Patch(color=colors[k], label=escape_math(names[k])) for k in np.unique(self.labels)]
        self.ax_.legend(
            handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(handles), 10),
            fontsize=SMALL, frameon=False, handlelength=0.9, columnspacing=1.0, borderaxespad=0.2,
        )  # fmt: skip


def _cluster_order(relevances: Floats) -> Indices:
    """Return an order of the rows in which similar rows are adjacent; needs memory for n_rows² numbers."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(relevances) < 3:
        return np.arange(len(relevances))
    return leaves_list(linkage(relevances, "ward", optimal_ordering=len(relevances) <= 600)).astype(np.int64)
