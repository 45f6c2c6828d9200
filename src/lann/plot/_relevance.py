"""RelevanceDisplay: which features count for which class, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats
from lann._validation import Integer, OneOf, validate
from lann.plot._rows import MOST_ROWS, UNITS, names_of_classes, rows_of
from lann.plot._style import (
    FOR,
    MARKERS,
    TEXT,
    class_colors,
    largest_first,
    name_rows,
    panels,
    plain,
    row_size,
    short,
    short_apart,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Classes that can share a row; more of them get a panel each.
TOGETHER = 3


class RelevanceDisplay:
    """Fingerprints of the classes: how relevant every feature is to the points of each class.

    A mark is the mean over the points of a class, the bar behind it spans two quantiles of them.

    Parameters
    ----------
    means, lows, highs : (n_classes, n_features)
    feature_names : (n_features,)
    class_names : (n_classes,)
    unit
        What is shown, as the axis says it.

    Attributes
    ----------
    figure_, ax_ : where it was drawn
    axes_ : (n_panels,) one for all classes together up to three, else one for each

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

    def __init__(
        self,
        *,
        means: Floats,
        lows: Floats,
        highs: Floats,
        feature_names: ArrayLike,
        class_names: ArrayLike,
        unit: str = UNITS["votes"],
    ) -> None:
        self.means = means
        self.lows = lows
        self.highs = highs
        self.feature_names = np.asarray(feature_names)
        self.class_names = np.asarray(class_names)
        self.unit = unit

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        reading: str = "auto",
        quantiles: tuple[float, float] = (0.1, 0.9),
        class_names: ArrayLike | None = None,
        n_features: int | None = None,
        sort: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the fingerprints of a fitted model.

        Parameters
        ----------
        estimator
            A fitted LANNClassifier, one of the baselines, or a pipeline that ends in one.
        X : (n_rows, n_features) whose relevances are shown; None for the training points
        y : (n_rows,) their labels; None takes the predictions (of training points, their own labels)
        reading
            "votes": the share of the vote that hangs on each feature, as in `Explanation.relevances`.
            "weights": how much a difference counts, as in the paper; the weights of each point add up to 1.
            "auto" is the former where the model tells it.
        quantiles
            That the bars span.
        class_names : (n_classes,) in the order of `classes_`; None shows the labels
        n_features
            How many features, the most relevant; None shows all.
        sort
            Whether the most relevant come first; else they stay in the order of the data.
        ax
            Where to draw; None makes a figure.
        """
        if not 0 <= quantiles[0] <= quantiles[1] <= 1:
            raise ValueError(f"quantiles must be two ascending numbers from 0 to 1; got {quantiles!r}.")
        rows = rows_of(estimator, X, y, at_most=MOST_ROWS)
        relevances, used = rows.relevances(reading, of_training=X is None)
        n_classes = len(rows.model.classes_)
        means, lows, highs = np.full((3, n_classes, relevances.shape[1]), np.nan)
        for place in np.unique(rows.labels):
            own = relevances[rows.labels == place]
            means[place] = own.mean(axis=0)
            lows[place], highs[place] = np.quantile(own, quantiles, axis=0)
        display = cls(
            means=means,
            lows=lows,
            highs=highs,
            feature_names=rows.feature_names,
            class_names=names_of_classes(rows.model.classes_, class_names),
            unit=UNITS[used],
        )
        return display.plot(ax, n_features=n_features, sort=sort)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = None, sort: bool = True) -> Self:
        """Draw, on new axes or those given; see `from_estimator`."""
        validate("n_features", n_features, Integer(1), OneOf(None))
        shown = largest_first(np.nan_to_num(self.means).max(axis=0), n_features)
        if not sort:
            shown = np.sort(shown)
        present = np.flatnonzero(~np.isnan(self.means).all(axis=1))
        together = len(present) <= TOGETHER
        n_panels = 1 if together else len(present)
        height, text = row_size(len(shown))
        if together and len(shown) <= 20:
            height *= 1 + 0.2 * (len(present) - 1)
        title = "What each class looks at"
        if len(shown) < len(self.feature_names):
            title += f" (the {len(shown)} most relevant of {len(self.feature_names)} features)"
        self.figure_, axes = panels(
            ax, (1, n_panels), (6.6 if together else 2.2 + 0.95 * n_panels, 1.3 + height * len(shown)),
            title=title, sharex=True, sharey=True,
        )  # fmt: skip
        self.axes_ = axes[0]
        self.ax_ = self.axes_[0]
        colors = class_colors(len(self.class_names))
        names = short_apart(self.class_names)
        for turn, place in enumerate(present):
            panel = self.axes_[0 if together else turn]
            shift = 0.56 * ((turn + 0.5) / len(present) - 0.5) if together else 0.0
            y = np.arange(len(shown)) + shift
            color = colors[place] if together else FOR
            panel.hlines(
                y, self.lows[place, shown], self.highs[place, shown],
                color=color, linewidth=3.2 if len(shown) <= 40 else 2.2, alpha=0.38,
            )  # fmt: skip
            panel.plot(
                self.means[place, shown], y, MARKERS[turn % len(MARKERS)] if together else "o",
                color=color, markersize=4.5 if len(shown) <= 40 else 3.2,
                label=plain(names[place]),
            )  # fmt: skip
            if not together:
                panel.set_title(plain(short(self.class_names[place], 12)), fontsize=TEXT)
        for panel in self.axes_:
            tidy(panel, grid="both" if len(shown) > 8 else "x")
            panel.set_xlim(left=0)
            panel.tick_params(axis="y", length=0)
            panel.locator_params(axis="x", nbins=6 if together else 2)
        name_rows(self.ax_, [short(self.feature_names[place]) for place in shown], text)
        if together:
            self.ax_.set_xlabel(plain(self.unit), fontsize=TEXT)
            self.ax_.legend(
                fontsize=TEXT, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=TOGETHER,
                borderaxespad=0.1, handletextpad=0.2,
            )  # fmt: skip
        else:
            self.axes_[n_panels // 2].set_xlabel(plain(self.unit), fontsize=TEXT)
        return self
