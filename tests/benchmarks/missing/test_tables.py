from dataclasses import replace

from benchmarks.missing.data import RANDOM_SETS
from benchmarks.missing.plan import INFORMATIVE, RANDOM
from benchmarks.missing.tables import informative_table, make_tables, means_table

BROKEN = {"log_loss": None, "errors": {"log_loss": "ValueError: NaN"}}


def rows_of(table):
    return {(section, row.name): row for section, rows in table.sections for row in rows}


def test_the_tables_of_both_parts(made_up):
    tables = make_tables(*made_up())
    assert [table.title for table in tables] == [
        "Accuracy with 20 % of the cells missing",
        "Accuracy on the complete data",
        "Means over 13 data sets",
        "Informative gaps",
    ]
    missing, complete, *_ = tables
    assert missing.head == ("accuracy", "forest", "lann-median", "boosting", "lann")
    assert [row.name for row in missing.rows] == [*RANDOM_SETS, "mean"]
    assert complete.head == ("accuracy", "forest", "boosting", "lann")
    assert complete.rows[-1].cells == (".900 ± .000", ".890 ± .000", ".930 ± .000")
    for table in tables:
        assert all(len(row.cells) == len(table.head) - 1 for row in table.rows)


def test_a_part_without_data_has_no_tables(made_up):
    results, random, informative = made_up()
    assert len(make_tables(results, replace(random, data_sets=[]), informative)) == 1
    assert len(make_tables(results, random, replace(informative, data_sets=[]))) == 3


def test_means_beside_those_of_the_complete_data(made_up):
    results, plan, _ = made_up({(RANDOM, "forest", "wine"): BROKEN})
    table = means_table(results, plan)
    rows = rows_of(table)
    assert rows["gaps as they are", "lann"].cells[:3] == (".880 ± .000", ".930 ± .000", "−0.050")
    # Imputation does not change the complete data.
    assert rows["gaps imputed", "lann-median"].cells[:3] == (".860 ± .000", ".930 ± .000", "−0.070")
    assert rows["gaps imputed", "forest"].cells[3] == "fail"
    assert "forest: log-loss as returned failed in 2 splits of wine" in table.notes[-1]


def test_informative_gaps_and_the_best_possible_accuracy(made_up):
    results, _, plan = made_up()
    results.failures[INFORMATIVE, "lann", "house-votes-84"] = "Out of memory."
    table = informative_table(results, plan, results.notes())
    assert table.head == ("informative gaps", "house-votes-84", "planted-gaps")
    rows = rows_of(table)
    assert rows["accuracy", "lann"].cells == ("fail", ".880 ± .000")
    assert rows["log-loss as returned", "forest"].cells == (".300 ± .000", ".300 ± .000")
    assert table.notes == (
        "Best possible accuracy on planted-gaps: .818; after imputation by the median, .703.",
        "lann failed on house-votes-84: Out of memory.",
    )
