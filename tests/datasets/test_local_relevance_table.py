"""The label depends on the features in the mask and on no others."""

import numpy as np
import pandas as pd
import pytest

from lann.datasets import make_local_relevance_table


def test_numbers_are_standardized_categories_equally_frequent_and_classes_balanced():
    X, y, mask = make_local_relevance_table(6000, n_categories=5, random_state=0)
    assert X.shape == mask.shape == (6000, 12)
    assert X.columns.tolist() == [f"x{i}" for i in range(12)]
    numbers, texts = X.select_dtypes("number"), X.select_dtypes(exclude="number")
    assert (numbers.shape[1], texts.shape[1]) == (7, 5)
    np.testing.assert_allclose(numbers.mean(), 0.0, atol=0.06)
    np.testing.assert_allclose(numbers.std(), 1.0, atol=0.05)
    for name in texts:
        shares = texts[name].value_counts(normalize=True)
        assert set(shares.index) == {"c0", "c1", "c2", "c3", "c4"}
        np.testing.assert_allclose(shares, 0.2, atol=0.02)
    even = make_local_relevance_table(6000, n_categories=6, random_state=0)[1]
    assert abs(even.mean() - 0.5) < 0.03
    assert y.shape == (6000,)
    assert not mask[:, 0].any()


def test_no_feature_is_relevant_in_two_regions():
    rules = ["numbers", "category", "categories", "category_number"]
    X, _, mask = make_local_relevance_table(800, rules=rules, random_state=1)
    region = np.floor((X["x0"] / np.sqrt(3) + 1) * 2).to_numpy(int)
    relevant = [np.unique(mask[region == index], axis=0) for index in range(4)]
    assert [rows.shape for rows in relevant] == [(1, 1 + 7 + 6)] * 4
    assert [int(rows.sum()) for rows in relevant] == [2, 1, 2, 2]
    assert np.concatenate(relevant).sum(axis=0).max() == 1


def relevant_columns(X, mask):
    return [X.iloc[:, feature] for feature in np.flatnonzero(mask[0])]


def test_a_category_alone_decides():
    X, y, mask = make_local_relevance_table(500, rules=["category"], random_state=2)
    (column,) = relevant_columns(X, mask)
    by_category = pd.Series(y).groupby(column.to_numpy()).agg(["min", "max"])
    assert (by_category["min"] == by_category["max"]).all()
    assert by_category["min"].sum() == 5


def test_a_category_and_a_number_decide_together():
    X, y, mask = make_local_relevance_table(500, rules=["category_number"], random_state=3)
    number, category = sorted(relevant_columns(X, mask), key=lambda column: column.dtype != float)
    is_member = pd.Series(y != (number > 0)).groupby(category.to_numpy()).agg(["min", "max"])
    assert (is_member["min"] == is_member["max"]).all()
    assert is_member["min"].sum() == 5
    # Neither tells anything alone.
    assert abs(np.mean(y[number > 0]) - np.mean(y[number <= 0])) < 0.15


def test_two_categories_decide_together():
    X, y, mask = make_local_relevance_table(2000, rules=["categories"], n_categories=4, random_state=4)
    one, other = (column.to_numpy() for column in relevant_columns(X, mask))
    cells = pd.Series(y).groupby([one, other]).agg(["min", "max"])
    assert len(cells) == 16
    assert (cells["min"] == cells["max"]).all()
    assert cells["min"].sum() == 8


def test_two_numbers_decide_together():
    X, y, mask = make_local_relevance_table(500, rules=["numbers"], random_state=5)
    one, other = relevant_columns(X, mask)
    np.testing.assert_array_equal(y == 1, (one > 0) != (other > 0))


def test_label_noise_flips_labels():
    clean, noisy = (
        make_local_relevance_table(2000, random_state=4, label_noise=share)[1] for share in (0, 0.2)
    )
    assert abs(np.mean(clean != noisy) - 0.2) < 0.03


def test_random_state_determines_the_table():
    (X, y, mask), (X_again, y_again, mask_again) = (
        make_local_relevance_table(50, random_state=5) for _ in range(2)
    )
    pd.testing.assert_frame_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    np.testing.assert_array_equal(mask, mask_again)
    assert not make_local_relevance_table(50, random_state=6)[0].equals(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": ["xor"]}, "rules must be some of 'category', 'category_number', 'categories', 'numbers'"),
        ({"rules": []}, "rules must be some of"),
        ({"n_categories": 1}, "n_categories must be an integer of at least 2; got 1"),
        ({"n_noise_numbers": -1}, "n_noise_numbers must be an integer of at least 0; got -1"),
        ({"label_noise": 0.6}, "label_noise must be a number of at least 0 and at most 0.5; got 0.6"),
        ({"n_samples": 0}, "n_samples must be an integer of at least 1; got 0"),
    ],
)
def test_invalid_parameters_raise(options, message):
    with pytest.raises(ValueError, match=message):
        make_local_relevance_table(**options)
