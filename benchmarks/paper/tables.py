"""The tables of the paper's benchmark."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.common.datasets import SHORT_NAMES
from benchmarks.common.methods import Method
from benchmarks.common.probability_tables import (
    COLUMNS as PROBABILITY_COLUMNS,
)
from benchmarks.common.probability_tables import (
    NOTES,
    failure_notes,
    probability_cells,
    score_failures,
)
from benchmarks.common.published import COLUMNS, PUBLISHED, published_accuracy
from benchmarks.engine import PartResults, Row, Table, difference
from benchmarks.engine.tables import NONE, Section, best_values, in_groups, share, share_and_std, signed
from benchmarks.paper.comparison import TEST, Comparison
from benchmarks.paper.plan import Plan

OTHER_SCORES = ("balanced_accuracy", "fit_seconds", "predict_seconds")


def accuracy_table(found: PartResults, plan: Plan) -> Table:
    """Mean accuracies, a row per method and a column per data set, with the published figures."""
    published = []
    for column in COLUMNS:
        values = [published_accuracy(name, column) for name in plan.data_sets]
        if any(value is not None for value in values):
            cells = tuple(share(value, 2) for value in [*values, _mean(values)])
            published.append(Row(column, cells))
    differences = []
    for method in plan.methods:
        values = [_from_published(found, method, name) for name in plan.data_sets]
        if any(value is not None for value in values):
            cells = tuple(_thousandths(value) for value in [*values, _mean(values)])
            differences.append(Row(method.name, cells, label=method.label))
    sections = [
        ("as published", published),
        *_accuracies(found, plan),
        ("difference from the published figure, in thousandths", differences),
    ]
    notes = found.results.notes()
    if plan.protocol != "paper":
        notes.append("The published figures are for training on a quarter, not for this protocol.")
    if not found.results.is_complete:
        notes.append("Not all splits have been measured yet: the means are of those that have.")
    head = ("accuracy", *(SHORT_NAMES.get(name, name) for name in plan.data_sets), "mean")
    return Table("Accuracy", head, [section for section in sections if section[1]], tuple(notes))


def _accuracies(found: PartResults, plan: Plan) -> list[Section]:
    names = [method.name for method in plan.methods]
    columns = [[found.mean(method, name) for method in names] for name in plan.data_sets]
    columns.append([plan.mean(found, method) for method in names])
    best = [best_values(column) for column in columns]

    def row(position: int, method: Method) -> Row:
        cells = [share(column[position]) for column in columns]
        for i, name in enumerate(plan.data_sets):
            if found.failure(method.name, name) is not None:
                cells[i] = "fail"
        highlighted = frozenset(i for i, rows in enumerate(best) if position in rows)
        return Row(method.name, tuple(cells), highlighted, label=method.label)

    return in_groups((method.group, row(i, method)) for i, method in enumerate(plan.methods))


def means_table(found: PartResults, plan: Plan) -> Table:
    """Means over all data sets of accuracies and times."""

    def row(method: Method) -> Row:
        cells = (
            share_and_std(plan.mean(found, method.name), found.std_over_sets(method.name, plan.data_sets)),
            *(_score(plan.mean(found, method.name, score), score) for score in OTHER_SCORES),
        )
        return Row(method.name, cells, label=method.label)

    notes = (
        "±: standard deviation over the splits of the mean over the data sets.",
        f"{NONE}: the method was not measured on all data sets.",
    )
    head = ("mean over data sets", "accuracy", "balanced", "fit s", "predict s")
    return Table(f"Means over {len(plan.data_sets)} data sets", head, _by_group(plan, row), notes)


def probability_table(found: PartResults, plan: Plan) -> Table:
    """Means over all data sets of the scores of probabilities."""

    def row(method: Method) -> Row:
        cells = probability_cells(found, method.name, plan.data_sets)
        return Row(method.name, cells, label=method.label)

    failures = score_failures(found, [method.name for method in plan.methods], plan.data_sets)
    return Table(
        f"Probabilities: means over {len(plan.data_sets)} data sets",
        ("mean over data sets", *PROBABILITY_COLUMNS.values()),
        _by_group(plan, row),
        (*NOTES, *failure_notes(failures)),
    )


def comparison_table(comparisons: list[Comparison], plan: Plan) -> Table:
    """LANN compared with each other method."""
    labels = {method.name: method.label for method in plan.methods}
    rows = [
        Row(
            comparison.other,
            (
                f"{comparison.n_ahead} of {len(comparison.pairings)}",
                *(_count(comparison.count(verdict)) for verdict in ("win", "tie", "loss")),
                signed(comparison.mean_difference),
            ),
            label=labels.get(comparison.other, ""),
        )
        for comparison in comparisons
    ]
    notes = (f"Wins and losses: {TEST}, on each data set over its splits. Ahead: by any difference.",)
    head = ("lann compared with", "ahead on", "wins", "ties", "losses", "mean difference")
    return Table("LANN compared with the others", head, [("", rows)] if rows else [], notes)


def details_table(found: PartResults, data_set: str, plan: Plan) -> Table:
    """Accuracies and times on one data set."""

    def row(method: Method) -> Row:
        if failure := found.failure(method.name, data_set):
            return Row(method.name, (), text=f"failed: {failure}", label=method.label)
        cells = (
            share_and_std(found.mean(method.name, data_set), found.std(method.name, data_set)),
            share(published_accuracy(data_set, method.published), 2),
            signed(_from_published(found, method, data_set), 3).replace("0.", "."),
            *(_score(found.mean(method.name, data_set, score), score) for score in OTHER_SCORES),
        )
        return Row(method.name, cells, label=method.label)

    sections = _by_group(plan, row)
    if published := PUBLISHED.get(data_set):
        figures = {column: share(value, 2) for column, value in published.accuracies.items()}
        figures["LANN"] += f" ± {share(published.lann_std, 4)}"
        rows = [Row(column, (text, *[NONE] * 5)) for column, text in figures.items()]
        sections.insert(0, ("as published", rows))
    head = ("", "accuracy", "publ.", "diff.", "balanced", "fit s", "pred. s")
    return Table(data_set, head, sections)


def probability_details_table(found: PartResults, data_set: str, plan: Plan) -> Table:
    """Scores of probabilities on one data set."""

    def row(method: Method) -> Row | None:
        if found.failure(method.name, data_set):
            return None
        return Row(method.name, probability_cells(found, method.name, [data_set]), label=method.label)

    sections = in_groups((method.group, row(method)) for method in plan.methods)
    return Table(f"{data_set}: probabilities", ("", *PROBABILITY_COLUMNS.values()), sections)


def _by_group(plan: Plan, row: Callable[[Method], Row]) -> list[Section]:
    return in_groups((method.group, row(method)) for method in plan.methods)


def _from_published(found: PartResults, method: Method, data_set: str) -> float | None:
    return difference(found.mean(method.name, data_set), published_accuracy(data_set, method.published))


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _thousandths(value: float | None) -> str:
    return NONE if value is None else f"{round(1000 * value):+d}".replace("-", "−").replace("+0", "0")


def _count(value: int | None) -> str:
    return NONE if value is None else str(value)


def _score(value: float | None, score: str) -> str:
    if value is None:
        return NONE
    if score == "balanced_accuracy":
        return share(value)
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"
