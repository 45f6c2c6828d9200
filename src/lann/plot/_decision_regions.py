"""DecisionRegionsDisplay: the classes over two features, and how points measure there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._inputs import as_fitted
from lann._types import Floats, Indices, Labels
from lann._validation import Integer, validate
from lann.explain.landmarks import spread
from lann.explain.point_metrics import matrices_at
from lann.plot._ellipses import outlines
from lann.plot._rows import Rows, names_of_classes, rows_of
from lann.plot._style import MARKERS, SMALL, TEXT, class_colors, one_panel, plain, short_apart, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The picture is this many predictions wide and high.
N_STEPS = 160
# Training points whose nearest neighbors say how large the ellipses are.
ASKED = 500


class DecisionRegionsDisplay:
    """Predictions over the plane of two features, the points, and the metrics of some of them as ellipses.

    An ellipse joins the places that its point finds equally far: short where small differences count, long
    where they hardly do. All are drawn at the same distance, that at which a point's last voting neighbor
    usually is, so a small ellipse is a point that is near to little. (Feature curves bend them further away:
    the ellipse shows the metric right at the point.)

    Parameters
    ----------
    xs, ys : (n_x,), (n_y,) values of the two features
    regions : (n_y, n_x) predicted places in `class_names`
    points : (n_points, 2)
    labels : (n_points,) places in `class_names`
    ellipses : (n_ellipses, n_steps, 2) outlines
    owners : (n_ellipses,) places in `class_names` of the points that own them
    feature_names : (2,)
    class_names : (n_classes,)

    Attributes
    ----------
    figure_, ax_ : where it was drawn

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
        points: Floats,
        labels: Labels,
        ellipses: Floats,
        owners: Labels,
        feature_names: ArrayLike,
        class_names: ArrayLike,
    ) -> None:
        self.xs = xs
        self.ys = ys
        self.regions = regions
        self.points = points
        self.labels = labels
        self.ellipses = ellipses
        self.owners = owners
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
        """Draw the regions of a model that was fitted with two features.

        Parameters
        ----------
        estimator
            A fitted LANNClassifier, a baseline, or a pipeline; only a LANNClassifier's metrics are drawn.
        X : (n_rows, 2) points to draw; None for the training points
        y : (n_rows,) their labels; None takes the predictions (of training points, their own labels)
        n_ellipses
            Of how many training points the metric is drawn.
        class_names : (n_classes,) in the order of `classes_`; None shows the labels
        ax
            Where to draw; None makes a figure.
        """
        validate("n_ellipses", n_ellipses, Integer(0))
        rows = rows_of(estimator, X, y, at_most=None)
        if rows.X.shape[1] != 2:
            raise ValueError(f"Regions are drawn over 2 features; the model has {rows.X.shape[1]}.")
        low, high = rows.X.min(axis=0), rows.X.max(axis=0)
        room = 0.06 * np.where(high > low, high - low, 1.0)
        xs, ys = np.linspace(low - room, high + room, N_STEPS).T
        places = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        predicted = rows.model.predict(as_fitted(rows.model, places))
        drawn, owners = _ellipses(rows, n_ellipses, (high - low) / 2)
        display = cls(
            xs=xs,
            ys=ys,
            regions=np.searchsorted(rows.model.classes_, predicted).reshape(N_STEPS, N_STEPS),
            points=rows.X,
            labels=rows.labels,
            ellipses=drawn,
            owners=owners,
            feature_names=rows.axis_names,
            class_names=names_of_classes(rows.model.classes_, class_names),
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, on new axes or those given."""
        from matplotlib.colors import ListedColormap

        self.figure_, self.ax_ = one_panel(ax, (6.4, 5.2))
        colors = class_colors(len(self.class_names))
        names = short_apart(self.class_names, 20)
        self.ax_.pcolormesh(
            self.xs, self.ys, self.regions, cmap=ListedColormap(colors), alpha=0.2, rasterized=True,
            vmin=-0.5, vmax=len(colors) - 0.5, shading="nearest", linewidth=0,
        )  # fmt: skip
        for place in np.unique(self.labels):
            own = self.points[self.labels == place]
            self.ax_.scatter(
                own[:, 0], own[:, 1], s=16 if len(self.points) <= 500 else 7, color=[colors[place]],
                marker=MARKERS[place % len(MARKERS)], linewidths=0.3, edgecolors="white",
                label=plain(names[place]),
            )  # fmt: skip
        for outline, place in zip(self.ellipses, self.owners, strict=True):
            self.ax_.plot(*outline.T, color="white", linewidth=2.6, alpha=0.8)
            self.ax_.plot(*outline.T, color=colors[place], linewidth=1.2)
        tidy(self.ax_)
        self.ax_.set(xlim=self.xs[[0, -1]], ylim=self.ys[[0, -1]])
        self.ax_.set_xlabel(plain(self.feature_names[0]), fontsize=TEXT)
        self.ax_.set_ylabel(plain(self.feature_names[1]), fontsize=TEXT)
        measured = "; an ellipse is equally far from its point, as the point measures"
        title = f"Decisions{measured if len(self.ellipses) else ''}"
        self.ax_.set_title(title, fontsize=TEXT + 1)
        self.ax_.legend(fontsize=SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return self


def _ellipses(rows: Rows, n_wanted: int, reach: Floats) -> tuple[Floats, Labels]:
    """Outlines around training points, and whose they are."""
    levels = getattr(getattr(rows.model, "_model", None), "levels", None)
    if levels is None or n_wanted == 0:
        return np.empty((0, 0, 2)), np.empty(0, np.int64)
    chosen = _all_over(levels.X, n_wanted)
    asked = spread(levels.labels, min(ASKED, len(levels.X)))
    lengths, _ = rows.model.kneighbors(as_fitted(rows.model, levels.X[asked]))
    usual = float(np.median(lengths[:, -1])) ** 2
    steps = outlines(matrices_at(levels, chosen), max(usual, 1e-12), np.maximum(reach, 1e-12))
    return levels.X[chosen][:, None, :] + steps, levels.labels[chosen]


def _all_over(X: Floats, n_wanted: int) -> Indices:
    """Points from all over the data, those nearest to the centers of clusters: (n_wanted,) at most."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    scaled = X / np.maximum(np.ptp(X, axis=0), 1e-300)
    n_clusters = min(n_wanted, len(np.unique(scaled, axis=0)))
    centers = KMeans(n_clusters, n_init=1, random_state=0).fit(scaled).cluster_centers_
    return np.unique(pairwise_distances_argmin(centers, scaled))
