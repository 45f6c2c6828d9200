"""ContributionBeeswarmDisplay: what each feature brought to many predictions, a dot for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats
from lann._validation import Integer, OneOf, validate
from lann.plot._rows import MOST_ROWS, names_of_classes, rows_of
from lann.plot._style import (
    SMALL,
    TEXT,
    largest_first,
    low_to_high,
    name_rows,
    one_panel,
    plain,
    row_size,
    short,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Dots of a feature that are told apart along the axis.
N_SLOTS = 90


class ContributionBeeswarmDisplay:
    """What the values of each feature speak for, over many rows.

    A dot is a row. Right of 0 its value speaks for the class, left of 0 against it: by so much of the vote.
    Its color is the value, from the lowest of the feature to the highest. Features with the largest mean
    effect come first.

    Parameters
    ----------
    supports : (n_rows, n_features)
    values : (n_rows, n_features) of the features
    feature_names : (n_features,)
    target
        What is spoken for, as the axis says it.

    Attributes
    ----------
    figure_, ax_ : where it was drawn
    shown_ : (n_features,) which features, from the top

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.plot import ContributionBeeswarmDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    >>> display = ContributionBeeswarmDisplay.from_estimator(clf, X, label=2)
    >>> display.supports.shape
    (150, 4)
    """

    def __init__(
        self,
        *,
        supports: Floats,
        values: Floats,
        feature_names: ArrayLike,
        target: str = "the prediction",
    ) -> None:
        self.supports = supports
        self.values = values
        self.feature_names = np.asarray(feature_names)
        self.target = target

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        *,
        label: Any = None,
        class_names: ArrayLike | None = None,
        n_features: int | None = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Explain many rows and draw them.

        Parameters
        ----------
        estimator
            A fitted LANNClassifier, or a pipeline that ends in one.
        X : (n_rows, n_features), or None for the training points; of more than 2000 rows, some are drawn
        label
            The class that values speak for. None is the second of two classes; of more, the predicted one.
        class_names : (n_classes,) in the order of `classes_`; None shows the labels
        n_features
            How many features, those with the largest mean effect; None shows all.
        ax
            Where to draw; None makes a figure.
        """
        rows = rows_of(estimator, X, None, at_most=MOST_ROWS)
        classes = rows.model.classes_
        if label is not None and label not in classes.tolist():
            raise ValueError(f"label must be one of the classes {classes.tolist()}, or None; got {label!r}.")
        explanation = rows.explain()
        names = names_of_classes(classes, class_names)
        if label is None and len(classes) == 2:
            label = classes[1]
        if label is None:
            supports, target = explanation.support, "the prediction"
        else:
            place = classes.tolist().index(label)
            supports, target = explanation.supports[:, place], names[place]
        display = cls(supports=supports, values=rows.X, feature_names=rows.feature_names, target=target)
        return display.plot(ax, n_features=n_features)

    def plot(self, ax: Axes | None = None, *, n_features: int | None = 20) -> Self:
        """Draw, on new axes or those given; see `from_estimator`."""
        validate("n_features", n_features, Integer(1), OneOf(None))
        self.shown_ = shown = largest_first(np.abs(self.supports).mean(axis=0), n_features)
        height, text = row_size(len(shown))
        self.figure_, self.ax_ = one_panel(ax, (7.0, 1.2 + 1.15 * height * len(shown)))
        low, high = self.supports[:, shown].min(), self.supports[:, shown].max()
        size = 9 if len(self.supports) <= 300 else 5
        for y, feature in enumerate(shown):
            x = self.supports[:, feature]
            dots = self.ax_.scatter(
                x, y + _spread(x, low, high), c=_ranks(self.values[:, feature]), cmap=low_to_high(),
                vmin=0.0, vmax=1.0, s=size if len(shown) <= 40 else 3, linewidths=0, rasterized=True,
            )  # fmt: skip
        tidy(self.ax_, grid="y")
        name_rows(self.ax_, [short(self.feature_names[place]) for place in shown], text)
        self.ax_.axvline(0, color="#444444", linewidth=0.9, zorder=0)
        self.ax_.set_xlabel(
            plain(f"share of the vote for {short(self.target)} that the value brings"), fontsize=TEXT
        )
        title = f"What speaks for {short(self.target)}, and what against"
        if len(shown) < len(self.feature_names):
            title += f"\n(the strongest {len(shown)} of {len(self.feature_names)} features)"
        self.ax_.set_title(plain(title), fontsize=TEXT + 1)
        bar = self.figure_.colorbar(
            dots, ax=self.ax_, aspect=30, pad=0.02, shrink=min(1.0, 12 / len(shown)), ticks=[0.0, 1.0]
        )
        bar.ax.set_yticklabels(["low", "high"], fontsize=SMALL)
        bar.set_label("value of the feature", fontsize=SMALL, labelpad=-14)
        bar.outline.set_visible(False)
        return self


def _spread(x: Floats, low: float, high: float) -> Floats:
    """How far off its line each dot is drawn, so that those of nearly the same x lie beside each other."""
    slots = np.floor((x - low) / max(high - low, 1e-12) * N_SLOTS).astype(np.int64)
    order = np.argsort(slots, kind="stable")
    counts = np.bincount(slots)
    # The number of a dot in its slot, from the middle outwards: 0, 1, -1, 2, -2, …
    within = np.empty(len(x), np.int64)
    within[order] = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    outwards = np.where(within % 2 == 1, (within + 1) // 2, -(within // 2))
    return outwards * np.minimum(0.1, 0.8 / np.maximum(counts, 1))[slots]


def _ranks(values: Floats) -> Floats:
    """From 0, the lowest, to 1, the highest, so that an outlier leaves the colors of others alone."""
    distinct, places = np.unique(values, return_inverse=True)
    return places / max(len(distinct) - 1, 1)
