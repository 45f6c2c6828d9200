"""What all displays share: the base class, the rows that are shown, axes and panels, colors, and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lann._support.format import class_color, counted
from lann._support.inputs import check_columns, get_feature_names
from lann._support.rows import stratified_rows
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, OneOf, validate
from lann.columns.inputs import as_fitted, read_rows
from lann.columns.schema import TableSchema
from lann.explain import Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Font sizes in points.
TEXT, SMALL, TINY = 9.0, 8.0, 6.5
# The mean width of a character, relative to the font size.
CHARACTER = 0.56
# What is shown without classes, what stands out, and what does not.
FOR, AGAINST, NEUTRAL = "#0072B2", "#D55E00", "#8A8A8A"
# What belongs to no class: curves, lines and texts.
INK, SOFT = "#33404D", "#666666"
# Values that are neither low nor high: categories and missing values.
UNRANKED = "#009E73"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# More rows do not change a plot of their distribution visibly.
MAX_ROWS = 2000
# Where a legend is drawn: above or to the right of axes, or below all panels of a figure.
MAX_ENTRIES = 24  # in a column of a legend to the right
LEGENDS: dict[str, dict[str, Any]] = {
    "above": {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)},
    "right": {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)},
    "below": {"loc": "outside lower center"},
}


def check_matplotlib_support() -> None:
    """Raise ImportError if matplotlib is not installed.

    Raises
    ------
    ImportError
        If matplotlib is not installed. The message says how to install it.

    Examples
    --------
    >>> from lann.plot import check_matplotlib_support
    >>> check_matplotlib_support()
    """
    try:
        import matplotlib.pyplot as plt  # noqa: F401
    except ImportError as error:
        raise ImportError("Displays need matplotlib: pip install 'lann[plot]'.") from error


def _new_figure(size: tuple[float, float]) -> Figure:
    """Create a figure of a size in inches, in which matplotlib makes space for all texts."""
    check_matplotlib_support()
    from matplotlib import pyplot as plt

    return plt.figure(figsize=size, layout="constrained", facecolor="white")


class Display:
    """Base of the displays: creates the axes or a grid of panels, and their title and color bar."""

    figure_: Any
    ax_: Any
    axes_: NDArray[Any]

    def __post_init__(self) -> None:
        for name in ("feature_names", "class_names"):
            if hasattr(self, name):
                setattr(self, name, np.asarray(getattr(self, name)))

    def _create_axes(
        self, ax: Axes | None, size: tuple[float, float], *, grid: str = "", percent: str = ""
    ) -> None:
        """Use the given axes, or create a figure of the given size in inches; see `style` for the rest."""
        if ax is None:
            ax = _new_figure(size).subplots()
        self.figure_, self.ax_, self.axes_ = ax.figure, ax, np.array([ax], dtype=object)
        style(ax, grid, percent)

    def _create_panels(
        self, ax: Axes | None, title: Sequence[str], shape: tuple[int, int], size: tuple[float, float], *,
        n_panels: int | None = None, grid: str = "", percent: str = "", **options: Any,
    ) -> NDArray[Any]:  # fmt: skip
        """Create a grid of panels in a new figure, or in place of the given axes.

        Parameters
        ----------
        ax : matplotlib Axes or None
        title : sequence of str
            The lines of the title of all panels together.
        shape : tuple (n_rows, n_columns)
        size : tuple (width, height)
            The size of a new figure, in inches.
        n_panels : int or None
            How many panels are used; None for all.
        grid, percent : {"", "x", "y", "both"}
            As in `style`, for all panels.
        **options
            As in `Figure.subplots`.

        Returns
        -------
        panels : ndarray of shape (n_panels,)
        """
        parent: Any
        if ax is None:
            parent = _new_figure(size)
        else:
            subplot = ax.get_subplotspec()
            if subplot is None:
                raise ValueError("ax must be created by plt.subplots: it is replaced by several panels.")
            ax.set_axis_off()
            parent = ax.figure.add_subfigure(subplot)
        self.figure_ = parent.figure
        if self.figure_.get_layout_engine() is None:  # titles and legends need space
            self.figure_.set_layout_engine("constrained")
        parent.suptitle(title_lines(*title, width=size[0]), fontsize=TEXT + 1)
        panels = parent.subplots(*shape, squeeze=False, **options)
        for panel in panels.flat:
            style(panel, grid, percent)
        for panel in panels.flat[n_panels or panels.size :]:
            panel.set_axis_off()
        self.axes_ = panels.ravel()[:n_panels]
        self.ax_ = self.axes_[0]
        return self.axes_

    def _set_title(self, *lines: str, width: float, pad: float | None = None) -> None:
        self.ax_.set_title(title_lines(*lines, width=width), fontsize=TEXT + 1, pad=pad)

    def _draw_color_bar(self, drawn: Any, label: str, *, height: float, **options: Any) -> Any:
        """Draw a color bar to the right of the axes; wrap its label to a height in inches."""
        bar = self.figure_.colorbar(drawn, ax=self.ax_, **({"aspect": 40, "pad": 0.02} | options))
        bar.set_label(escape_math(wrap_text(label, height, SMALL)), fontsize=SMALL)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)
        return bar


def percent_label(share: float, _: Any = None) -> str:
    """Return the label of a tick of an axis or of a color bar of shares."""
    return f"{100 * share:.4g}%".replace("-", "−")


def style(ax: Axes, grid: str, percent: str) -> None:
    """Style axes: no spines at the top and to the right, small labels.

    `grid` and `percent` are "", "x", "y" or "both": where grid lines are drawn, and which axes are shares.
    """
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        axis.label.set_fontsize(TEXT)
        if percent in (name, "both"):
            axis.set_major_formatter(percent_label)
    if grid:
        ax.grid(axis=grid, color="#E3E3E3", linewidth=0.7)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


def line_height(n_lines: int) -> tuple[float, float]:
    """Return the height in inches, and the font size, of each of a number of labeled lines."""
    return (0.26, TEXT) if n_lines <= 20 else (0.21, SMALL) if n_lines <= 40 else (0.155, TINY + 0.5)


def label_lines(ax: Axes, names: Sequence[str], fontsize: float, *, margin: float = 0.6) -> None:
    """Label the lines y = 0, 1, … with names, from top to bottom."""
    ax.set_yticks(range(len(names)), names, fontsize=fontsize)
    ax.set_ylim(len(names) - 1 + margin, -margin)
    ax.tick_params(axis="y", length=0)


def draw_legend(owner: Any, handles: Sequence[Any], where: str, *, width: float = 0.0) -> Any:
    """Draw the legend of axes or of a figure, and return it.

    Parameters
    ----------
    owner : matplotlib Axes or Figure
    handles : sequence of matplotlib Artist
    where : {"above", "right", "below"}
        As in LEGENDS.
    width : float, default=0.0
        The width of a legend above or below, in inches. One to the right has lines as in `legend_width`.
    """
    longest = text_width([str(handle.get_label()) for handle in handles], SMALL) + 0.35
    n_columns = -(-len(handles) // MAX_ENTRIES) if where == "right" else int(width / longest)
    return owner.legend(
        handles=handles, ncols=min(max(n_columns, 1), len(handles)), fontsize=SMALL, frameon=False,
        handlelength=1.2, handletextpad=0.4, columnspacing=1.0, borderaxespad=0.3, **LEGENDS[where],
    )  # fmt: skip


def legend_width(names: Sequence[str]) -> float:
    """Return the width of a legend to the right of axes, in inches."""
    return -(-len(names) // MAX_ENTRIES) * (0.55 + text_width(names, SMALL))


def title_lines(*lines: str, width: float) -> str:
    """Join the lines of a title, without empty ones, wrapped to a width in inches."""
    return escape_math("\n".join(wrap_text(line, width, TEXT + 1) for line in lines if line))


def class_colors(n_classes: int) -> list[str]:
    """Return the colors of classes, by class index.

    All displays, reports and embedding pages draw a class in the same color, which depends only on its
    position in `classes_`. Each color has a contrast of at least 3 to white, and all pairs can be
    distinguished with any color vision. After ten classes the colors repeat; displays then distinguish the
    classes by marker shapes or by their names, too.

    Parameters
    ----------
    n_classes : int
        The number of classes.

    Returns
    -------
    colors : list of str
        Hexadecimal RGB values.

    Raises
    ------
    ValueError
        If the number is negative.

    Examples
    --------
    >>> from lann.plot import class_colors
    >>> class_colors(2)
    ['#0072B2', '#C66200']
    """
    validate("n_classes", n_classes, Integer(0))
    return [class_color(index) for index in range(n_classes)]


def largest_first(values: NDArray[Any], n_largest: int | None = None) -> Indices:
    """Return the indices of the largest values, largest first and ties in order; None returns all."""
    return np.argsort(-values, kind="stable")[:n_largest]


def most_important(values: Floats, n_features: Any) -> Indices:
    """Return the indices of the features with the largest values, None is all; validate the parameter."""
    validate("n_features", n_features, Integer(1), OneOf(None))
    return largest_first(values, n_features)


def shorten(name: Any, length: int = 30) -> str:
    """Return the name, with its middle replaced by an ellipsis if it is longer than `length`.

    >>> shorten("mean fractal dimension of the nucleus", 20)
    'mean fract…e nucleus'
    """
    text = str(name)
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def wrap_text(text: str, width: float, fontsize: float = TEXT) -> str:
    """Wrap a text into lines that are at most about `width` inches wide; lines are kept.

    >>> wrap_text("mean concave points", 1.0)
    'mean concave\\npoints'
    """
    n_characters = max(int(72 * width / (CHARACTER * fontsize)), 4)
    return "\n".join("\n".join(wrap(line, n_characters)) for line in text.splitlines())


def text_width(texts: Iterable[str], fontsize: float) -> float:
    """Return about the width of the longest text, in inches."""
    return max((len(text) for text in texts), default=0) * CHARACTER * fontsize / 72


def escape_math(text: Any) -> str:
    r"""Escape dollar signs, so that matplotlib draws them instead of parsing a formula.

    Apply it to every text that contains a user's names, as the last step before drawing; `short_names` and
    `title_lines` do.

    >>> print(escape_math("price [$]"))
    price [\$]
    """
    return str(text).replace("$", r"\$")


def short_names(names: Iterable[Any], length: int = 30) -> list[str]:
    """Shorten names so that different ones stay different, and escape them for drawing.

    >>> short_names(["mean depth of layer 1, in winter", "mean depth of layer 2, in winter"], 20)
    ['mean depth o…1, in winter', 'mean depth o…2, in winter']
    >>> short_names(["length of the longest petal (cm)", "ash"], 20)
    ['length of …etal (cm)', 'ash']
    """
    texts = [str(name) for name in names]
    while True:
        shortened = [shorten(text, length) for text in texts]
        if len(set(shortened)) == len(set(texts)):
            return [escape_math(text) for text in shortened]
        length += 1


def last_step(estimator: Any) -> Any:
    """Return the last step of a fitted pipeline, or the fitted estimator itself."""
    check_is_fitted(estimator)
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


@dataclass(frozen=True)
class Rows:
    """Rows in the features of the model, after the transformers of a pipeline.

    Attributes
    ----------
    model : estimator
        The fitted model, without the steps before it in a pipeline.
    X : ndarray of shape (n_rows, n_features)
        The rows as the model sees them.
    labels : ndarray of shape (n_rows,)
        The class indices: of the given labels, of the training labels or of the predictions.
    indices : ndarray of shape (n_rows,)
        The positions of the rows in the given data, or in the training data.
    feature_names : ndarray of shape (n_features,)
    X_given : ndarray of shape (n_rows, n_features)
        The rows before the transformers of a pipeline if these keep the columns, otherwise `X`.
    is_transformed : bool
        Whether a pipeline transforms the rows before the model.
    schema : TableSchema or None
        What the numbers in `X` mean; None if all are numbers.
    table : DataFrame or None
        The rows as a table of the user's values; None if they are numbers, or unknown.
    source : {"row", "training row", "prototype"}
        What the rows are.
    n_source : int
        How many there are of them, before a sample was drawn.
    """

    model: Any
    X: Floats
    labels: Labels
    indices: Indices
    feature_names: NDArray[Any]
    X_given: Floats
    is_transformed: bool
    schema: TableSchema | None
    table: Any
    source: str
    n_source: int

    def describe(self, data_name: str = "") -> str:
        """Return a line about the rows for the title of a figure, such as "Iris: 150 training rows"."""
        n_rows = len(self.X)
        text = counted(n_rows, self.source)
        if n_rows < self.n_source:
            text = f"{n_rows:,} of {counted(self.n_source, self.source)}"
        return f"{data_name}: {text}" if data_name else text

    def texts(self, class_names: ArrayLike | None, data_name: str) -> dict[str, Any]:
        """Return the names of features and classes, and the second line of the title, for a display."""
        names = check_class_names(self.model.classes_, class_names)
        subtitle = self.describe(data_name)
        return {"feature_names": self.feature_names, "class_names": names, "subtitle": subtitle}

    @property
    def axis_labels(self) -> NDArray[Any]:
        """The feature names as axis labels, which say whether a pipeline has transformed the values."""
        if not self.is_transformed:
            return self.feature_names
        return np.array([f"{name}, scaled" for name in self.feature_names], dtype=object)

    def explain(self) -> Explanation:
        """Return the explanation of the rows; raise ValueError if the model has none."""
        if not hasattr(self.model, "explain"):
            raise ValueError(f"This display needs a model with `explain`; got {type(self.model).__name__}.")
        return self.model.explain(self.given)

    @property
    def given(self) -> Any:
        """The rows as the model takes them."""
        return as_fitted(self.model, self.X) if self.table is None else self.table


def select_rows(
    estimator: Any, X: ArrayLike | None, y: ArrayLike | None, *, max_rows: int | None = None
) -> Rows:
    """Return the given rows or the training rows; a stratified sample if there are too many.

    Parameters
    ----------
    estimator : estimator
        A fitted model, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features) or None
        The rows; None for the training rows.
    y : array-like of shape (n_samples,) or None
        The labels of X; None for the predictions.
    max_rows : int or None, default=None
        The maximum number of rows; None for all.

    Returns
    -------
    rows : Rows

    Raises
    ------
    ValueError
        If X and y do not fit the estimator or each other.
    """
    model = last_step(estimator)
    transformers = None if model is estimator or len(estimator) == 1 else estimator[:-1]
    schema, table = getattr(model, "schema_", None), None
    if schema is not None and schema.is_numeric:
        schema = None
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; pass both, or neither for the training rows.")
        transformed, labels = stored_rows(model)
    else:
        check_columns(model if transformers is None else transformers, X)
        given_rows = X if transformers is None else transformers.transform(X)
        if schema is None:
            transformed = np.asarray(given_rows, dtype=np.float64)
            given_rows = as_fitted(model, transformed)
        else:
            transformed = read_rows(model, given_rows, schema)
            table = given_rows if hasattr(given_rows, "iloc") else None
        given_labels = model.predict(given_rows) if y is None else np.asarray(y)
        if len(given_labels) != len(transformed):
            raise ValueError(
                f"X and y must have the same number of rows; got {len(transformed)} and {len(given_labels)}."
            )
        labels = _class_indices(given_labels, model.classes_)
    names = get_feature_names(model)
    if transformers is not None and not hasattr(model, "feature_names_in_"):
        with suppress(AttributeError, ValueError):  # of a transformer without output names
            names = np.asarray(transformers.get_feature_names_out(), dtype=object)
    # If the transformers keep the columns, as a scaler does, the user's own values can be shown.
    keeps_columns = list(getattr(transformers, "feature_names_in_", [])) == list(names)
    keeps_numbers = X is not None and keeps_columns and schema is None
    given = np.asarray(X, dtype=np.float64) if keeps_numbers else transformed
    n_rows = len(transformed)
    stored = "prototype" if hasattr(model, "prototypes_") else "training row"
    indices = np.arange(n_rows) if max_rows is None else stratified_rows(labels, min(max_rows, n_rows))
    return Rows(
        model, transformed[indices], labels[indices], indices, names, given[indices],
        is_transformed=transformers is not None, schema=schema,
        table=None if table is None else table.iloc[indices],
        source=stored if X is None else "row", n_source=n_rows,
    )  # fmt: skip


def stored_rows(model: Any) -> tuple[Floats, Labels]:
    """Return the prototypes of a fitted model, or else its training rows, and their class indices."""
    stored = getattr(model, "model_", None)
    if stored is None:
        raise ValueError(f"{type(model).__name__} does not keep its training rows; pass X.")
    return stored.X, stored.labels


def check_class_names(classes: NDArray[Any], class_names: ArrayLike | None) -> list[str]:
    """Return the names of the classes: those given, in the order of `classes`, or the labels."""
    if class_names is None:
        return [str(label) for label in classes]
    names = [str(name) for name in np.asarray(class_names)]
    if len(names) != len(classes):
        raise ValueError(f"class_names must have {len(classes)} names, one per class; got {len(names)}.")
    return names


def _class_indices(y: NDArray[Any], classes: NDArray[Any]) -> Labels:
    indices = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = y[classes[indices] != y].tolist()
    if unknown:
        raise ValueError(f"y must have labels of the model, {classes.tolist()}; got {unknown[0]!r}.")
    return indices
