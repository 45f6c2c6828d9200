"""Tables of one score, a row per data set and a column per method."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.common.probability_tables import FAILED, NAMES, score_cell
from benchmarks.common.split_benchmark import Plan
from benchmarks.engine import PartResults, Row, Table
from benchmarks.engine.tables import best_values

MEAN = "mean"


def accuracy_table(found: PartResults, plan: Plan, *, title: str = "Accuracy") -> Table:
    """Accuracies, with notes on what could not be measured."""
    notes = found.results.notes()
    if not found.results.is_complete:
        notes.append("Not all splits have been measured yet: the means are of those that have.")
    return by_set(found, plan, "accuracy", title, notes=notes)


def score_table(found: PartResults, plan: Plan, score: str) -> Table:
    """Show a score of probabilities, of which the lowest is the best."""
    name = NAMES[score]
    return by_set(found, plan, score, f"{name[:1].upper()}{name[1:]}", largest=False)


def by_set(
    found: PartResults,
    plan: Plan,
    score: str,
    title: str,
    *,
    largest: bool = True,
    notes: Sequence[str] = (),
) -> Table:
    """
    Show a score on every data set, and its mean over the data sets.

    Parameters
    ----------
    found, plan
        The results, and which methods and data sets there are.
    score
        Name of the score.
    title
        Heading of the table.
    largest
        Whether the largest value is the best, rather than the lowest.
    notes
        Sentences below the table.
    """

    def row(name: str, names: Sequence[str]) -> Row:
        means = [found.over_sets(method, names, score) for method in plan.method_names]
        cells = tuple(set_cell(found, method, names, score) for method in plan.method_names)
        return Row(name, cells, frozenset(best_values(means, largest=largest)))

    rows = [row(name, [name]) for name in plan.data_sets]
    head = (NAMES.get(score, score.replace("_", " ")), *plan.method_names)
    return Table(title, head, [("", [*rows, row(MEAN, plan.data_sets)])], tuple(notes), titled=True)


def set_cell(found: PartResults, method: str, names: Sequence[str], score: str) -> str:
    """Write the mean of a score over data sets and its standard deviation, or that the method failed."""
    if any(found.failure(method, name) is not None for name in names):
        return FAILED
    return score_cell(found, method, names, score)
