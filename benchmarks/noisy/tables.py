"""The tables of the noisy sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.common.methods import Method
from benchmarks.common.probability_tables import (
    COLUMNS,
    NOTES,
    failure_notes,
    probability_cells,
    score_cell,
    score_failures,
)
from benchmarks.common.scores import CONFIDENT
from benchmarks.common.split_benchmark import Plan
from benchmarks.engine import PartResults, Row, Table
from benchmarks.engine.tables import NONE, decimal, in_groups, share
from benchmarks.noisy.plan import KNN, OURS


@dataclass(frozen=True)
class ConfidentCounts:
    """How many predictions there are, how many have a high probability, and how many of these are correct."""

    n_predictions: int
    n_confident: int
    n_correct: int

    @property
    def share_confident(self) -> float:
        return self.n_confident / self.n_predictions

    @property
    def share_correct(self) -> float | None:
        return self.n_correct / self.n_confident if self.n_confident else None


def count_confident_predictions(
    found: PartResults, method: str, names: Sequence[str]
) -> ConfidentCounts | None:
    """Count over all splits of all data sets; None unless the method was measured on all of them."""
    scores = ("n_test", "n_confident", "n_confident_correct")
    cells = [[found.values(method, name, score) for score in scores] for name in names]
    if not cells or not all(values for cell in cells for values in cell):
        return None
    return ConfidentCounts(*(int(sum(sum(cell[i]) for cell in cells)) for i in range(len(scores))))


def means_table(found: PartResults, plan: Plan) -> Table:
    """Means over all data sets, a row per method."""

    def row(method: Method) -> Row:
        cells = (
            score_cell(found, method.name, plan.data_sets, "accuracy"),
            *probability_cells(found, method.name, plan.data_sets),
            decimal(found.over_sets(method.name, plan.data_sets, "fit_seconds"), 1),
        )
        return Row(method.name, cells, label=method.label)

    failures = score_failures(found, plan.method_names, plan.data_sets)
    return Table(
        f"Means over {len(plan.data_sets)} data sets",
        ("mean over data sets", "accuracy", *COLUMNS.values(), "fit s"),
        in_groups((method.group, row(method)) for method in plan.methods),
        ("±: standard deviation over the splits.", *NOTES, *failure_notes(failures)),
    )


def vote_table(found: PartResults, plan: Plan) -> Table:
    """Show the vote that was chosen on every split, a row per data set."""
    methods = [method for method in (KNN, OURS) if method in plan.method_names]
    rows = [Row(name, tuple(_votes(found, method, name) for method in methods)) for name in plan.data_sets]
    return Table("Votes", ("vote of each split", *methods), [("", rows)] if methods else [])


def _votes(found: PartResults, method: str, name: str) -> str:
    cells = found.cell(method, name).values()
    votes = [values.get("vote", NONE).replace("weights=", "") for values in cells]
    if len(set(votes)) == 1:
        return str(votes[0])
    return "; ".join(votes) or NONE


def confident_table(found: PartResults, plan: Plan) -> Table:
    """How many predictions have a high probability, and how many of these are correct."""

    def row(name: str, method: str, names: Sequence[str], label: str = "") -> Row:
        counts = count_confident_predictions(found, method, names)
        if counts is None:
            return Row(name, (NONE,) * 4, label=label)
        cells = (
            str(counts.n_predictions),
            str(counts.n_confident),
            share(counts.share_confident),
            share(counts.share_correct),
        )
        return Row(name, cells, label=label)

    sections = [("all data sets", [row(m.name, m.name, plan.data_sets, m.label) for m in plan.methods])]
    if OURS in plan.method_names:
        sections.append((OURS, [row(name, OURS, [name]) for name in plan.data_sets]))
    head = (f"P ≥ {CONFIDENT:g}".replace("0.", "."), "predictions", "confident", "share", "correct")
    notes = (
        f"Confident: predictions whose label has a probability of at least {CONFIDENT:g}, as returned; all "
        "splits together. Correct: the share of these that is correct.",
    )
    return Table("Confident predictions", head, sections, notes)
