"""The tables of `lann bench paper` as text, for a terminal and for documents alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from lann.bench.compare import TEST, Comparison
from lann.bench.methods import Method
from lann.bench.published import COLUMNS, PUBLISHED, published_accuracy
from lann.bench.results import SCORES, Results

NONE = "–"
SHORT_NAMES = {
    "adrenal": "adren",
    "artificial-classification": "artif",
    "breast-cancer": "breast",
    "gamma-telescope": "gamma",
    "image-segmentation": "segm",
    "ionosphere": "ionos",
    "letter-recognition": "letter",
    "outdoor-objects": "outdoor",
    "pen-digits": "pen",
    "robot-navigation": "robot",
}

Naming = Callable[[Method], str]


@dataclass(frozen=True)
class Row:
    """A label and its cells; `best` are the cells to highlight. With `text`, that stands for all cells."""

    label: str
    cells: tuple[str, ...]
    best: frozenset[int] = frozenset()
    text: str = ""


Section = tuple[str, list[Row]]


@dataclass(frozen=True)
class Grid:
    """A table: rows in sections, notes below."""

    title: str
    head: tuple[str, ...]
    sections: list[Section]
    notes: tuple[str, ...] = ()


def accuracy_grid(results: Results, naming: Naming) -> Grid:
    """Mean accuracies, a row for each method and a column for each data set; the paper's figures on top."""
    names = results.data_sets
    published = []
    for column in COLUMNS:
        values = [published_accuracy(name, column) for name in names]
        if any(value is not None for value in values):
            published.append(Row(column, tuple(share(value, 2) for value in [*values, _mean(values)])))
    differences = []
    for method in results.methods:
        values = [_difference(results, method, name) for name in names]
        if any(value is not None for value in values):
            cells = tuple(_thousandths(value) for value in [*values, _mean(values)])
            differences.append(Row(naming(method), cells))
    sections = [
        ("as published", published),
        *_by_group(results, partial(_accuracies, results, naming, _best(results))),
        ("less the published figure, in thousandths", differences),
    ]
    head = ("accuracy", *(SHORT_NAMES.get(name, name) for name in names), "mean")
    return Grid("Accuracy", head, [section for section in sections if section[1]], tuple(_notes(results)))


def _accuracies(results: Results, naming: Naming, best: list[str], method: Method) -> Row:
    cells = [
        "fail" if (method.name, name) in results.failures else share(results.mean(method.name, name))
        for name in results.data_sets
    ]
    cells.append(share(results.over_sets(method.name)))
    return Row(
        naming(method), tuple(cells), frozenset(i for i, cell in enumerate(cells) if cell == best[i] != NONE)
    )


def _best(results: Results) -> list[str]:
    """The best figure of every column, as it is printed."""
    columns = [[results.mean(method.name, name) for method in results.methods] for name in results.data_sets]
    columns.append([results.over_sets(method.name) for method in results.methods])
    return [share(max((value for value in column if value is not None), default=None)) for column in columns]


def methods_grid(results: Results, naming: Naming) -> Grid:
    """Means over all data sets of every score."""

    def row(method: Method) -> Row:
        values = {score: results.over_sets(method.name, score) for score in SCORES}
        return Row(naming(method), tuple(_score(value, score) for score, value in values.items()))

    notes = (
        "Log-loss: natural logarithm, clipped at 2.2e-16. ECE: expected calibration error, 15 bins.",
        f"{NONE}: the method gives no probabilities, or has not been measured on all sets.",
    )
    head = ("mean of the sets", "accuracy", "balanced", "log-loss", "ECE", "fit s", "predict s")
    return Grid(f"Means over {len(results.data_sets)} data sets", head, _by_group(results, row), notes)


def comparison_grid(comparisons: list[Comparison], naming: dict[str, str]) -> Grid:
    """LANN against each other method; `naming` has the names of the methods."""
    rows = [
        Row(
            naming.get(comparison.other, comparison.other),
            (
                f"{comparison.ahead} of {len(comparison.pairings)}",
                *(_number(comparison.count(verdict)) for verdict in ("win", "tie", "loss")),
                f"{comparison.mean_difference:+.4f}".replace("-", "−"),
            ),
        )
        for comparison in comparisons
    ]
    notes = (f"Wins and losses: {TEST}, on each set over its splits. Ahead: by the mean, however little.",)
    head = ("lann against", "ahead on", "wins", "ties", "losses", "mean difference")
    return Grid("LANN against the others", head, [("", rows)] if rows else [], notes)


def details_grid(results: Results, data_set: str, naming: Naming) -> Grid:
    """Everything that was measured on one data set."""
    sections = _by_group(results, partial(_details, results, data_set, naming))
    if published := PUBLISHED.get(data_set):
        figures = {column: share(value, 2) for column, value in published.accuracies.items()}
        figures["LANN"] += f" ± {share(published.lann_std, 4)}"
        rows = [Row(column, (text, *[NONE] * 7)) for column, text in figures.items()]
        sections.insert(0, ("as published", rows))
    head = ("", "accuracy", "publ.", "diff.", "balanced", "log-loss", "ECE", "fit s", "pred. s")
    return Grid(data_set, head, sections)


def _details(results: Results, data_set: str, naming: Naming, method: Method) -> Row:
    if failure := results.failures.get((method.name, data_set)):
        return Row(naming(method), (), text=f"failed: {failure}")
    mean, std = results.mean(method.name, data_set), results.std(method.name, data_set)
    difference = _difference(results, method, data_set)
    return Row(
        naming(method),
        (
            NONE if std is None else f"{share(mean)} ± {share(std)}",
            share(published_accuracy(data_set, method.published), 2),
            NONE if difference is None else f"{difference:+.3f}".replace("-", "−").replace("0.", "."),
            *(_score(results.mean(method.name, data_set, score), score) for score in SCORES[1:]),
        ),
    )


def _by_group(results: Results, row: Callable[[Method], Row]) -> list[Section]:
    grouped = groupby(results.methods, key=lambda method: method.group)
    return [(group, [row(method) for method in methods]) for group, methods in grouped]


def _notes(results: Results) -> list[str]:
    notes = [f"{method} failed on {name}: {text}" for (method, name), text in results.failures.items()]
    notes += [f"Without {name}: {reason}" for name, reason in results.skipped.items()]
    if results.protocol != "paper":
        notes.append("The published figures are those of training on a quarter, not of this protocol.")
    if not results.is_complete:
        notes.append("Not all splits have been measured yet: the means are of those that have.")
    return notes


def _difference(results: Results, method: Method, data_set: str) -> float | None:
    mean, published = results.mean(method.name, data_set), published_accuracy(data_set, method.published)
    return None if mean is None or published is None else mean - published


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def share(value: float | None, digits: int = 3) -> str:
    """A share as it is printed, ".954"; a dash where there is none."""
    return NONE if value is None else f"{value:.{digits}f}".removeprefix("0")


def _thousandths(value: float | None) -> str:
    return NONE if value is None else f"{round(1000 * value):+d}".replace("-", "−").replace("+0", "0")


def _number(value: int | None) -> str:
    return NONE if value is None else str(value)


def _score(value: float | None, score: str) -> str:
    if value is None:
        return NONE
    if score in ("accuracy", "balanced_accuracy", "ece"):
        return share(value)
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"
