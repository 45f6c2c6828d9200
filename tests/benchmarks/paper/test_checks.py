import pytest

from benchmarks.common.published import PUBLISHED
from benchmarks.paper.checks import make_checks
from benchmarks.paper.plan import PART

N_CHECKS = 12
(
    MEAN,
    LOG_LOSS,
    ECE,
    ACCEPTED,
    PUBLISHED_LANN,
    KNN,
    FOREST,
    REPRODUCED,
    NCA_TIME,
    FOREST_TIME,
    *CALIBRATION,
) = range(N_CHECKS)
ECE_OF_KNN, LOG_LOSS_OF_KNN = CALIBRATION


def same(accuracy, **exceptions):
    return {name: [exceptions.get(name.replace("-", "_"), accuracy)] for name in PUBLISHED}


def knn_as_published(**exceptions):
    return {
        name: [exceptions.get(name.replace("-", "_"), row.accuracies["kNN"])]
        for name, row in PUBLISHED.items()
    }


@pytest.fixture
def good(made_up):
    """Results that pass every check, with rows and scores to be changed."""

    def make(rows=None, **scores):
        table = {
            "knn": knn_as_published(),
            "knn-distance": same(0.9),
            "nca": same(0.9),
            "forest": same(0.96),
            "lann": same(0.99),
        }
        values = {"nca": {"fit_seconds": 2.0}, "forest": {"fit_seconds": 1.0}}
        return made_up(table | (rows or {}), **(values | scores))

    return make


def statuses(made):
    return [check.status for check in make_checks(*made)]


def test_all_checks_can_be_ok(good):
    assert statuses(good()) == ["ok"] * N_CHECKS


@pytest.mark.parametrize(
    ("rows", "short"),
    [
        ({"lann": same(0.9579)}, {MEAN, PUBLISHED_LANN, FOREST}),
        ({"lann": same(0.99, wine=0.9446)}, {PUBLISHED_LANN}),  # .96 − .0153 = .9447
        ({"knn-distance": same(0.9, iris=0.9951)}, {KNN}),
        ({"forest": same(0.995, iris=0.9, wine=0.9, usps=0.9, digits=0.9)}, {FOREST}),
        ({"knn": knn_as_published(wine=0.966)}, {REPRODUCED}),
        ({"knn": knn_as_published(wine=0.934)}, {REPRODUCED}),
    ],
)
def test_each_check_can_fall_short(good, rows, short):
    assert {i for i, status in enumerate(statuses(good(rows))) if status == "SHORT"} == short


@pytest.mark.parametrize(
    "rows",
    [
        {"lann": same(0.99, wine=0.9448)},
        {"knn-distance": same(0.9, iris=0.9949)},
        {"forest": same(0.96, iris=0.99, wine=0.99, usps=0.99, digits=0.99)},
        {"knn": knn_as_published(wine=0.965, usps=0.5, image_segmentation=0.5)},
    ],
)
def test_the_limit_itself_is_enough(good, rows):
    assert statuses(good(rows)) == ["ok"] * N_CHECKS


@pytest.mark.parametrize(
    ("scores", "short"),
    [
        ({"lann": {"fit_seconds": 1.5}}, {FOREST_TIME}),
        ({"lann": {"fit_seconds": 2.0}}, {NCA_TIME, FOREST_TIME}),
        ({"lann": {"ece": 0.025}}, {ECE_OF_KNN}),
        ({"lann": {"ece": 0.031}, "knn-distance": {"ece": 0.04}}, {ECE}),
        ({"lann": {"log_loss_floored": 0.145, "log_loss": 0.145}}, {LOG_LOSS_OF_KNN}),
        ({"lann": {"log_loss": 0.146}}, {LOG_LOSS}),
        ({"lann": {"log_loss": None, "errors": {"log_loss": "ValueError: larger than 1"}}}, {ACCEPTED}),
        ({"lann": {"fit_seconds": 1.0}}, set()),
    ],
)
def test_time_and_calibration_can_fall_short(good, scores, short):
    assert {i for i, status in enumerate(statuses(good(**scores))) if status == "SHORT"} == short


def test_a_missing_method_or_set_is_not_measured(made_up, good):
    assert set(statuses(made_up({"knn-distance": same(0.9)}))) == {"not measured"}
    found, plan = good()
    del found.results.cells[PART, "lann", "wine"]
    ok = [i for i, status in enumerate(statuses((found, plan))) if status == "ok"]
    assert ok == [ACCEPTED, REPRODUCED, NCA_TIME, FOREST_TIME]
    assert make_checks(found, plan)[KNN].measured.startswith("holds for the 12 measured; narrowest: ")


def test_one_set_that_falls_short_needs_no_other(made_up):
    check = make_checks(*made_up({"lann": {"wine": [0.9]}}))[PUBLISHED_LANN]
    assert check.status == "SHORT"
    assert check.measured == "short: wine by 0.0447 (1 split, seed 0)"


def test_the_checks_are_for_the_protocol_of_the_paper(made_up):
    assert make_checks(*made_up({"lann": same(0.99)}, protocol="cv")) == []
