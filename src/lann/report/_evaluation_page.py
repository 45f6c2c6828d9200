"""The page about an evaluation: what the template shows of it."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from lann._markup import footer, page, read_resource, render, save_page
from lann.report._evaluate import Evaluation, count_text
from lann.report._findings import COVERAGES, LEAST_ROWS, Rejection, Reliability, bin_sentence
from lann.report._scores import SCORES

# With more classes, the names of the columns of the confusion matrix are vertical, and cells are small.
MANY_CLASSES = 6
# Lines of the table of classes that are shown at once; slices that are shown at once, and at all.
MOST_CLASSES, N_SLICES, MOST_SLICES = 20, 8, 40
# Points of a risk-coverage curve, at most; a smaller coverage does not determine the height of the drawing.
MOST_POINTS, LEAST_COVERAGE = 400, 0.1
# Distances of the lines of the grid.
STEPS, MOST_LINES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2), 6


def evaluation_page(evaluation: Evaluation, *, title: str = "Evaluation") -> str:
    """Return a page about an evaluation; it loads nothing and runs no script.

    Parameters
    ----------
    evaluation : Evaluation
    title : str, default="Evaluation"

    Returns
    -------
    page : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate, evaluation_page
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluation = evaluate(LANNClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> page = evaluation_page(evaluation, title="Iris")
    >>> page[:15], "Confusion matrix" in page
    ('<!doctype html>', True)
    """
    classes = list(evaluation.by_class.itertuples())
    if len(classes) > MOST_CLASSES:
        classes = list(evaluation.by_class.sort_values("recall", kind="stable").itertuples())
    body = render(
        "lann.report",
        "evaluation.html",
        title=title,
        evaluation=evaluation,
        audit=evaluation.audit,
        methods=evaluation.methods,
        score_names=SCORES,
        classes=classes,
        most_classes=MOST_CLASSES,
        many_classes=MANY_CLASSES,
        indices={str(label): index for index, label in enumerate(evaluation.classes)},
        reliability=_reliability_drawing(evaluation.reliability),
        rejection=_rejection_drawing(evaluation.rejection),
        coverages=COVERAGES,
        slices=list(evaluation.worst_slices[:MOST_SLICES].itertuples()),
        n_slices=N_SLICES,
        least_rows=LEAST_ROWS,
        count_text=count_text,
        bin_sentence=bin_sentence,
        date_text=date_text,
    )
    style = read_resource("lann.report", "templates/evaluation.css")
    return page(title, body, footer(), styles=[style])


def save_evaluation(
    path: str | os.PathLike[str], evaluation: Evaluation, *, title: str = "Evaluation"
) -> None:
    """Save a page about an evaluation; it loads nothing and runs no script.

    Parameters
    ----------
    path : str or path-like
        The file; an existing one is replaced.
    evaluation : Evaluation
    title : str, default="Evaluation"

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann.report import evaluate, save_evaluation
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> evaluation = evaluate(TableModel.fit(frame[::2], "target"), frame[1::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_evaluation(os.path.join(folder, "iris.html"), evaluation)
    ...     os.listdir(folder)
    ['iris.html']
    """
    save_page(path, evaluation_page(evaluation, title=title))


def date_text(created: str) -> str:
    """Return a date and time in UTC as text.

    >>> date_text("2026-05-31T12:30:00+00:00")
    '2026-05-31 12:30:00 UTC'
    """
    return created.replace("T", " ").replace("+00:00", " UTC")


class Axes(NamedTuple):
    """Two axes of a drawing: the horizontal one from `start` to 1, the vertical one from 0 to `top`."""

    height: int
    start: float
    top: float
    x_ticks: list[float]
    y_ticks: dict[float, str]
    curves: list[Any]
    width: int = 460
    left: int = 56
    right: int = 444
    upper: int = 14

    @property
    def lower(self) -> int:
        """The vertical position of 0."""
        return self.height - 46

    def x(self, value: float) -> str:
        """Return the horizontal position of a value."""
        return f"{self.left + (value - self.start) / (1 - self.start) * (self.right - self.left):.1f}"

    def y(self, value: float) -> str:
        """Return the vertical position of a value."""
        return f"{self.lower - min(value / self.top, 1.0) * (self.lower - self.upper):.1f}"

    def points(self, curve: Any) -> str:
        """Return the points of a polyline."""
        return " ".join(f"{self.x(x)},{self.y(y)}" for x, y in curve)


def _reliability_drawing(reliability: Reliability) -> Axes:
    bins = reliability.bins
    start = min(bins["low"].iloc[0], bins["mean_probability"].iloc[0])
    # Every tenth, or every fifth on a long axis.
    ticks = [n / 10 for n in range(11) if n / 10 >= start - 1e-9 and (start >= 0.4 or n % 2 == 0)]
    curve = bins[["mean_probability", "accuracy"]].to_numpy()
    return Axes(400, start, 1.0, ticks, {n / 10: f"{n / 10:.0%}" for n in range(0, 11, 2)}, [curve])


def _rejection_drawing(rejection: Rejection) -> Axes:
    highest = max(float(c.risks[c.coverages >= LEAST_COVERAGE].max()) for c in rejection.curves)
    top = max(highest, STEPS[0])
    step = next((step for step in STEPS if top / step <= MOST_LINES), STEPS[-1])
    n_lines = int(np.ceil(top / step - 1e-9))
    curves = []
    for curve in rejection.curves:
        n_steps = len(curve.coverages)
        kept = np.unique(np.linspace(0, n_steps - 1, min(n_steps, MOST_POINTS)).astype(int))
        points = np.column_stack([curve.coverages, curve.risks])[kept]
        # From 0: fewer accepted rows of equal certainty are as good as all of them.
        curves.append(np.concatenate([[[0.0, points[0, 1]]], points]))
    y_ticks = {step * n: f"{100 * step * n:.4g}%" for n in range(n_lines + 1)}
    return Axes(320, 0.0, step * n_lines, [n / 5 for n in range(6)], y_ticks, curves)
