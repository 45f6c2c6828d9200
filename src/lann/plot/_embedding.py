"""EmbeddingDisplay: rows at their coordinates in one or several embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from lann._support.format import class_color
from lann._support.inputs import check_columns
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, OneOf, validate
from lann.columns.inputs import as_fitted
from lann.explain import LEAST_RELEVANCE
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# The side of a single panel and of one of several panels in a new figure, in inches.
SIDE, WIDTH = 4.8, 2.4
COLORS = ("class", "confidence", "error", "dominant")
# Parameters that are lists with an item per panel.
PER_PANEL = ("coordinates", "labels", "new_coordinates", "new_labels")
# The number of features with a color of their own, if rows are colored by their most relevant feature, and
# the groups of rows without one.
N_NAMED_FEATURES = 6
OTHER_FEATURES, NO_FEATURE = "other features", "no single feature"
# Factors of the marker sizes with which all shapes have about the same area.
AREA_FACTORS = {"o": 1.0, "s": 0.8, "^": 1.2, "D": 0.62, "v": 1.2, "P": 1.15, "X": 1.1}
# The part of a panel that the markers would cover side by side, and the limits of their size in points².
COVERAGE, MIN_SIZE, MAX_SIZE = 0.3, 2.5, 18.0
# Markers of more rows are more transparent, and rasterized in vector graphics.
MANY_ROWS = 2000
# The part of white in pale colors.
PALENESS = 0.72
DARK, LINE_COLOR = "#1A1A1A", "#6B6B6B"
# Numbers, from light to dark; the lightest is still visible on white.
LIGHT_TO_DARK = [(0.0, "#D3D9E1"), (0.2, "#7FB2D9"), (0.5, base.FOR), (1.0, "#08263F")]
# The factor of the size of misclassified rows, and their maximum size, in points².
MISCLASSIFIED_FACTOR, MAX_MISCLASSIFIED_SIZE = 2.2, 40.0
# The limits of the line widths, in points; neighbors with a smaller share of the vote have no line.
MAX_LINEWIDTH, MIN_LINEWIDTH, MIN_SHARE = 1.5, 0.4, 0.02
# Outliers are at most this part of the rows at each end of an axis, farther from the other rows than this
# part of their range, and at most this part of a class.
OUTLIER_QUANTILE, OUTLIER_DISTANCE, MAX_CLASS_SHARE = 0.01, 0.3, 0.1
# The name of a class is written above those of its rows that are within this part of the panel.
NEAR = 0.06
# The color and the shape of rows without a class or feature of their own.
OTHER, NO_CLASS, PALE = (base.NEUTRAL, "o"), ("#D9D9D9", "o"), ("#DADDE0", "o")


def _markers(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the color and the shape of every class or group: different for up to 70, in both for up to 7."""
    special = {OTHER_FEATURES: OTHER, NO_FEATURE: NO_CLASS}
    shapes = base.MARKERS
    return [special.get(name, (class_color(k), shapes[k % len(shapes)])) for k, name in enumerate(names)]


