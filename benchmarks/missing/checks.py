"""The checks of the missing values."""

from __future__ import annotations

from benchmarks.common.probability_tables import check_scores, score_failures
from benchmarks.common.split_benchmark import Plan, note_scope
from benchmarks.engine import Check, Results, check_margins, difference
from benchmarks.engine.checks import check_above, check_at_least
from benchmarks.missing.data import INFORMATIVE_SETS, PLANTED, RANDOM_SETS
from benchmarks.missing.plan import BOOSTING, FOREST, IMPUTED, INFORMATIVE, OURS, RANDOM
from benchmarks.missing.tasks import best_accuracy

N_SPLITS = 3
BELOW_BEST = 0.03


def make_checks(results: Results, plan: Plan) -> list[Check]:
    """Return all checks. With fewer splits or another seed they are preliminary, and each says so."""
    return note_scope(_checks(results), plan, results, N_SPLITS)


def _checks(results: Results) -> list[Check]:
    random, informative = (results.part(part, "accuracy") for part in (RANDOM, INFORMATIVE))
    best = best_accuracy()
    return [
        *(
            check_above(
                f"{OURS}: with gaps at random, mean accuracy ahead of {other}",
                random.over_sets(OURS, RANDOM_SETS),
                random.over_sets(other, RANDOM_SETS),
            )
            for other in (IMPUTED, BOOSTING, FOREST)
        ),
        check_margins(
            f"{OURS}: with informative gaps at least as accurate as {IMPUTED}",
            {
                name: difference(informative.mean(OURS, name), informative.mean(IMPUTED, name))
                for name in INFORMATIVE_SETS
            },
        ),
        check_at_least(
            f"{OURS}: on {PLANTED} within {BELOW_BEST:g} of the best possible accuracy, {best:.3f}",
            informative.mean(OURS, PLANTED),
            best - BELOW_BEST,
        ),
        check_scores(
            f"{OURS}: scikit-learn accepts its probabilities as they are returned",
            [
                *score_failures(random, [OURS], RANDOM_SETS),
                *score_failures(informative, [OURS], INFORMATIVE_SETS),
            ],
            measured=any(random.cell(OURS, name) for name in RANDOM_SETS),
        ),
    ]
