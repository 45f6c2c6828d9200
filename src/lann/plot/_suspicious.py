"""SuspiciousPointsDisplay: which labels look wrong to the points around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._inputs import check_ids
from lann._validation import Integer, validate
from lann.plot._rows import last_step, names_of_classes
from lann.plot._style import (
    AGAINST,
    NEUTRAL,
    SMALL,
    TEXT,
    largest_first,
    name_rows,
    panels,
    row_size,
    short,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SuspiciousPointsDisplay:
    """The points whose labels are most suspicious, beside the scores of all.

    Parameters
    ----------
    rows : (n_points,) what the points are called: numbers of rows, or ids
    labels : (n_points,) as they are
    scores : (n_points,) the higher, the more suspicious
    suggested : (n_points,) labels that the neighbors suggest instead, or None

    Attributes
    ----------
    figure_, ax_ : where it was drawn; `ax_` are the axes of the most suspicious
    scores_ax_ : the axes of all scores
    shown_ : places of the points shown, the most suspicious first

    Examples
    --------
    >>> from lann.plot import SuspiciousPointsDisplay
    >>> display = SuspiciousPointsDisplay([7, 8, 9], ["ill", "well", "well"], [0.1, 0.9, 0.2])
    >>> display.plot(n_points=2).shown_.tolist()
    [1, 2]
    """

    def __init__(
        self, rows: ArrayLike, labels: ArrayLike, scores: ArrayLike, *, suggested: ArrayLike | None = None
    ) -> None:
        self.rows = np.asarray(rows)
        self.labels = np.asarray(labels)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.suggested = None if suggested is None else np.asarray(suggested)
        for name in ("labels", "scores", "suggested"):
            given = getattr(self, name)
            if given is not None and given.shape != (len(self.rows),):
                raise ValueError(
                    f"{name} must be one for each of the {len(self.rows)} rows; got {given.shape}."
                )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ids: ArrayLike | None = None,
        class_names: ArrayLike | None = None,
        n_neighbors: int = 20,
        n_points: int = 15,
        ax: Axes | None = None,
    ) -> Self:
        """Ask a fitted model for the suspicious points among those it was trained with.

        Parameters
        ----------
        estimator
            A fitted LANNClassifier, a baseline whose neighbors vote, or a pipeline that ends in one.
        ids : (n_train,) what the training points are called; None shows the numbers of their rows
        class_names : (n_classes,) in the order of `classes_`; None shows the labels
        n_neighbors
            How many are asked about a point.
        n_points
            How many of the most suspicious are listed.
        ax
            Where to draw; None makes a figure.
        """
        from lann.explain import suspicious_points

        model = last_step(estimator)
        found = suspicious_points(model, n_neighbors=n_neighbors)
        names = np.array(names_of_classes(model.classes_, class_names))
        rows = np.arange(len(found.scores)) if ids is None else check_ids(ids, len(found.scores))
        display = cls(
            rows,
            names[np.searchsorted(model.classes_, found.labels)],
            found.scores,
            suggested=names[np.searchsorted(model.classes_, found.likely)],
        )
        return display.plot(ax, n_points=n_points)

    def plot(self, ax: Axes | None = None, *, n_points: int = 15) -> Self:
        """Draw the `n_points` most suspicious, on new axes or those given."""
        validate("n_points", n_points, Integer(1))
        self.shown_ = shown = largest_first(self.scores, n_points)
        height, text = row_size(len(shown))
        self.figure_, axes = panels(
            ax, (1, 2), (8.4, max(1.4 + height * len(shown), 2.8)), widths=(1.6, 1.0),
            title="Labels that the points around them doubt",
        )  # fmt: skip
        self.ax_, self.scores_ax_ = axes[0]
        y = np.arange(len(shown))
        self.ax_.hlines(y, 0, self.scores[shown], color=AGAINST, linewidth=2, alpha=0.6)
        self.ax_.plot(self.scores[shown], y, "o", color=AGAINST, markersize=5)
        tidy(self.ax_, grid="x")
        name_rows(self.ax_, [self._name(place) for place in shown], text)
        self.ax_.set_xlabel(f"score of the {len(shown)} most suspicious", fontsize=TEXT)
        _, edges, bars = self.scores_ax_.hist(self.scores, bins=30, color=NEUTRAL)
        last = self.scores[shown[-1]]
        for left, bar in zip(edges[1:], bars, strict=True):
            if left > last:
                bar.set_color(AGAINST)
        tidy(self.scores_ax_, grid="y")
        self.scores_ax_.set_yscale("symlog", linthresh=1)
        self.scores_ax_.yaxis.set_major_formatter("{x:g}")
        self.scores_ax_.set_xlabel(f"score of all {len(self.scores)} points", fontsize=TEXT)
        self.scores_ax_.set_ylabel("points", fontsize=SMALL)
        # Shares go from 0 to 1, so that few doubts look like few.
        low, high = min(0.0, float(self.scores.min())), max(1.0, float(self.scores.max()))
        for panel in (self.ax_, self.scores_ax_):
            panel.set_xlim(low, low + 1.03 * (high - low))
        return self

    def _name(self, place: int) -> str:
        called: Any = self.rows[place]
        word = "row " if np.issubdtype(self.rows.dtype, np.integer) else ""
        name = f"{word}{short(called, 14)} · {short(self.labels[place], 14)}"
        if self.suggested is not None and self.suggested[place] != self.labels[place]:
            name += f" → {short(self.suggested[place], 14)}?"
        return name
