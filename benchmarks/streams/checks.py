"""The checks of the streams."""

from __future__ import annotations

from benchmarks.engine import Check, PartResults, Results, check, check_margins, difference, with_note
from benchmarks.engine.checks import check_above, check_at_least, check_at_most, check_below
from benchmarks.streams.data import STREAMS
from benchmarks.streams.methods import ARF, SAM_KNN, SAM_LANN
from benchmarks.streams.plan import MEMORY, MOST_ROWS, REFERENCE_ERRORS, SPEED, STREAM, Plan
from benchmarks.streams.tables import mean_of, reference_errors, score_of

MOST_DIFFERENCE = 0.5
LEAST_STREAMS = 8
LEAST_SPEED, LEAST_SMALL_SPEED = 2_000, 10_000
MOST_GROWTH = 5.0


def make_checks(results: Results, plan: Plan) -> list[Check]:
    """Return all checks; those of a run over fewer streams say so."""
    found = results.part(STREAM, "accuracy")
    checks = [_reference(found), _speed(found), _ahead(found, plan), *_means(found, plan)]
    if len(plan.streams) < len(STREAMS):
        checks = with_note(checks, f"{len(plan.streams)} of {len(STREAMS)} streams")
    if plan.most_rows < MOST_ROWS:
        checks = with_note(checks, f"at most {plan.most_rows} rows of a stream")
    return [*checks, *_parts(results)]


def _reference(found: PartResults) -> Check:
    margins = {
        name: None if error is None else MOST_DIFFERENCE - abs(error - REFERENCE_ERRORS[name][1])
        for name, error in reference_errors(found).items()
    }
    return check_margins(
        f"{SAM_KNN}: error within {MOST_DIFFERENCE:g} points of the authors' program on every stream",
        margins,
        unit=" points",
    )


def _speed(found: PartResults) -> Check:
    speeds = {name: found.mean(SAM_KNN, name, "rows_per_second") for name in STREAMS}
    return check_margins(
        f"{SAM_KNN}: at least {LEAST_SPEED} rows/s on every stream",
        {name: None if speed is None else speed - LEAST_SPEED for name, speed in speeds.items()},
        unit=" rows/s",
    )


def _ahead(found: PartResults, plan: Plan) -> Check:
    """Count the whole streams on which SAMLANN is more accurate than SAMKNN."""
    margins = [
        difference(*(score_of(found, method, name, "accuracy", None) for method in (SAM_LANN, SAM_KNN)))
        for name in plan.streams
    ]
    known = [margin for margin in margins if margin is not None]
    requirement = f"{SAM_LANN}: more accurate than {SAM_KNN} on at least {LEAST_STREAMS} streams"
    if not known:
        return check(requirement, None)
    n_ahead = sum(margin > 0 for margin in known)
    measured = f"{n_ahead} of {len(known)}"
    passed = n_ahead >= LEAST_STREAMS
    return check(requirement, passed if passed or len(known) == len(STREAMS) else None, measured)


def _means(found: PartResults, plan: Plan) -> list[Check]:
    def means(score: str, n_rows: int | None, *methods: str) -> list[float | None]:
        return [mean_of(found, method, plan.streams, score, n_rows) for method in methods]

    rows = plan.baseline_rows
    return [
        check_above(
            f"{SAM_LANN}: more accurate than {SAM_KNN} on the mean",
            *means("accuracy", None, SAM_LANN, SAM_KNN),
        ),
        check_below(
            f"{SAM_LANN}: lower mean log-loss than {ARF}, first {rows} rows, as returned",
            *means("log_loss", rows, SAM_LANN, ARF),
        ),
        check_below(
            f"{SAM_LANN}: lower mean log-loss than {ARF}, first {rows} rows",
            *means("log_loss_floored", rows, SAM_LANN, ARF),
        ),
    ]


def _parts(results: Results) -> list[Check]:
    speed, memory = results.part(SPEED, "rows_per_second"), results.part(MEMORY, "megabytes")
    speeds = [speed.mean(SAM_KNN, name) for name in speed.data_sets]
    growth = None
    found = [memory.mean(SAM_KNN, name) for name in memory.data_sets]
    if len(found) == 2:
        growth = difference(found[1], found[0])
    return [
        check_at_least(
            f"{SAM_KNN}: at least {LEAST_SMALL_SPEED} rows/s at window 500 × 18 features",
            speeds[0] if speeds else None,
            LEAST_SMALL_SPEED,
            f"{speeds[0]:.0f}" if speeds and speeds[0] is not None else "",
        ),
        check_at_most(
            f"{SAM_KNN}: memory grows by at most {MOST_GROWTH:g} MB from 100 000 to a million rows",
            growth,
            MOST_GROWTH,
            "" if growth is None else f"{growth:.1f} MB",
        ),
    ]
