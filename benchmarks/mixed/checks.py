"""The checks of the tables with categories."""

from __future__ import annotations

from benchmarks.common.probability_tables import check_scores, score_failures
from benchmarks.common.split_benchmark import Plan, note_scope
from benchmarks.engine import Check, PartResults
from benchmarks.engine.checks import check_above, check_at_least, check_at_most, check_below
from benchmarks.mixed.data import SETS
from benchmarks.mixed.plan import BOOSTING, FOREST, ONE_HOT, OURS

N_SPLITS = 3
MEAN_ACCURACY = 0.895
LOG_LOSS = 0.28


def make_checks(found: PartResults, plan: Plan) -> list[Check]:
    """Return all checks. With fewer splits or another seed they are preliminary, and each says so."""
    return note_scope(_checks(found), plan, found.results, N_SPLITS)


def _checks(found: PartResults) -> list[Check]:
    return [
        *(
            check_above(
                f"{OURS}: mean accuracy ahead of {other}",
                found.over_sets(OURS, SETS),
                found.over_sets(other, SETS),
            )
            for other in (ONE_HOT, FOREST, BOOSTING)
        ),
        check_below(
            f"{OURS}: mean log-loss as returned below that of {FOREST}",
            found.over_sets(OURS, SETS, "log_loss"),
            found.over_sets(FOREST, SETS, "log_loss"),
        ),
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
