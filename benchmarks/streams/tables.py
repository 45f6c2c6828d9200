"""The tables of the streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.engine import PartResults, Results, Row, Table, mean
from benchmarks.engine.tables import NONE, best_values, decimal, share, signed
from benchmarks.streams.measure import scores_at
from benchmarks.streams.methods import SAM_KNN, Method
from benchmarks.streams.plan import MEMORY, REFERENCE_ERRORS, SPEED, Plan

NAMES = {
    "accuracy": "accuracy",
    "kappa_temporal": "kappa-temporal",
    "log_loss": "log-loss as returned",
    "log_loss_floored": "log-loss",
}
LARGEST = ("accuracy", "kappa_temporal")
MEAN = "mean"


def score_of(found: PartResults, method: str, stream: str, score: str, n_rows: int | None) -> float | None:
    """Return a score up to a row, or up to the end if `n_rows` is None; None if it was not measured."""
    values = found.first(method, stream)
    if values is None:
        return None
    if n_rows is None:
        return values[score]
    # The length of the stream, as far as it was read: a method that ended before has no figure.
    longest = max(one["n_rows"] for name in found.methods if (one := found.first(name, stream)) is not None)
    if values["n_rows"] < min(n_rows, longest):
        return None
    scores = scores_at(values, n_rows)
    return None if scores is None else scores[score]


def mean_of(
    found: PartResults, method: str, streams: Sequence[str], score: str, n_rows: int | None
) -> float | None:
    """Return the mean of a score over streams; None unless the method was measured on all of them."""
    values = [score_of(found, method, stream, score, n_rows) for stream in streams]
    known = [value for value in values if value is not None]
    return mean(known) if len(known) == len(values) else None


def score_table(found: PartResults, plan: Plan, score: str, n_rows: int | None) -> Table:
    """Show a score on every stream, of all methods up to a row or of the fast ones up to the end."""
    methods = plan.whole if n_rows is None else plan.methods
    scope = plan.scope(n_rows)

    def row(name: str, value: Callable[[str], float | None]) -> Row:
        values = [value(method.name) for method in methods]
        best = best_values(values, largest=score in LARGEST)
        return Row(name, tuple(map(_score, values)), frozenset(best))

    rows = [
        row(name, lambda method, name=name: score_of(found, method, name, score, n_rows))  # type: ignore[misc]
        for name in plan.streams
    ]
    rows.append(row(MEAN, lambda method: mean_of(found, method, plan.streams, score, n_rows)))
    title = f"{NAMES[score][:1].upper()}{NAMES[score][1:]}, {scope}"
    return Table(title, (NAMES[score], *(m.name for m in methods)), [("", rows)], titled=True)


def means_table(found: PartResults, plan: Plan, n_rows: int | None) -> Table:
    """Means over the streams, and rows per second, a row per method."""
    methods = plan.whole if n_rows is None else plan.methods
    means = {
        score: [mean_of(found, method.name, plan.streams, score, n_rows) for method in methods]
        for score in NAMES
    }
    best = [best_values(values, largest=score in LARGEST) for score, values in means.items()]

    def row(i: int, method: Method) -> Row:
        cells = tuple(_score(values[i]) for values in means.values())
        highlighted = frozenset(j for j, positions in enumerate(best) if i in positions)
        return Row(
            method.name, (*cells, _rows_per_second(found, method, plan)), highlighted, "", method.label
        )

    scope = plan.scope(n_rows)
    notes = [
        "A probability of 0 for the true label counts as the machine epsilon in the log-loss as returned; "
        "the log-loss is that of (P + η/C) / (1 + η) with η = .02 and C classes, as in all benchmarks.",
        "Rows/s: lowest and highest over the streams, predicted and learned one by one, per second of "
        "processor time.",
    ]
    if not found.results.is_complete:
        notes.append("Not all has been measured yet.")
    return Table(
        f"Means over {len(plan.streams)} streams, {scope}",
        (f"mean, {scope}", *NAMES.values(), "rows/s"),
        [("", [row(i, method) for i, method in enumerate(methods)])],
        (*notes, *found.results.notes()),
    )


def _score(value: float | None) -> str:
    """Write a score, which may be negative."""
    return share(value) if value is None or value >= 0 else f"−{share(-value)}"


def _rows_per_second(found: PartResults, method: Method, plan: Plan) -> str:
    speeds = [speed for name in plan.streams for speed in found.values(method.name, name, "rows_per_second")]
    return f"{min(speeds):.0f} to {max(speeds):.0f}" if speeds else NONE


def reference_errors(found: PartResults) -> dict[str, float | None]:
    """Return the error of SAMKNN in percent on the rows for which that of the authors' program is known."""
    accuracies = {
        name: score_of(found, SAM_KNN, name, "accuracy", n_rows)
        for name, (n_rows, _) in REFERENCE_ERRORS.items()
    }
    return {name: None if value is None else 100 * (1 - value) for name, value in accuracies.items()}


def reference_table(found: PartResults, plan: Plan) -> Table:
    """Show the error of SAMKNN beside that of the authors' program on the same rows."""
    errors = reference_errors(found)
    rows = []
    for name, (n_rows, reference) in REFERENCE_ERRORS.items():
        if name in plan.streams:
            error = errors[name]
            margin = None if error is None else error - reference
            rows.append(Row(name, (str(n_rows), f"{reference:.2f}", decimal(error, 2), signed(margin, 2))))
    return Table(
        "SAMKNN beside the authors' program",
        ("error in %", "first rows", "authors", "SAMKNN", "difference"),
        [("", rows)],
        ("Both have the features as they are, 5 neighbors and 5000 rows; every prediction counts.",),
        titled=True,
    )


def speed_table(results: Results) -> Table:
    """Show rows per second beside river's search, and the memory of a long run."""
    speed, memory = results.part(SPEED), results.part(MEMORY)
    rows = [
        Row(f"{method}, {name}", (f"{values['rows_per_second']:.0f} rows/s", values["note"]))
        for name in speed.data_sets
        for method in speed.methods
        if (values := speed.first(method, name)) is not None
    ]
    rows += [
        Row(f"{method}, {name}", (f"{values['megabytes']:.1f} MB", values["note"]))
        for name in memory.data_sets
        for method in memory.methods
        if (values := memory.first(method, name)) is not None
    ]
    return Table("Speed and memory", ("", "measured", ""), [("", rows)], titled=True)
