"""SuspiciousRowsDisplay: the training rows whose labels may be wrong."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._support.format import counted
from lann._support.inputs import check_ids
from lann._support.validation import Integer, validate
from lann.explain import suspicious_rows
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class SuspiciousRowsDisplay(base.Display):
    """Rows with the most suspicious labels, and the scores of all rows.

    The left panel lists the rows with the highest scores, with their labels and the likely ones. The right
    panel is a histogram of all scores; the bars with the rows that are listed have the color of the list.

    Parameters
    ----------
    ids : array-like of shape (n_rows,)
        The names of the rows, or their positions in the data.
    labels : array-like of shape (n_rows,)
        Their labels.
    scores : array-like of shape (n_rows,)
        The suspicion of each label: the higher, the more suspicious.
    likely : array-like of shape (n_rows,) or None, default=None
        The labels that the other rows suggest.
    subtitle : str, default=""
        The second line of the title, such as the data and the number of rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes of the most suspicious rows.
    scores_ax_ : matplotlib Axes
        The axes of all scores.
    shown_ : ndarray of shape (n_shown,)
        The positions of the rows that are listed, most suspicious first.

    Raises
    ------
    ValueError
        If the parameters do not have the same length.

    See Also
    --------
    lann.explain.suspicious_rows : Compute the scores.

    Examples
    --------
    >>> from lann.plot import SuspiciousRowsDisplay
    >>> display = SuspiciousRowsDisplay([7, 8, 9], ["ill", "healthy", "healthy"], [0.1, 0.9, 0.2])
    >>> display.plot(n_rows=2).shown_.tolist()
    [1, 2]
    """

    ids: Any
    labels: Any
    scores: Any
    _: KW_ONLY
    likely: Any = None
    subtitle: str = ""

    def __post_init__(self) -> None:
        self.likely = self.labels if self.likely is None else self.likely
        for name in ("ids", "labels", "scores", "likely"):
            values = np.asarray(getattr(self, name))
            setattr(self, name, values)
            if values.shape != (len(self.ids),):
                raise ValueError(
                    f"{name} must have shape ({len(self.ids)},), one value per row; got {values.shape}."
                )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ids: ArrayLike | None = None,
        class_names: ArrayLike | None = None,
        data_name: str = "",
        n_neighbors: int = 30,
        n_rows: int = 15,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the suspicion of the training rows of a fitted model and draw it.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNClassifier, a baseline whose neighbors vote, or a pipeline that ends in one.
        ids : array-like of shape (n_training_rows,) or None, default=None
            The names of the training rows; None for the index of the training data, or else their positions.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
        n_neighbors : int, default=30
            The number of nearest rows with one vote each on the label of a row.
        n_rows : int, default=15
            The number of rows to list.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by two panels. If None, a new figure is created.

        Returns
        -------
        display : SuspiciousRowsDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If a parameter is invalid or the model has no neighbors that vote.
        """
        model = base.last_step(estimator)
        suspicion = suspicious_rows(model, n_neighbors=n_neighbors)
        names = np.array(base.check_class_names(model.classes_, class_names))
        n_training = len(suspicion.scores)
        row_names = np.arange(n_training) if suspicion.ids is None else suspicion.ids
        display = cls(
            row_names if ids is None else check_ids(ids, n_training),
            names[np.searchsorted(model.classes_, suspicion.labels)],
            suspicion.scores,
            likely=names[np.searchsorted(model.classes_, suspicion.likely)],
            subtitle=f"{data_name}: {counted(n_training, 'training row')}" if data_name else "",
        )
        return display.plot(ax, n_rows=n_rows)

    def plot(self, ax: Axes | None = None, *, n_rows: int = 15) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by two panels. If None, a new figure is created.
        n_rows : int, default=15
            The number of rows to list.

        Returns
        -------
        display : SuspiciousRowsDisplay
            The display itself.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate("n_rows", n_rows, Integer(1))
        self.shown_ = shown = base.largest_first(self.scores, n_rows)
        height, fontsize = base.line_height(len(shown))
        names = self._row_labels()
        size = (5.4 + base.text_width(names, fontsize), max(1.8 + height * len(names), 3.2))
        title = ("Training rows whose labels the other rows contradict", self.subtitle)
        panels = self._create_panels(ax, title, (1, 2), size, width_ratios=(1.6, 1.0))
        listed, histogram = panels
        listed.hlines(range(len(shown)), 0, self.scores[shown], color=base.AGAINST, linewidth=2, alpha=0.6)
        listed.plot(self.scores[shown], range(len(shown)), "o", color=base.AGAINST, markersize=5)
        base.label_lines(listed, names, fontsize)
        listed.set_title("row · label → likely label", loc="left", fontsize=base.SMALL, color=base.SOFT)
        number = counted(len(shown), "most suspicious row")
        listed.set_xlabel(f"score, from 0 to 1\n{number}")
        _, edges, bars = histogram.hist(self.scores, bins=30, color=base.NEUTRAL)
        for right, bar in zip(edges[1:], bars, strict=True):
            if right > self.scores[shown[-1]] or right == edges[-1]:
                bar.set_color(base.AGAINST)
        histogram.set_yscale("symlog", linthresh=1)
        histogram.yaxis.set_major_formatter("{x:g}")
        histogram.set_xlabel(f"score\nall {counted(len(self.scores), 'row')}")
        histogram.set_ylabel("number of rows (logarithmic)")
        self.scores_ax_ = histogram
        for panel in panels:  # with the full range, small scores look small
            panel.set_xlim(0.0, 1.03)
        return self

    def _row_labels(self) -> list[str]:
        """Return the names of the rows that are listed, with their labels and the likely ones."""
        prefix = "row " if np.issubdtype(self.ids.dtype, np.integer) else ""
        ids = [base.escape_math(f"{prefix}{base.shorten(self.ids[row], 14)}") for row in self.shown_]
        both = base.short_names([*self.labels[self.shown_], *self.likely[self.shown_]], 22)
        pairs = zip(ids, both[: len(ids)], both[len(ids) :], strict=True)
        return [
            f"{row} · {label}" + (f" → {other}?" if other != label else "") for row, label, other in pairs
        ]
