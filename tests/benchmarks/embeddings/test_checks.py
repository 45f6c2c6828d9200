from dataclasses import replace

import pytest

from benchmarks.embeddings.checks import make_checks
from benchmarks.embeddings.tasks import COST as COST_PART
from benchmarks.embeddings.tasks import FULL

ACCURACY, HELD_OUT, AHEAD, AROUND = (0, 4), (1, 5), (2, 6), (3, 7)
BEST, PAIR, SECONDS, COST, WITH_FIT = 8, 9, 10, 11, 12


def statuses(made):
    return [check.status for check in make_checks(*made)]


def test_all_checks_can_be_ok(made_up):
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
        # Variants of LANN are not compared with it.
        {"held_out": {"LANN max": 0.99}},
        {"least_around": 0.9},
        {"ratio": 1.3},
    ],
)
def test_the_limit_itself_is_enough(made_up, changes):
    assert statuses(made_up(**changes)) == ["ok"] * 13


def test_the_narrowest_is_named(made_up):
    assert make_checks(*made_up(held_out={"GMLVQ": 0.91}))[2].measured == "narrowest: GMLVQ, 0.0500"


def test_without_results_nothing_is_measured(made_up):
    made = made_up()
    made[0].cells.clear()
    assert statuses(made) == ["not measured"] * 13


def test_cost_must_be_low_on_all_sets_and_one_is_enough_to_fall_short(made_up):
    made, short = made_up(), made_up(ratio=1.4)
    for results, _ in (made, short):
        del results.cells[COST_PART, "prefit", "image-segmentation"]
    assert make_checks(*made)[COST].status == "not measured"
    check = make_checks(*short)[COST]
    assert check.status == "SHORT"
    assert check.measured == "1.40 on generated, 10000 × 20, 1.40 on generated, 50000 × 20"


def test_with_fewer_seeds_the_checks_say_so(made_up):
    checks = make_checks(*made_up(sizes=replace(FULL, n_seeds=2)))
    measured = [check.measured for check in checks if check.measured]
    assert len(measured) == 13
    assert all(text.endswith("(2 seeds)") for text in measured)
