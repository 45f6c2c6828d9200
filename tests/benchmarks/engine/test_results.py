import pytest

from benchmarks.engine import Job, mean, std


@pytest.fixture
def results(results_of):
    return results_of(
        {
            ("part", "a", "x"): [{"accuracy": 0.5, "loss": 1.0}, {"accuracy": 0.7, "loss": None}],
            ("part", "a", "y"): [{"accuracy": 0.9}],
            ("part", "b", "x"): [{"accuracy": 0.8}],
            ("other", "a", "x"): [{"accuracy": 0.1}],
        }
    )


def test_means_over_repeats_and_data_sets(results):
    part = results.part("part", "accuracy")
    assert (part.methods, part.data_sets) == (["a", "b"], ["x", "y"])
    assert part.mean("a", "x") == pytest.approx(0.6)
    assert part.std("a", "x") == pytest.approx(0.2 / 2**0.5)
    assert part.std("a", "y") == 0
    assert part.over_sets("a", ["x", "y"]) == pytest.approx(0.75)
    assert part.over_sets("b", ["x", "y"]) is None
    assert part.pooled("a") == [0.5, 0.7, 0.9]


def test_the_deviation_of_a_mean_over_data_sets_is_that_of_the_means_of_the_repeats(results_of):
    part = results_of(
        {
            ("part", "a", "x"): [{"accuracy": 0.5, "loss": 1.0}, {"accuracy": 0.7, "loss": None}],
            ("part", "a", "y"): [{"accuracy": 0.9, "loss": 1.0}, {"accuracy": 0.8, "loss": 1.0}],
            ("part", "a", "z"): [{"accuracy": 0.9}],
        }
    ).part("part", "accuracy")
    assert part.std_over_sets("a", ["x", "y"]) == pytest.approx(0.05 / 2**0.5)  # .70 and .75
    assert part.std_over_sets("a", ["x"]) == part.std("a", "x")
    assert part.std_over_sets("a", ["x", "z"]) is None
    assert part.std_over_sets("a", ["x", "y"], "loss") is None
    assert part.std_over_sets("b", ["x"]) is part.std_over_sets("a", []) is None


def test_a_score_that_a_repeat_does_not_have_has_no_mean(results):
    part = results.part("part")
    assert part.mean("a", "x", "loss") is None
    assert part.mean("a", "y", "loss") is None
    assert part.mean("c", "x", "accuracy") is part.std("c", "x", "accuracy") is None


def test_a_failed_cell_has_no_figures(results):
    results.failures["part", "a", "x"] = "Singular matrix."
    results.skipped["y"] = "No file."
    part = results.part("part", "accuracy")
    assert part.cell("a", "x") == {}
    assert part.mean("a", "y") == 0.9
    assert part.failure("a", "x") == "Singular matrix."
    assert results.notes() == ["a failed on x: Singular matrix.", "Without y: No file."]


def test_a_job_can_measure_several_methods(results):
    results.add(Job("part", "all", "z", 2, dict), {"a": {"accuracy": 0.2}, "b": {"accuracy": 0.3}})
    part = results.part("part", "accuracy")
    assert part.cell("b", "z") == {2: {"accuracy": 0.3}}
    assert part.first("a", "z") == {"accuracy": 0.2}
    assert part.first("all", "z") is None


def test_mean_and_standard_deviation_of_a_sample():
    assert (mean([]), std([]), mean([2.0]), std([2.0])) == (None, None, 2.0, 0.0)
    assert std([1.0, 3.0]) == pytest.approx(2**0.5)
