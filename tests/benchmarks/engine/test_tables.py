import pytest

from benchmarks.engine import Row
from benchmarks.engine.tables import (
    best_values,
    in_groups,
    milliseconds,
    plural,
    share,
    share_and_std,
    signed,
)


def test_rows_are_grouped_and_missing_ones_left_out():
    a, b, c = (Row(name, ()) for name in "abc")
    assert in_groups([("one", a), ("one", b), ("two", None), ("three", c)]) == [
        ("one", [a, b]),
        ("three", [c]),
    ]


def test_the_best_are_those_that_are_printed_as_the_best():
    assert best_values([0.9501, None, 0.9504, 0.9]) == {0, 2}
    assert best_values([0.9501, None, 0.9504, 0.9], largest=False) == {3}
    assert best_values([None]) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (share(0.9544), ".954"),
        (share(1.0), "1.000"),
        (share(None), "–"),
        (share_and_std(0.5, 0.0123), ".500 ± .012"),
        (share_and_std(0.5, None), ".500"),
        (signed(-0.01234), "−0.0123"),
        (signed(0.01, 2), "+0.01"),
        (milliseconds(1.2454), "1245"),
        (milliseconds(0.00005944), "0.0594"),
        (plural(1, "seed"), "1 seed"),
        (plural(2, "seed"), "2 seeds"),
    ],
)
def test_how_numbers_are_written(text, expected):
    assert text == expected