@dataclass(eq=False, repr=False)
class EmbeddingDisplay(base.Display):
    """Rows at their coordinates in an embedding; one panel for each of several embeddings.

    Every class has a color and a shape that can be distinguished with any color vision. The rows are drawn
    in random order (the same in every figure), so that no class hides another; the more rows, the smaller.
    In a single panel, the names of the classes are written above their rows where there is space. The axes
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
        The names above the panels, such as the method.
    notes : list of str or None, default=None
        The texts below the panels, such as accuracies.
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

    coordinates: Any
    labels: Any = None
    _: KW_ONLY
    class_names: Any = None
    new_coordinates: Any = None
    new_labels: Any = None
    names: Any = None
    notes: Any = None
    values: Any = None
    value_names: Sequence[str] | None = None
    value_label: str = ""
    emphasize_low: bool = False
    misclassified: Any = None
    lines: Any = None
    line_shares: Any = None
    title: str = ""

    def __post_init__(self) -> None:
        several = isinstance(self.coordinates, list | tuple) and np.ndim(self.coordinates[0]) == 2
        n_panels = len(self.coordinates) if several else 1
        for name in PER_PANEL:
            given = getattr(self, name)
            items = list(given) if several and given is not None else [given] * n_panels
            if len(items) != n_panels:
                raise ValueError(f"{name} must be a list with one item for each of {n_panels} panels.")
            if name.endswith("coordinates"):
                items = all_rows = [_check_coordinates(name, rows) for rows in items]
            else:
                pairs = zip(items, all_rows, strict=True)
                items = [_check_rows(name, own, rows, are_indices=True) for own, rows in pairs]
            setattr(self, name, items)
        present = [panel.max() + 1 for panel in (*self.labels, *self.new_labels) if panel is not None]
        names = np.arange(max(present, default=0)) if self.class_names is None else self.class_names
        self.class_names = base.check_class_names(np.arange(max([*present, len(names)])), names)
        self.names = self.names or [""] * n_panels
        self.notes = self.notes or [""] * n_panels
        if n_panels > 1 and not (self.values is self.misclassified is self.lines is None):
            raise ValueError(f"values, misclassified and lines need a single panel; got {n_panels}.")
        shown = self.coordinates[0] if self.new_coordinates[0] is None else self.new_coordinates[0]
        are_indices = self.value_names is not None
        self.values = _check_rows("values", self.values, shown, are_indices=are_indices)
        self.misclassified = _check_rows("misclassified", self.misclassified, shown)

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
        embedding = base.last_step(estimator)
        if not hasattr(embedding, "embedding_"):
            name = type(embedding).__name__
            raise ValueError(f"The estimator must be a LANNEmbedding or NeighborEmbedding; got {name}.")
        options: dict[str, Any] = {"title": "Embedding: similar rows are near each other"}
        labels = classes = None
        if hasattr(embedding, "classifier_"):
            steps = [] if embedding is estimator else estimator.steps[:-1]
            rows = base.select_rows(Pipeline([*steps, ("classifier", embedding.classifier_)]), X, y)
            labels, classes = rows.model.model_.labels, rows.model.classes_
            options |= _color_options(rows, color, has_labels=X is None or y is not None)
            if X is not None:
                options["new_coordinates"] = embedding.transform(as_fitted(rows.model, rows.X))
                options["new_labels"] = rows.labels
            if lines_from is not None:
                starts = options.get("new_coordinates", embedding.embedding_)
                options |= _neighbor_lines(rows, starts, embedding.embedding_, lines_from)
        else:
            if color != "class" or lines_from is not None:
                raise ValueError("color and lines_from need a LANNEmbedding, which has a classifier.")
            if y is not None:
                classes, labels = np.unique(y, return_inverse=True)
            if X is not None:
                check_columns(estimator, X)
                options |= {"new_coordinates": np.asarray(estimator.transform(X)), "new_labels": labels}
                labels = None
        number = f"{len(embedding.embedding_)} training rows"
        if X is not None:
            number = f"{len(options['new_coordinates'])} new rows among {number}"
        if classes is not None:
            options["class_names"] = base.check_class_names(classes, class_names)
        options["title"] += f"\n{data_name}: {number}" if data_name else f"\n{number}"
        return cls(embedding.embedding_, labels, **options).plot(ax)

    @classmethod
    def from_comparison(
        cls,
        comparison: Any,
        *,
        subset: str = "training",
        class_names: ArrayLike | None = None,
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
        panels = comparison.panels
        new = panels if subset == "held_out" else []
        if any(panel.held_out_coordinates is None for panel in new):
            raise ValueError("subset='held_out' needs held-out rows in every panel of the comparison.")
        labels, new_labels = [panel.labels for panel in panels], [panel.held_out_labels for panel in new]
        classes = np.unique(np.concatenate([*labels, *new_labels]))
        display = cls(
            [panel.coordinates for panel in panels],
            [np.searchsorted(classes, panel) for panel in labels],
            new_coordinates=[panel.held_out_coordinates for panel in new] or None,
            new_labels=[np.searchsorted(classes, panel) for panel in new_labels] or None,
            class_names=base.check_class_names(classes, class_names),
            names=[panel.name for panel in panels],
            notes=[_format_accuracies(panel.accuracy, panel.held_out_accuracy) for panel in panels],
            title=title,
        )
        return display.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on, replaced by the panels if there are several. If None, a new figure is
            created.

        Returns
        -------
        display : EmbeddingDisplay
            The display itself.
        """
        n_panels, handles = len(self.coordinates), self._legend_handles()
        if n_panels == 1:
            self._plot_one(ax, handles)
        else:
            n_columns = 2 if n_panels == 2 else 3 if n_panels in (3, 5, 6, 9) else 4
            self._plot_several(ax, handles, (-(-n_panels // n_columns), n_columns))
        return self

    def _plot_one(self, ax: Axes | None, handles: list[Line2D]) -> None:
        notes = [self.names[0], self.notes[0]]
        if self.new_coordinates[0] is not None:
            notes.append("pale: training rows" if self._shows_classes else "light gray: training rows")
        if self.lines is not None:
            notes.append("lines: from a row with a ring to its neighbors, the wider, the larger their vote")
        legend = base.legend_width([str(handle.get_label()) for handle in handles]) or 0.7
        self._create_axes(ax, (SIDE + 0.1 + legend, SIDE + 0.4 + 0.2 * len(self.title.splitlines())))
        self._draw_panel(self.ax_, 0, SIDE)
        self._set_title(self.title, width=SIDE)
        self.ax_.set_xlabel(base.title_lines(*notes, width=SIDE), fontsize=base.SMALL)
        if handles:
            base.draw_legend(self.ax_, handles, "right")

    def _plot_several(self, ax: Axes | None, handles: list[Line2D], shape: tuple[int, int]) -> None:
        """Draw one panel per embedding, and a legend below all of them."""
        n_rows, width = shape[0], WIDTH * shape[1]
        size = (width, 0.5 + (WIDTH + 0.35) * n_rows + 0.2 * len(handles) / width)
        self._create_panels(ax, (self.title,), shape, size, n_panels=len(self.coordinates))
        for index, panel in enumerate(self.axes_):
            self._draw_panel(panel, index, WIDTH)
            panel.set_title(base.escape_math(self.names[index]), fontsize=base.TEXT, fontweight="bold")
            note = base.wrap_text(self.notes[index], WIDTH, base.SMALL)
            panel.set_xlabel(base.escape_math(note), fontsize=base.SMALL)
        if handles:
            base.draw_legend(self.ax_.figure, handles, "below", width=width)

    @property
    def _shows_classes(self) -> bool:
        return self.values is None and self.misclassified is None

    def _legend_handles(self) -> list[Line2D]:
        """Return the entries of the legend; none if the colors are numbers or there are no classes."""
        names = self.class_names if self.values is None else list(self.value_names or [])
        pairs = zip(_markers(names), base.short_names(names, 24), strict=True)
        handles = [_legend_handle(marker, name) for marker, name in pairs]
        if self.misclassified is not None:
            wrong = _legend_handle(("white", "o"), "misclassified", markeredgecolor=DARK)
            handles.append(wrong)
        if len(self.coordinates) > 1 and self.new_coordinates[0] is not None:
            handles.append(_legend_handle(PALE, "training row (pale)"))
        return handles

    def _draw_panel(self, ax: Axes, index: int, width: float) -> None:
        """Draw one panel, `width` inches wide."""
        shown, new, labels = self.coordinates[index], self.new_coordinates[index], self.labels[index]
        has_classes = labels is not None and self._shows_classes
        labels = np.zeros(len(shown), np.int64) if labels is None else labels
        all_rows, all_labels, size = shown, labels, _marker_size(len(shown), width)
        markers = _markers(self.class_names) or [(base.FOR, "o")]
        if new is not None:
            background = markers if has_classes else [OTHER] * (labels.max() + 1)
            _draw_rows(ax, shown, labels, background, size, pale=True, zorder=1)
            shown, labels = new, self.new_labels[index]
            labels = np.zeros(len(new), np.int64) if labels is None else labels
            all_rows, all_labels = np.concatenate([all_rows, new]), np.concatenate([all_labels, labels])
            size = max(size, _marker_size(len(new), width))
        opacity = float(np.clip(0.85 * (MANY_ROWS / len(shown)) ** 0.4, 0.25, 0.85))
        if self.misclassified is not None:
            wrong = self.misclassified
            _draw_rows(ax, shown[~wrong], labels[~wrong], markers, size, pale=True)
            large = min(MISCLASSIFIED_FACTOR * size, MAX_MISCLASSIFIED_SIZE)
            emphasized: dict[str, Any] = {"edgecolors": DARK, "linewidths": 0.9, "zorder": 3}
            _draw_rows(ax, shown[wrong], labels[wrong], markers, large, **emphasized)
        elif self.values is None:
            _draw_rows(ax, shown, labels, markers, size, alpha=opacity)
        elif self.value_names is not None:
            _draw_rows(ax, shown, self.values, _markers(self.value_names), size, alpha=opacity)
        else:
            self._draw_numbers(ax, shown, size, opacity)
        if self.lines is not None:
            _draw_lines(ax, self.lines, self.line_shares, size)
        side = _set_limits(ax, all_rows, all_labels)
        if len(self.coordinates) == 1 and len(self.class_names) > 1:
            _write_class_names(ax, shown, labels, self.class_names, side)

    def _draw_numbers(self, ax: Axes, coordinates: Floats, size: float, opacity: float) -> None:
        """Draw rows in the colors of numbers, the emphasized ones last, and a color bar."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LinearSegmentedColormap

        colors = LinearSegmentedColormap.from_list("light_to_dark", LIGHT_TO_DARK)
        colors = colors.reversed() if self.emphasize_low else colors
        order = np.argsort(-self.values if self.emphasize_low else self.values, kind="stable")
        x, y = coordinates[order].T
        drawn = ax.scatter(
            x, y, c=self.values[order], s=size, cmap=colors, alpha=opacity, zorder=2,
            edgecolors="white", linewidths=_line_width(size), rasterized=len(coordinates) > MANY_ROWS,
        )  # fmt: skip
        opaque = ScalarMappable(drawn.norm, drawn.cmap)
        self._draw_color_bar(opaque, self.value_label, height=SIDE)


def _votes(rows: base.Rows) -> tuple[Indices, Floats, Floats]:
    """Return neighbors, shares and probabilities; a training row does not vote on itself."""
    exclude = None if rows.source == "row" else np.arange(len(rows.X))
    model = rows.model.model_
    neighbors, distances = model.voters(rows.X, exclude=exclude, n_jobs=rows.model.n_jobs)
    return neighbors, *model.vote(neighbors, distances)


def _neighbor_lines(
    rows: base.Rows, coordinates: Floats, training: Floats, wanted: ArrayLike
) -> dict[str, Floats]:
    """Return lines from some of the rows to their neighbors, (n_lines, 2, 2), and the vote shares."""
    neighbors, shares, _ = _votes(rows)
    chosen = np.atleast_1d(np.asarray(wanted))
    for row in chosen.tolist():
        validate("lines_from", row, Integer(0, len(coordinates) - 1))
    ends = training[neighbors[chosen]]  # (n_chosen, k, 2)
    starts = np.broadcast_to(coordinates[chosen][:, None], ends.shape)
    lines = np.stack([starts, ends], axis=2).reshape(-1, 2, 2)
    return {"lines": lines, "line_shares": shares[chosen].ravel()}


def _color_options(rows: base.Rows, color: Any, *, has_labels: bool) -> dict[str, Any]:
    """Return the keyword arguments of EmbeddingDisplay, with the title, for a choice of colors."""
    if color == "class":
        return {}
    if color == "confidence":
        values, label = _votes(rows)[2].max(axis=1), "probability of the predicted class"
        title = "Probability of the prediction"
        return {"title": title, "values": values, "value_label": label, "emphasize_low": True}
    if color == "error":
        if not has_labels:
            raise ValueError("color='error' needs the labels of X; got y=None.")
        wrong = _votes(rows)[2].argmax(axis=1) != rows.labels
        return {"title": f"{wrong.sum()} of {len(wrong)} rows are misclassified", "misclassified": wrong}
    if color == "dominant":
        values, names = _dominant_features(rows)
        return {"title": "Most relevant feature of each row", "values": values, "value_names": names}
    features = list(rows.feature_names)
    feature = features.index(color) if color in features else color
    if feature not in range(len(features)):
        raise ValueError(
            f"color must be one of {', '.join(map(repr, COLORS))}, the name of a feature, or its index from "
            f"0 to {len(features) - 1}; got {color!r}."
        )
    name = base.shorten(features[feature], 24)
    values, label = rows.explain().relevances[:, feature], f"share of the vote that depends on {name}"
    return {"title": f"Relevance of {name}", "values": values, "value_label": label}


def _dominant_features(rows: base.Rows) -> tuple[Indices, list[str]]:
    """Return the most relevant feature of each row, as an index into the names of the most frequent ones.

    All features that are not among the most frequent ones share a name, and so do all rows to which no single
    feature is relevant.
    """
    relevances = rows.explain().relevances
    dominant, is_clear = relevances.argmax(axis=1), relevances.max(axis=1) >= LEAST_RELEVANCE
    counts = np.bincount(dominant[is_clear], minlength=len(rows.feature_names))
    n_present = int((counts > 0).sum())
    named = base.largest_first(counts, min(N_NAMED_FEATURES, n_present))
    indices = np.full(len(counts), len(named))
    indices[named] = np.arange(len(named))
    names = [str(rows.feature_names[feature]) for feature in named]
    names += [OTHER_FEATURES] * (n_present > len(named))
    values = np.where(is_clear, indices[dominant], len(names))
    return values, names + [NO_FEATURE] * (not is_clear.all())


def _format_accuracies(leave_one_out: float | None, held_out: float | None) -> str:
    """Format the accuracies of an embedding, without those that are None.

    >>> _format_accuracies(0.957, 1.0)
    'leave-one-out .96, held-out 1.00'
    """
    accuracies = {"leave-one-out": leave_one_out, "held-out": held_out}
    texts = [f"{name} {share:.2f}" for name, share in accuracies.items() if share is not None]
    return ", ".join(texts).replace(" 0.", " .")


def _check_coordinates(name: str, given: Any) -> Any:
    """Return finite coordinates, (n_rows, 2), or None."""
    if given is None:
        return None
    coordinates = np.asarray(given, dtype=np.float64)
    shape = coordinates.shape
    if len(shape) != 2 or shape[1] != 2 or not np.isfinite(coordinates).all():
        raise ValueError(f"{name} must be finite, in 2 dimensions; got an array of shape {shape}.")
    return coordinates


def _check_rows(name: str, given: Any, rows: Any, *, are_indices: bool = False) -> Any:
    """Return one value per row, (n_rows,), or None; indices into names are integers from 0."""
    if given is None:
        return None
    values, n_rows = np.asarray(given), 0 if rows is None else len(rows)
    if values.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one value per row; got {values.shape}.")
    if are_indices and (values.dtype.kind not in "iu" or values.min() < 0):
        raise ValueError(f"{name} must be indices into the names, integers from 0; got {values[0]!r}.")
    return values


def _marker_size(n_rows: int, width: float) -> float:
    """Return the size of a marker, in points², for a number of rows in a panel `width` inches wide."""
    return float(np.clip(COVERAGE * (72 * width) ** 2 / max(n_rows, 1), MIN_SIZE, MAX_SIZE))


def _line_width(size: float) -> float:
    """Return the width of the line around markers, which would hide very small ones."""
    return 0.25 if size > 2 * MIN_SIZE else 0.0


def _draw_rows(
    ax: Axes, coordinates: Floats, labels: Labels, markers: Sequence[tuple[str, str]], size: float, *,
    pale: bool = False, **options: Any,
) -> None:  # fmt: skip
    """Draw every row with the marker of its class, in random order: the same in every figure."""
    from matplotlib.colors import to_rgb
    from matplotlib.markers import MarkerStyle

    order = np.random.default_rng(0).permutation(len(coordinates))
    labels, (x, y) = labels[order], coordinates[order].T
    colors = np.array([to_rgb(color) for color, _ in markers])
    colors = PALENESS + (1 - PALENESS) * colors if pale else colors
    areas = size * np.array([AREA_FACTORS[shape] for _, shape in markers])
    defaults: dict[str, Any] = {"edgecolors": "white", "linewidths": _line_width(size), "zorder": 2}
    options = defaults | {"rasterized": len(labels) > MANY_ROWS} | options
    drawn = ax.scatter(x, y, s=areas[labels], c=colors[labels], **options)
    # One call of scatter has one shape only.
    styles = [MarkerStyle(shape) for _, shape in markers]
    paths = [style.get_path().transformed(style.get_transform()) for style in styles]
    drawn.set_paths([paths[label] for label in labels])


def _draw_lines(ax: Axes, lines: Floats, shares: Floats, size: float) -> None:
    """Draw thin lines from rows to their neighbors, and rings around the rows."""
    from matplotlib.collections import LineCollection

    drawn = shares >= MIN_SHARE
    widths = np.maximum(MAX_LINEWIDTH * shares / max(float(shares.max()), 1e-12), MIN_LINEWIDTH)[drawn]
    ax.add_collection(
        LineCollection(list(lines[drawn]), linewidths=widths, colors=LINE_COLOR, alpha=0.7, zorder=4.0)
    )
    x, y = np.unique(lines[:, 0], axis=0).T
    ax.scatter(x, y, s=2.2 * size, facecolors="none", edgecolors=DARK, linewidths=1.0, zorder=5)


def _set_limits(ax: Axes, coordinates: Floats, labels: Labels) -> float:
    """Set limits with the same scale for both axes, without ticks, and return the side of the square shown.

    Rows that are so far away that all others would be drawn in a small part of the panel are outside, and
    their number is written in a corner; unless they are a large part of a class.
    """
    lowest, highest = coordinates.min(axis=0), coordinates.max(axis=0)
    low, high = np.quantile(coordinates, (OUTLIER_QUANTILE, 1 - OUTLIER_QUANTILE), axis=0)
    distance = OUTLIER_DISTANCE * float((high - low).max())
    low, high = np.maximum(lowest, low - distance), np.minimum(highest, high + distance)
    outside = ((coordinates < low) | (coordinates > high)).any(axis=1)
    if (np.bincount(labels, outside) > MAX_CLASS_SHARE * np.bincount(labels)).any():
        low, high = lowest, highest
    elif outside.any():
        options: dict[str, Any] = {"transform": ax.transAxes, "ha": "right", "va": "top", "color": "#555555"}
        ax.text(0.98, 0.98, f"{outside.sum()} outside", fontsize=base.TINY, **options)
    center, half_side = (low + high) / 2, 0.56 * max(float((high - low).max()), 1e-9)
    (left, bottom), (right, top) = center - half_side, center + half_side
    ax.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[], box_aspect=1, anchor="W")
    ax.spines[:].set(visible=True, color="#C4C4C4", linewidth=0.7)
    return 2 * half_side


def _write_class_names(ax: Axes, coordinates: Floats, labels: Labels, names: list[str], side: float) -> None:
    """Write the name of each class above or below its rows around the median, where it hides fewer rows.

    A name that would hide another one is omitted; the largest classes come first. `side` is that of the
    square shown, in units of the coordinates.
    """
    from matplotlib.patheffects import withStroke

    texts = base.short_names(names, 20)
    white = withStroke(linewidth=2.0, foreground="white", alpha=0.85)
    options: dict[str, Any] = {"ha": "center", "va": "center", "in_layout": False, "path_effects": [white]}
    written: list[tuple[Floats, Floats]] = []  # centers and half sizes of the names
    present, counts = np.unique(labels, return_counts=True)
    for label in present[base.largest_first(counts)]:
        members = coordinates[labels == label]
        # The median of a class in several clusters is between them: take the row nearest to it.
        middle = members[((members - np.median(members, axis=0)) ** 2).sum(axis=1).argmin()]
        near = members[np.abs(members - middle).max(axis=1) <= NEAR * side]
        half_size = base.SMALL / (72 * SIDE) * side * np.array([0.31 * len(texts[label]), 0.7])
        ends = (near[:, 1].max() + half_size[1], near[:, 1].min() - half_size[1])
        centers = [np.array([np.median(near[:, 0]), y]) for y in ends]
        hidden = [int((np.abs(coordinates - center) < half_size).all(axis=1).sum()) for center in centers]
        center = centers[int(np.argmin(hidden))]
        if not any((np.abs(center - other) < half_size + own).all() for other, own in written):
            written.append((center, half_size))
            ax.text(center[0], center[1], texts[label], fontsize=base.SMALL, zorder=6, **options)


def _legend_handle(marker: tuple[str, str], name: str, **options: Any) -> Line2D:
    """Return the entry of a marker in a legend."""
    from matplotlib.lines import Line2D

    color, shape = marker
    size = 5.2 * AREA_FACTORS[shape] ** 0.5
    return Line2D([], [], linestyle="none", marker=shape, color=color, markersize=size, label=name, **options)
