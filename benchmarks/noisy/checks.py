"""The checks of the noisy sets."""

from __future__ import annotations

from benchmarks.common.probability_tables import check_scores, score_failures
from benchmarks.common.scores import CONFIDENT
from benchmarks.common.split_benchmark import Plan, note_scope
from benchmarks.engine import Check, PartResults, check_margins, difference
from benchmarks.engine.checks import check_at_least, check_at_most
from benchmarks.noisy.data import SETS
from benchmarks.noisy.plan import KNN, OURS
from benchmarks.noisy.tables import count_confident_predictions

N_SPLITS = 3
MEAN_ACCURACY = 0.812
LOG_LOSS = 0.46
BELOW_KNN = 0.01
CONFIDENT_CORRECT = 0.97


def make_checks(found: PartResults, plan: Plan) -> list[Check]:
    """Return all checks. With fewer splits or another seed they are preliminary, and each says so."""
    return note_scope(_checks(found), plan, found.results, N_SPLITS)


def _checks(found: PartResults) -> list[Check]:
    return [
        check_at_least(
            f"{OURS}: mean accuracy at least {MEAN_ACCURACY:g}",
            found.over_sets(OURS, SETS),
            MEAN_ACCURACY,
        ),
        check_at_most(
            f"{OURS}: mean log-loss as returned at most {LOG_LOSS:g}",
            found.over_sets(OURS, SETS, "log_loss"),
            LOG_LOSS,
        ),
        check_margins(
            f"{OURS}: on no set below {KNN} by more than {BELOW_KNN:g}",
            {name: difference(found.mean(OURS, name), found.mean(KNN, name)) for name in SETS},
            least=-BELOW_KNN,
        ),
        _confident_are_correct(found),
        check_scores(
            f"{OURS}: scikit-learn accepts its probabilities as they are returned",
            score_failures(found, [OURS], SETS),
            measured=any(found.cell(OURS, name) for name in SETS),
        ),
    ]


def _confident_are_correct(found: PartResults) -> Check:
    requirement = (
        f"{OURS}: at least {CONFIDENT_CORRECT:g} of the predictions with P ≥ {CONFIDENT:g} are correct"
    )
    counts = count_confident_predictions(found, OURS, SETS)
    if counts is None or counts.n_confident == 0:
        return check_at_least(requirement, None, CONFIDENT_CORRECT)
    measured = f"{counts.n_correct} of {counts.n_confident}: {counts.share_correct:.4f}"
    return check_at_least(requirement, counts.share_correct, CONFIDENT_CORRECT, measured)
