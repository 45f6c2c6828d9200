import json

import pytest

from lann.bench.checks import run_checks
from lann.bench.compare import compare
from lann.bench.paper_markdown import as_markdown
from lann.bench.paper_tables import accuracy_grid, comparison_grid, details_grid, methods_grid
from lann.bench.records import records


@pytest.fixture
def results(made_up):
    results = made_up(
        {
            "knn": {"iris": [0.90, 0.94], "wine": [0.956, 0.956]},
            "lann": {"iris": [0.96, 0.98], "wine": [0.95, 0.95]},
            "svm": {"iris": [0.5, 0.5], "wine": [1.0, 1.0]},
            "broken": {"iris": [0.9, 0.9], "wine": [0.9]},
        },
        published={"knn": "kNN", "lann": "LANN"},
        svm={"log_loss": None, "ece": None},
    )
    results.failures["broken", "wine"] = "It broke | twice."
    results.skipped["adrenal"] = "It is not public."
    return results


def name(method):
    return method.name


def rows_of(grid):
    return {(section, row.label): row for section, rows in grid.sections for row in rows}


def test_accuracies_with_the_published_beside_them(results):
    grid = accuracy_grid(results, name)
    rows = rows_of(grid)
    assert grid.head == ("accuracy", "iris", "wine", "mean")
    assert rows["as published", "LANN"].cells == (".96", ".96", ".96")
    assert rows["tests", "knn"].cells == (".920", ".956", ".938")
    assert rows["tests", "svm"].cells == (".500", "1.000", ".750")
    assert rows["tests", "broken"].cells == (".900", "fail", "–")
    assert rows["less the published figure, in thousandths", "knn"].cells == ("−10", "+6", "−2")
    assert rows["less the published figure, in thousandths", "lann"].cells == ("+10", "−10", "0")
    assert grid.notes == ("broken failed on wine: It broke | twice.", "Without adrenal: It is not public.")


def test_the_best_of_every_column_is_marked(results):
    rows = rows_of(accuracy_grid(results, name))
    marked = {label: set(row.best) for (_, label), row in rows.items() if row.best}
    assert marked == {"lann": {0, 2}, "svm": {1}}


def test_means_need_all_sets_and_probabilities(results):
    rows = rows_of(methods_grid(results, name))
    assert rows["tests", "lann"].cells == (".960", ".960", "0.300", ".050", "1.000", "0.100")
    assert rows["tests", "svm"].cells[2:4] == ("–", "–")
    assert set(rows["tests", "broken"].cells) == {"–"}


def test_details_show_the_spread_or_the_failure(results):
    rows = rows_of(details_grid(results, "wine", name))
    assert rows["tests", "knn"].cells[:3] == (".956 ± .000", ".95", "+.006")
    assert rows["tests", "broken"].text == "failed: It broke | twice."
    assert rows["as published", "LANN"].cells[0] == ".96 ± .0153"
    iris = rows_of(details_grid(results, "iris", name))
    assert iris["tests", "knn"].cells[0] == ".920 ± .028"


def test_splits_that_are_missing_are_mentioned(results):
    del results.splits["knn", "iris"][1]
    assert "Not all splits" in accuracy_grid(results, name).notes[-1]


def test_the_comparison_states_its_test(results):
    grid = comparison_grid(compare(results), {"svm": "SVM"})
    assert "Nadeau and Bengio" in grid.notes[0]
    assert rows_of(grid)["", "SVM"].cells == ("1 of 2", "1", "0", "1", "+0.2100")
    assert rows_of(grid)["", "published kNN"].cells[:2] == ("1 of 2", "–")


def test_records_have_the_figures_of_the_tables(results):
    made = records(results, compare(results), run_checks(results))
    assert json.dumps(made, allow_nan=False)  # JSON knows no NaN
    kinds = {
        kind: [record for record in made if record["kind"] == kind] for kind in {r["kind"] for r in made}
    }
    assert set(kinds) == {"figure", "mean", "failure", "skipped", "comparison", "check"}
    assert len(kinds["figure"]) == 7
    rows = rows_of(accuracy_grid(results, name))
    for record in kinds["figure"]:
        column = results.data_sets.index(record["data_set"])
        assert rows["tests", record["method"]].cells[column].lstrip("0") in f"{record['mean']:.3f}"
        assert {"std", "seconds", "predict_seconds", "balanced_accuracy", "log_loss", "ece"} <= record.keys()
        assert record["n_splits"] == 2
    (knn,) = [r for r in kinds["figure"] if (r["method"], r["data_set"]) == ("knn", "iris")]
    assert (knn["published"], knn["difference"]) == (0.93, pytest.approx(-0.01))
    assert {record["method"] for record in kinds["mean"]} == {"knn", "lann", "svm"}
    assert len(kinds["check"]) == 9


def test_markdown_has_every_table(results):
    text = as_markdown(results, compare(results), run_checks(results))
    for heading in ("## Accuracy", "## Means over 2 data sets", "## LANN against the others", "## Checks"):
        assert f"\n{heading}\n" in text
    assert "| SVM | .500 | **1.000** | .750 |" in text
    assert "failed: It broke \\| twice." in text
    assert "### wine" in text
    for block in text.split("\n\n"):
        lines = [line.replace("\\|", "") for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1  # every row has every column
