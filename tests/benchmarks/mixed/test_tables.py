import pytest

from benchmarks.mixed.plan import PART
from benchmarks.mixed.tables import compare_with_ours, means_table, ranks, ranks_table


def rows_of(table):
    return {row.name: row for row in table.rows}


def test_means_over_the_tables(made_up):
    table = means_table(*made_up({"forest": {"log_loss": 0.4}, "lann": {}}))
    assert table.head[1:4] == ("accuracy", "balanced", "as returned")
    assert rows_of(table)["forest"].cells == (
        ".900 ± .000", ".850 ± .000", ".400 ± .000", ".260 ± .000", ".950 ± .000", ".100 ± .000",
        ".020 ± .000", "1.0",
    )  # fmt: skip


def test_ranks_are_shared_by_equal_methods(made_up):
    rows = {"forest": {"accuracy": 0.9, "log_loss": 0.5}, "boosting": {}, "lann": {"accuracy": 0.91}}
    found, plan = made_up(rows)
    assert ranks(found, plan, "accuracy", largest=True) == {"forest": 2.5, "boosting": 2.5, "lann": 1.0}
    assert ranks(found, plan, "log_loss", largest=False) == {"forest": 3.0, "boosting": 1.5, "lann": 1.5}


def test_a_method_without_all_tables_has_no_rank(made_up):
    found, plan = made_up({"forest": {}, "boosting": {}, "lann": {"accuracy": 0.91}})
    found.results.failures[PART, "lann", "adult"] = "Out of memory."
    assert ranks(found, plan, "accuracy", largest=True) == {"forest": 1.5, "boosting": 1.5}
    rows = rows_of(ranks_table(found, plan))
    assert rows["lann"].cells == ("–", "–", "10", "–", "–", "–", "–")
    assert rows["forest"].cells == ("1.50", "1.50", "1", "–", "–", "–", "–")


def test_wins_and_losses_of_lann(made_up):
    sets = {("lann", "adult"): {"accuracy": 0.8}, ("lann", "crx"): {"accuracy": 0.95}}
    found, plan = made_up({"forest": {}, "lann": {}}, sets)
    assert compare_with_ours(found, plan, "forest") == ("−0.0045", "1", "9", "1")
    assert compare_with_ours(found, plan, "lann") == ("–",) * 4
    rows = rows_of(ranks_table(found, plan))
    assert rows["forest"].cells[2] == rows["lann"].cells[2] == "10"


@pytest.mark.parametrize("method", ["knn", "lann"])
def test_without_measurements_there_are_no_ranks(made_up, method):
    found, plan = made_up({method: {}})
    found.results.cells.clear()
    assert ranks(found, plan, "accuracy", largest=True) == {}
    assert rows_of(ranks_table(found, plan))[method].cells == ("–", "–", "0", "–", "–", "–", "–")
