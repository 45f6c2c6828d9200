"""The checks of the reject option."""

from __future__ import annotations

from benchmarks.common.split_benchmark import Plan, note_scope
from benchmarks.engine import Check, PartResults, check, check_margins
from benchmarks.engine.checks import check_at_most, check_below
from benchmarks.reject.methods import FOREST, OURS, SVM
from lann.datasets import PAPER_SETS

N_SPLITS = 3
HALF = 0.5
LEAST_SETS = 8
ALARMS = 0.05
FOUND = 0.95


def make_checks(found: PartResults, plan: Plan) -> list[Check]:
    """Return all checks. With fewer splits or another seed they are preliminary, and each says so."""
    return note_scope(_checks(found, plan), plan, found.results, N_SPLITS)


def _checks(found: PartResults, plan: Plan) -> list[Check]:
    names = plan.data_sets
    return [
        _half_gone(found, "gone", "by the order of the test rows"),
        _half_gone(found, "gone_learned", "by thresholds learned for a coverage of .9"),
        *(
            check_below(
                f"{OURS}: mean AURC of the default certainty below that of the probabilities of {other}",
                found.over_sets(OURS, names, "aurc_combined"),
                found.over_sets(other, names, "aurc_probability"),
            )
            for other in (FOREST, SVM)
        ),
        *(
            check_at_most(
                f"{OURS}: mean risk of thresholds by {by} at most that of one threshold",
                found.over_sets(OURS, names, f"area_{by}"),
                found.over_sets(OURS, names, "area_global") or 0.0,
                _against(found, names, by),
            )
            for by in ("class", "local")
        ),
        check_at_most(
            f"{OURS}: {ALARMS:g} of the test rows rejected as far, on the mean, within {ALARMS / 10:g}",
            found.over_sets(OURS, names, "alarms_5"),
            1.1 * ALARMS,
        ),
        *(
            check_margins(
                f"{OURS}: at least {FOUND:g} of the rows {text} rejected as far",
                {name: found.mean(OURS, name, f"far_{kind}_5") for name in names},
                least=FOUND,
            )
            for kind, text in (("other", "of another data set"), ("all_outside", "far outside"))
        ),
    ]


def _half_gone(found: PartResults, score: str, text: str) -> Check:
    requirement = (
        f"{OURS}: half of the errors gone with a tenth of the rows rejected, {text}, on at least "
        f"{LEAST_SETS} data sets"
    )
    known = [value for name in PAPER_SETS if (value := found.mean(OURS, name, score)) is not None]
    if not known:
        return check(requirement, None)
    n_half = sum(value >= HALF for value in known)
    measured = f"{n_half} of {len(known)} measured"
    decided = n_half >= LEAST_SETS or len(known) == len(PAPER_SETS)
    return check(requirement, n_half >= LEAST_SETS if decided else None, measured)


def _against(found: PartResults, names: list[str], by: str) -> str:
    several, one = (found.over_sets(OURS, names, f"area_{kind}") for kind in (by, "global"))
    return "" if several is None or one is None else f"{several:.6f} against {one:.6f}"
