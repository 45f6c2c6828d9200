import pytest

from benchmarks.common.split_benchmark import Plan
from benchmarks.noisy.checks import make_checks
from benchmarks.noisy.plan import PART

N_CHECKS = 5
MEAN, LOG_LOSS, KNN, CONFIDENT, ACCEPTED = range(N_CHECKS)


def short(made):
    return {i for i, check in enumerate(make_checks(*made)) if check.status == "SHORT"}


def test_all_checks_can_be_ok(made_up):
    assert [check.status for check in make_checks(*made_up({"lann": {}, "knn-cv": {}}))] == ["ok"] * N_CHECKS


@pytest.mark.parametrize(
    ("rows", "sets", "expected"),
    [
        ({"lann": {"accuracy": 0.8119}}, {}, {MEAN}),
        ({"lann": {"accuracy": 0.812}}, {}, set()),
        ({"lann": {"log_loss": 0.461}}, {}, {LOG_LOSS}),
        ({"lann": {"log_loss": 0.46}}, {}, set()),
        ({"lann": {}}, {("knn-cv", "sea"): {"accuracy": 0.8301}}, {KNN}),
        ({"lann": {}}, {("knn-cv", "sea"): {"accuracy": 0.83}}, set()),
        ({"lann": {"n_confident_correct": 48}}, {}, {CONFIDENT}),
        # Pooled: one set with few confident predictions hardly counts.
        ({"lann": {}}, {("lann", "sea"): {"n_confident": 2, "n_confident_correct": 0}}, set()),
        ({"lann": {}}, {("lann", "sea"): {"errors": {"brier": "ValueError: larger than 1"}}}, {ACCEPTED}),
    ],
)
def test_each_check_can_fall_short(made_up, rows, sets, expected):
    made = made_up({"knn-cv": {"accuracy": 0.81}} | rows, sets)
    assert short(made) == expected


def test_a_missing_set_is_not_measured(made_up):
    found, plan = made_up({"lann": {}, "knn-cv": {}})
    del found.results.cells[PART, "lann", "adult"]
    checks = make_checks(found, plan)
    assert [check.status for check in checks[:ACCEPTED]] == ["not measured"] * ACCEPTED
    assert checks[KNN].measured.startswith("holds for the 9 measured")


def test_without_confident_predictions_nothing_is_measured(made_up):
    made = made_up({"lann": {"n_confident": 0, "n_confident_correct": 0}})
    assert make_checks(*made)[CONFIDENT].status == "not measured"


def test_other_seeds_and_fewer_splits_are_preliminary(made_up):
    found, plan = made_up({"lann": {}, "knn-cv": {}})
    other = Plan(1000, 2, plan.methods, plan.data_sets)
    assert make_checks(found, other)[MEAN].measured == "0.8200 (2 splits, seed 1000)"
    assert make_checks(found, plan)[MEAN].measured == "0.8200"
