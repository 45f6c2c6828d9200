"""SuspiciousRowsDisplay: the training rows whose labels may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._support.format import counted
from lann._support.inputs import check_ids
from lann._support.validation import Integer, validate
from lann.plot._axes import (
    AGAINST,
    NEUTRAL,
    SMALL,
    SOFT,
    TEXT,
    Display,
    label_lines,
    label_percent,
    largest_first,
    line_height,
    shorten,
    shorten_unique,
    style_axes,
    text_width,
    title_lines,
)
from lann.plot._rows import check_class_names, last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SuspiciousRowsDisplay(Display):
    """Rows with the most suspicious labels, and the scores of all rows.

    The left panel lists the rows with the highest scores, with their labels and the labels that their
    neighbors suggest. The right panel is a histogram of all scores; the bars with the rows that are listed
    have the color of the list.

    Parameters
    ----------
    ids : array-like of shape (n_rows,)
        The names of the rows, or their positions in the data.
    labels : array-like of shape (n_rows,)
        Their labels.
    scores : array-like of shape (n_rows,)
        The suspicion of each label: the higher, the more suspicious.
    suggested : array-like of shape (n_rows,) or None, default=None
        The labels that the neighbors suggest.
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

    def __init__(
        self,
        ids: ArrayLike,
        labels: ArrayLike,
        scores: ArrayLike,
        *,
        suggested: ArrayLike | None = None,
        subtitle: str = "",
    ) -> None:
        self.ids = np.asarray(ids)
        self.labels = np.asarray(labels)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.subtitle = subtitle
        self.suggested = None if suggested is None else np.asarray(suggested)
        for name in ("labels", "scores", "suggested"):
            values = getattr(self, name)
            if values is not None and values.shape != (len(self.ids),):
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
        n_neighbors: int = 20,
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
        n_neighbors : int, default=20
            The number of neighbors that vote on the label of a row.
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
        from lann.explain import suspicious_rows

        model = last_step(estimator)
        suspicion = suspicious_rows(model, n_neighbors=n_neighbors)
        names = np.array(check_class_names(model.classes_, class_names))
        n_training = len(suspicion.scores)
        row_names = np.arange(n_training) if suspicion.ids is None else suspicion.ids
        display = cls(
            row_names if ids is None else check_ids(ids, n_training),
            names[np.searchsorted(model.classes_, suspicion.labels)],
            suspicion.scores,
            suggested=names[np.searchsorted(model.classes_, suspicion.likely)],
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
        self.shown_ = shown = largest_first(self.scores, n_rows)
        height, fontsize = line_height(len(shown))
        names = self._row_labels()
        width = 5.4 + text_width(names, fontsize)
        size = (width, max(1.8 + height * len(shown), 3.2))
        title = title_lines(
            "Training rows whose labels their neighbors contradict", self.subtitle, width=width
        )
        axes = self._create_panels(ax, title, (1, 2), size, width_ratios=(1.6, 1.0))
        self.ax_, self.scores_ax_ = axes[0]
        self._draw_list(names, fontsize)
        self._draw_histogram()
        # The scores are shares from 0 to 1: with the full range, small scores look small.
        low, high = min(0.0, float(self.scores.min())), max(1.0, float(self.scores.max()))
        for panel in axes[0]:
            panel.set_xlim(low, low + 1.03 * (high - low))
            label_percent(panel.xaxis)
        return self

    def _draw_list(self, names: list[str], fontsize: float) -> None:
        shown, y = self.shown_, np.arange(len(self.shown_))
        self.ax_.hlines(y, 0, self.scores[shown], color=AGAINST, linewidth=2, alpha=0.6)
        self.ax_.plot(self.scores[shown], y, "o", color=AGAINST, markersize=5)
        style_axes(self.ax_, grid="x")
        label_lines(self.ax_, names, fontsize)
        if self.suggested is not None:
            self.ax_.text(
                0.0, 1.01, "row · label → most votes", transform=self.ax_.transAxes, ha="right", va="bottom",
                fontsize=SMALL, color=SOFT,
            )  # fmt: skip
        number = "most suspicious row" if len(shown) == 1 else f"{len(shown)} most suspicious rows"
        self.ax_.set_xlabel(f"share of the neighbors' vote against the label\n{number}", fontsize=TEXT)

    def _draw_histogram(self) -> None:
        _, edges, bars = self.scores_ax_.hist(self.scores, bins=30, color=NEUTRAL)
        lowest_shown = self.scores[self.shown_[-1]]
        for right, bar in zip(edges[1:], bars, strict=True):
            if right > lowest_shown or right == edges[-1]:
                bar.set_color(AGAINST)
        style_axes(self.scores_ax_, grid="y")
        self.scores_ax_.set_yscale("symlog", linthresh=1)
        self.scores_ax_.yaxis.set_major_formatter("{x:g}")
        number = counted(len(self.scores), "row")
        self.scores_ax_.set_xlabel(f"vote against the label\nall {number}", fontsize=TEXT)
        self.scores_ax_.set_ylabel("number of rows (logarithmic)", fontsize=SMALL)

    def _row_labels(self) -> list[str]:
        """Return the names of the rows that are listed, with their labels and the suggested ones."""
        prefix = "row " if np.issubdtype(self.ids.dtype, np.integer) else ""
        suggested = self.labels if self.suggested is None else self.suggested
        names = [*map(str, self.labels[self.shown_]), *map(str, suggested[self.shown_])]
        short = dict(zip(names, shorten_unique(names, 22), strict=True))
        texts = []
        for row in self.shown_:
            text = f"{prefix}{shorten(self.ids[row], 14)} · {short[str(self.labels[row])]}"
            if suggested[row] != self.labels[row]:
                text += f" → {short[str(suggested[row])]}?"
            texts.append(text)
        return texts
