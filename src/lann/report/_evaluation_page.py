"""The page about an evaluation: what the template shows of it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from lann._markup import footer, page, read_resource, render, save_page
from lann._support.types import Floats
from lann.report._evaluation import Evaluation, count_text
from lann.report._findings import COVERAGES, LEAST_ROWS, Rejection, Reliability, RiskCurve, bin_sentence
from lann.report._scores import SCORES

# Lines of the table of classes that are shown at once, and slices that are shown at all.
MOST_CLASSES, MOST_SLICES = 20, 40
# Points of a risk-coverage curve, at most; a smaller coverage does not determine the height of the drawing.
MOST_POINTS, LEAST_COVERAGE = 400, 0.1
# Distances of the lines of the grid.
STEPS, MOST_LINES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2), 6
TENTHS = [n / 10 for n in range(11)]


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
        score_names=SCORES,
        classes=classes,
        indices={str(label): index for index, label in enumerate(evaluation.classes)},
        reliability=_reliability_axes(evaluation.reliability),
        rejection=_rejection_axes(evaluation.rejection),
        curve_points=_points,
        coverages=COVERAGES,
        slices=list(evaluation.worst_slices[:MOST_SLICES].itertuples()),
        least_rows=LEAST_ROWS,
        count_text=count_text,
        bin_sentence=bin_sentence,
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


def _reliability_axes(reliability: Reliability) -> dict[str, Any]:
    """Return the axes of a drawing: horizontally from `start` to 1, vertically from 0 to `top`."""
    bins = reliability.bins
    start = min(bins["low"].iloc[0], bins["mean_probability"].iloc[0])
    # Every tenth, or every fifth on a long axis.
    ticks = [tick for tick in TENTHS[:: 1 if start >= 0.4 else 2] if tick >= start - 1e-9]
    y_ticks = {tick: f"{tick:.0%}" for tick in TENTHS[::2]}
    return {"height": 400, "start": start, "top": 1.0, "x_ticks": ticks, "y_ticks": y_ticks}


def _rejection_axes(rejection: Rejection) -> dict[str, Any]:
    highest = max(float(c.risks[c.coverages >= LEAST_COVERAGE].max()) for c in rejection.curves)
    top = max(highest, STEPS[0])
    step = next((step for step in STEPS if top / step <= MOST_LINES), STEPS[-1])
    n_lines = int(np.ceil(top / step - 1e-9))
    y_ticks = {step * n: f"{100 * step * n:.4g}%" for n in range(n_lines + 1)}
    return {"height": 320, "start": 0.0, "top": step * n_lines, "x_ticks": TENTHS[::2], "y_ticks": y_ticks}


def _points(curve: RiskCurve) -> Floats:
    """Return some points of a curve: (n_points, 2)."""
    n_steps = len(curve.coverages)
    kept = np.unique(np.linspace(0, n_steps - 1, min(n_steps, MOST_POINTS)).astype(int))
    points = np.column_stack([curve.coverages, curve.risks])[kept]
    # From 0: fewer accepted rows of equal certainty are as good as all of them.
    return np.concatenate([[[0.0, points[0, 1]]], points])
