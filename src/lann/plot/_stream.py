"""StreamDisplay: accuracy along a stream, alarms, sizes of the memories and their resets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from lann._support.format import class_color, counted, percent
from lann.plot import _display as base
from lann.streams import PrequentialCurve, PrequentialEvaluation, PrequentialScores, prequential

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 8.6
# Baselines that are farther below the classifier are not shown.
MOST_BELOW = 0.35
# How the classifiers that learn nothing are named and drawn, by their scores.
BASELINES: dict[str, tuple[str, dict[str, Any]]] = {
    "no_change_accuracy": ("label of the row before", {"color": base.NEUTRAL, "linestyle": ":"}),
    "majority_accuracy": ("most frequent label", {"color": "#B8A26B", "linestyle": "--"}),
}
ALARM: dict[str, Any] = {"color": base.AGAINST, "linewidth": 1.0, "alpha": 0.7, "zorder": 0.5}
RESET: dict[str, Any] = {"color": base.INK, "linestyle": "", "marker": "|", "markersize": 9}


@dataclass(kw_only=True, eq=False, repr=False)
class StreamDisplay(base.Display):
    """Accuracy of the last rows along a stream, with alarms and the sizes of the memories.

    The upper panel has the accuracy in a moving window, beside that of two classifiers that learn nothing:
    the label of the row before, and the most frequent label so far; the legend has their accuracies over the
    whole stream. The lower panel has the number of rows in the short-term and in the long-term memory, and a
    mark at the bottom for each memory reset: a row at which the short-term memory was made smaller. Vertical
    lines are alarms: rows at which predictions are found to be wrong more often than before.

    It is recommended to use :meth:`from_evaluation` or :meth:`from_estimator` to create the display.

    Parameters
    ----------
    curve : PrequentialCurve
        Scores in the moving window.
    scores : PrequentialScores
        Scores over the whole stream.
    window_size : int
        Number of rows of the moving window.
    alarms : sequence of int, default=()
        Rows at which there was an alarm.
    resets : sequence of int, default=()
        Rows at which the short-term memory was made smaller.
    others : mapping of str to PrequentialCurve, default={}
        Curves of other classifiers on the same stream, by name.
    name : str, default="accuracy"
        Name of the classifier in the legend.
    subtitle : str, default=""
        The last line of the title, such as the name of the data.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The panel with the accuracy.
    axes_ : ndarray of shape (n_panels,)
        The panels: accuracy; sizes of the memories, if they are known.

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
    alarms: Sequence[int] = ()
    resets: Sequence[int] = ()
    others: Mapping[str, PrequentialCurve] = field(default_factory=dict)
    name: str = "accuracy"
    subtitle: str = ""

    @classmethod
    def from_evaluation(
        cls,
        evaluation: PrequentialEvaluation,
        *,
        name: str = "accuracy",
        others: Mapping[str, PrequentialEvaluation] | None = None,
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
            alarms=[alarm.row for alarm in evaluation.alarms],
            resets=evaluation.resets,
            others={other: one.curve for other, one in (others or {}).items()},
            name=name,
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
        heights = [2.2, *([1.0] if has_sizes else [])]
        size = (WIDTH, 1.6 + 1.6 * sum(heights))
        self._create_panels(
            ax, self._title(), (len(heights), 1), size, grid="y", height_ratios=heights, sharex=True
        )
        handles, alarms = self._draw_accuracy(self.ax_), list[Any]()
        if has_sizes:
            handles += self._draw_sizes(self.axes_[1])
        for panel in self.axes_:
            panel.set_xlim(0, self.curve.rows[-1])
            alarms += [panel.axvline(row, label="alarm", **ALARM) for row in self.alarms]
        handles += alarms[-1:]
        self.axes_[-1].set_xlabel("rows")
        self.axes_[-1].xaxis.set_major_formatter("{x:,.0f}")
        base.draw_legend(self.ax_, handles, "above", width=WIDTH - 1.0)
        return self

    def _title(self) -> tuple[str, str]:
        scores, n_alarms = self.scores, counted(len(self.alarms), "alarm")
        name = f": {self.subtitle}" if self.subtitle else ""
        numbers = (
            f"{scores.n_rows:,} rows: accuracy {percent(scores.accuracy, 1)}, kappa-temporal "
            f"{scores.kappa_temporal:.2f}, log-loss {scores.log_loss:.2f}; {n_alarms}"
        )
        return f"Accuracy of the last {self.window_size:,} rows{name}", numbers.replace("-0.", "−0.")

    def _draw_accuracy(self, ax: Axes) -> list[Any]:
        """Draw the accuracies of the classifier, of others and of the baselines; return the lines."""
        lines, lowest = [], 1.0
        for number, (name, curve) in enumerate([(self.name, self.curve), *self.others.items()], 1):
            style: dict[str, Any] = {"color": class_color(number), "linewidth": 1.1}
            style = {"color": base.FOR, "linewidth": 1.6, "zorder": 3} if number == 1 else style
            lines += ax.plot(curve.rows, curve.accuracy, label=base.escape_math(name), **style)
            lowest = min(lowest, float(np.percentile(curve.accuracy, 2)))
        # Baselines far below are not shown, as the legend has them.
        lows = [getattr(self.curve, score).min() for score in BASELINES]
        lowest = min([lowest, *(low for low in lows if low >= lowest - MOST_BELOW)])
        bottom = max(lowest, 0.0) - 0.03
        for score, (name, style) in BASELINES.items():
            curve = getattr(self.curve, score)
            below = ", below" if curve.max() < bottom else ""
            label = f"{name} ({percent(getattr(self.scores, score), 1)}{below})"
            lines += ax.plot(self.curve.rows, curve, linewidth=1.0, label=label, **style)
        ax.set_ylabel("accuracy")
        ax.yaxis.set_major_formatter(base.percent_label)
        ax.set_ylim(bottom, 1.0 + 0.02 * (1.0 - bottom))
        return lines

    def _draw_sizes(self, ax: Axes) -> list[Any]:
        sizes = np.column_stack([self.curve.short_term_size, self.curve.long_term_size])
        lines = ax.plot(
            self.curve.rows, sizes, linewidth=1.2, label=["short-term memory", "long-term memory"]
        )
        for line, color in zip(lines, (base.INK, base.UNRANKED), strict=True):
            line.set_color(color)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("rows in memory")
        ax.yaxis.set_major_formatter("{x:,.0f}")
        if len(self.resets):
            lines += ax.plot(self.resets, np.zeros(len(self.resets)), label="memory reset", **RESET)
        return lines
