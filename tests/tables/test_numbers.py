"""How columns write numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.columns.notation import NumberNotation, find_number_notation, table_decimal


@pytest.mark.parametrize(
    ("cells", "numbers", "words"),
    [
        (["1", "-2.5", "1e3", "+.5"], [1, -2.5, 1000, 0.5], ""),
        (["1,5", "-2", "0,25"], [1.5, -2, 0.25], "decimal commas"),
        (["1.234,5", "2"], [1234.5, 2], "decimal commas and points between thousands"),
        (["1,234.5", "999"], [1234.5, 999], "commas between thousands"),
        (["1,234,567", "1"], [1234567, 1], "commas between thousands"),
        (["1 234", "12\u00a0345,5"], [1234, 12345.5], "decimal commas and spaces between thousands"),
        (["1'234.50", "5.25"], [1234.5, 5.25], "apostrophes between thousands"),
        (["35 %", "5%", "-2 %"], [35, 5, -2], "the unit %"),
        (["€ 1,234.50", "€ 7.00"], [1234.5, 7], "commas between thousands and the unit €"),
        (["$5.00", "-$6.50", "$-1.25"], [5, -6.5, -1.25], "the unit $"),
        (["1 234 kr", "12 kr"], [1234, 12], "spaces between thousands and the unit kr"),
        (["kr. 5", "kr. 12"], [5, 12], "the unit kr."),
        (["−5", "3"], [-5, 3], ""),
        (["0,123", "0,234"], [0.123, 0.234], "decimal commas"),
    ],
)
def test_notations(cells, numbers, words):
    notation = find_number_notation(cells)[0]
    assert notation.parse(cells).tolist() == numbers
    assert notation.describe() == words


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "red"], ["1,5", "1.5"], ["5 %", "5"], ["$5", "€5"], ["1,23,456", "1"], ["12.34.5"], ["1 2"],
        ["--5"], ["-$-5"], ["$5 %"], ["1_000"], ["0x1A"], ["5 kg"], ["%"], [","], [],
    ],
)  # fmt: skip
def test_what_is_not_a_number(cells):
    assert find_number_notation(cells)[0] is None


def test_the_table_decides_what_is_ambiguous():
    cells = ["1,234", "2,345"]
    assert find_number_notation(cells)[1] == "'1,234' may be 1234 or 1.234"
    assert find_number_notation(["€ 1,234"])[1] == "'€ 1,234' may be 1234 or 1.234"
    assert find_number_notation(cells, ",")[0].parse(cells).tolist() == [1.234, 2.345]
    assert find_number_notation(cells, ".")[0].parse(cells).tolist() == [1234, 2345]
    cells = ["1.234", "2.345"]
    assert find_number_notation(cells)[0].parse(cells).tolist() == [1.234, 2.345]
    assert find_number_notation(cells, ",")[0].parse(cells).tolist() == [1234, 2345]
    # One cell is enough to know, whatever the rest of the table has.
    assert find_number_notation(["1,234", "2,3"], ".")[0].parse(["1,234"]).tolist() == [1.234]


def test_codes_are_not_numbers():
    found = find_number_notation(["01067", "12345"])
    assert found[0] is None
    assert "leading zeros" in found[1]
    assert find_number_notation(["01067", "12345"], ",")[0] is None
    assert find_number_notation(["01", "12"])[0] is not None  # a month
    assert find_number_notation(["0.5", "1.5"])[0] is not None


@pytest.mark.parametrize(
    ("columns", "decimal"),
    [
        ({"a": ["1", "2"], "b": ["x, y", "z"]}, "."),
        ({"a": ["1,5", "2"]}, ","),
        ({"a": ["1,5", "2"], "b": ["1.5", "2"], "c": ["0,5", "1"]}, ","),
        ({"a": ["1,234", "2"], "b": ["0.5", "2"]}, "."),
        ({"a": ["1,234", "2"]}, None),
        ({"a": [1.5, 2.5]}, "."),
    ],
)
def test_the_decimal_separator_of_a_table(columns, decimal):
    assert table_decimal(pd.DataFrame(columns)) == decimal


NOTATIONS = st.builds(
    NumberNotation,
    decimal=st.just("."), thousands=st.sampled_from(["", ",", " ", "'"]),
    prefix=st.sampled_from(["", "$", "€ "]), decimals=st.integers(1, 3),
) | st.builds(
    NumberNotation,
    decimal=st.just(","), thousands=st.sampled_from(["", ".", " ", "'"]),
    suffix=st.sampled_from(["", " %", " kr"]), decimals=st.integers(1, 3),
)  # fmt: skip


@given(NOTATIONS, st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20))
def test_what_is_formatted_is_parsed(notation, integers):
    values = np.array(integers) / 10.0**notation.decimals
    cells = [notation.format(value) for value in values]
    np.testing.assert_allclose(notation.parse(cells), values, rtol=1e-12)
    found = find_number_notation(cells, notation.decimal)[0]
    np.testing.assert_allclose(found.parse(cells), values, rtol=1e-12)
    assert [found.format(value) for value in found.parse(cells)] == cells


def test_formats():
    plain = NumberNotation()
    assert [plain.format(v) for v in (3.0, -2.5, 1234567.0, 1e300, 0.0001234)] == [
        "3", "-2.5", "1234567", "1e+300", "0.0001234",
    ]  # fmt: skip
    # Up to ten digits as they are in a file.
    assert [plain.format(v) for v in (211.3375, 1234567.5, 1 / 3)] == ["211.3375", "1234567.5", "0.333333"]
    price = NumberNotation(",", ".", suffix=" €", decimals=2)
    assert price.format(1234.5) == "1.234,50 €"
    assert price.format(0.001) == "0,001 €"  # not of the column: all digits are shown
    assert NumberNotation(decimals=0).format(2.5) == "2.5"
