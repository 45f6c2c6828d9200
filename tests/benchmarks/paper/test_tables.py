import pytest

from benchmarks.common.measure import PROBABILITY_SCORES
from benchmarks.paper.comparison import compare
from benchmarks.paper.plan import PART
from benchmarks.paper.tables import (
    accuracy_table,
    comparison_table,
    details_table,
    means_table,
    probability_details_table,
    probability_table,
)

DIFFERENCE = "difference from the published figure, in thousandths"


@pytest.fixture
def made(made_up):
    found, plan = made_up(
        {
            "knn": {"iris": [0.90, 0.94], "wine": [0.956, 0.956]},
            "lann": {"iris": [0.96, 0.98], "wine": [0.95, 0.95]},
            "svm": {"iris": [0.5, 0.5], "wine": [1.0, 1.0]},
            "broken": {"iris": [0.9, 0.9], "wine": [0.9]},
        },
        published={"knn": "kNN", "lann": "LANN"},
        svm=dict.fromkeys(PROBABILITY_SCORES),
    )
    found.results.failures[PART, "broken", "wine"] = "Singular | matrix."
    found.results.skipped["adrenal"] = "It is not public."
    return found, plan


def rows_of(table):
    return {(section, row.name): row for section, rows in table.sections for row in rows}


def test_accuracies_with_the_published_figures(made):
    table = accuracy_table(*made)
    rows = rows_of(table)
    assert table.head == ("accuracy", "iris", "wine", "mean")
    assert rows["as published", "LANN"].cells == (".96", ".96", ".96")
    assert rows["tests", "knn"].cells == (".920", ".956", ".938")
    assert rows["tests", "svm"].cells == (".500", "1.000", ".750")
    assert rows["tests", "broken"].cells == (".900", "fail", "–")
    assert rows[DIFFERENCE, "knn"].cells == ("−10", "+6", "−2")
    assert rows[DIFFERENCE, "lann"].cells == ("+10", "−10", "0")
    assert table.notes == ("broken failed on wine: Singular | matrix.", "Without adrenal: It is not public.")


def test_the_best_of_every_column_is_highlighted(made):
    highlighted = {row.name: set(row.best) for row in accuracy_table(*made).rows if row.best}
    assert highlighted == {"lann": {0, 2}, "svm": {1}}


def test_means_need_all_sets(made):
    rows = rows_of(means_table(*made))
    # Means of the two splits: (.96 + .95) / 2 and (.98 + .95) / 2.
    assert rows["tests", "lann"].cells == (".960 ± .007", ".960", "1.000", "0.100")
    assert set(rows["tests", "broken"].cells) == {"–"}


def test_scores_of_probabilities_need_all_sets_and_probabilities(made):
    table = probability_table(*made)
    assert table.head[1:] == ("log-loss", "as returned", "Brier", "ECE")
    rows = rows_of(table)
    assert rows["tests", "lann"].cells == (".140 ± .000", ".130 ± .000", ".100 ± .000", ".020 ± .000")
    assert set(rows["tests", "svm"].cells) == set(rows["tests", "broken"].cells) == {"–"}


def test_a_score_that_failed_is_shown_as_failed_and_explained(made):
    found, plan = made
    found.cell("lann", "wine")[1].update(log_loss=None, errors={"log_loss": "ValueError: larger than 1."})
    table = probability_table(found, plan)
    assert rows_of(table)["tests", "lann"].cells == (".140 ± .000", "fail", ".100 ± .000", ".020 ± .000")
    assert rows_of(table)["tests", "knn"].cells[1] == ".130 ± .000"
    assert (
        table.notes[-1] == "lann: log-loss as returned failed in 1 split of wine: ValueError: larger than 1."
    )
    by_set = [rows_of(probability_details_table(found, name, plan)) for name in ("iris", "wine")]
    assert [rows["tests", "lann"].cells[1] for rows in by_set] == [".130 ± .000", "fail"]
    assert ("tests", "broken") not in by_set[1]


def test_details_show_the_deviation_or_the_failure(made):
    found, plan = made
    rows = rows_of(details_table(found, "wine", plan))
    assert rows["tests", "knn"].cells[:3] == (".956 ± .000", ".95", "+.006")
    assert rows["tests", "broken"].text == "failed: Singular | matrix."
    assert rows["as published", "LANN"].cells[0] == ".96 ± .0153"
    iris = rows_of(details_table(found, "iris", plan))
    assert iris["tests", "knn"].cells[0] == ".920 ± .028"


def test_an_unfinished_run_says_so(made):
    made[0].results.n_missing = 1
    assert "Not all splits" in accuracy_table(*made).notes[-1]


def test_the_comparison_states_its_test(made):
    table = comparison_table(compare(*made), made[1])
    assert "Nadeau and Bengio" in table.notes[0]
    assert rows_of(table)["", "svm"].cells == ("1 of 2", "1", "0", "1", "+0.2100")
    assert rows_of(table)["", "svm"].label == "SVM"
    assert rows_of(table)["", "published kNN"].cells[:2] == ("1 of 2", "–")


def test_records_of_means_and_published_figures(made):
    found, plan = made
    fields = plan.published_fields(found)
    assert fields[PART, "knn", "iris"] == {"published": 0.93, "difference": pytest.approx(-0.01)}
    assert fields[PART, "svm", "iris"] == {"published": None, "difference": None}
    means = {record["method"]: record for record in plan.mean_records(found)}
    assert set(means) == {"knn", "lann", "svm"}
    assert means["lann"]["mean"] == pytest.approx(0.96)
    assert means["svm"]["log_loss"] is None
