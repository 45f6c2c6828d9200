"""The tables of the missing values."""

from __future__ import annotations

from benchmarks.common.methods import Method
from benchmarks.common.probability_tables import failure_notes, score_cell, score_failures
from benchmarks.common.set_tables import accuracy_table, by_set, set_cell
from benchmarks.common.split_benchmark import Plan
from benchmarks.engine import Results, Row, Table, difference
from benchmarks.engine.tables import decimal, in_groups, share, signed
from benchmarks.missing.data import PLANTED
from benchmarks.missing.plan import COMPLETE, IMPUTED, INFORMATIVE, OURS, RANDOM
from benchmarks.missing.tasks import SHARE, best_accuracy


def make_tables(results: Results, random: Plan, informative: Plan) -> list[Table]:
    """Return the tables of the parts that have data sets."""
    tables = []
    if random.data_sets:
        found = results.part(RANDOM, "accuracy")
        percent = f"{100 * SHARE:.0f} %"
        tables += [
            accuracy_table(found, random, title=f"Accuracy with {percent} of the cells missing"),
            by_set(
                results.part(COMPLETE), complete_plan(random), "accuracy", "Accuracy on the complete data"
            ),
            means_table(results, random),
        ]
    if informative.data_sets:
        notes = [] if random.data_sets else results.notes()
        tables.append(informative_table(results, informative, notes))
    return tables


def complete_plan(plan: Plan) -> Plan:
    """Return the methods that are measured on the complete data, where imputation changes nothing."""
    methods = [method for method in plan.methods if method.name != IMPUTED]
    return Plan(plan.seed, plan.n_splits, methods, plan.data_sets)


def means_table(results: Results, plan: Plan) -> Table:
    """Means over the data sets of the paper, with missing values and on the complete data."""
    found, complete, names = (
        results.part(RANDOM, "accuracy"),
        results.part(COMPLETE, "accuracy"),
        plan.data_sets,
    )

    def row(method: Method) -> Row:
        # Imputation does nothing to the complete data.
        other = OURS if method.name == IMPUTED else method.name
        change = difference(found.over_sets(method.name, names), complete.over_sets(other, names))
        cells = (
            score_cell(found, method.name, names, "accuracy"),
            score_cell(complete, other, names, "accuracy"),
            signed(change, 3),
            score_cell(found, method.name, names, "log_loss"),
            score_cell(complete, other, names, "log_loss"),
            score_cell(found, method.name, names, "ece"),
            decimal(found.over_sets(method.name, names, "fit_seconds"), 1),
        )
        return Row(method.name, cells, label=method.label)

    failures = score_failures(found, plan.method_names, names)
    notes = (
        "±: standard deviation over the splits. Complete: on the same rows before cells were emptied. "
        "Log-loss and ECE: as returned.",
        *failure_notes(failures),
    )
    head = (
        "mean over data sets", "accuracy", "complete", "change", "log-loss", "complete", "ECE", "fit s",
    )  # fmt: skip
    sections = in_groups((method.group, row(method)) for method in plan.methods)
    return Table(f"Means over {len(names)} data sets", head, sections, notes)


def informative_table(results: Results, plan: Plan, notes: list[str]) -> Table:
    """Show accuracy and log-loss on data whose gaps tell something about the class."""
    found = results.part(INFORMATIVE, "accuracy")

    def row(method: Method, score: str) -> Row:
        cells = tuple(set_cell(found, method.name, [name], score) for name in plan.data_sets)
        return Row(method.name, cells, label=method.label)

    sections = [
        ("accuracy", [row(method, "accuracy") for method in plan.methods]),
        ("log-loss as returned", [row(method, "log_loss") for method in plan.methods]),
    ]
    if PLANTED in plan.data_sets:
        notes = [
            f"Best possible accuracy on {PLANTED}: {share(best_accuracy())}; after imputation by the "
            f"median, {share(best_accuracy(imputed=True))}.",
            *notes,
        ]
    return Table("Informative gaps", ("informative gaps", *plan.data_sets), sections, tuple(notes))
