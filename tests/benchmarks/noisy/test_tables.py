from benchmarks.noisy.data import SETS
from benchmarks.noisy.plan import PART
from benchmarks.noisy.tables import (
    confident_table,
    count_confident_predictions,
    means_table,
    vote_table,
)


def rows_of(table):
    return {(section, row.name): row for section, rows in table.sections for row in rows}


def test_a_score_that_failed_is_shown(made_up):
    broken = {"log_loss": None, "errors": {"log_loss": "ValueError: larger than 1"}}
    table = means_table(*made_up({"forest": {"log_loss": 0.7}, "lann": {}}, {("lann", "sea"): broken}))
    assert rows_of(table)["LANN", "lann"].cells == (
        ".820 ± .000", ".600 ± .000", "fail", ".100 ± .000", ".020 ± .000", "1.0"
    )  # fmt: skip
    assert (
        table.notes[-1] == "lann: log-loss as returned failed in 2 splits of sea: ValueError: larger than 1."
    )


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
