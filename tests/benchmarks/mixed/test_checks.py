import pytest

from benchmarks.common.split_benchmark import Plan
from benchmarks.mixed.checks import make_checks
from benchmarks.mixed.plan import PART

N_CHECKS = 7
ONE_HOT, FOREST, BOOSTING, FOREST_LOSS, MEAN, LOG_LOSS, ACCEPTED = range(N_CHECKS)
OTHERS = {
    "lann-onehot": {"accuracy": 0.89},
    "forest": {"accuracy": 0.89, "log_loss": 0.3},
    "boosting": {"accuracy": 0.89},
}


def short(made):
    return {i for i, check in enumerate(make_checks(*made)) if check.status == "SHORT"}


def test_all_checks_can_be_ok(made_up):
    checks = make_checks(*made_up({**OTHERS, "lann": {}}))
    assert [check.status for check in checks] == ["ok"] * N_CHECKS
    assert checks[FOREST].measured == "0.9000 against 0.8900"


@pytest.mark.parametrize(
    ("rows", "sets", "expected"),
    [
        ({"lann-onehot": {"accuracy": 0.9}}, {}, {ONE_HOT}),
        ({"forest": {"accuracy": 0.91, "log_loss": 0.3}}, {}, {FOREST}),
        ({"boosting": {"accuracy": 0.9001}}, {}, {BOOSTING}),
        ({"forest": {"accuracy": 0.89, "log_loss": 0.25}}, {}, {FOREST_LOSS}),
        ({"lann": {"accuracy": 0.8949}}, {}, {MEAN}),
        ({"lann": {"accuracy": 0.895}}, {}, set()),
        ({"lann": {"log_loss": 0.281}}, {}, {LOG_LOSS}),
        # The mean counts, not a single table.
        ({}, {("lann", "titanic"): {"accuracy": 0.88}}, set()),
        ({}, {("lann", "titanic"): {"errors": {"brier": "ValueError: larger than 1"}}}, {ACCEPTED}),
    ],
)
def test_each_check_can_fall_short(made_up, rows, sets, expected):
    assert short(made_up({**OTHERS, "lann": {}} | rows, sets)) == expected


def test_a_missing_table_is_not_measured(made_up):
    found, plan = made_up({**OTHERS, "lann": {}})
    del found.results.cells[PART, "lann", "adult"]
    statuses = [check.status for check in make_checks(found, plan)]
    assert statuses == ["not measured"] * ACCEPTED + ["ok"]


def test_other_seeds_and_fewer_splits_are_preliminary(made_up):
    found, plan = made_up({**OTHERS, "lann": {}})
    other = Plan(1000, 2, plan.methods, plan.data_sets)
    assert make_checks(found, other)[MEAN].measured == "0.9000 (2 splits, seed 1000)"
    assert make_checks(found, plan)[MEAN].measured == "0.9000"
