"""FeatureCurvesDisplay: where along each feature differences matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats
from lann._validation import Integer, OneOf, validate
from lann.plot._rows import MOST_ROWS, rows_of
from lann.plot._style import FOR, SMALL, TEXT, largest_first, name_and_unit, panels, plain, short, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Values at which a curve is drawn; it bends at some fifteen of its own.
N_STEPS = 240
# So much above the mean slope, relative to it, is shaded darkest.
STEEPEST = 1.0


class FeatureCurvesDisplay:
    """The learned curve of each feature: the steeper, the more a difference counts there.

    A curve rises from the feature's lowest value to its highest. The dashed line is what it would be if
    differences counted alike everywhere; the steeper a stretch than that line, the darker it is shaded. Gray
    bars show how many rows have these values. Under a panel is the share of the vote that hangs on the
    feature, over all rows.

    Parameters
    ----------
    values : (n_steps, n_features) ascending values of each feature
    heights : (n_steps, n_features) its curve there, from 0 to 1
    data : (n_rows, n_features) whose density is shown
    feature_names : (n_features,)
    relevances : (n_features,) by which the features are ordered: the share of the vote that hangs on each

    Attributes
    ----------
    figure_, ax_ : where it was drawn; `ax_` is the first panel
    axes_ : (n_features,) one for every feature shown, most relevant first
    shown_ : (n_features,) which features these are

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

    def __init__(
        self,
        *,
        values: Floats,
        heights: Floats,
        data: Floats,
        feature_names: ArrayLike,
        relevances: Floats,
    ) -> None:
        self.values = values
        self.heights = heights
        self.data = data
        self.feature_names = np.asarray(feature_names)
        self.relevances = relevances

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        n_features: int | None = 12,
        n_columns: int | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curves of a fitted model.

        Parameters
        ----------
        estimator
            A fitted LANNClassifier, or a pipeline that ends in one.
        X : (n_rows, n_features) whose density is shown; None for the training points
        n_features
            How many, most relevant first; None shows all.
        n_columns
            Panels beside each other; None is about as many as rows of them.
        ax
            Where to draw; None makes a figure.
        """
        rows = rows_of(estimator, X, None, at_most=MOST_ROWS)
        curves = getattr(rows.model, "curves_", None)
        if curves is None:
            raise ValueError(f"{type(rows.model).__name__} has no feature curves; LANNClassifier has.")
        low, high = np.quantile(rows.X, (0.005, 0.995), axis=0)
        alone = high <= low  # a feature of one value, nearly: show some room around it
        low, high = (
            np.where(alone, rows.X.min(axis=0) - 0.5, low),
            np.where(alone, rows.X.max(axis=0) + 0.5, high),
        )
        values = np.linspace(low, high, N_STEPS)  # (n_steps, n_features)
        heights = curves.transform(values)
        heights = (heights - heights[0]) / np.maximum(heights[-1] - heights[0], np.finfo(float).tiny)
        display = cls(
            values=values,
            heights=heights,
            data=rows.X,
            feature_names=rows.axis_names,
            relevances=rows.explain().relevances.mean(axis=0),
        )
        return display.plot(ax, n_features=n_features, n_columns=n_columns)

    def plot(
        self, ax: Axes | None = None, *, n_features: int | None = 12, n_columns: int | None = None
    ) -> Self:
        """Draw, on new axes or those given; see `from_estimator`."""
        validate("n_features", n_features, Integer(1), OneOf(None))
        validate("n_columns", n_columns, Integer(1), OneOf(None))
        self.shown_ = shown = largest_first(self.relevances, n_features)
        n_columns = min(len(shown), n_columns or max(2, min(8, round(len(shown) ** 0.5 + 0.3))))
        n_rows = -(-len(shown) // n_columns)
        width = 3.4 if n_columns == 1 else 2.3 if n_columns <= 4 else 1.55
        title = "Where differences matter: the steeper a curve, the more they count"
        if n_columns < 3:
            title = title.replace(": ", "\n")
        self.figure_, axes = panels(
            ax, (n_rows, n_columns), (0.5 + width * n_columns, 0.6 + 0.82 * width * n_rows),
            title=title, sharey=True,
        )  # fmt: skip
        self.axes_ = axes.ravel()[: len(shown)]
        self.ax_ = self.axes_[0]
        for panel in axes.ravel()[len(shown) :]:
            panel.set_axis_off()
        for panel, feature in zip(self.axes_, shown, strict=True):
            self._draw(panel, feature, small=n_columns > 4)
        return self

    def _draw(self, panel: Axes, feature: int, *, small: bool) -> None:
        from matplotlib.colors import to_rgb

        x, height = self.values[:, feature], self.heights[:, feature]
        counts, edges = np.histogram(self.data[:, feature], bins=24, range=(x[0], x[-1]))
        excess = np.diff(height) * (len(x) - 1) - 1.0  # slope over mean slope, less 1
        shade = [(*to_rgb(FOR), 0.45 * dark) for dark in np.clip(excess / STEEPEST, 0.0, 1.0)]
        panel.imshow([shade], extent=(x[0], x[-1], 0.0, 1.04), aspect="auto", interpolation="nearest")
        tall = 0.36 * counts / max(counts.max(), 1)
        panel.bar(edges[:-1], tall, np.diff(edges), align="edge", color="#A8A8A8", alpha=0.6)
        panel.plot(x[[0, -1]], height[[0, -1]], "--", color="#555555", linewidth=0.8)
        panel.plot(x, height, color=FOR, linewidth=1.8)
        tidy(panel)
        panel.set(xlim=(x[0], x[-1]), ylim=(0.0, 1.04), yticks=[])
        panel.locator_params(axis="x", nbins=3 if small else 4)
        name, unit = name_and_unit(self.feature_names[feature])
        share = f"{100 * self.relevances[feature]:.1f} % of votes"
        if small:
            panel.set_title(plain(short(name, 18)), fontsize=SMALL)
            panel.tick_params(labelsize=6.5)
            panel.set_xlabel(plain(unit), fontsize=6.5)
        else:
            panel.set_title(plain(short(name, 26)), fontsize=TEXT)
            panel.set_xlabel(plain(f"{unit + '  ·  ' if unit else ''}{share}"), fontsize=SMALL)
