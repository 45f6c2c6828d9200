"""DecisionRegionsDisplay: the predicted class over two features, and point metrics as ellipses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._table_inputs import as_fitted
from lann._types import Floats, Indices, Labels
from lann._validation import Integer, validate
from lann.classifier import LANNClassifier
from lann.explain import local_matrices
from lann.plot._axes import single_axes, style_axes
from lann.plot._colors import MARKERS, class_colors
from lann.plot._ellipses import ellipse_outlines
from lann.plot._estimators import training_rows
from lann.plot._rows import check_class_names, select_rows
from lann.plot._text import SMALL, TEXT, escape_math, shorten_unique

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The number of predictions along each axis.
N_STEPS = 160
# What features are that are no numbers.
TEXTS = {
    "bool": "true or false",
    "date": "a date",
    "ordered": "an ordered category",
    "category": "a category",
}
# The number of training rows from whose neighbors the size of the ellipses is estimated.
N_SCALE_ROWS = 500


class DecisionRegionsDisplay:
    """Predicted class over two features, with rows and the metrics of some training rows as ellipses.

    An ellipse joins the positions that have the same distance from its center, a training row, under the
    metric of that row: it is short in a direction in which small differences count, and long where
    differences count little. All ellipses are drawn at the same distance, the median distance of the
    farthest neighbor that votes. With feature curves an ellipse shows the metric in the immediate
    neighborhood of its row.

    It is recommended to use :meth:`from_estimator` to create the display.

    Parameters
    ----------
    xs : ndarray of shape (n_x,)
        The values of the first feature at which predictions are given.
    ys : ndarray of shape (n_y,)
        The values of the second feature.
    regions : ndarray of shape (n_y, n_x)
        The predicted class indices.
    X : ndarray of shape (n_rows, 2)
        The rows to draw.
    labels : ndarray of shape (n_rows,)
        Their class indices.
    ellipses : ndarray of shape (n_ellipses, n_steps, 2)
        The outlines of the ellipses.
    ellipse_labels : ndarray of shape (n_ellipses,)
        The class indices of the rows in their centers.
    feature_names : array-like of shape (2,)
        The names of the features.
    class_names : array-like of shape (n_classes,)
        The names of the classes.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    See Also
    --------
    FeatureCurvesDisplay : The learned curves of the features.
    lann.explain.local_matrices : The matrices that the ellipses show.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import DecisionRegionsDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X.iloc[:, 2:], y)
    >>> display = DecisionRegionsDisplay.from_estimator(clf, n_ellipses=8)
    >>> display.ellipses.shape
    (8, 120, 2)
    """

    def __init__(
        self,
        *,
        xs: Floats,
        ys: Floats,
        regions: Labels,
        X: Floats,
        labels: Labels,
        ellipses: Floats,
        ellipse_labels: Labels,
        feature_names: ArrayLike,
        class_names: ArrayLike,
    ) -> None:
        self.xs = xs
        self.ys = ys
        self.regions = regions
        self.X = X
        self.labels = labels
        self.ellipses = ellipses
        self.ellipse_labels = ellipse_labels
        self.feature_names = np.asarray(feature_names)
        self.class_names = np.asarray(class_names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        n_ellipses: int = 24,
        class_names: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the decision regions of a model that was fitted with two features.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNClassifier, another classifier, or a pipeline that ends in one. Ellipses are drawn
            only for a LANNClassifier whose training data have no gaps; rows with gaps are left out.
        X : array-like of shape (n_samples, 2) or None, default=None
            The rows to draw; None for the training rows.
        y : array-like of shape (n_samples,) or None, default=None
            The labels of X. If None, the predicted labels; for training rows, their own labels.
        n_ellipses : int, default=24
            The maximum number of training rows whose metric is drawn.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : DecisionRegionsDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If the model was not fitted with two features that are numbers.
        """
        validate("n_ellipses", n_ellipses, Integer(0))
        rows = select_rows(estimator, X, y)
        if rows.X.shape[1] != 2:
            raise ValueError(f"The model must have 2 features to draw its regions; got {rows.X.shape[1]}.")
        for name, kind in zip(rows.feature_names, rows.kinds, strict=True):
            if kind != "number":
                raise ValueError(f"Both features must be numbers to draw regions; {name!r} is {TEXTS[kind]}.")
        complete = ~np.isnan(rows.X).any(axis=1)
        if not complete.any():
            raise ValueError("There is no row with values of both features to draw.")
        points, labels = rows.X[complete], rows.labels[complete]
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.06 * np.where(high > low, high - low, 1.0)
        xs, ys = np.linspace(low - margin, high + margin, N_STEPS).T
        grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        predicted = rows.model.predict(as_fitted(rows.model, grid))
        ellipses, ellipse_labels = _ellipses(rows.model, n_ellipses, (high - low) / 2)
        display = cls(
            xs=xs,
            ys=ys,
            regions=np.searchsorted(rows.model.classes_, predicted).reshape(N_STEPS, N_STEPS),
            X=points,
            labels=labels,
            ellipses=ellipses,
            ellipse_labels=ellipse_labels,
            feature_names=rows.axis_labels,
            class_names=check_class_names(rows.model.classes_, class_names),
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : DecisionRegionsDisplay
            The display itself.
        """
        from matplotlib.colors import ListedColormap

        self.figure_, self.ax_ = single_axes(ax, (6.4, 5.2))
        colors = class_colors(len(self.class_names))
        names = shorten_unique(self.class_names, 20)
        self.ax_.pcolormesh(
            self.xs, self.ys, self.regions, cmap=ListedColormap(colors), alpha=0.2, rasterized=True,
            vmin=-0.5, vmax=len(colors) - 0.5, shading="nearest", linewidth=0,
        )  # fmt: skip
        for label in np.unique(self.labels):
            members = self.X[self.labels == label]
            self.ax_.scatter(
                members[:, 0], members[:, 1], s=16 if len(self.X) <= 500 else 7, color=[colors[label]],
                marker=MARKERS[label % len(MARKERS)], linewidths=0.3, edgecolors="white",
                label=escape_math(names[label]),
            )  # fmt: skip
        for outline, label in zip(self.ellipses, self.ellipse_labels, strict=True):
            self.ax_.plot(*outline.T, color="white", linewidth=2.6, alpha=0.8)
            self.ax_.plot(*outline.T, color=colors[label], linewidth=1.2)
        style_axes(self.ax_)
        self.ax_.set(xlim=self.xs[[0, -1]], ylim=self.ys[[0, -1]])
        self.ax_.set_xlabel(escape_math(self.feature_names[0]), fontsize=TEXT)
        self.ax_.set_ylabel(escape_math(self.feature_names[1]), fontsize=TEXT)
        metrics = "; ellipses: equal distance from a training row, under its metric"
        title = f"Decision regions{metrics if len(self.ellipses) else ''}"
        self.ax_.set_title(title, fontsize=TEXT + 1)
        self.ax_.legend(fontsize=SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return self


def _ellipses(model: Any, n_ellipses: int, max_half_axes: Floats) -> tuple[Floats, Labels]:
    """Return outlines around training rows, (n_ellipses, n_steps, 2), and the class indices of the rows."""
    if not isinstance(model, LANNClassifier) or n_ellipses == 0 or not model.encoding_.is_numeric:
        return np.empty((0, 0, 2)), np.empty(0, np.int64)
    X, labels = training_rows(model)
    centers = _representative_rows(X, n_ellipses)
    sample = select_rows(model, None, None, max_rows=N_SCALE_ROWS).X
    distances, _ = model.kneighbors(as_fitted(model, sample))
    squared_distance = max(float(np.median(distances[:, -1])) ** 2, 1e-12)
    steps = ellipse_outlines(
        local_matrices(model, centers), squared_distance, np.maximum(max_half_axes, 1e-12)
    )
    return X[centers][:, None, :] + steps, labels[centers]


def _representative_rows(X: Floats, n_rows: int) -> Indices:
    """Return the indices of the rows nearest to the centers of `n_rows` clusters."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    scaled = X / np.maximum(np.ptp(X, axis=0), 1e-300)
    n_clusters = min(n_rows, len(np.unique(scaled, axis=0)))
    centers = KMeans(n_clusters, n_init=1, random_state=0).fit(scaled).cluster_centers_
    return np.unique(pairwise_distances_argmin(centers, scaled))
