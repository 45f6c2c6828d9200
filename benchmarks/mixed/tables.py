"""Means over the tables, ranks and wins."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from benchmarks.common.methods import Method
from benchmarks.common.probability_tables import NOTES, failure_notes, score_cell, score_failures
from benchmarks.common.split_benchmark import Plan
from benchmarks.engine import PartResults, Row, Table, difference
from benchmarks.engine.tables import NONE, best_values, decimal, in_groups, signed
from benchmarks.mixed.plan import OURS

COLUMNS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced",
    "log_loss": "as returned",
    "log_loss_floored": "log-loss",
    "roc_auc": "ROC AUC",
    "brier": "Brier",
    "ece": "ECE",
}
"""The scores of the means, and the names of their columns."""

DIGITS = 3
"""Accuracies count as equal if so many digits are."""


def means_table(found: PartResults, plan: Plan) -> Table:
    """Means over all data sets, a row per method."""

    def row(method: Method) -> Row:
        cells = (
            *(score_cell(found, method.name, plan.data_sets, score) for score in COLUMNS),
            decimal(found.over_sets(method.name, plan.data_sets, "fit_seconds"), 1),
        )
        return Row(method.name, cells, label=method.label)

    failures = score_failures(found, plan.method_names, plan.data_sets)
    notes = (
        "±: standard deviation over the splits. Balanced: balanced accuracy. ROC AUC: with more than two "
        "classes, the mean of one against the rest. Brier: as returned.",
        *NOTES,
        *failure_notes(failures),
    )
    return Table(
        f"Means over {len(plan.data_sets)} data sets",
        ("mean over data sets", *COLUMNS.values(), "fit s"),
        in_groups((method.group, row(method)) for method in plan.methods),
        notes,
    )


def ranks_table(found: PartResults, plan: Plan) -> Table:
    """Mean ranks by accuracy and log-loss, on how many data sets a method is best, and LANN beside it."""
    accuracy = ranks(found, plan, "accuracy", largest=True)
    loss = ranks(found, plan, "log_loss", largest=False)
    best = [
        best_values([found.mean(m, name) for m in plan.method_names], digits=DIGITS)
        for name in plan.data_sets
    ]

    def row(position: int, method: Method) -> Row:
        cells = (
            decimal(accuracy.get(method.name), 2),
            decimal(loss.get(method.name), 2),
            str(sum(position in positions for positions in best)),
            *compare_with_ours(found, plan, method.name),
        )
        return Row(method.name, cells, label=method.label)

    notes = (
        "Mean ranks among the methods of the table that were measured on all data sets; the best is 1, and "
        f"equal ones share a rank. Best: on how many data sets no accuracy is higher, with {DIGITS} digits. "
        f"{OURS} −: its mean accuracy less that of the method; then on how many data sets it is ahead, level "
        "and behind.",
    )
    return Table(
        "Ranks and wins",
        ("ranks", "accuracy", "log-loss", "best", f"{OURS} −", "ahead", "level", "behind"),
        [("", [row(i, method) for i, method in enumerate(plan.methods)])],
        notes,
    )


def ranks(found: PartResults, plan: Plan, score: str, *, largest: bool) -> dict[str, float]:
    """Return the mean ranks over the data sets of the methods that were measured on all of them."""
    methods = [m for m in plan.method_names if found.over_sets(m, plan.data_sets, score) is not None]
    if not methods:
        return {}
    values = np.array([[found.mean(m, name, score) for m in methods] for name in plan.data_sets], float)
    rounded = values.round(DIGITS)
    mean_ranks = rankdata(-rounded if largest else rounded, axis=1).mean(axis=0)
    return dict(zip(methods, mean_ranks.tolist(), strict=True))


def compare_with_ours(found: PartResults, plan: Plan, other: str) -> tuple[str, ...]:
    """Return the cells of a comparison: mean difference, and data sets ahead, level and behind."""
    margins = [difference(found.mean(OURS, name), found.mean(other, name)) for name in plan.data_sets]
    known = [round(margin, DIGITS) for margin in margins if margin is not None]
    if other == OURS or not known or len(known) < len(margins):
        return (NONE,) * 4
    overall = difference(found.over_sets(OURS, plan.data_sets), found.over_sets(other, plan.data_sets))
    counts = (sum(m > 0 for m in known), sum(m == 0 for m in known), sum(m < 0 for m in known))
    return (signed(overall), *(str(count) for count in counts))
