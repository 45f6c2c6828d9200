from dataclasses import replace

import pytest

from lann.bench.explanations.checks import run_checks
from lann.bench.explanations.task import FULL

AUC_8, AUC_12, AUC_20, AHEAD, FOREST, PREDICT, KERNEL, DELETION, PERMUTED = range(9)


def statuses(results):
    return [check.status for check in run_checks(results)]


def test_all_is_well(made_up):
    assert statuses(made_up()) == ["ok"] * 9


@pytest.mark.parametrize(
    ("changes", "short"),
    [
        ({"aucs": {"lann": 0.969}}, {AUC_12, AUC_20}),
        ({"aucs": {"lann": 0.929}}, {AUC_8, AUC_12, AUC_20}),
        ({"aucs": {"kernel-shap-lann": 0.98}}, {AHEAD}),
        ({"accuracies": {"forest": 0.95}}, {FOREST}),
        ({"ratio": 3.0}, {PREDICT}),
        ({"kernel": 0.07}, {KERNEL}),
        ({"deleted": 9}, {DELETION}),
        ({"permuted": 0.56}, {PERMUTED}),
        ({"permuted": 0.44}, {PERMUTED}),
    ],
)
def test_each_check_can_fall_short(made_up, changes, short):
    assert {i for i, status in enumerate(statuses(made_up(**changes))) if status == "SHORT"} == short


@pytest.mark.parametrize(
    "changes",
    [{"aucs": {"lann": 0.97}}, {"ratio": 2.99}, {"kernel": 0.075}, {"deleted": 10}, {"permuted": 0.55}],
)
def test_the_limit_itself_is_enough(made_up, changes):
    assert statuses(made_up(**changes)) == ["ok"] * 9


def test_who_is_ahead_is_named(made_up):
    check = run_checks(made_up(aucs={"lime-lann": 0.99}))[AHEAD]
    assert check.measured == (
        "behind lime-lann at 12 by 0.0100, lime-lann at 20 by 0.0100, lime-lann at 8 by 0.0100"
    )


def test_without_the_rivals_it_is_not_proven(made_up):
    results = made_up()
    results.explainers[:] = [e for e in results.explainers if e.name != "lime-lann"]
    check = run_checks(results)[AHEAD]
    assert check.status == "not measured"
    assert check.measured == "holds as far as measured; narrowest: kernel-shap-lann at 8, by 0.0800"


def test_nothing_measured_is_nothing_proven(made_up):
    results = made_up()
    for found in (
        results.agreements, results.models, results.costs, results.deletions, results.permuted
    ):  # fmt: skip
        found.clear()
    assert statuses(results) == ["not measured"] * 9


def test_some_sets_are_not_enough(made_up):
    results = made_up(deleted=9)
    del results.deletions["lann", "wine"]
    check = run_checks(results)[DELETION]
    assert (check.status, check.measured) == ("not measured", "on 9 of the 12 measured")


def test_fewer_seeds_are_a_foretaste(made_up):
    checks = run_checks(made_up(sizes=replace(FULL, n_seeds=2)))
    assert all(check.measured.endswith("(of 2 seeds)") for check in checks)
