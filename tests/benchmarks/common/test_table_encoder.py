import numpy as np
import pandas as pd
import pytest

from benchmarks.common.table_encoder import TableEncoder


@pytest.fixture
def table():
    return pd.DataFrame(
        {"port": ["S", "Q", None, "S"], "age": [1.0, 3.0, np.nan, 8.0], "cabin": ["a", "b", "a", "b"]}
    )


@pytest.mark.parametrize("kind", [object, "category"])
def test_numbers_come_first_and_missing_categories_are_a_level(table, kind):
    table = table.astype({"port": kind, "cabin": kind})
    encoder = TableEncoder().fit(table)
    encoded = encoder.transform(table)
    assert encoder.encoded_columns() == ["age", "port", "port", "port", "cabin", "cabin"]
    ages = np.array([1, 3, 3, 8])  # the median is 3
    np.testing.assert_allclose(encoded[:, 0], (ages - ages.mean()) / ages.std())
    # The levels of port, sorted: "Q", "S", "missing".
    assert encoded[:, 1:4].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_other_rows_are_encoded_by_the_training_rows(table):
    encoder = TableEncoder().fit(table)
    new = pd.DataFrame({"port": ["C"], "age": [np.nan], "cabin": ["a"]})
    encoded = encoder.transform(new)
    np.testing.assert_array_equal(encoded[0, 0], encoder.transform(table)[2, 0])
    assert encoded[0, 1:].tolist() == [0, 0, 0, 1, 0]


def test_tables_of_one_kind(table):
    numbers, texts = table[["age"]], table[["port"]]
    assert TableEncoder().fit(numbers).encoded_columns() == ["age"]
    assert TableEncoder().fit(numbers).transform(numbers).shape == (4, 1)
    assert TableEncoder().fit(texts).encoded_columns() == ["port"] * 3
