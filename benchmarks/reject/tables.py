"""The tables of the reject option."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.common.split_benchmark import Plan
from benchmarks.engine import PartResults, Row, Table
from benchmarks.engine.tables import NONE, best_values
from benchmarks.reject.measure import BY, CERTAINTIES, NOVELTY_SHARES, STRANGERS
from benchmarks.reject.methods import OURS

MEAN = "mean"
STRANGER_NAMES = {
    "other": "another data set",
    "matched": "another, standardized",
    "permuted": "features permuted",
    "all_outside": "all values outside",
    "one_outside": "one value outside",
}
BY_NAMES = {"global": "global", "class": "class", "local": "local", "local_exact": "local, exact"}


def make_tables(found: PartResults, plan: Plan) -> list[Table]:
    """Return the tables of a run."""
    tables = [aurc_table(found, plan), certainty_table(found, plan)]
    tables += [errors_table(found, plan, method) for method in plan.method_names]
    tables.append(threshold_table(found, plan))
    tables += [far_table(found, plan, method) for method in plan.method_names if method == OURS]
    tables.append(alarms_table(found, plan))
    return tables


def percent_cell(found: PartResults, method: str, names: Sequence[str], score: str, digits: int = 1) -> str:
    """Write a share in percent, and the standard deviation over the splits."""
    value, spread = found.over_sets(method, names, score), found.std_over_sets(method, names, score)
    if value is None:
        return NONE
    text = f"{100 * value:.{digits}f}"
    return text if spread is None else f"{text} ± {100 * spread:.{digits}f}"


def _by_set(plan: Plan, cells: Callable[[Sequence[str]], tuple[str, ...]]) -> list[Row]:
    rows = [Row(name, cells([name])) for name in plan.data_sets]
    return [*rows, Row(MEAN, cells(plan.data_sets))]


def aurc_table(found: PartResults, plan: Plan) -> Table:
    """AURC of the default certainty of each method, and of the probabilities, on every data set."""
    columns = [(method, kind) for method in plan.method_names for kind in ("combined", "probability")]

    def row(name: str, names: Sequence[str]) -> Row:
        means = [found.over_sets(method, names, f"aurc_{kind}") for method, kind in columns]
        cells = tuple(percent_cell(found, m, names, f"aurc_{kind}", 2) for m, kind in columns)
        scaled = [None if mean is None else 100 * mean for mean in means]
        return Row(name, cells, frozenset(best_values(scaled, largest=False, digits=2)))

    rows = [*(row(name, [name]) for name in plan.data_sets), row(MEAN, plan.data_sets)]
    notes = [
        "Area under the risk-coverage curve of the test rows in %, ± standard deviation over the splits; "
        "equal certainties count as in random order.",
        *found.results.notes(),
    ]
    if not found.results.is_complete:
        notes.append("Not all splits have been measured yet: the means are of those that have.")
    head = ("AURC in %", *(f"{method}, {kind}" for method, kind in columns))
    return Table("Area under the risk-coverage curve", head, [("", rows)], tuple(notes), titled=True)


def certainty_table(found: PartResults, plan: Plan) -> Table:
    """Means of the AURC over the data sets, by method and certainty."""
    rows = [
        Row(
            method.name,
            tuple(
                percent_cell(found, method.name, plan.data_sets, f"aurc_{kind}", 2) for kind in CERTAINTIES
            ),
            label=method.label,
        )
        for method in plan.methods
    ]
    title = f"Certainties: mean AURC of {len(plan.data_sets)} data sets in %"
    return Table(title, ("AURC in %", *CERTAINTIES), [("", rows)], titled=True)


def errors_table(found: PartResults, plan: Plan, method: str) -> Table:
    """Errors before and after a tenth of the rows is rejected."""
    scores = ("error", "gone", "rejected", "error_accepted", "gone_learned")
    rows = _by_set(plan, lambda names: tuple(percent_cell(found, method, names, score) for score in scores))
    head = (method, "error", "gone at 10 %", "rejected", "error of accepted", "gone")
    notes = (
        "In %. Gone at 10 %: the share of the errors among the tenth of the test rows with the lowest "
        "certainty. Then thresholds that are learned for a coverage of 90 %: the share of the test rows that "
        "is rejected, as ambiguous or far, the error of the others, and the share of the errors gone.",
    )
    return Table(
        f"Errors with a tenth of the rows rejected: {method}", head, [("", rows)], notes, titled=True
    )


def threshold_table(found: PartResults, plan: Plan) -> Table:
    """Compare thresholds for all rows, for classes and for regions."""
    names = (*BY, "local_exact")
    sections = [
        (
            method.label,
            _by_set(
                plan,
                lambda sets, m=method.name: tuple(  # type: ignore[misc]
                    percent_cell(found, m, sets, f"area_{by}", 3) for by in names
                ),
            ),
        )
        for method in plan.methods
    ]
    notes = (
        "Mean error in % of the accepted test rows at coverages from 50 % to 100 %, thresholds learned.",
    )
    head = ("mean risk in %", *(BY_NAMES[by] for by in names))
    return Table("One threshold, or several", head, sections, notes, titled=True)


def far_table(found: PartResults, plan: Plan, method: str) -> Table:
    """Show which rows are rejected as far with 5 % false alarms, on every data set."""
    scores = ("alarms_5", "far_other_5", "far_other_lowest_5", *(f"far_{k}_5" for k in STRANGERS[1:]))
    rows = _by_set(plan, lambda names: tuple(percent_cell(found, method, names, score) for score in scores))
    head = (
        f"far in %: {method}", "test rows", STRANGER_NAMES["other"], "lowest",
        *(STRANGER_NAMES[kind] for kind in STRANGERS[1:]),
    )  # fmt: skip
    notes = (
        "Rows rejected as far with novelty_share=0.05. Another data set: rows of up to seven others, values "
        "as they are, columns drawn; lowest: the one that is found least. Standardized: each column by its "
        "own mean and deviation. Permuted: test rows, each feature by itself. Outside: by three standard "
        "deviations beyond the range of the training rows.",
    )
    return Table("Rows rejected as far", head, [("", rows)], notes, titled=True)


def alarms_table(found: PartResults, plan: Plan) -> Table:
    """Show false alarms and what is found, by method and share."""
    suffixes = [f"{100 * share:.0f}" for share in NOVELTY_SHARES]
    sections = [
        (
            f"novelty_share = {int(suffix) / 100:g}",
            [
                Row(
                    method.name,
                    tuple(
                        percent_cell(found, method.name, plan.data_sets, score)
                        for score in (f"alarms_{suffix}", *(f"far_{kind}_{suffix}" for kind in STRANGERS))
                    ),
                    label=method.label,
                )
                for method in plan.methods
            ],
        )
        for suffix in suffixes
    ]
    head = ("far in %, mean", "test rows", *(STRANGER_NAMES[kind] for kind in STRANGERS))
    return Table("Rows rejected as far: means over the data sets", head, sections, titled=True)
