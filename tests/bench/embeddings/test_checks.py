from dataclasses import replace

import pytest

from lann.bench.embeddings.checks import run_checks
from lann.bench.embeddings.task import FULL

ACCURACY, HELD_OUT, AHEAD, AROUND = (0, 4), (1, 5), (2, 6), (3, 7)
BEST, PAIR, SECONDS, COST, WITH_FIT = 8, 9, 10, 11, 12


def statuses(results):
    return [check.status for check in run_checks(results)]


def test_all_is_well(made_up):
    assert statuses(made_up()) == ["ok"] * 13


@pytest.mark.parametrize(
    ("changes", "short"),
    [
        ({"accuracy": 0.969}, {*ACCURACY}),
        ({"held_out": {"LANN": 0.9499}}, {*HELD_OUT, *AHEAD}),
        ({"held_out": {"LMNN": 0.92}}, {*AHEAD}),
        ({"held_out": {"LGMLVQ": 0.96}}, {BEST}),
        ({"least_around": 0.89}, {*AROUND}),
        ({"errors": (0.09, 0.09)}, {PAIR}),
        ({"seconds": 120.0}, {SECONDS}),
        ({"ratio": 1.31}, {COST}),
        ({"with_fit": 1.31}, {WITH_FIT}),
    ],
)
def test_each_check_can_fall_short(made_up, changes, short):
    assert {i for i, status in enumerate(statuses(made_up(**changes))) if status == "SHORT"} == short


@pytest.mark.parametrize(
    "changes",
    [
        {"accuracy": 0.97},
        {"held_out": {"LANN": 0.95}},
        {"held_out": {"UMAP": 0.91}},
        {"held_out": {"LGMLVQ": 0.9599}},
        # Other rules of LANN's own are no rivals.
        {"held_out": {"LANN max": 0.99}},
        {"least_around": 0.9},
        {"ratio": 1.3},
    ],
)
def test_the_limit_itself_is_enough(made_up, changes):
    assert statuses(made_up(**changes)) == ["ok"] * 13


def test_the_narrowest_is_named(made_up):
    assert run_checks(made_up(held_out={"GMLVQ": 0.93}))[2].measured == "narrowest: GMLVQ, by 0.0300"


def test_nothing_measured_is_nothing_proven(made_up):
    results = made_up()
    results.outcomes.clear()
    results.costs.clear()
    assert statuses(results) == ["not measured"] * 13


def test_cost_on_one_set_is_not_enough_but_one_is_enough_to_fall_short(made_up):
    results = made_up()
    del results.costs[:2]
    assert run_checks(results)[COST].status == "not measured"
    results = made_up(ratio=1.4)
    del results.costs[:2]
    assert run_checks(results)[COST].measured == "1.40 on made, 10000 × 20, 1.40 on made, 50000 × 20"
    assert run_checks(results)[COST].status == "SHORT"


def test_fewer_seeds_are_a_foretaste(made_up):
    checks = run_checks(made_up(sizes=replace(FULL, n_seeds=2)))
    assert all(check.measured.endswith("(of 2 seeds)") for check in checks)
