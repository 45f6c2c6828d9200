from dataclasses import replace

import pytest

from benchmarks.reject.checks import make_checks
from benchmarks.reject.plan import PART
from lann.datasets import PAPER_SETS

N_CHECKS = 9
GONE, LEARNED, FOREST, SVM, CLASS, LOCAL, ALARMS, OTHER, OUTSIDE = range(N_CHECKS)


def checks_of(made):
    results, plan = made
    return make_checks(results.part(PART), plan)


def test_all_checks_can_be_ok(made_up):
    checks = checks_of(made_up())
    assert [check.status for check in checks] == ["ok"] * N_CHECKS
    assert checks[FOREST].measured == "0.0100 against 0.0200"


@pytest.mark.parametrize(
    ("changes", "short"),
    [
        ({("lann", name): {"gone": 0.49} for name in PAPER_SETS[:7]}, {GONE}),
        ({("lann", name): {"gone": 0.49} for name in PAPER_SETS[:6]}, set()),
        ({("lann", None): {"gone_learned": 0.4}}, {LEARNED}),
        ({("forest", None): {"aurc_probability": 0.009}}, {FOREST}),
        ({("svm", None): {"aurc_probability": 0.01}}, {SVM}),
        ({("lann", "iris"): {"area_class": 0.02}}, {CLASS}),
        ({("lann", None): {"area_local": 0.0101}}, {LOCAL}),
        ({("lann", None): {"alarms_5": 0.056}}, {ALARMS}),
        ({("lann", "iris"): {"far_other_5": 0.94}}, {OTHER}),
        ({("lann", "iris"): {"far_all_outside_5": 0.9}}, {OUTSIDE}),
    ],
)
def test_each_check_can_fall_short(made_up, changes, short):
    found = checks_of(made_up(changes))
    assert {i for i, check in enumerate(found) if check.status == "SHORT"} == short


def test_without_results_nothing_is_measured(made_up):
    results, plan = made_up()
    results.cells.clear()
    assert [check.status for check in make_checks(results.part(PART), plan)] == ["not measured"] * N_CHECKS


def test_fewer_splits_are_preliminary(made_up):
    results, plan = made_up()
    found = make_checks(results.part(PART), replace(plan, n_splits=1))
    assert found[FOREST].measured == "0.0100 against 0.0200 (1 split, seed 0)"


def test_few_data_sets_can_only_pass(made_up):
    results, plan = made_up()
    for cell in list(results.cells):
        if cell[2] not in PAPER_SETS[:5]:
            del results.cells[cell]
    checks = make_checks(results.part(PART), replace(plan, data_sets=list(PAPER_SETS[:5])))
    assert (checks[GONE].status, checks[GONE].measured) == ("not measured", "5 of 5 measured")
