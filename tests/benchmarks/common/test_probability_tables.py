import pytest

from benchmarks.common.probability_tables import (
    check_scores,
    failure_notes,
    probability_cells,
    score_cell,
    score_failures,
)

REASON = "ValueError: larger than 1"


@pytest.fixture
def found(results_of):
    good = {"log_loss_floored": 0.2, "log_loss": 0.3, "brier_floored": 0.1, "ece": 0.02, "errors": {}}
    broken = good | {"log_loss": None, "errors": {"log_loss": REASON}}
    return results_of(
        {
            ("part", "a", "x"): [good, good | {"log_loss_floored": 0.4}],
            ("part", "a", "y"): [good, broken],
            ("part", "b", "x"): [dict.fromkeys(good)],
        }
    ).part("part")


def test_failures_are_found_and_described_once_for_each_score(found):
    failures = score_failures(found, ["a", "b"], ["x", "y"])
    assert [(one.method, one.data_set, one.repeat, one.score) for one in failures] == [
        ("a", "y", 1, "log_loss")
    ]
    assert failures[0].as_dict() == {
        "kind": "failed score", "method": "a", "data_set": "y", "repeat": 1, "score": "log_loss",
        "reason": REASON,
    }  # fmt: skip
    assert failure_notes([*failures, *failures]) == [
        f"a: log-loss as returned failed in 2 splits of y: {REASON}."
    ]
    assert failure_notes([]) == []


def test_a_cell_is_a_mean_with_its_deviation_or_the_failure(found):
    assert score_cell(found, "a", ["x"], "log_loss_floored") == ".300 ± .141"
    assert score_cell(found, "a", ["x", "y"], "log_loss_floored") == ".250 ± .071"
    assert score_cell(found, "a", ["x", "y"], "log_loss") == "fail"
    assert probability_cells(found, "a", ["y"]) == (".200 ± .000", "fail", ".100 ± .000", ".020 ± .000")
    assert set(probability_cells(found, "b", ["x"])) == {"–"}
    assert set(probability_cells(found, "c", ["x"])) == {"–"}


def test_a_failed_score_makes_the_check_fall_short(found):
    failures = score_failures(found, ["a"], ["x", "y"])
    short = check_scores("valid", failures, measured=True)
    assert (short.status, short.measured) == ("SHORT", f"failed on 1 data set: {REASON}")
    assert check_scores("valid", [], measured=True).status == "ok"
    assert check_scores("valid", [], measured=False).status == "not measured"
