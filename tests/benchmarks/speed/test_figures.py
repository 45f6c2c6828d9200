import pytest

from benchmarks.engine import PairedTimes
from benchmarks.speed.figures import speed_table, times_as_fast, times_as_long


def test_the_best_times_are_compared():
    times = PairedTimes(ours=[2.0, 1.0], other=[4.0, 6.0])
    faster = times_as_fast("search", times, target=3.0)
    assert (faster["figure"], faster["seconds"], faster["other_seconds"]) == (4.0, 1.0, 4.0)
    assert faster["reached"]
    longer = times_as_long("fit", times, target=0.2)
    assert longer["figure"] == 0.25
    assert not longer["reached"]


def test_the_deviation_is_that_of_the_turns():
    assert times_as_fast("t", PairedTimes([1.0, 1.0], [2.0, 4.0]), 1.0)["std"] == pytest.approx(2**0.5)


def test_figures_of_one_comparison_are_in_one_section(results_of):
    times = PairedTimes([1.0], [4.0])
    table = speed_table(
        results_of(
            {
                ("search", "times as fast as faiss", "small"): [times_as_fast("search", times, 3.0)],
                ("search", "times as long as a product", "small"): [times_as_long("search", times, 0.1)],
                ("search", "times as fast as faiss", "large"): [times_as_fast("search", times, 5.0)],
            },
            skipped={"digits": "No file."},
        )
    )
    assert [(name, [row.name for row in rows]) for name, rows in table.sections] == [
        ("search: times as fast as faiss", ["small", "large"]),
        ("search: times as long as a product", ["small"]),
    ]
    assert table.rows[0].cells == ("4.00×", "≥ 3×", "ok", "1.00", "4.00")
    assert table.rows[1].cells[2] == "SHORT"
    assert table.notes == ("1 of 3 targets are reached.", "Without digits: No file.")
