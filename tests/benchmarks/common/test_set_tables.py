import pytest

from benchmarks.common.methods import choose_methods
from benchmarks.common.set_tables import accuracy_table, by_set, score_table
from benchmarks.common.split_benchmark import Plan

PART = "splits"


@pytest.fixture
def made_up(results_of):
    """Results of two splits on "sea" and "weather" from {(method, data set): values}."""

    def make(cells):
        plan = Plan(0, 2, choose_methods(sorted({method for method, _ in cells})), ["sea", "weather"])
        results = results_of({(PART, *cell): [{"errors": {}} | values] * 2 for cell, values in cells.items()})
        return results.part(PART, "accuracy"), plan

    return make


def made_of(score, forest_sea, forest_weather, lann_sea, lann_weather):
    return {
        ("forest", "sea"): {score: forest_sea}, ("forest", "weather"): {score: forest_weather},
        ("lann", "sea"): {score: lann_sea}, ("lann", "weather"): {score: lann_weather},
    }  # fmt: skip


def rows_of(table):
    return {row.name: row for row in table.rows}


def test_a_row_for_every_set_and_the_mean(made_up):
    table = accuracy_table(*made_up(made_of("accuracy", 0.81, 0.81, 0.72, 0.90)))
    assert table.head == ("accuracy", "forest", "lann")
    assert [row.name for row in table.rows] == ["sea", "weather", "mean"]
    rows = rows_of(table)
    assert rows["sea"].cells == (".810 ± .000", ".720 ± .000")
    assert (rows["sea"].best, rows["weather"].best) == ({0}, {1})
    assert rows["mean"].cells == (".810 ± .000", ".810 ± .000")
    assert rows["mean"].best == {0, 1}


def test_the_lowest_loss_is_the_best_and_failures_are_shown(made_up):
    cells = made_of("log_loss", 0.7, 0.7, 0.45, None)
    cells["lann", "weather"]["errors"] = {"log_loss": "ValueError: larger than 1"}
    rows = rows_of(score_table(*made_up(cells), "log_loss"))
    assert rows["sea"].cells == (".700 ± .000", ".450 ± .000")
    assert rows["sea"].best == {1}
    assert rows["weather"].cells[1] == rows["mean"].cells[1] == "fail"


def test_any_score_has_a_table(made_up):
    table = by_set(*made_up(made_of("roc_auc", 0.7, 0.9, 0.8, 0.9)), "roc_auc", "ROC AUC")
    assert (table.title, table.head[0]) == ("ROC AUC", "roc auc")
    assert rows_of(table)["sea"].best == {1}


def test_a_failed_method_is_shown(made_up):
    found, plan = made_up(made_of("accuracy", 0.8, 0.8, 0.8, 0.8))
    found.results.failures[PART, "forest", "sea"] = "Out of memory."
    found.results.n_missing = 1
    table = accuracy_table(found, plan)
    assert rows_of(table)["sea"].cells[0] == rows_of(table)["mean"].cells[0] == "fail"
    assert table.notes[0] == "forest failed on sea: Out of memory."
    assert "Not all splits" in table.notes[1]
