"""EmbeddingDisplay: rows at their coordinates in one or several embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.inputs import check_columns
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, OneOf, count_dimensions, validate
from lann.columns.inputs import as_fitted
from lann.explain import LEAST_RELEVANCE
from lann.plot._axes import SMALL, TEXT, Display, escape_math, largest_first, shorten, wrap_text
from lann.plot._embedding_panel import (
    LINE_HEIGHT,
    NO_FEATURE,
    OTHER_FEATURES,
    caption_height,
    draw_legend,
    draw_panel,
    legend_columns,
    legend_handles,
    offset_below,
    write_caption,
)
from lann.plot._rows import Rows, check_class_names, last_step, select_rows, stored_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The side of a single panel and the width of one of several panels in a new figure, in inches.
SIDE, WIDTH = 4.8, 2.4
# The maximum number of lines of a legend in an empty corner.
MAX_LINES = 12
# The horizontal space between panels in given axes, as a fraction of a panel.
SPACING = 0.08
COLORS = ("class", "confidence", "error", "dominant")
# The number of features with a color of their own, if rows are colored by their most relevant feature.
N_NAMED_FEATURES = 6


class EmbeddingDisplay(Display):
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
        several = isinstance(coordinates, list | tuple) and count_dimensions(coordinates[0]) == 2
        panels = list(coordinates) if several else [coordinates]
        one_panel = {"values": values, "misclassified": misclassified, "lines": lines}
        given = [name for name, value in one_panel.items() if value is not None]
        if given and len(panels) > 1:
            raise ValueError(f"{given[0]} can be shown in one panel only; got {len(panels)} panels.")
        if {"values", "misclassified"} <= set(given):
            raise ValueError("values and misclassified cannot both be shown; got both.")

        def per_panel(name: str, items: Any) -> list[Any]:
            if items is None or not several:
                return [items] * len(panels)
            if not isinstance(items, list | tuple) or len(items) != len(panels):
                raise ValueError(f"{name} must be a list with one item for each of {len(panels)} panels.")
            return list(items)

        def check_labels(name: str, items: Any, rows: Sequence[Any]) -> list[Any]:
            pairs = zip(per_panel(name, items), rows, strict=True)
            return [_check_indices(name, own, panel, "class_names") for own, panel in pairs]

        self.coordinates = [_check_coordinates("coordinates", panel) for panel in panels]
        self.new_coordinates = [
            None if panel is None else _check_coordinates("new_coordinates", panel)
            for panel in per_panel("new_coordinates", new_coordinates)
        ]
        self.labels = check_labels("labels", labels, self.coordinates)
        self.new_labels = check_labels("new_labels", new_labels, self.new_coordinates)
        present = [panel for panel in (*self.labels, *self.new_labels) if panel is not None]
        n_classes = max((int(panel.max()) + 1 for panel in present), default=0)
        self.class_names = [
            str(name) for name in (range(n_classes) if class_names is None else np.asarray(class_names))
        ]
        if len(self.class_names) < n_classes:
            raise ValueError(
                f"class_names must have {n_classes} names, one per class; got {len(self.class_names)}."
            )
        self.names = [""] * len(panels) if names is None else [str(name) for name in names]
        self.notes = [""] * len(panels) if notes is None else [str(note) for note in notes]
        shown = self.coordinates[0] if self.new_coordinates[0] is None else self.new_coordinates[0]
        self.value_names = None if value_names is None else [str(name) for name in value_names]
        self.values = self.misclassified = None
        if self.value_names is not None:
            self.values = _check_indices("values", values, shown, "value_names")
        elif values is not None:
            self.values = _check_length("values", values, shown).astype(np.float64)
        if misclassified is not None:
            self.misclassified = _check_length("misclassified", misclassified, shown).astype(bool)
        self.lines = np.empty((0, 2, 2)) if lines is None else np.asarray(lines, dtype=np.float64)
        self.line_shares = np.empty(0) if line_shares is None else np.asarray(line_shares, dtype=np.float64)
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
        embedded = _EmbeddedRows(estimator, X, y)
        options = embedded.color_options(color, data_name)
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
        validate("subset", subset, OneOf("training", "held_out"))
        panels = list(comparison.panels)
        if not panels:
            raise ValueError("comparison must have at least one panel; got none.")
        options: dict[str, Any] = {}
        labels, new_labels = [np.asarray(panel.labels) for panel in panels], []
        if subset == "held_out":
            if any(panel.held_out_coordinates is None for panel in panels):
                raise ValueError("subset='held_out' needs held-out rows in every panel of the comparison.")
            options["new_coordinates"] = [panel.held_out_coordinates for panel in panels]
            new_labels = [np.asarray(panel.held_out_labels) for panel in panels]
        classes = np.unique(np.concatenate([*labels, *new_labels]))
        if new_labels:
            options["new_labels"] = [np.searchsorted(classes, panel) for panel in new_labels]
        display = cls(
            [panel.coordinates for panel in panels],
            [np.searchsorted(classes, panel) for panel in labels],
            class_names=check_class_names(classes, class_names),
            names=[panel.name for panel in panels],
            notes=[_format_accuracies(panel.accuracy, panel.held_out_accuracy) for panel in panels],
            title=title,
            **options,
        )
        return display.plot(ax, n_columns=n_columns)

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
            If `n_columns` is invalid.
        """
        validate("n_columns", n_columns, Integer(1), OneOf(None))
        n_panels = len(self.coordinates)
        if n_panels == 1:
            self._plot_one(ax)
        else:
            self._plot_several(ax, min(n_panels, n_columns or (3 if n_panels in (3, 5, 6, 9) else 4)))
        return self

    def _plot_one(self, ax: Axes | None) -> None:
        has_color_bar = self.values is not None and self.value_names is None
        handles = [] if has_color_bar else legend_handles(self, 24)
        width = SIDE if ax is None else min(_axes_size(ax))
        columns = legend_columns(handles, width)
        legend = 0.6 if has_color_bar else _legend_height(handles, columns)
        title = wrap_text(self.title, width, TEXT + 1)
        marks = []
        if self.new_coordinates[0] is not None:
            shows_classes = self.values is None and self.misclassified is None
            marks.append("pale: training rows" if shows_classes else "light gray: training rows")
        if len(self.lines):
            marks.append("lines: from a row with a ring to its neighbors, the wider, the larger their vote")
        note = "\n".join(text for text in (self.notes[0], "; ".join(marks)) if text)
        caption = caption_height(self.names[0], note, width=width)
        height = SIDE + 0.1 + 0.2 * len(title.splitlines()) + caption / 72 + legend
        self._create_axes(ax, (SIDE + 0.1, height))
        self.axes_ = np.array([self.ax_], dtype=object)
        self.ax_.set_title(escape_math(title), fontsize=TEXT + 1)
        scale = draw_panel(self.ax_, self, 0, width=width)
        write_caption(self.ax_, self.names[0], note, width=width)
        if scale is not None:
            self._draw_scale(scale, offset=caption + 4)
        elif handles:
            draw_legend(self.ax_, handles, columns, offset=caption + 4)

    def _draw_scale(self, drawn: Any, *, offset: float) -> None:
        """Draw the color bar of numbers, `offset` points below the panel."""
        from matplotlib.cm import ScalarMappable

        bar_ax = self.ax_.inset_axes((0.15, -0.025, 0.7, 0.025), transform=offset_below(self.ax_, offset))
        opaque = ScalarMappable(drawn.norm, drawn.cmap)
        bar = self.figure_.colorbar(opaque, cax=bar_ax, orientation="horizontal")
        bar.set_label(escape_math(self.value_label), fontsize=SMALL)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)

    def _plot_several(self, ax: Axes | None, n_columns: int) -> None:
        """Draw one panel per embedding, and the legend in an empty corner if it fits, or else below."""
        n_panels, handles = len(self.coordinates), legend_handles(self, 16)
        n_rows = -(-n_panels // n_columns)
        total_width, total_height = (WIDTH * n_columns, None) if ax is None else _axes_size(ax)
        width = WIDTH if ax is None else total_width / (n_columns + SPACING * (n_columns - 1))
        captions = zip(self.names, self.notes, strict=True)
        caption = (2.0 + max(caption_height(name, note, width=width) for name, note in captions)) / 72
        max_lines = MAX_LINES
        if total_height is not None:
            max_lines = min(MAX_LINES, int((total_height / n_rows - caption) / LINE_HEIGHT))
        has_corner = n_panels < n_rows * n_columns and max_lines > 0
        in_corner = legend_columns(handles, width, max_lines=max_lines) if has_corner else 0
        columns = in_corner or legend_columns(handles, total_width)
        legend = 0.0 if in_corner else _legend_height(handles, columns)
        ratios, spacing = [*[1.0] * n_rows, 0.001], None
        if total_height is not None and not _has_constrained_layout(ax):
            # matplotlib does not make space for the captions.
            height = max((total_height - legend) / n_rows - caption, 0.1)
            ratios = [*[height] * n_rows, max(legend, 0.001)]
            spacing = (caption / float(np.mean(ratios)), SPACING)
        size = (total_width, 0.35 + (WIDTH + 0.4) * n_rows + legend)
        axes = self._create_panels(
            ax, self.title, (n_rows + 1, n_columns), size, spacing=spacing, height_ratios=ratios
        )
        self.axes_ = axes.ravel()[:n_panels]
        self.ax_ = self.axes_[0]
        for panel in axes.ravel()[n_panels:]:
            panel.set_axis_off()
        for index, panel in enumerate(self.axes_):
            draw_panel(panel, self, index, width=width)
            write_caption(panel, self.names[index], self.notes[index], width=width)
        if in_corner:
            draw_legend(axes[-2, -1], handles, columns)
        elif handles:
            bottom = self.figure_.add_subplot(axes[-1, 0].get_subplotspec().get_gridspec()[-1, :])
            bottom.set_axis_off()
            draw_legend(bottom, handles, columns, offset=0.0, anchor=1.0)


class _EmbeddedRows:
    """Training rows of a fitted embedding, new rows that are drawn over them, and what colors can show.

    Parameters
    ----------
    estimator : estimator
        A fitted LANNEmbedding or NeighborEmbedding, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features) or None
        New rows; None to show the training rows.
    y : array-like of shape (n_samples,) or None
        Their labels.
    """

    training_labels: Labels | None
    new_labels: Labels | None
    new_coordinates: Floats | None = None
    classes: NDArray[Any] | None
    # The rows that are shown, as the classifier sees them; None without a classifier.
    rows: Rows | None = None

    def __init__(self, estimator: Any, X: ArrayLike | None, y: ArrayLike | None) -> None:
        embedding = last_step(estimator)
        if not hasattr(embedding, "embedding_"):
            raise ValueError(
                f"The estimator must be a LANNEmbedding or NeighborEmbedding; got {type(embedding).__name__}."
            )
        self.training_coordinates: Floats = _check_coordinates("embedding_", embedding.embedding_)
        self.has_labels = y is not None
        if hasattr(embedding, "classifier_"):
            self._read_with_classifier(estimator, embedding, X, y)
        else:
            if X is not None:
                check_columns(estimator, X)
                self.new_coordinates = np.asarray(estimator.transform(X))
            self.classes, labels = (None, None) if y is None else np.unique(y, return_inverse=True)
            self.training_labels, self.new_labels = (labels, None) if X is None else (None, labels)
        self.coordinates = self.training_coordinates if self.new_coordinates is None else self.new_coordinates

    def _read_with_classifier(self, estimator: Any, embedding: Any, X: Any, y: Any) -> None:
        from sklearn.pipeline import Pipeline

        classifier = embedding.classifier_
        trained, self.training_labels = stored_rows(classifier)
        if not np.array_equal(embedding.model_.X, trained, equal_nan=True):
            raise ValueError("The classifier was trained with other rows since; fit the embedding again.")
        model = classifier
        if embedding is not estimator:
            model = Pipeline([*estimator.steps[:-1], ("classifier", classifier)])
        self.rows = select_rows(model, X, y)
        self.classes, self.new_labels = classifier.classes_, None
        if X is None:
            self.has_labels = True
        else:
            self.new_coordinates = embedding.transform(as_fitted(classifier, self.rows.X))
            self.new_labels = self.rows.labels

    def _classifier_rows(self, parameter: str) -> Rows:
        if self.rows is None:
            raise ValueError(f"{parameter} needs the classifier of a LANNEmbedding; this embedding has none.")
        return self.rows

    def _votes(self, parameter: str) -> tuple[Indices, Floats, Floats]:
        """Return neighbors, shares and probabilities; a training row does not vote on itself."""
        rows = self._classifier_rows(parameter)
        exclude = np.arange(len(rows.X)) if self.new_coordinates is None else None
        model = rows.model.model_
        neighbors, distances = model.voters(rows.X, exclude=exclude, n_jobs=rows.model.n_jobs)
        return neighbors, *model.vote(neighbors, distances)

    def neighbor_lines(self, wanted: ArrayLike) -> tuple[Floats, Floats]:
        """Return lines from some of the rows to their neighbors, (n_lines, 2, 2), and the vote shares."""
        neighbors, shares, _ = self._votes("lines_from")
        rows = np.atleast_1d(np.asarray(wanted))
        for row in rows.tolist():
            validate("lines_from", row, Integer(0, len(self.coordinates) - 1))
        ends = self.training_coordinates[neighbors[rows]]  # (n_wanted, k, 2)
        starts = np.broadcast_to(self.coordinates[rows][:, None], ends.shape)
        return np.stack([starts, ends], axis=2).reshape(-1, 2, 2), shares[rows].ravel()

    def color_options(self, color: Any, data_name: str) -> dict[str, Any]:
        """Return the keyword arguments of EmbeddingDisplay for a choice of colors, including a title."""
        number = f"{len(self.training_coordinates)} training rows"
        if self.new_coordinates is not None:
            number = f"{len(self.new_coordinates)} new rows among {number}"
        title = f"{data_name}: {number}" if data_name else number
        if color == "class":
            return {"title": f"Embedding: similar rows are near each other\n{title}"}
        parameter = f"color={color!r}"
        if color == "confidence":
            return {
                "values": self._votes(parameter)[2].max(axis=1),
                "value_label": "probability of the predicted class",
                "emphasize_low": True,
                "title": f"Probability of the prediction\n{title}",
            }
        rows = self._classifier_rows(parameter)
        if color == "error":
            if not self.has_labels:
                raise ValueError("color='error' needs the labels of X; got y=None.")
            wrong = self._votes(parameter)[2].argmax(axis=1) != rows.labels
            title = f"{wrong.sum()} of {len(wrong)} rows are misclassified\n{title}"
            return {"misclassified": wrong, "title": title}
        if color == "dominant":
            values, names = _dominant_features(rows)
            title = f"Most relevant feature of each row\n{title}"
            return {"values": values, "value_names": names, "title": title}
        feature = _feature_index(color, rows.feature_names)
        name = shorten(rows.feature_names[feature], 24)
        return {
            "values": rows.explain().relevances[:, feature],
            "value_label": f"share of the vote that depends on {name}",
            "title": f"Relevance of {name}\n{title}",
        }


def _dominant_features(rows: Rows) -> tuple[Indices, list[str]]:
    """Return the most relevant feature of each row, as an index into the names of the most frequent ones.

    All features that are not among the most frequent ones share a name, and so do all rows to which no single
    feature is relevant.
    """
    relevances = rows.explain().relevances
    dominant, is_clear = relevances.argmax(axis=1), relevances.max(axis=1) >= LEAST_RELEVANCE
    counts = np.bincount(dominant[is_clear], minlength=len(rows.feature_names))
    n_present = int((counts > 0).sum())
    named = largest_first(counts.astype(np.float64), min(N_NAMED_FEATURES, n_present))
    indices = np.full(len(counts), len(named))
    indices[named] = np.arange(len(named))
    names = [str(rows.feature_names[feature]) for feature in named]
    names += [OTHER_FEATURES] * (n_present > len(named))
    values = np.where(is_clear, indices[dominant], len(names))
    return values, names + [NO_FEATURE] * (not is_clear.all())


def _feature_index(color: Any, feature_names: NDArray[Any]) -> int:
    names = list(feature_names)
    if isinstance(color, str) and color in names:
        return names.index(color)
    is_integer = isinstance(color, int | np.integer) and not isinstance(color, bool)
    if is_integer and 0 <= color < len(names):
        return int(color)
    raise ValueError(
        f"color must be one of {', '.join(map(repr, COLORS))}, the name of a feature, or its index from 0 "
        f"to {len(names) - 1}; got {color!r}."
    )


def _format_accuracies(leave_one_out: float | None, held_out: float | None) -> str:
    """Format the accuracies of an embedding, without those that are None.

    >>> _format_accuracies(0.957, 1.0)
    'leave-one-out .96, held-out 1.00'
    """
    accuracies = (("leave-one-out", leave_one_out), ("held-out", held_out))
    texts = [
        f"{name} {f'{accuracy:.2f}'.removeprefix('0')}"
        for name, accuracy in accuracies
        if accuracy is not None
    ]
    return ", ".join(texts)


def _axes_size(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes, in inches."""
    subplot = ax.get_subplotspec()
    box: Any = ax.get_position() if subplot is None else subplot.get_position(ax.figure)  # type: ignore[arg-type]
    width, height = box.transformed(ax.figure.transSubfigure).size / ax.figure.dpi
    return float(width), float(height)


def _has_constrained_layout(ax: Axes | None) -> bool:
    """Return whether matplotlib itself makes space for the captions."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return ax is None or isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine)


def _legend_height(handles: list[Any], n_columns: int) -> float:
    """Return the height of a legend below a panel, in inches."""
    return 0.2 + LINE_HEIGHT * -(-len(handles) // max(n_columns, 1)) if handles else 0.0


def _check_coordinates(name: str, given: Any) -> Floats:
    """Return finite coordinates, (n_rows, 2)."""
    coordinates = np.asarray(given, dtype=np.float64)
    if coordinates.ndim != 2 or coordinates.shape[1] != 2 or len(coordinates) == 0:
        raise ValueError(f"{name} must have 2 dimensions to be drawn; got shape {coordinates.shape}.")
    if not np.isfinite(coordinates).all():
        raise ValueError(f"{name} must be finite; got {coordinates[~np.isfinite(coordinates)][0]}.")
    return coordinates


def _check_length(name: str, given: Any, rows: Floats | None) -> NDArray[Any]:
    """Return one value per row, (n_rows,)."""
    values, n_rows = np.asarray(given), 0 if rows is None else len(rows)
    if values.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one value per row; got {values.shape}.")
    return values


def _check_indices(name: str, given: Any, rows: Floats | None, names: str) -> Labels | None:
    """Return one index into the names per row, (n_rows,)."""
    if given is None:
        return None
    indices = _check_length(name, given, rows)
    if indices.dtype.kind not in "iu" or indices.min() < 0:
        raise ValueError(
            f"{name} must be indices into {names}, integers from 0; got {indices[0]!r} "
            "(np.unique(…, return_inverse=True) returns names and indices)."
        )
    return indices.astype(np.int64)
