"""DecisionRegionsDisplay: the predicted class over two features, and point metrics as ellipses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, validate
from lann.classifier import LANNClassifier
from lann.columns.inputs import as_fitted
from lann.explain import local_matrices
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The number of predictions along each axis.
N_STEPS = 160
# The median half axis of the ellipses, as a fraction of the range of the rows.
ELLIPSE_SIZE = 1 / 15
# The number of points of the outline of an ellipse.
N_ANGLES = 120


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionRegionsDisplay(base.Display):
    """Predicted class over two features, with rows and the metrics of some training rows as ellipses.

    An ellipse joins the positions that have the same distance from its center, a training row, under the
    metric of that row: it is short in a direction in which small differences count, and long where
    differences count little. All ellipses are drawn at the same distance, with which their median size is
    a fifteenth of the figure. With feature curves an ellipse shows the metric in the immediate neighborhood
    of its row. More than ten classes are distinguished by the shapes of the markers, too.

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
    subtitle : str, default=""
        The second line of the title, such as the data and the number of rows.

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

    xs: Floats
    ys: Floats
    regions: Labels
    X: Floats
    labels: Labels
    ellipses: Floats
    ellipse_labels: Labels
    feature_names: Any
    class_names: Any
    subtitle: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        n_ellipses: int = 16,
        class_names: ArrayLike | None = None,
        data_name: str = "",
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
        n_ellipses : int, default=16
            The maximum number of training rows whose metric is drawn.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
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
        rows = base.select_rows(estimator, X, y)
        if rows.X.shape[1] != 2:
            raise ValueError(f"The model must have 2 features to draw its regions; got {rows.X.shape[1]}.")
        for feature in [] if rows.schema is None else rows.schema.features:
            if feature.kind != "number":
                raise ValueError(f"Both features must be numbers; {feature.name!r} is a {feature.kind}.")
        complete = ~np.isnan(rows.X).any(axis=1)
        if not complete.any():
            raise ValueError("There is no row with values of both features to draw.")
        points, labels = rows.X[complete], rows.labels[complete]
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.06 * np.where(high > low, high - low, 1.0)
        xs, ys = np.linspace(low - margin, high + margin, N_STEPS).T
        grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        predicted = rows.model.predict(as_fitted(rows.model, grid))
        regions = np.searchsorted(rows.model.classes_, predicted).reshape(N_STEPS, N_STEPS)
        ellipses, ellipse_labels = _ellipses(rows.model, n_ellipses, (high - low) / 2)
        texts = rows.texts(class_names, data_name) | {"feature_names": rows.axis_labels}
        display = cls(
            xs=xs, ys=ys, regions=regions, X=points, labels=labels, ellipses=ellipses,
            ellipse_labels=ellipse_labels, **texts,
        )  # fmt: skip
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

        colors, names = base.class_colors(len(self.class_names)), base.short_names(self.class_names, 32)
        present = np.unique(np.concatenate([self.labels, self.regions.ravel()]))
        self._create_axes(ax, (5.6 + base.legend_width([names[label] for label in present]), 5.4))
        self.ax_.pcolormesh(
            self.xs, self.ys, self.regions, cmap=ListedColormap(colors), alpha=0.2, rasterized=True,
            vmin=-0.5, vmax=len(colors) - 0.5, shading="nearest", linewidth=0,
        )  # fmt: skip
        edges = {"linewidths": 0.3, "edgecolors": "white"}
        handles = [
            self.ax_.scatter(
                *self.X[self.labels == label].T, s=16 if len(self.X) <= 500 else 9, color=[colors[label]],
                marker=base.MARKERS[label % len(base.MARKERS)], label=names[label], **edges,
            )
            for label in present
        ]  # fmt: skip
        for outline in self.ellipses:
            self.ax_.plot(*outline.T, color=base.INK, linewidth=0.8, alpha=0.75)
        self.ax_.set(xlim=self.xs[[0, -1]], ylim=self.ys[[0, -1]])
        x_name, y_name = (base.escape_math(base.wrap_text(name, 4.6)) for name in self.feature_names)
        self.ax_.set(xlabel=x_name, ylabel=y_name)
        note = "Ellipses: the same distance from a training row, as it measures" if len(self.ellipses) else ""
        self._set_title("Decision regions: the predicted class", self.subtitle, note, width=5.6)
        base.draw_legend(self.ax_, handles, "right")
        return self


def _ellipses(model: Any, n_ellipses: int, max_half_axes: Floats) -> tuple[Floats, Labels]:
    """Return outlines around training rows, (n_ellipses, N_ANGLES, 2), and the class indices of the rows.

    The outline around a row with the matrix A is the closed curve on which δᵀ A δ equals the same squared
    distance for all rows. The half axes are limited: that of a feature without weight would be infinite.
    """
    if not isinstance(model, LANNClassifier) or n_ellipses == 0 or not model.encoding_.is_numeric:
        return np.empty((0, 0, 2)), np.empty(0, np.int64)
    X, labels = base.stored_rows(model)
    centers = _representative_rows(X, n_ellipses)
    matrices, largest = local_matrices(model, centers), np.maximum(max_half_axes, 1e-12)
    # An ellipse of squared distance s has the area π s / sqrt(det A).
    scaled = matrices * np.outer(2 * largest, 2 * largest)
    weight = float(np.median(np.sqrt(np.maximum(np.linalg.det(scaled), 0.0))))
    squared_distance = max(ELLIPSE_SIZE**2 * weight, 1e-12)
    angles = np.linspace(0.0, 2.0 * np.pi, N_ANGLES)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    eigenvalues, eigenvectors = np.linalg.eigh(matrices * np.outer(largest, largest))
    half_axes = np.sqrt(squared_distance / np.maximum(eigenvalues, squared_distance))
    steps = np.einsum("jab,jb,sb->jsa", eigenvectors, half_axes, circle) * largest
    return X[centers][:, None, :] + steps, labels[centers]


def _representative_rows(X: Floats, n_rows: int) -> Indices:
    """Return the indices of the rows nearest to the centers of `n_rows` clusters."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    scaled = X / np.maximum(np.ptp(X, axis=0), 1e-300)
    n_clusters = min(n_rows, len(np.unique(scaled, axis=0)))
    centers = KMeans(n_clusters, n_init=1, random_state=0).fit(scaled).cluster_centers_
    return np.unique(pairwise_distances_argmin(centers, scaled))
