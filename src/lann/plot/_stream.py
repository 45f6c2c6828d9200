"""StreamDisplay: accuracy along a stream, sizes of the memories, and drifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from lann._support.format import counted, percent
from lann.plot._axes import (
    AGAINST,
    FOR,
    INK,
    NEUTRAL,
    SMALL,
    UNRANKED,
    Display,
    class_colors,
    escape_math,
    label_percent,
    legend_above,
    style_axes,
    title_lines,
)
from lann.streams import PrequentialCurve, PrequentialEvaluation, PrequentialScores, prequential

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 8.6
# More drifts than this have no lines of their own.
MOST_LINES = 40
# Baselines that are farther below the classifier are not shown.
MOST_BELOW = 0.35
# How the classifiers that learn nothing are drawn.
BEFORE: dict[str, Any] = {"color": NEUTRAL, "linestyle": ":"}
MAJORITY: dict[str, Any] = {"color": "#B8A26B", "linestyle": "--"}


@dataclass(kw_only=True, eq=False, repr=False)
class StreamDisplay(Display):
    """Accuracy of the last rows along a stream, with drifts and the sizes of the memories.

    The upper panel has the accuracy in a moving window, beside that of two classifiers that learn nothing:
    the label of the row before, and the most frequent label so far; the legend has their accuracies over the
    whole stream. The lower panel has the number of rows in the short-term and in the long-term memory.
    Vertical lines are drifts: rows at which the classifier made its short-term memory smaller. If there are
    many of them, a panel has their number instead.

    It is recommended to use :meth:`from_evaluation` or :meth:`from_estimator` to create the display.

    Parameters
    ----------
    curve : PrequentialCurve
        Scores in the moving window.
    scores : PrequentialScores
        Scores over the whole stream.
    window_size : int
        Number of rows of the moving window.
    drifts : sequence of int, default=()
        Rows at which a drift was found; the curve has the numbers of drifts.
    others : mapping of str to PrequentialCurve, default={}
        Curves of other classifiers on the same stream, by name.
    name : str, default="accuracy"
        Name of the classifier in the legend.
    baselines : bool, default=True
        Whether the two classifiers that learn nothing are drawn.
    subtitle : str, default=""
        The last line of the title, such as the name of the data.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The panel with the accuracy.
    axes_ : ndarray of shape (n_panels,)
        The panels: accuracy; sizes of the memories, if they are known; numbers of drifts, if there are many.

    See Also
    --------
    lann.streams.PrequentialEvaluation : What is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.plot import StreamDisplay
    >>> from lann.streams import SAMKNN
    >>> X = np.random.default_rng(0).uniform(size=(600, 2))
    >>> y = np.where(np.arange(600) < 300, X[:, 0] > 0.5, X[:, 0] < 0.5)
    >>> display = StreamDisplay.from_estimator(SAMKNN(random_state=0), X, y, window_size=100)
    >>> len(display.axes_)
    2
    """

    curve: PrequentialCurve
    scores: PrequentialScores
    window_size: int
    drifts: Sequence[int] = ()
    others: Mapping[str, PrequentialCurve] = field(default_factory=dict)
    name: str = "accuracy"
    baselines: bool = True
    subtitle: str = ""

    @classmethod
    def from_evaluation(
        cls,
        evaluation: PrequentialEvaluation,
        *,
        name: str = "accuracy",
        others: Mapping[str, PrequentialEvaluation] | None = None,
        baselines: bool = True,
        data_name: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Draw an evaluation.

        Parameters
        ----------
        evaluation : PrequentialEvaluation
            Of at least one row.
        name : str, default="accuracy"
            Name of the classifier in the legend.
        others : mapping of str to PrequentialEvaluation or None, default=None
            Evaluations of other classifiers on the same stream, by name.
        baselines : bool, default=True
            Whether the label of the row before and the most frequent label are drawn.
        data_name : str, default=""
            The name of the data, for the title.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.

        Returns
        -------
        display : StreamDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        display = cls(
            curve=evaluation.curve,
            scores=evaluation.scores,
            window_size=evaluation.window_size,
            drifts=evaluation.drifts,
            others={other: one.curve for other, one in (others or {}).items()},
            name=name,
            baselines=baselines,
            subtitle=data_name,
        )
        return display.plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        window_size: int = 1000,
        data_name: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Run a clone of a classifier over a stream, and draw it.

        Parameters
        ----------
        estimator : classifier
            With ``test_then_train``, as `lann.streams.SAMKNN` has it. It is not changed.
        X : array-like of shape (n_rows, n_features)
            The rows in the order of time.
        y : array-like of shape (n_rows,)
            Labels.
        window_size : int, default=1000
            Number of rows of the moving window.
        data_name : str, default=""
            The name of the data, for the title.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.

        Returns
        -------
        display : StreamDisplay
            The display that was drawn.
        """
        evaluation = PrequentialEvaluation(window_size=window_size)
        prequential(clone(estimator), X, y, evaluation=evaluation)
        return cls.from_evaluation(evaluation, name=type(estimator).__name__, data_name=data_name, ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.

        Returns
        -------
        display : StreamDisplay
            The display itself.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        if not len(self.curve.rows):
            raise ValueError("There is nothing to draw: no row has been predicted.")
        has_sizes = bool(np.isfinite(self.curve.short_term_size).any())
        has_many = bool(self.curve.n_drifts[-1] > MOST_LINES)
        heights = [2.2, *([1.0] if has_sizes else []), *([0.45] if has_many else [])]
        size = (WIDTH, 1.3 + 1.6 * sum(heights))
        self.axes_ = self._create_panels(
            ax, self._title(), (len(heights), 1), size, height_ratios=heights, shared={"sharex": True}
        )[:, 0]
        self.ax_ = self.axes_[0]
        self._draw_accuracy(self.ax_)
        if has_sizes:
            self._draw_sizes(self.axes_[1])
        if has_many:
            self._draw_numbers(self.axes_[-1])
        lines = [] if has_many else self.drifts
        for panel in self.axes_:
            style_axes(panel, grid="y")
            for row in lines:
                panel.axvline(row, color=AGAINST, linewidth=0.8, alpha=0.5, zorder=0.5)
            panel.set_xlim(0, self.curve.rows[-1])
        self.axes_[-1].set_xlabel("rows", fontsize=SMALL)
        self.axes_[-1].xaxis.set_major_formatter(lambda row, _: f"{row:,.0f}")
        handles = self._handles(has_lines=len(lines) > 0, has_sizes=has_sizes)
        legend_above(self.ax_, handles, WIDTH - 1.0)
        return self

    def _title(self) -> str:
        scores = self.scores
        n_drifts = counted(int(self.curve.n_drifts[-1]), "drift")
        return title_lines(
            f"Accuracy of the last {self.window_size:,} rows"
            + (f": {self.subtitle}" if self.subtitle else ""),
            f"{scores.n_rows:,} rows: accuracy {percent(scores.accuracy, 1)}, kappa-temporal "
            f"{scores.kappa_temporal:.2f}, log-loss {scores.log_loss:.2f}; {n_drifts}".replace("-0.", "−0."),
            width=WIDTH,
        )

    def _draw_accuracy(self, ax: Axes) -> None:
        rows = self.curve.rows
        if self.baselines:
            ax.plot(rows, self.curve.no_change_accuracy, linewidth=1.0, **BEFORE)
            ax.plot(rows, self.curve.majority_accuracy, linewidth=1.0, **MAJORITY)
        for curve, color in zip(self.others.values(), self._other_colors(), strict=True):
            ax.plot(curve.rows, curve.accuracy, color=color, linewidth=1.1)
        ax.plot(rows, self.curve.accuracy, color=FOR, linewidth=1.6)
        ax.set_ylabel("accuracy", fontsize=SMALL)
        label_percent(ax.yaxis)
        ax.set_ylim(self._lowest() - 0.03, 1.0)
        ax.set_ylim(top=1.0 + 0.02 * (1.0 - ax.get_ylim()[0]))

    def _lowest(self) -> float:
        """Return the lowest accuracy that is shown: baselines far below are not, as the legend has them."""
        curves = [curve.accuracy for curve in (self.curve, *self.others.values())]
        lowest = min(float(np.percentile(curve, 2)) for curve in curves)
        if self.baselines:
            both = (self.curve.no_change_accuracy, self.curve.majority_accuracy)
            near = [float(curve.min()) for curve in both if curve.min() >= lowest - MOST_BELOW]
            lowest = min([lowest, *near])
        return max(lowest, 0.0)

    def _draw_sizes(self, ax: Axes) -> None:
        rows = self.curve.rows
        ax.plot(rows, self.curve.long_term_size, color=UNRANKED, linewidth=1.2)
        ax.plot(rows, self.curve.short_term_size, color=INK, linewidth=1.2)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("rows in memory", fontsize=SMALL)
        ax.yaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")

    def _draw_numbers(self, ax: Axes) -> None:
        """Draw the number of drifts between points of the curve, for about 100 bars."""
        ends = np.unique(
            np.r_[np.arange(len(self.curve.rows) - 1, 0, -max(len(self.curve.rows) // 100, 1)), 0]
        )
        rows, counts = self.curve.rows[ends], self.curve.n_drifts[ends]
        starts = np.r_[0, rows[:-1]]
        ax.bar(
            starts, np.diff(counts, prepend=0), width=rows - starts, align="edge", color=AGAINST, alpha=0.6
        )
        ax.set_ylabel("drifts", fontsize=SMALL)
        ax.locator_params(axis="y", nbins=3, integer=True)

    def _other_colors(self) -> list[str]:
        return class_colors(len(self.others) + 2)[2:]

    def _handles(self, *, has_lines: bool, has_sizes: bool) -> list[Any]:
        from matplotlib.lines import Line2D

        def line(label: str, **options: Any) -> Line2D:
            return Line2D([], [], label=escape_math(label), **options)

        handles = [line(self.name, color=FOR, linewidth=1.6)]
        handles += [
            line(name, color=color, linewidth=1.1)
            for name, color in zip(self.others, self._other_colors(), strict=True)
        ]
        if self.baselines:
            bottom = self.ax_.get_ylim()[0]
            for name, curve, total, style in (
                ("label of the row before", self.curve.no_change_accuracy, "no_change_accuracy", BEFORE),
                ("most frequent label", self.curve.majority_accuracy, "majority_accuracy", MAJORITY),
            ):
                below = ", below" if curve.max() < bottom else ""
                share = percent(getattr(self.scores, total), 1)
                handles.append(line(f"{name} ({share}{below})", linewidth=1.0, **style))
        if has_lines:
            handles.append(line("drift", color=AGAINST, linewidth=1.0, alpha=0.6))
        if has_sizes:
            handles.append(line("short-term memory", color=INK, linewidth=1.2))
            handles.append(line("long-term memory", color=UNRANKED, linewidth=1.2))
        return handles
