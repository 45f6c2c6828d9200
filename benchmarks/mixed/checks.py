"""The checks of the tables with categories."""

from __future__ import annotations

from benchmarks.common.probability_tables import check_scores, score_failures
from benchmarks.common.split_benchmark import Plan
from benchmarks.engine import Check, PartResults, check, with_note
from benchmarks.engine.checks import ROUNDING, check_at_least, check_at_most
from benchmarks.engine.tables import plural
from benchmarks.mixed.data import SETS
from benchmarks.mixed.plan import BOOSTING, FOREST, ONE_HOT, OURS

N_SPLITS = 3
MEAN_ACCURACY = 0.895
LOG_LOSS = 0.28


def make_checks(found: PartResults, plan: Plan) -> list[Check]:
    """Return all checks. With fewer splits or another seed they are preliminary, and each says so."""
    checks = _checks(found)
    complete = found.results.is_complete
    if plan.seed == 0 and plan.n_splits >= N_SPLITS and complete:
        return checks
    scope = f"{plural(plan.n_splits, 'split')}, seed {plan.seed}" + ("" if complete else ", unfinished")
    return with_note(checks, scope)


def _checks(found: PartResults) -> list[Check]:
    return [
        *(_ahead_of(found, other) for other in (ONE_HOT, FOREST, BOOSTING)),
        _lower_loss_than(found, FOREST),
        check_at_least(
            f"{OURS}: mean accuracy at least {MEAN_ACCURACY:g} (the aim)",
            found.over_sets(OURS, SETS),
            MEAN_ACCURACY,
        ),
        check_at_most(
            f"{OURS}: mean log-loss as returned at most {LOG_LOSS:g} (the aim)",
            found.over_sets(OURS, SETS, "log_loss"),
            LOG_LOSS,
        ),
        check_scores(
            f"{OURS}: scikit-learn accepts its probabilities as they are returned",
            score_failures(found, [OURS], SETS),
            measured=any(found.cell(OURS, name) for name in SETS),
        ),
    ]


def _ahead_of(found: PartResults, other: str) -> Check:
    requirement = f"{OURS}: mean accuracy ahead of {other}"
    ours, theirs = found.over_sets(OURS, SETS), found.over_sets(other, SETS)
    if ours is None or theirs is None:
        return check(requirement, None)
    return check(requirement, ours > theirs + ROUNDING, f"{ours:.4f} against {theirs:.4f}")


def _lower_loss_than(found: PartResults, other: str) -> Check:
    requirement = f"{OURS}: mean log-loss as returned below that of {other}"
    ours, theirs = (found.over_sets(method, SETS, "log_loss") for method in (OURS, other))
    if ours is None or theirs is None:
        return check(requirement, None)
    return check(requirement, ours < theirs - ROUNDING, f"{ours:.4f} against {theirs:.4f}")
