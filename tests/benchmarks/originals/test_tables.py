import pytest

from benchmarks.originals.processes import Pair
from benchmarks.originals.tables import ORIGINAL, OURS, Comparison, make_check, make_table, name_of_ours

PAIR = Pair("pylmnn", "lmnn")


def values(accuracy, seconds):
    return {"accuracy": accuracy, "fit_seconds": seconds}


@pytest.fixture
def results(results_of):
    return results_of(
        {
            (ORIGINAL, "pylmnn", "wine"): [values(0.90, 2.0), values(0.94, 4.0)],
            (OURS, name_of_ours(PAIR), "wine"): [values(0.93, 1.0), values(0.95, 1.0)],
            (OURS, name_of_ours(PAIR), "iris"): [values(0.95, 1.0)],
        },
        failures={(ORIGINAL, "pylmnn", "iris"): "over 600 s"},
    )


def test_both_sides_are_compared_on_the_splits_that_both_have(results):
    comparison = Comparison("wine", PAIR, results)
    assert comparison.difference == pytest.approx(0.02)
    assert comparison.ratio == 3.0
    table = make_table([comparison], results, "A caption.")
    assert table.sections[0][0] == "wine"
    assert table.rows[0].cells == (".920±.028", ".940±.014", "+.020", "3", "1", "3")
    assert "3 times as long to fit (geometric mean)" in table.notes[1]
    del results.cells[OURS, name_of_ours(PAIR), "wine"][0]
    assert comparison.difference == pytest.approx(0.01)


def test_a_failed_side_has_its_reason_and_the_other_its_accuracy(results):
    comparison = Comparison("iris", PAIR, results)
    assert comparison.difference is comparison.ratio is None
    table = make_table([comparison], results, "A caption.")
    assert table.rows[0].cells == ("over 600 s", ".950", "–", "–", "–", "–")
    assert table.notes == ("A caption.", "pylmnn failed on iris: over 600 s")


@pytest.mark.parametrize(("accuracy", "status"), [(0.91, "ok"), (0.909, "SHORT")])
def test_ours_may_be_a_little_less_accurate(results, accuracy, status):
    results.cells[OURS, name_of_ours(PAIR), "wine"] = dict(enumerate([values(accuracy, 1.0)] * 2))
    assert make_check([Comparison("wine", PAIR, results)]).status == status
