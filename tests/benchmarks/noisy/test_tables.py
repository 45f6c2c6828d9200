from benchmarks.noisy.data import SETS
from benchmarks.noisy.plan import PART
from benchmarks.noisy.tables import (
    accuracy_table,
    confident_table,
    count_confident_predictions,
    means_table,
    score_table,
    vote_table,
)


def rows_of(table):
    return {(section, row.name): row for section, rows in table.sections for row in rows}


def test_a_row_for_every_set_and_the_mean(made_up):
    made = made_up({"knn-cv": {"accuracy": 0.81}, "lann": {}}, {("lann", "sea"): {"accuracy": 0.72}})
    table = accuracy_table(*made)
    assert table.head == ("accuracy", "knn-cv", "lann")
    assert [row.name for row in table.rows] == [*SETS, "mean"]
    rows = rows_of(table)
    assert rows["", "adult"].cells == (".810 ± .000", ".820 ± .000")
    assert (rows["", "adult"].best, rows["", "sea"].best) == ({1}, {0})
    assert rows["", "mean"].cells == (".810 ± .000", ".810 ± .000")
    assert rows["", "mean"].best == {0, 1}


def test_the_lowest_loss_is_the_best_and_failures_are_shown(made_up):
    broken = {"log_loss": None, "errors": {"log_loss": "ValueError: larger than 1"}}
    made = made_up({"forest": {"log_loss": 0.7}, "lann": {}}, {("lann", "sea"): broken})
    rows = rows_of(score_table(*made, "log_loss"))
    assert rows["", "adult"].cells == (".700 ± .000", ".450 ± .000")
    assert rows["", "adult"].best == {1}
    assert rows["", "sea"].cells[1] == rows["", "mean"].cells[1] == "fail"
    table = means_table(*made)
    assert rows_of(table)["LANN", "lann"].cells == (
        ".820 ± .000", ".600 ± .000", "fail", ".100 ± .000", ".020 ± .000", "1.0"
    )  # fmt: skip
    assert (
        table.notes[-1] == "lann: log-loss as returned failed in 2 splits of sea: ValueError: larger than 1."
    )


def test_a_failed_method_is_shown(made_up):
    found, plan = made_up({"forest": {}, "lann": {}})
    found.results.failures[PART, "forest", "sea"] = "Out of memory."
    found.results.n_missing = 1
    table = accuracy_table(found, plan)
    assert rows_of(table)["", "sea"].cells[0] == "fail"
    assert table.notes[0] == "forest failed on sea: Out of memory."
    assert "Not all splits" in table.notes[1]


def test_votes_of_the_splits(made_up):
    found, plan = made_up({"knn-cv": {"vote": "k=7, weights=distance"}, "forest": {}, "lann": {}})
    found.results.cells[PART, "lann", "sea"][1] = {"accuracy": 0.8, "vote": "k=35, power=2"}
    rows = rows_of(vote_table(found, plan))
    assert rows["", "adult"].cells == ("k=7, distance", "k=5, power=1")
    assert rows["", "sea"].cells[1] == "k=5, power=1; k=35, power=2"


def test_confident_predictions_are_pooled(made_up):
    found, plan = made_up({"lann": {}}, {("lann", "sea"): {"n_confident": 0, "n_confident_correct": 0}})
    counts = count_confident_predictions(found, "lann", SETS)
    assert (counts.n_predictions, counts.n_confident, counts.n_correct) == (2000, 900, 882)
    rows = rows_of(confident_table(found, plan))
    assert rows["all data sets", "lann"].cells == ("2000", "900", ".450", ".980")
    assert rows["lann", "sea"].cells == ("200", "0", ".000", "–")
    assert count_confident_predictions(found, "forest", SETS) is None
