"""EmbeddingDisplay: points where an embedding puts them, and several embeddings beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats, Labels
from lann._validation import Integer, OneOf, validate
from lann.plot._embedding.frame import caption_height
from lann.plot._embedding.grid import grid_of, inches
from lann.plot._embedding.legend import draw_key, draw_scale, key_columns, key_entries, key_height
from lann.plot._embedding.panel import draw_panel
from lann.plot._embedding.rows import embedded_by
from lann.plot._embedding.validation import (
    as_labels,
    as_lines,
    as_panels,
    as_places,
    as_texts,
    as_values,
    as_wrong,
    check_together,
    is_several,
)
from lann.plot._rows import names_of_classes
from lann.plot._style import TEXT, one_panel, panels, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = ("training", "held out")
# Inches of a panel by itself.
ALONE = 4.8


class EmbeddingDisplay:
    """Points where an embedding puts them; small multiples for several embeddings.

    A class has a color and a shape, told apart with any color vision. Points are drawn in an order by lot
    (always the same), so that no class hides another. The axes have no ticks: only who is near whom means
    something. New points are drawn over those of the fit, which are pale then.

    Parameters
    ----------
    places : (n_points, 2), or a list of these, a panel each
    labels : (n_points,) places in `class_names`, or a list of these; None where they are not known
    class_names : (n_classes,); None numbers them
    new_places : (n_new, 2), or a list of these; drawn over `places`
    new_labels : (n_new,), or a list of these
    names : what stands below each panel: the method
    notes : what stands below that: accuracies
    values : (n_points,) what colors say instead of the class, of the new points where there are some:
        numbers, or places in `value_names`
    value_names : (n_groups,) what the values stand for; None for numbers
    unit
        What the numbers are, as their scale says it.
    low_stands_out
        Whether low numbers are dark, and over the others, rather than high ones.
    wrong : (n_points,) points that are marked; all others are pale
    lines : (n_lines, 2, 2) ends of lines, from a point to a neighbor
    line_shares : (n_lines,) how thick they are: the neighbors' shares of the vote
    title
        Above all.

    Attributes
    ----------
    figure_, ax_ : where it was drawn; `ax_` is the first panel
    axes_ : (n_panels,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import LANNEmbedding
    >>> from lann.plot import EmbeddingDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding = LANNEmbedding(n_epochs=50, random_state=0).fit(X[::2], y[::2])
    >>> display = EmbeddingDisplay.from_estimator(embedding, X[1::2], y[1::2], color="error")
    >>> display.wrong.shape
    (75,)
    """

    def __init__(
        self,
        places: Any,
        labels: Any = None,
        *,
        class_names: ArrayLike | None = None,
        new_places: Any = None,
        new_labels: Any = None,
        names: Sequence[str] | None = None,
        notes: Sequence[str] | None = None,
        values: ArrayLike | None = None,
        value_names: Sequence[str] | None = None,
        unit: str = "",
        low_stands_out: bool = False,
        wrong: ArrayLike | None = None,
        lines: Floats | None = None,
        line_shares: Floats | None = None,
        title: str = "",
    ) -> None:
        several = is_several(places)
        own = list(places) if several else [places]
        n_panels = len(own)
        check_together(n_panels, values=values, wrong=wrong, lines=lines)
        self.places = [as_places("places", one) for one in own]
        new = as_panels("new_places", new_places, n_panels, several=several)
        self.new_places = [None if one is None else as_places("new_places", one) for one in new]
        self.labels = self._as_labels("labels", labels, self.places, several)
        self.new_labels = self._as_labels("new_labels", new_labels, self.new_places, several)
        known = [one for one in [*self.labels, *self.new_labels] if one is not None]
        n_classes = max((int(one.max()) + 1 for one in known), default=0)
        self.class_names = names_of_classes(np.arange(n_classes), None)
        if class_names is not None:
            self.class_names = [str(name) for name in np.asarray(class_names)]
        if len(self.class_names) < n_classes:
            raise ValueError(
                f"class_names must name the {n_classes} classes; got {len(self.class_names)} names."
            )
        self.names = as_texts("names", names, n_panels)
        self.notes = as_texts("notes", notes, n_panels)
        front = self.places[0] if self.new_places[0] is None else self.new_places[0]
        self.value_names = None if value_names is None else [str(name) for name in value_names]
        self.values = as_values(values, self.value_names, front)
        self.wrong = as_wrong(wrong, front)
        self.lines, self.line_shares = as_lines(lines, line_shares)
        self.unit = unit
        self.low_stands_out = low_stands_out
        self.title = title

    @staticmethod
    def _as_labels(name: str, given: Any, places: list[Any], several: bool) -> list[Any]:
        of_panels = as_panels(name, given, len(places), several=several)
        return [as_labels(name, one, its) for one, its in zip(of_panels, places, strict=True)]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        color: Any = "class",
        lines_from: ArrayLike | None = None,
        class_names: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted embedding.

        Parameters
        ----------
        estimator
            A fitted LANNEmbedding or NeighborEmbedding, or a pipeline that ends in one.
        X : (n_rows, n_features) new points, placed by `transform`; None draws the points of the fit
        y : (n_rows,) their labels; None takes the predictions (of the points of the fit, their own labels).
            A NeighborEmbedding knows no labels: give those of the points of the fit with X=None
        color
            What colors say: "class"; "confidence", the largest share of a vote; "error", points on which
            the neighbors vote for another class; "dominant", the feature that a prediction hangs on most;
            or the name or number of a feature, how much hangs on that one. All but "class" need the
            classifier of a LANNEmbedding. Points of the fit do not vote on themselves; still, they have
            taught the metrics, so that new points are the better judges.
        lines_from : (n_wanted,) rows from which lines go to the neighbors that decided, thick where a
            neighbor had much of the vote: rows of X, or of the points of the fit
        class_names : (n_classes,) in the order of `classes_`; None shows the labels
        ax
            Where to draw; None makes a figure.
        """
        found = embedded_by(estimator, X, y)
        said = found.said_by(color)
        if lines_from is not None:
            said["lines"], said["line_shares"] = found.lines_from(lines_from)
        names = None if found.classes is None else names_of_classes(found.classes, class_names)
        display = cls(
            found.training_places, found.training_labels, new_places=found.new_places,
            new_labels=found.new_labels, class_names=names, **said,
        )  # fmt: skip
        return display.plot(ax)

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        points: str = "training",
        class_names: ArrayLike | None = None,
        n_columns: int | None = None,
        title: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the panels of a comparison beside each other, with their accuracies below.

        Parameters
        ----------
        comparison
            What `lann.embedding.compare_embeddings` returns: it has `panels`, each with a `name`, `places`,
            `labels`, `held_out_places`, `held_out_labels`, `accuracy` and `held_out_accuracy`.
        points
            "training": the points of the fit; "held out": the others, over these.
        class_names : (n_classes,) in the order of the sorted labels; None shows the labels
        n_columns
            Panels beside each other; None is at most four.
        title
            Above all.
        ax
            Where to draw; None makes a figure.
        """
        validate("points", points, OneOf(*POINTS))
        shown = list(comparison.panels)
        if not shown:
            raise ValueError("comparison must have at least one panel; got none.")
        labels = [np.asarray(panel.labels) for panel in shown]
        new_places: list[Floats] | None = None
        new_labels: list[Labels] | None = None
        if points == "held out":
            if any(panel.held_out_places is None for panel in shown):
                raise ValueError("points='held out' needs held-out points in every panel of the comparison.")
            new_places = [panel.held_out_places for panel in shown]
            new_labels = [np.asarray(panel.held_out_labels) for panel in shown]
        classes = np.unique(np.concatenate([*labels, *(new_labels or [])]))
        display = cls(
            [panel.places for panel in shown],
            [np.searchsorted(classes, own) for own in labels],
            new_places=new_places,
            new_labels=None if new_labels is None else [np.searchsorted(classes, own) for own in new_labels],
            class_names=names_of_classes(classes, class_names),
            names=[panel.name for panel in shown],
            notes=[_accuracies(panel.accuracy, panel.held_out_accuracy) for panel in shown],
            title=title,
        )
        return display.plot(ax, n_columns=n_columns)

    def plot(self, ax: Axes | None = None, *, n_columns: int | None = None) -> Self:
        """Draw, on new axes or those given; see `from_comparison`."""
        validate("n_columns", n_columns, Integer(1), OneOf(None))
        n_panels = len(self.places)
        if n_panels == 1:
            self._plot_one(ax)
        else:
            n_columns = min(n_panels, n_columns or (3 if n_panels in (3, 5, 6, 9) else 4))
            self._plot_several(ax, n_columns)
        return self

    def _plot_one(self, ax: Axes | None) -> None:
        numbers = self.values is not None and self.value_names is None
        entries = [] if numbers else key_entries(self, 24)
        width = ALONE if ax is None else min(inches(ax))
        beside = key_columns(entries, width)
        tall = 0.6 if numbers else key_height(entries, beside)
        head = 0.2 * len(self.title.splitlines())
        below = caption_height(self.names[0], self.notes[0], width=width)
        self.figure_, self.ax_ = one_panel(ax, (ALONE + 0.1, ALONE + 0.1 + head + below / 72 + tall))
        self.axes_ = np.array([self.ax_], dtype=object)
        self.ax_.set_title(plain(self.title), fontsize=TEXT + 1)
        scale = draw_panel(self.ax_, self, 0, width=width)
        if scale is not None:
            draw_scale(self.ax_, scale, self.unit, down=below + 4)
        elif entries:
            draw_key(self.ax_, entries, beside, down=below + 4)

    def _plot_several(self, ax: Axes | None, n_columns: int) -> None:
        n_panels = len(self.places)
        entries = key_entries(self, 16)
        grid = grid_of(self, entries, ax, n_columns)
        n_rows = len(grid.heights) - 1
        self.figure_, axes = panels(
            ax, (n_rows + 1, n_columns), grid.size, title=self.title, heights=grid.heights,
            spaces=grid.spaces,
        )  # fmt: skip
        self.axes_ = axes.ravel()[:n_panels]
        self.ax_ = self.axes_[0]
        for panel in axes.ravel()[n_panels:]:
            panel.set_axis_off()
        for place, panel in enumerate(self.axes_):
            draw_panel(panel, self, place, width=grid.width)
        if grid.in_corner:
            draw_key(axes[n_rows - 1, -1], entries, grid.key_columns)
        elif entries:
            foot = self.figure_.add_subplot(axes[-1, 0].get_subplotspec().get_gridspec()[-1, :])
            foot.set_axis_off()
            draw_key(foot, entries, grid.key_columns, down=0.0, at=1.0)


def _accuracies(own: float | None, held_out: float | None) -> str:
    """As they stand below a panel."""
    said = [("re-classified", own), ("held out", held_out)]
    return ", ".join(f"{name} {_brief(value)}" for name, value in said if value is not None)


def _brief(share: float) -> str:
    """Two digits, without the zero before them.

    >>> _brief(0.957), _brief(1.0)
    ('.96', '1.00')
    """
    return f"{share:.2f}".removeprefix("0")
