"""RelevanceMapDisplay: which points hang on which features, alike ones together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats, Indices, Labels
from lann._validation import Integer, OneOf, validate
from lann.plot._rows import UNITS, names_of_classes, rows_of
from lann.plot._style import (
    SEQUENTIAL,
    SMALL,
    TEXT,
    TINY,
    class_colors,
    largest_first,
    one_panel,
    plain,
    short,
    short_apart,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A brighter one in a thousand must not make all others pale.
BRIGHTEST = 0.995


class RelevanceMapDisplay:
    """Points by features: the darker, the more of a point's prediction hangs on the feature.

    Rows are ordered so that points with alike relevances are neighbors (hierarchical clustering): blocks are
    groups of points that the model treats alike. The strip to the left is the points' class; columns go from
    the most relevant feature to the least.

    Parameters
    ----------
    relevances : (n_rows, n_features)
    labels : (n_rows,) places in `class_names`
    feature_names : (n_features,)
    class_names : (n_classes,)
    unit
        What is shown, as the scale says it.

    Attributes
    ----------
    figure_, ax_ : where it was drawn
    row_order_ : (n_rows,) the points, from the top
    shown_ : (n_features,) the features, from the left

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
        unit: str = UNITS["votes"],
    ) -> None:
        self.relevances = relevances
        self.labels = labels
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
        class_names: ArrayLike | None = None,
        n_features: int | None = None,
        n_rows: int = 400,
        ax: Axes | None = None,
    ) -> Self:
        """Explain many rows and draw them.

        Parameters
        ----------
        estimator
            A fitted LANNClassifier, one of the baselines, or a pipeline that ends in one.
        X : (n_rows, n_features), or None for the training points
        y : (n_rows,) their labels; None takes the predictions (of training points, their own labels)
        reading
            "votes", "weights" or "auto", as for `RelevanceDisplay`.
        class_names : (n_classes,) in the order of `classes_`; None shows the labels
        n_features
            How many features, the most relevant; None shows all.
        n_rows
            How many points are shown at most, spread over the classes.
        ax
            Where to draw; None makes a figure.
        """
        validate("n_rows", n_rows, Integer(1))
        rows = rows_of(estimator, X, y, at_most=n_rows)
        relevances, used = rows.relevances(reading, of_training=X is None)
        display = cls(
            relevances=relevances,
            labels=rows.labels,
            feature_names=rows.feature_names,
            class_names=names_of_classes(rows.model.classes_, class_names),
            unit=UNITS[used],
        )
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = None) -> Self:
        """Draw, on new axes or those given; see `from_estimator`."""
        from matplotlib.colors import ListedColormap

        validate("n_features", n_features, Integer(1), OneOf(None))
        self.shown_ = shown = largest_first(self.relevances.mean(axis=0), n_features)
        self.row_order_ = order = _alike_together(self.relevances)
        n_shown = len(shown)
        column = 0.5 if n_shown <= 8 else 0.27 if n_shown <= 32 else 0.16
        self.figure_, self.ax_ = one_panel(ax, (max(2.6 + column * n_shown, 4.6), 5.4))
        picture = self.relevances[np.ix_(order, shown)]
        drawn = self.ax_.imshow(
            picture, aspect="auto", interpolation="nearest", cmap=SEQUENTIAL,
            vmin=0.0, vmax=float(np.quantile(picture, BRIGHTEST)) or 1.0,
        )  # fmt: skip
        text = TEXT if n_shown <= 8 else SMALL if n_shown <= 32 else TINY
        names = [plain(short(self.feature_names[place], 24)) for place in shown]
        self.ax_.set_xticks(range(n_shown), names, fontsize=text, rotation=40 if n_shown <= 8 else 90)
        if n_shown <= 8:
            for label in self.ax_.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        self.ax_.set_yticks([])
        tidy(self.ax_)
        self.ax_.spines[:].set_visible(False)
        self.ax_.tick_params(axis="x", labelsize=text, length=2)
        colors = class_colors(len(self.class_names))
        thin = 0.16 / max(column * n_shown, 2.4)
        strip = self.ax_.inset_axes((-1.4 * thin, 0.0, thin, 1.0))
        strip.imshow(
            self.labels[order][:, None], aspect="auto", interpolation="nearest", cmap=ListedColormap(colors),
            vmin=-0.5, vmax=len(colors) - 0.5,
        )  # fmt: skip
        strip.set(xticks=[], yticks=[])
        strip.spines[:].set_visible(False)
        strip.set_ylabel(f"{len(order)} points, alike ones together", fontsize=SMALL)
        bar = self.figure_.colorbar(drawn, ax=self.ax_, aspect=40, pad=0.02)
        bar.set_label(plain(self.unit), fontsize=SMALL)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)
        self.ax_.set_title("Which points hang on which features", fontsize=TEXT + 1, pad=24)
        self._key(colors)
        return self

    def _key(self, colors: list[Any]) -> None:
        from matplotlib.patches import Patch

        names = short_apart(self.class_names, 16)
        keys = [
            Patch(color=color, label=plain(name))
            for place, (name, color) in enumerate(zip(names, colors, strict=True))
            if place in self.labels
        ]
        self.ax_.legend(
            handles=keys, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(keys), 10),
            fontsize=SMALL, frameon=False, handlelength=0.9, columnspacing=1.0, borderaxespad=0.2,
        )  # fmt: skip


def _alike_together(relevances: Floats) -> Indices:
    """An order of the rows in which alike ones are neighbors: (n_rows,). Takes n_rows² numbers."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(relevances) < 3:
        return np.arange(len(relevances))
    return leaves_list(linkage(relevances, "ward", optimal_ordering=len(relevances) <= 600)).astype(np.int64)
