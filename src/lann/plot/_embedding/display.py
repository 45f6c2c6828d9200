"""EmbeddingDisplay: rows at their coordinates in one or several embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats
from lann._validation import Integer, OneOf, validate
from lann.plot._axes import panel_axes, single_axes
from lann.plot._embedding.captions import caption_height, write_caption
from lann.plot._embedding.coloring import coloring_options
from lann.plot._embedding.comparison import comparison_options
from lann.plot._embedding.grid import axes_size, embedding_grid
from lann.plot._embedding.legend import (
    draw_color_bar,
    draw_legend,
    explain_marks,
    legend_columns,
    legend_handles,
    legend_height,
)
from lann.plot._embedding.panel import draw_panel
from lann.plot._embedding.rows import embedded_rows
from lann.plot._embedding.validation import (
    check_combination,
    check_coordinates,
    check_labels,
    check_lines,
    check_misclassified,
    check_panels,
    check_texts,
    check_values,
    is_several_panels,
)
from lann.plot._rows import check_class_names
from lann.plot._text import TEXT, escape_math, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The side of a single panel in a new figure, in inches.
SIDE = 4.8


class EmbeddingDisplay:
    """Rows at their coordinates in an embedding; one panel for each of several embeddings.

    Every class has a color and a shape that can be distinguished with any color vision. The rows are drawn
    in random order (the same in every figure), so that no class hides another; the more rows, the smaller.
    In a single panel, the names of the classes are written next to their rows where there is space. The axes
    have no ticks, because only the neighborhoods in an embedding have a meaning. New rows are drawn over the
    training rows, which are pale then. Thin lines lead from rows with a ring to the neighbors that vote on
    them.

    It is recommended to use :meth:`from_estimator` or :meth:`from_comparison` to create the display.

    Parameters
    ----------
    coordinates : array-like of shape (n_rows, 2) or list of them
        The coordinates of the rows; a list has one item per panel.
    labels : array-like of shape (n_rows,), list of them or None, default=None
        The class indices; None if they are unknown.
    class_names : array-like of shape (n_classes,) or None, default=None
        The names of the classes; None for their indices.
    new_coordinates : array-like of shape (n_new, 2), list of them or None, default=None
        The coordinates of new rows, drawn over the others.
    new_labels : array-like of shape (n_new,), list of them or None, default=None
        Their class indices.
    names : list of str or None, default=None
        The names below the panels, such as the method.
    notes : list of str or None, default=None
        The texts below the names, such as accuracies.
    values : array-like of shape (n_rows,) or None, default=None
        What the colors show instead of the class: numbers, or indices into `value_names`. Of the new rows
        if there are any. For a single panel only, as are the following parameters.
    value_names : list of str or None, default=None
        The names of the groups; None if the values are numbers.
    value_label : str, default=""
        The label of the color bar, if the values are numbers.
    emphasize_low : bool, default=False
        Whether low numbers are dark and drawn last, instead of high ones.
    misclassified : array-like of shape (n_rows,) or None, default=None
        Whether each row is misclassified. These rows are emphasized, all others are pale.
    lines : array-like of shape (n_lines, 2, 2) or None, default=None
        The starts and ends of lines from rows to their neighbors.
    line_shares : array-like of shape (n_lines,) or None, default=None
        The vote shares of these neighbors, drawn as line widths.
    title : str, default=""
        The title of the figure.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The first panel.
    axes_ : ndarray of shape (n_panels,)
        The panels.

    Raises
    ------
    ValueError
        If a parameter is invalid, or two parameters do not fit each other.

    See Also
    --------
    lann.embedding.LANNEmbedding : An embedding under learned metrics.
    lann.embedding.compare_embeddings : Compare embeddings of the same data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import LANNEmbedding
    >>> from lann.plot import EmbeddingDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding = LANNEmbedding(max_iter=50, random_state=0).fit(X[::2], y[::2])
    >>> display = EmbeddingDisplay.from_estimator(embedding, X[1::2], y[1::2], color="error")
    >>> display.misclassified.shape
    (75,)
    """

    def __init__(
        self,
        coordinates: Any,
        labels: Any = None,
        *,
        class_names: ArrayLike | None = None,
        new_coordinates: Any = None,
        new_labels: Any = None,
        names: Sequence[str] | None = None,
        notes: Sequence[str] | None = None,
        values: ArrayLike | None = None,
        value_names: Sequence[str] | None = None,
        value_label: str = "",
        emphasize_low: bool = False,
        misclassified: ArrayLike | None = None,
        lines: Floats | None = None,
        line_shares: Floats | None = None,
        title: str = "",
    ) -> None:
        several = is_several_panels(coordinates)
        panels = list(coordinates) if several else [coordinates]
        check_combination(len(panels), values=values, misclassified=misclassified, lines=lines)
        self.coordinates = [check_coordinates("coordinates", panel) for panel in panels]
        self.new_coordinates = [
            None if panel is None else check_coordinates("new_coordinates", panel)
            for panel in check_panels("new_coordinates", new_coordinates, len(panels), several=several)
        ]
        self.labels = _check_all_labels("labels", labels, self.coordinates, several=several)
        self.new_labels = _check_all_labels("new_labels", new_labels, self.new_coordinates, several=several)
        self.class_names = _check_all_class_names(class_names, [*self.labels, *self.new_labels])
        self.names = check_texts("names", names, len(panels))
        self.notes = check_texts("notes", notes, len(panels))
        shown = self.coordinates[0] if self.new_coordinates[0] is None else self.new_coordinates[0]
        self.value_names = None if value_names is None else [str(name) for name in value_names]
        self.values = check_values(values, self.value_names, shown)
        self.misclassified = check_misclassified(misclassified, shown)
        self.lines, self.line_shares = check_lines(lines, line_shares)
        self.value_label = value_label
        self.emphasize_low = emphasize_low
        self.title = title

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
        data_name: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted embedding.

        Parameters
        ----------
        estimator : estimator instance
            A fitted LANNEmbedding or NeighborEmbedding, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features) or None, default=None
            New rows, drawn at the coordinates that `transform` returns; None for the training rows.
        y : array-like of shape (n_samples,) or None, default=None
            The labels of X. If None, the predicted labels; for training rows, their own labels. A
            NeighborEmbedding has no labels: for it, y are the labels of the training rows if X is None.
        color : {"class", "confidence", "error", "dominant"}, str or int, default="class"
            What the colors show. "confidence": the probability of the predicted class; "error": rows
            that are misclassified; "dominant": the feature that the prediction depends on most; the name or
            index of a feature: its relevance. All but "class" need the classifier of a LANNEmbedding. A
            training row does not vote on itself, but confidence and errors of training rows are still
            optimistic, because the metrics were learned from them.
        lines_from : int, array-like of shape (n_lines_from,) or None, default=None
            Positions of rows, of X or of the training rows, from which lines are drawn to their neighbors.
            The line width is the vote share of the neighbor; neighbors with less than 2 % have no line.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of `classes_`; None for the labels.
        data_name : str, default=""
            The name of the data, for the title.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : EmbeddingDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If the estimator is not an embedding in two dimensions, or cannot provide what is to be shown.
        """
        embedded = embedded_rows(estimator, X, y)
        options = coloring_options(embedded, color, data_name)
        if lines_from is not None:
            options["lines"], options["line_shares"] = embedded.neighbor_lines(lines_from)
        if embedded.classes is not None:
            options["class_names"] = check_class_names(embedded.classes, class_names)
        display = cls(
            embedded.training_coordinates, embedded.training_labels,
            new_coordinates=embedded.new_coordinates, new_labels=embedded.new_labels, **options,
        )  # fmt: skip
        return display.plot(ax)

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        subset: str = "training",
        class_names: ArrayLike | None = None,
        n_columns: int | None = None,
        title: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the embeddings of a comparison side by side, with their accuracies.

        Parameters
        ----------
        comparison : EmbeddingComparison
            The result of :func:`lann.embedding.compare_embeddings`.
        subset : {"training", "held_out"}, default="training"
            The rows to draw: the training rows, or the held-out rows over them.
        class_names : array-like of shape (n_classes,) or None, default=None
            The names of the classes, in the order of the sorted labels; None for the labels.
        n_columns : int or None, default=None
            The number of panels side by side; None for at most four.
        title : str, default=""
            The title of the figure.
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels. If None, a new figure is created.

        Returns
        -------
        display : EmbeddingDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If the comparison has no panels, or no held-out rows to draw.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann.embedding import compare_embeddings, paper_embeddings
        >>> from lann.plot import EmbeddingDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> methods = {name: paper_embeddings()[name] for name in ("PCA", "LDA")}
        >>> comparison = compare_embeddings(X, y, embeddings=methods)
        >>> EmbeddingDisplay.from_comparison(comparison).names
        ['PCA', 'LDA']
        """
        options = comparison_options(comparison, subset=subset, class_names=class_names)
        return cls(**options, title=title).plot(ax, n_columns=n_columns)

    def plot(self, ax: Axes | None = None, *, n_columns: int | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels if there are several. If None, a new figure is
            created.
        n_columns : int or None, default=None
            The number of panels side by side; None for at most four.

        Returns
        -------
        display : EmbeddingDisplay
            The display itself.

        Raises
        ------
        ValueError
            If `n_columns` is invalid, or the given axes are too small for the panels.
        """
        validate("n_columns", n_columns, Integer(1), OneOf(None))
        n_panels = len(self.coordinates)
        if n_panels == 1:
            self._plot_one(ax)
        else:
            n_columns = min(n_panels, n_columns or (3 if n_panels in (3, 5, 6, 9) else 4))
            self._plot_several(ax, n_columns)
        return self

    def _plot_one(self, ax: Axes | None) -> None:
        has_color_bar = self.values is not None and self.value_names is None
        handles = [] if has_color_bar else legend_handles(self, 24)
        width = SIDE if ax is None else min(axes_size(ax))
        columns = legend_columns(handles, width)
        legend = 0.6 if has_color_bar else legend_height(handles, columns)
        title = wrap_text(self.title, width, TEXT + 1)
        note = "\n".join(text for text in (self.notes[0], explain_marks(self)) if text)
        caption = caption_height(self.names[0], note, width=width)
        self.figure_, self.ax_ = single_axes(
            ax, (SIDE + 0.1, SIDE + 0.1 + 0.2 * len(title.splitlines()) + caption / 72 + legend)
        )
        self.axes_ = np.array([self.ax_], dtype=object)
        self.ax_.set_title(escape_math(title), fontsize=TEXT + 1)
        scale = draw_panel(self.ax_, self, 0, width=width)
        write_caption(self.ax_, self.names[0], note, width=width)
        if scale is not None:
            draw_color_bar(self.ax_, scale, self.value_label, offset=caption + 4)
        elif handles:
            draw_legend(self.ax_, handles, columns, offset=caption + 4)

    def _plot_several(self, ax: Axes | None, n_columns: int) -> None:
        n_panels = len(self.coordinates)
        handles = legend_handles(self, 16)
        grid = embedding_grid(self, handles, ax, n_columns)
        self.figure_, axes = panel_axes(ax, grid.panels, self.title)
        self.axes_ = axes.ravel()[:n_panels]
        self.ax_ = self.axes_[0]
        for panel in axes.ravel()[n_panels:]:
            panel.set_axis_off()
        for index, panel in enumerate(self.axes_):
            draw_panel(panel, self, index, width=grid.panel_width)
            write_caption(panel, self.names[index], self.notes[index], width=grid.panel_width)
        if grid.legend_in_corner:
            draw_legend(axes[-2, -1], handles, grid.legend_columns)
        elif handles:
            bottom = self.figure_.add_subplot(axes[-1, 0].get_subplotspec().get_gridspec()[-1, :])
            bottom.set_axis_off()
            draw_legend(bottom, handles, grid.legend_columns, offset=0.0, anchor=1.0)


def _check_all_labels(name: str, given: Any, coordinates: Sequence[Any], *, several: bool) -> list[Any]:
    panels = check_panels(name, given, len(coordinates), several=several)
    return [check_labels(name, labels, rows) for labels, rows in zip(panels, coordinates, strict=True)]


def _check_all_class_names(class_names: ArrayLike | None, labels: Sequence[Any]) -> list[str]:
    """Return the given names, which may be more than there are labels, or the class indices."""
    n_classes = max((int(panel.max()) + 1 for panel in labels if panel is not None), default=0)
    if class_names is None:
        return [str(label) for label in range(n_classes)]
    names = [str(name) for name in np.asarray(class_names)]
    if len(names) < n_classes:
        raise ValueError(f"class_names must have {n_classes} names, one per class; got {len(names)}.")
    return names
