from dataclasses import replace

import pytest

from benchmarks.missing.checks import make_checks
from benchmarks.missing.plan import INFORMATIVE, RANDOM
from benchmarks.missing.tasks import best_accuracy

N_CHECKS = 6
IMPUTED, BOOSTING, FOREST, INFORMATIVE_GAPS, BEST, ACCEPTED = range(N_CHECKS)


def checks_of(made):
    results, plan, _ = made
    return make_checks(results, plan)


def test_all_checks_can_be_ok(made_up):
    checks = checks_of(made_up())
    assert [check.status for check in checks] == ["ok"] * N_CHECKS
    assert checks[IMPUTED].measured == "0.8800 against 0.8600"


@pytest.mark.parametrize(
    ("changes", "short"),
    [
        ({(RANDOM, "lann", None): {"accuracy": 0.86}}, {IMPUTED}),
        ({(RANDOM, "boosting", None): {"accuracy": 0.9}}, {BOOSTING}),
        ({(RANDOM, "forest", None): {"accuracy": 0.88}}, {FOREST}),
        # The mean counts, not a single data set.
        ({(RANDOM, "lann", "wine"): {"accuracy": 0.8}}, set()),
        ({(INFORMATIVE, "lann", "house-votes-84"): {"accuracy": 0.85}}, {INFORMATIVE_GAPS}),
        ({(INFORMATIVE, "lann", "house-votes-84"): {"accuracy": 0.86}}, set()),
        (
            {
                (INFORMATIVE, "lann", "planted-gaps"): {"accuracy": best_accuracy() - 0.031},
                (INFORMATIVE, "lann-median", "planted-gaps"): {"accuracy": 0.7},
            },
            {BEST},
        ),
        ({(RANDOM, "lann", "wine"): {"errors": {"brier": "ValueError: larger than 1"}}}, {ACCEPTED}),
        ({(INFORMATIVE, "lann", "planted-gaps"): {"errors": {"ece": "ValueError: NaN"}}}, {ACCEPTED}),
    ],
)
def test_each_check_can_fall_short(made_up, changes, short):
    found = checks_of(made_up(changes))
    assert {i for i, check in enumerate(found) if check.status == "SHORT"} == short


def test_without_results_nothing_is_measured(made_up):
    results, plan, _ = made_up()
    results.cells.clear()
    assert [check.status for check in make_checks(results, plan)] == ["not measured"] * N_CHECKS


def test_other_seeds_and_fewer_splits_are_preliminary(made_up):
    results, plan, _ = made_up()
    found = make_checks(results, replace(plan, seed=1000, n_splits=1))
    assert found[IMPUTED].measured == "0.8800 against 0.8600 (1 split, seed 1000)"
    results.n_missing = 2
    assert make_checks(results, plan)[IMPUTED].measured.endswith("(3 splits, seed 0, unfinished)")
