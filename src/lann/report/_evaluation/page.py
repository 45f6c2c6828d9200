"""The page about an evaluation."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from lann._markup import (
    Html,
    bar_cell,
    class_label,
    definitions,
    element,
    folded_table,
    footer,
    header_cell,
    note,
    page,
    read_resource,
    save_page,
    table,
)
from lann._markup import texts as _texts
from lann._support.format import NO_FIGURE, counted, figure, p_value_text, percent
from lann.report._evaluation.evaluation import Audit, Evaluation, SourceFile
from lann.report._evaluation.findings import COVERAGES, LEAST_ROWS, Mistake, Rejection, Reliability, Slice
from lann.report._evaluation.scores import SCORES, ClassScores, MethodScores, Score, count_text

# With more classes, the names of the columns of the confusion matrix are vertical, and cells are small.
MANY_CLASSES = 6
# Lines of the table of classes that are shown at once; slices that are shown at once, and at all.
MOST_CLASSES, N_SLICES, MOST_SLICES = 20, 8, 40
# Of drawings: the width, the margins, and the largest radius of a point.
WIDTH, LEFT, RIGHT, TOP, BOTTOM, RADIUS = 460, 56, 16, 14, 46, 13.0
# Points of a risk-coverage curve, at most; a smaller coverage does not determine the height of the drawing.
MOST_POINTS, LEAST_COVERAGE = 400, 0.1
# Distances of the lines of the grid.
STEPS, MOST_LINES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2), 6

SCORES_HELP = [
    ("Accuracy", "The share of the rows that are predicted correctly."),
    (
        "Balanced accuracy",
        "The mean over the classes of the share of their rows that are predicted correctly.",
    ),
    (
        "AUC",
        "How well probabilities order the rows: the chance that a row of a class has a higher probability of "
        "it than a row of another class. The mean over the classes, each against all others.",
    ),
    ("Log-loss", "The mean of −log of the probability of the label; lower is better."),
    (
        "Brier score",
        "The mean squared error of the probabilities; lower is better. As in scikit-learn, it is summed over "
        "the classes if there are more than two.",
    ),
]
RELIABILITY_HELP = (
    "Rows are grouped by the probability of their prediction. A point on the line: the probability is right. "
    "Below the line: the model is too sure. The size of a point is its number of rows, and the vertical line "
    "its 95% interval."
)
CERTAINTIES = {
    "probability": "The certainty is the probability of the prediction.",
    "combined": (
        "The certainty is that of the reject option: the probability of the prediction and, between equal "
        "probabilities, how much nearer the nearest row of the predicted class is than that of any other."
    ),
}
REJECTION_HELP = (
    "Rows are accepted in the order of falling certainty; every row counts once. The curve of a good "
    "certainty is low on the left: the mistakes are among the rows that are rejected first. `lann predict "
    "--coverage 0.9` rejects about a tenth of the rows, and those that are far from the training rows."
)
SLICES_HELP = (
    "Rows with a certain value of a column, a range of numbers between quartiles, or a gap, which have at "
    f"least {LEAST_ROWS} rows. “Expected” is the mean probability of the predictions: where it is low, too, "
    "the model knows that it is less sure. The p-value is the chance of an accuracy as low if the slice were "
    "like the other rows, corrected for the number of slices (Fisher's exact test, Holm's correction): above "
    "0.05, a low accuracy may be bad luck."
)


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
    header = element(
        "header",
        element("h1", title),
        element("p", evaluation.summary, class_="subtitle"),
        *[note(text) for text in evaluation.notes],
    )
    main = element(
        "main",
        _audit_section(evaluation.audit),
        _scores_section(evaluation),
        _class_section(evaluation),
        _confusion_section(evaluation),
        _reliability_section(evaluation.reliability),
        _rejection_section(evaluation.rejection),
        _slices_section(evaluation),
        _mistakes_section(evaluation),
    )
    style = read_resource("lann.report._evaluation", "style.css")
    return page(title, header, main, footer(_texts.ROW_NUMBERS), styles=[style])


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


def _section(id: str, title: str, *parts: Html) -> Html:
    return element("section", element("h2", title, id=id), *parts, aria_labelledby=id)


def _header(first: str, *names: str) -> list[Html]:
    """Return the cells of a header; all names but the first are of numbers."""
    return [header_cell(first), *[header_cell(name, number=True) for name in names]]


def _line(name: str | Html | Sequence[str | Html], *cells: str | Html, class_: str | None = None) -> Html:
    """Return a line of a table; a cell that is a str is a number."""
    names = [name] if isinstance(name, str) else name
    numbers = [cell if isinstance(cell, Html) else element("td", cell, class_="number") for cell in cells]
    return element("tr", element("th", *names, scope="row"), *numbers, class_=class_)


def _interval(score: Score, *, signed: bool = False) -> str:
    """Return the interval of a score as text; "" if it has none."""
    if math.isnan(score.low):
        return ""
    return f"{figure(score.low, signed=signed)} to {figure(score.high, signed=signed)}"


def _share_interval(score: Score) -> str:
    return "" if math.isnan(score.low) else f"{percent(score.low)} to {percent(score.high)}"


def _share(value: float) -> str:
    return NO_FIGURE if math.isnan(value) else percent(value, 1)


def _share_cell(score: Score, class_index: int | None = None) -> Html:
    """Return a cell with a bar, the share, and its interval."""
    if np.isnan(score.value):
        return element("td", NO_FIGURE, class_="bars")
    bar = bar_cell(score.value, 1.0, percent(score.value, 1), class_index)
    bounds = element("span", _share_interval(score), class_="interval")
    return Html(f"{bar.removesuffix('</td>')}{bounds}</td>")


def date_text(created: str) -> str:
    """Return a date and time in UTC as text.

    >>> date_text("2026-05-31T12:30:00+00:00")
    '2026-05-31 12:30:00 UTC'
    """
    return created.replace("T", " ").replace("+00:00", " UTC")


def _audit_section(audit: Audit) -> Html:
    """Return the section about files, versions and seeds."""

    def file(found: SourceFile) -> Html:
        digest = element("code", found.sha256, class_="digest")
        return Html(element("span", found.name) + element("span", " SHA-256 ", class_="hint") + digest)

    facts: list[tuple[str, str | Html]] = [("Evaluated", date_text(audit.created))]
    if audit.data_file is not None:
        facts.append(("Test file", file(audit.data_file)))
    columns = counted(audit.n_columns, "column")
    facts.append(("Test rows", f"{counted(audit.n_rows, 'row')}, {columns} in use"))
    fitted = "" if audit.n_train is None else f", fitted to {counted(audit.n_train, 'row')}"
    facts.append(("Model", f"{audit.model}{fitted}"))
    if audit.model_file is not None:
        facts.append(("Model file", file(audit.model_file)))
    if audit.trained_on is not None:
        same = " (the test file)" if audit.is_training_file else ""
        facts.append(("Training file", Html(element("code", audit.trained_on, class_="digest") + same)))
    seeds = [f"model {'no integer' if audit.random_state is None else audit.random_state}"]
    if audit.cross_validation:
        seeds.append(f"folds of the cross-validation {audit.cross_validation[0].random_state}")
    seeds.append(f"{audit.n_resamples:,} resamples of this evaluation {audit.evaluation_random_state}")
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    facts += [("Seeds", "; ".join(seeds)), ("Versions", versions)]
    return _section("audit", "About this evaluation", definitions(facts, class_="facts"))


def _scores_section(evaluation: Evaluation) -> Html:
    """Return the section about the scores of the model, kNN and a guess."""
    methods, cross_validation = evaluation.methods, evaluation.audit.cross_validation
    lines = [_score_line(method.method, method, method.scores) for method in methods]
    lines += [
        _score_line(f"{methods[0].method} minus {method.method}", method, method.differences, signed=True)
        for method in methods[1:]
    ]
    parts = [
        table("Scores", _header("method", *SCORES.values()), lines, class_="scores"),
        element("p", _texts.INTERVALS, class_="hint"),
    ]
    if len(methods) > 1:
        parts.append(element("p", f"{_texts.PLAIN_KNN} Majority: always the largest class.", class_="hint"))
    if cross_validation:
        names = [score for score in SCORES if hasattr(cross_validation[0], score)]
        title = f"{cross_validation[0].n_folds}-fold cross-validation on the training data, before the fit"
        lines = []
        for method in cross_validation:
            pairs = [(getattr(method, score), getattr(method, f"{score}_std")) for score in names]
            texts = [NO_FIGURE if mean is None else f"{mean:.3f} ± {std:.3f}" for mean, std in pairs]
            lines.append(_line(method.method, *texts))
        header = _header("method", *[SCORES[score] for score in names])
        hint = element("p", "Means ± standard deviations over the folds.", class_="hint")
        scores = table(title, header, lines, class_="scores")
        parts.append(element("div", element("h4", title), scores, hint))
    summary = element("summary", "What the scores mean")
    parts.append(element("details", summary, definitions(SCORES_HELP), class_="help"))
    return _section("scores", "Scores", *parts)


def _score_line(name: str, method: MethodScores, scores: dict[str, Score], *, signed: bool = False) -> Html:
    """Return the scores of a method, or the differences to it, which have signs and colors."""
    cells = []
    for score in SCORES:
        kind = "number"
        if signed and method.is_clearly_worse(score):
            kind = "number better"
        elif signed and method.is_clearly_better(score):
            kind = "number worse"
        bounds = element("span", _interval(scores[score], signed=signed), class_="interval")
        cells.append(element("td", figure(scores[score].value, signed=signed), bounds, class_=kind))
    return _line(name, *cells, class_="difference" if signed else None)


def _class_section(evaluation: Evaluation) -> Html:
    """Return the section about precision and recall by class, the lowest recall first if there are many."""

    def line(scores: ClassScores, index: int) -> Html:
        unknown = [] if scores.is_known else [" ", element("i", "(not known to the model)")]
        return _line(
            [class_label(scores.label, index), *unknown],
            f"{scores.n_rows:,}",
            f"{scores.n_predicted:,}",
            _share_cell(scores.precision, index),
            _share_cell(scores.recall, index),
            _share(scores.f1),
        )

    found, order = list(enumerate(evaluation.by_class)), ""
    if len(found) > MOST_CLASSES:
        found.sort(key=lambda pair: (np.isnan(pair[1].recall.value), pair[1].recall.value))
        order = "; the classes with the lowest recall come first"
    header = [*_header("class", "rows", "predicted"), header_cell("precision"), header_cell("recall")]
    header.append(header_cell("F1", number=True))
    lines = [line(scores, index) for index, scores in found]
    text = (
        "Precision: the share of the rows predicted as the class that have its label. Recall: the share of "
        f"the rows with its label that are predicted as the class{order}."
    )
    n_more = len(lines) - MOST_CLASSES
    classes = folded_table("By class", header, lines, MOST_CLASSES, n_more, class_="by-class", noun="class")
    return _section("classes", "By class", element("p", text), classes)


def _confusion_section(evaluation: Evaluation) -> Html:
    """Return the section with the confusion matrix."""
    are_many = len(evaluation.classes) > MANY_CLASSES
    labels = [class_label(label, index) for index, label in enumerate(evaluation.classes)]
    names = [element("span", label, class_="vertical") for label in labels] if are_many else labels
    lines = []
    for own, counts in enumerate(evaluation.confusion_matrix):
        total, cells = counts.sum(), []
        for index, count in enumerate(counts):
            share = count / total if total else 0.0
            kind = "right" if index == own else "wrong"
            cell = element(
                "td",
                count_text(count) if count or index == own else "·",
                class_=f"number {kind}" if count else "number none",
                style=f"--share:{100 * share:.1f}%",
                title=f"{percent(share, 1)} of the line" if count else None,
            )
            cells.append(cell)
        lines.append(_line(labels[own], *cells))
    text = (
        "A line for each label, a column for each prediction; the color is the share of the line. Correct "
        "predictions are on the diagonal."
    )
    parts, pairs = [element("p", text)], evaluation.confused_pairs()
    if pairs and len(labels) > 2:
        parts.append(element("p", f"Most frequent confusions: {'; '.join(pairs)}."))
    kind = "matrix many" if are_many else "matrix"
    parts.append(table("Confusion matrix", _header("label", *names), lines, class_=kind))
    return _section("confusions", "Confusion matrix", *parts)


class _Drawing:
    """A drawing of curves over two axes.

    Parameters
    ----------
    height : int
    start : float
        The value at the left end of the horizontal axis, which ends at 1.
    top : float
        The value at the upper end of the vertical axis, which starts at 0.
    """

    def __init__(self, height: int, start: float, top: float) -> None:
        self.height, self.start, self.top = height, start, top
        self.parts: list[Html] = []

    def x(self, value: float) -> str:
        """Return the horizontal position of a value."""
        return f"{LEFT + (value - self.start) / (1 - self.start) * (WIDTH - LEFT - RIGHT):.1f}"

    def y(self, value: float) -> str:
        """Return the vertical position of a value."""
        share = min(value / self.top, 1.0)
        return f"{self.height - BOTTOM - share * (self.height - TOP - BOTTOM):.1f}"

    def add(self, tag: str, *inner: str | Html, **attributes: Any) -> None:
        """Add an element."""
        self.parts.append(element(tag, *inner, **attributes))

    def add_ticks(self, horizontal: Iterable[float], vertical: dict[float, str]) -> None:
        """Add lines of the grid with their values, and values of the horizontal axis."""
        for tick in vertical:
            self.add(
                "line", x1=self.x(self.start), x2=self.x(1), y1=self.y(tick), y2=self.y(tick), class_="grid"
            )
        for tick, text in vertical.items():
            self.add("text", text, x=str(LEFT - 8), y=self.y(tick), class_="tick vertical-tick")
        for tick in horizontal:
            self.add("text", f"{tick:.0%}", x=self.x(tick), y=str(self.height - BOTTOM + 18), class_="tick")

    def add_curve(self, points: Iterable[tuple[float, float]], *inner: Html, class_: str) -> None:
        """Add a line through points."""
        text = " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)
        self.add("polyline", *inner, points=text, class_=class_)

    def finish(self, title: str, x_label: str, y_label: str, description: str) -> Html:
        """Return the drawing with names of its axes, and a description for screen readers."""
        middle_x = f"{(LEFT + WIDTH - RIGHT) / 2:.0f}"
        middle_y = f"{(TOP + self.height - BOTTOM) / 2:.0f}"
        turned = f"rotate(-90 14 {middle_y})"
        self.add("text", x_label, x=middle_x, y=str(self.height - 8), class_="axis")
        self.add("text", y_label, x="14", y=middle_y, transform=turned, class_="axis")
        return element(
            "svg",
            element("title", title),
            *self.parts,
            viewBox=f"0 0 {WIDTH} {self.height}",
            role="img",
            aria_label=f"{title}, {description}",
            class_="curve-drawing",
        )


def _reliability_section(reliability: Reliability) -> Html:
    """Return the section about calibration."""
    lines = []
    for part in reliability.bins:
        verdict = "too sure" if part.mean_probability > part.accuracy.value else "too cautious"
        shares = [_share(part.mean_probability), _share(part.accuracy.value), _share_interval(part.accuracy)]
        name, remark = f"{part.low:.0%} to {part.high:.0%}", element("td", verdict if part.is_off else "")
        lines.append(_line(name, f"{part.n_rows:,}", f"{part.n_wrong:,}", *shares, remark))
    header = _header("probability", "rows", "wrong", "mean", "accuracy", "95% interval")
    bins = table("Reliability", [*header, header_cell("")], lines, class_="reliability")
    return _section(
        "reliability",
        "Are the probabilities right?",
        element("p", " ".join([*reliability.sentences, reliability.share_of_mistakes]), class_="lead"),
        element("p", reliability.verdict),
        element("div", _reliability_drawing(reliability), bins, class_="side-by-side"),
        element("p", RELIABILITY_HELP, class_="hint"),
    )


def _reliability_drawing(reliability: Reliability) -> Html:
    bins = reliability.bins
    start = min(bins[0].low, bins[0].mean_probability)
    drawing = _Drawing(400, start, 1.0)
    steps = [tick / 10 for tick in range(11) if tick / 10 >= start - 1e-9 and (start >= 0.4 or tick % 2 == 0)]
    drawing.add_ticks(steps, {tick / 10: f"{tick / 10:.0%}" for tick in range(0, 11, 2)})
    x, y = drawing.x, drawing.y
    drawing.add("line", x1=x(start), x2=x(1), y1=y(start), y2=y(1), class_="ideal")
    drawing.add_curve([(part.mean_probability, part.accuracy.value) for part in bins], class_="curve")
    largest = max(part.n_rows for part in bins)
    for part in bins:
        middle = x(part.mean_probability)
        radius = f"{max(RADIUS * (part.n_rows / largest) ** 0.5, 2.5):.1f}"
        low, high = y(part.accuracy.low), y(part.accuracy.high)
        drawing.add("line", x1=middle, x2=middle, y1=low, y2=high, class_="range")
        title, height = element("title", part.sentence), y(part.accuracy.value)
        drawing.add("circle", title, cx=middle, cy=height, r=radius, class_="point")
    said = ", ".join(f"{percent(part.mean_probability)}: {percent(part.accuracy.value)}" for part in bins)
    names = "probability of the prediction", "share that is correct"
    return drawing.finish("Reliability curve", *names, f"accuracy by probability: {said}")


def _rejection_section(rejection: Rejection) -> Html:
    """Return the section about rejecting the least certain predictions."""
    header = _header("accepted", *[f"error of {curve.method}" for curve in rejection.curves])
    lines = [
        _line(percent(coverage), *[_share(curve.risk_at(coverage)) for curve in rejection.curves])
        for coverage in COVERAGES
    ]
    errors = table("Error by the share of accepted rows", header, lines, class_="rejection")
    return _section(
        "rejection",
        "If the least certain predictions are rejected",
        element("p", rejection.sentence, class_="lead"),
        element("p", rejection.areas),
        element("div", _rejection_drawing(rejection), errors, class_="side-by-side"),
        element("p", f"{CERTAINTIES[rejection.certainty]} {REJECTION_HELP}", class_="hint"),
    )


def _rejection_drawing(rejection: Rejection) -> Html:
    """Return the risk-coverage curves as a drawing."""
    curves, height = rejection.curves, 320
    styles = ["curve model", *["curve other"] * (len(curves) - 1)]
    seen = [curve.risks[curve.coverages >= LEAST_COVERAGE] for curve in curves]
    top = max(float(np.concatenate(seen).max()), STEPS[0])
    step = next((step for step in STEPS if top / step <= MOST_LINES), STEPS[-1])
    top = step * np.ceil(top / step - 1e-9)
    drawing = _Drawing(height, 0.0, top)
    ticks = [step * number for number in range(round(top / step) + 1)]
    drawing.add_ticks([tick / 5 for tick in range(6)], {tick: f"{100 * tick:.4g}%" for tick in ticks})
    for curve, style in reversed(list(zip(curves, styles, strict=True))):
        n_steps = len(curve.coverages)
        kept = np.unique(np.linspace(0, n_steps - 1, min(n_steps, MOST_POINTS)).astype(int))
        points = list(zip(curve.coverages[kept].tolist(), curve.risks[kept].tolist(), strict=True))
        # From 0: fewer accepted rows of equal certainty are as good as all of them.
        drawing.add_curve([(0.0, points[0][1]), *points], element("title", curve.method), class_=style)
    if len(curves) > 1:
        for number, (curve, style) in enumerate(zip(curves, styles, strict=True)):
            middle, right = height - BOTTOM - 32 + 18 * number, WIDTH - RIGHT
            ends = f"{right - 38},{middle} {right - 10},{middle}"
            drawing.add("polyline", points=ends, class_=style)
            drawing.add("text", curve.method, x=str(right - 44), y=str(middle + 4), class_="legend")
    said = ", ".join(f"{percent(c)}: {percent(curves[0].risk_at(c), 1)}" for c in COVERAGES)
    names = "accepted rows", "error of accepted rows"
    return drawing.finish("Risk-coverage curve", *names, f"error by the share of accepted rows: {said}")


def _slices_section(evaluation: Evaluation) -> Html:
    """Return the section about the slices where the model is worst."""

    def line(part: Slice) -> Html:
        name = [element("span", f"{part.column}: ", class_="hint"), part.values]
        if not part.is_used:
            name += [" ", element("i", "(not used by the model)")]
        kind = "number worse" if part.is_worse else "number"
        return _line(
            name,
            f"{part.n_rows:,}",
            f"{part.n_wrong:,}",
            _share_cell(part.accuracy),
            _share(part.accuracy_elsewhere),
            _share(part.mean_probability),
            element("td", p_value_text(part.p_value), class_=kind),
        )

    parts, worst = [element("p", evaluation.slice_verdict, class_="lead")], evaluation.worst_slices
    if worst:
        header = [
            *_header("slice", "rows", "wrong"),
            *_header("accuracy", "elsewhere", "expected", "p-value"),
        ]
        lines = [line(part) for part in worst[:MOST_SLICES]]
        n_more = len(worst) - N_SLICES
        parts.append(folded_table("Slices", header, lines, N_SLICES, n_more, class_="slices", noun="slice"))
    if evaluation.slices:
        parts.append(element("p", SLICES_HELP, class_="hint"))
    return _section("slices", "Where it is worst", *parts)


def _mistakes_section(evaluation: Evaluation) -> Html:
    """Return the section about the mistakes with the highest probabilities."""
    classes = {str(label): index for index, label in enumerate(evaluation.classes)}
    shown, n_wrong = evaluation.mistakes, evaluation.n_wrong
    text = f"The {len(shown)} of {counted(n_wrong, 'mistake')} with the highest probabilities."
    if not shown:
        text = "There are no mistakes."
    elif n_wrong == 1:
        text = "The only mistake."
    elif len(shown) == n_wrong:
        text = f"All {counted(n_wrong, 'mistake')}, the most confident first."
    articles = [_mistake(mistake, classes) for mistake in shown]
    return _section("mistakes", "Most confident mistakes", element("p", text), *articles)


def _mistake(mistake: Mistake, classes: dict[str, int]) -> Html:
    own = "" if mistake.label_probability != mistake.label_probability else percent(mistake.label_probability)
    line = element(
        "p",
        element("span", "predicted ", class_="hint"),
        class_label(mistake.prediction, classes[str(mistake.prediction)]),
        f" {percent(mistake.probability)}",
        element("span", " label ", class_="hint"),
        class_label(mistake.label, classes[str(mistake.label)]),
        f" {own}",
        class_="verdict",
    )
    sentence = [] if mistake.sentence is None else [element("p", f"Predicted {mistake.sentence}")]
    return element("article", element("h3", mistake.title), line, *sentence, class_="mistake")
