import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.paper.comparison import compare, corrected_t_test


def test_the_corrected_test_by_its_formula():
    differences = [0.02, 0.03, -0.01, 0.04, 0.01]
    t = np.mean(differences) / math.sqrt((1 / 5 + 75 / 25) * np.var(differences, ddof=1))
    assert corrected_t_test(differences, 25, 75) == pytest.approx(2 * (1 - stats.t.cdf(t, 4)))
    assert corrected_t_test([-d for d in differences], 25, 75) == corrected_t_test(differences, 25, 75)


def test_without_overlap_it_is_the_usual_test():
    differences = np.random.default_rng(0).normal(0.5, 1.0, 10)
    usual = stats.ttest_1samp(differences, 0).pvalue
    assert corrected_t_test(differences.tolist(), 1e12, 1) == pytest.approx(usual)
    assert corrected_t_test(differences.tolist(), 25, 75) > usual


@pytest.mark.parametrize(
    ("differences", "p_value"), [([], None), ([0.1], None), ([0.0, 0.0], 1.0), ([0.5, 0.5], 0.0)]
)
def test_differences_without_spread(differences, p_value):
    assert corrected_t_test(differences, 25, 75) == p_value


def test_wins_ties_and_losses_are_counted_by_set(made_up):
    made = made_up(
        {
            "lann": {"won": [0.9, 0.91, 0.9], "tied": [0.9, 0.8, 0.9], "lost": [0.5, 0.51, 0.5], "own": [1]},
            "other": {"won": [0.80, 0.81, 0.81], "tied": [0.8, 0.9, 0.8], "lost": [0.6, 0.61, 0.61]},
        },
        protocol="cv",
    )  # fmt: skip
    (comparison,) = compare(*made)
    assert comparison.other == "other"
    assert {pairing.data_set: pairing.verdict for pairing in comparison.pairings} == {
        "won": "win",
        "tied": "tie",
        "lost": "loss",
    }
    assert [comparison.count(verdict) for verdict in ("win", "tie", "loss")] == [1, 1, 1]
    assert comparison.n_ahead == 2
    figures = comparison.as_dict()
    assert (figures["wins"], figures["n_sets"]) == (1, 3)
    assert figures["mean"] == pytest.approx((0.29 / 3 + 0.1 / 3 - 0.31 / 3) / 3)


def test_only_splits_that_both_have_are_compared(made_up):
    made = made_up({"lann": {"toy": [0.9, 0.9, 0.1]}, "other": {"toy": [0.8, 0.8]}}, protocol="cv")
    (pairing,) = compare(*made)[0].pairings
    assert pairing.difference == pytest.approx(0.1)


def test_with_equal_means_neither_is_ahead_and_one_split_is_no_test(made_up):
    (comparison,) = compare(*made_up({"lann": {"toy": [0.9]}, "other": {"toy": [0.9]}}, protocol="cv"))
    assert comparison.n_ahead == 0
    assert comparison.count("tie") is None


def test_published_columns_are_compared_by_the_mean_alone(made_up):
    made = made_up({"lann": {"wine": [0.94, 0.96]}})
    found = {comparison.other: comparison for comparison in compare(*made)}
    assert list(found) == ["published kNN", "published LMNN", "published LGMLVQ", "published LANN"]
    assert found["published LGMLVQ"].mean_difference == pytest.approx(0.32)
    assert found["published LGMLVQ"].count("win") is None
    assert [found[f"published {column}"].n_ahead for column in ("LGMLVQ", "LANN")] == [1, 0]


def test_without_lann_there_is_nothing_to_compare(made_up):
    assert compare(*made_up({"knn": {"wine": [0.9, 0.8]}, "svm": {"wine": [0.9, 0.8]}})) == []
