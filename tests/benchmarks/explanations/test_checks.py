from dataclasses import replace

import pytest

from benchmarks.explanations.checks import make_checks
from benchmarks.explanations.summary import REAL
from benchmarks.explanations.tasks import FULL

N_CHECKS = 20
(
    AUC_8, AUC_12, AUC_20, TABLES, CITIES, AHEAD, FOREST, PREDICT, KERNEL, DELETION, PERMUTED, KINDS, RANK,
    SIGNS, ANSWERS, CURVES_DELETION, CURVES_INSERTION, SPEEDUP, ONE, FIRST,
) = range(N_CHECKS)  # fmt: skip


def statuses(made):
    return [check.status for check in make_checks(*made)]


def test_all_checks_can_be_ok(made_up):
    assert statuses(made_up()) == ["ok"] * N_CHECKS


@pytest.mark.parametrize(
    ("changes", "short"),
    [
        ({"aucs": {"lann": 0.984}}, {AUC_8, AUC_12, AUC_20}),
        ({"tables": {"auc": 0.969}}, {TABLES}),
        ({"tables": {"city": 0.39}}, {CITIES}),
        ({"tables": {"city": 0.61}}, {CITIES}),
        ({"aucs": {"kernel-shap-lann": 0.99}}, {AHEAD}),
        ({"accuracies": {"forest": 0.95}}, {FOREST}),
        ({"ratio": 3.0}, {PREDICT}),
        ({"kernel": 0.07}, {KERNEL}),
        ({"deleted": 9}, {DELETION}),
        ({"permuted": 0.56}, {PERMUTED}),
        ({"permuted": 0.44}, {PERMUTED}),
        ({"own": {"joint": 0.949}}, {KINDS}),
        ({"own": {"rank": 0.969}}, {RANK}),
        ({"own": {"wrong_signs": 0.01}}, {SIGNS}),
        ({"own": {"answered": 0.99}}, {ANSWERS}),
        ({"own": {"deletion": 0.3}}, {CURVES_DELETION}),
        ({"own": {"insertion": 0.7}}, {CURVES_INSERTION}),
        ({"own": {"seconds": 3e-4}}, {SPEEDUP}),
        ({"own": {"words": 0.02}}, {ONE}),
        ({"own": {"first": 1.01}}, {FIRST}),
    ],
)
def test_each_check_can_fall_short(made_up, changes, short):
    assert {i for i, status in enumerate(statuses(made_up(**changes))) if status == "SHORT"} == short


@pytest.mark.parametrize(
    "changes",
    [
        {"aucs": {"lann": 0.985}},
        {"own": {"joint": 0.95, "rank": 0.97, "first": 1.0}},
        {"tables": {"auc": 0.97, "city": 0.4}},
        {"ratio": 2.99},
        {"kernel": 0.075},
        {"deleted": 10},
        {"permuted": 0.55},
    ],
)
def test_the_limit_itself_is_enough(made_up, changes):
    assert statuses(made_up(**changes)) == ["ok"] * N_CHECKS


def test_methods_that_are_ahead_are_named(made_up):
    check = make_checks(*made_up(aucs={"lime-lann": 1.0}))[AHEAD]
    assert check.measured == (
        "short: lime-lann at 12 by 0.0100, lime-lann at 20 by 0.0100, lime-lann at 8 by 0.0100"
    )


def test_without_the_compared_methods_nothing_is_shown(made_up):
    results, explainers, sizes = made_up()
    check = make_checks(results, [e for e in explainers if e.name != "lime-lann"], sizes)[AHEAD]
    assert check.status == "not measured"
    assert check.measured == "holds for the 6 measured; narrowest: kernel-shap-lann at 8, 0.0900"


def test_without_results_nothing_is_measured(made_up):
    made = made_up()
    made[0].cells.clear()
    assert statuses(made) == ["not measured"] * N_CHECKS


def test_some_sets_are_not_enough(made_up):
    made = made_up(deleted=9)
    del made[0].cells[REAL, "lann", "wine"]
    check = make_checks(*made)[DELETION]
    assert (check.status, check.measured) == ("not measured", "9 of 12")


def test_with_fewer_seeds_the_checks_say_so(made_up):
    checks = make_checks(*made_up(sizes=replace(FULL, n_seeds=2)))
    assert all(check.measured.endswith("(2 seeds)") for check in checks)
