"""Generators of data whose relevant features are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lann.datasets import (
    load,
    make_artificial_classification,
    make_licorice,
    make_local_relevance,
    make_local_relevance_table,
)


@pytest.mark.parametrize("shuffle", [False, True])
def test_values_are_those_of_make_classification(shuffle):
    X, y = make_artificial_classification(
        300, 9, n_informative=3, n_redundant=1, class_sep=1.5, shuffle=shuffle, random_state=7
    )
    expected_X, expected_y = make_classification(
        300, 9, n_informative=3, n_redundant=1, class_sep=1.5, shuffle=shuffle, random_state=7
    )
    np.testing.assert_array_equal(X, expected_X)
    np.testing.assert_array_equal(y, expected_y)


def test_data_set_of_the_paper_gives_the_reported_accuracies():
    X, y = load("artificial", return_X_y=True)
    splits = StratifiedShuffleSplit(10, train_size=0.25, test_size=0.75, random_state=0)
    for classifier, accuracy in ((KNeighborsClassifier(5), 0.950), (SVC(C=10), 0.980)):
        pipeline = make_pipeline(StandardScaler(), classifier)
        assert cross_val_score(pipeline, X, y, cv=splits).mean() == pytest.approx(accuracy, abs=0.01)


def distance_to_axis(point, center, axis):
    """Return the distances of a point perpendicular to an axis and along it, coordinate by coordinate."""
    along = sum(a * (p - c) for a, p, c in zip(axis, point, center, strict=True))
    nearest = [c + along * a for c, a in zip(center, axis, strict=True)]
    return float(np.sqrt(sum((p - n) ** 2 for p, n in zip(point, nearest, strict=True)))), along


@pytest.mark.parametrize("axis_aligned", [False, True])
def test_labels_depend_on_the_distance_to_the_axis(axis_aligned):
    X, y, cylinders = make_licorice(
        120,
        n_cylinders=4,
        radius=0.3,
        length=6,
        shell_width=0.2,
        axis_aligned=axis_aligned,
        random_state=0,
        return_axes=True,
    )
    for point, label, own in zip(X, y, cylinders.membership, strict=True):
        across, along = distance_to_axis(point, cylinders.centers[own], cylinders.axes[own])
        assert abs(along) <= 3 + 1e-9
        low, high = (0, 0.3) if label == 1 else (0.3, 0.5)
        assert low - 1e-9 <= across <= high + 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_no_sample_is_in_the_cylinder_or_shell_of_another(seed):
    X, _, cylinders = make_licorice(300, n_cylinders=9, random_state=seed, return_axes=True)
    checked = 0
    for point, own in zip(X, cylinders.membership, strict=True):
        for other in set(range(9)) - {own}:
            across, along = distance_to_axis(point, cylinders.centers[other], cylinders.axes[other])
            assert across > 1.0 or abs(along) > 5.0
            checked += 1
    assert checked == 300 * 8


@pytest.mark.parametrize(("n_samples", "n_cylinders"), [(2, 1), (7, 3), (100, 7), (1000, 5)])
def test_cylinders_and_classes_are_balanced(n_samples, n_cylinders):
    _, y, cylinders = make_licorice(n_samples, n_cylinders=n_cylinders, random_state=0, return_axes=True)
    sizes = np.bincount(cylinders.membership, minlength=n_cylinders)
    inside = np.bincount(cylinders.membership, weights=y, minlength=n_cylinders)
    assert sizes.max() - sizes.min() <= 1
    assert (np.abs(2 * inside - sizes) <= 1).all()


def test_aligned_axes_are_the_coordinate_axes_in_turn():
    axes = make_licorice(axis_aligned=True, random_state=0, return_axes=True)[2].axes
    np.testing.assert_array_equal(axes, np.eye(3)[[0, 1, 2, 0, 1]])


def test_noise_changes_coordinates_and_not_labels():
    X, y = make_licorice(4000, random_state=0)
    noisy_X, noisy_y = make_licorice(4000, noise=0.2, random_state=0)
    np.testing.assert_array_equal(noisy_y, y)
    assert (noisy_X - X).std() == pytest.approx(0.2, rel=0.05)


def test_features_are_standardized_and_classes_balanced():
    X, y, mask = make_local_relevance(5000, 12, random_state=0)
    assert X.shape == mask.shape == (5000, 12)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.05)
    assert abs(y.mean() - 0.5) < 0.03
    assert (mask.sum(axis=1) == 2).all()
    assert not mask[:, 0].any()


def test_no_feature_is_relevant_in_two_regions():
    X, _, mask = make_local_relevance(1000, 10, n_regions=4, random_state=1)
    region = np.floor((X[:, 0] / np.sqrt(3) + 1) * 2).astype(int)
    relevant = [np.unique(mask[region == index], axis=0) for index in range(4)]
    assert [len(rows) for rows in relevant] == [1] * 4
    assert np.concatenate(relevant).sum(axis=0).max() == 1


@pytest.mark.parametrize(
    ("rule", "label"),
    [
        ("xor", lambda a, b: a * b > 0),
        ("radial", lambda a, b: a**2 + b**2 > 2 * np.log(2)),
        ("linear", lambda a, b: a + b > 0),
    ],
)
def test_label_follows_the_rule_of_the_relevant_features(rule, label):
    X, y, mask = make_local_relevance(300, 9, rules=[rule], random_state=2)
    one, other = X[mask].reshape(-1, 2).T
    assert np.array_equal(y == 1, label(one, other))


def test_duplicates_are_relevant_and_decoys_are_not():
    X, _, mask = make_local_relevance(
        4000, 14, n_decoys=2, n_duplicates=2, decoy_correlation=0.7, random_state=3
    )
    correlations = np.corrcoef(X.T) - np.eye(14)
    pairs = np.argwhere(np.triu(correlations) > 0.99)
    assert len(pairs) == 2
    for one, other in pairs:
        assert np.array_equal(mask[:, one], mask[:, other])
        assert mask[:, one].any()
    decoys = np.argwhere(np.triu(np.abs(correlations - 0.7) < 0.05))
    assert len(decoys) >= 2
    assert mask.any(axis=0).sum() == 6 + 2


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


def test_no_feature_is_relevant_in_two_regions_of_tables():
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


GENERATORS = [make_artificial_classification, make_licorice, make_local_relevance, make_local_relevance_table]


@pytest.mark.parametrize("generate", GENERATORS)
def test_random_state_determines_the_data(generate):
    first, again, other = (generate(100, random_state=seed) for seed in (3, 3, 4))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("generate", [make_local_relevance, make_local_relevance_table])
def test_label_noise_flips_labels(generate):
    clean, noisy = (generate(2000, random_state=4, label_noise=share)[1] for share in (0, 0.2))
    assert abs(np.mean(clean != noisy) - 0.2) < 0.03


def test_roles_of_the_data_set_of_the_paper():
    bunch = load("artificial")
    assert [len(columns) for columns in bunch.roles] == [2, 2, 16]
    strongest = np.argsort(f_classif(bunch.data, bunch.target)[0])[-2:]
    assert set(strongest) <= {*bunch.roles.informative, *bunch.roles.redundant}
    assert str(bunch.roles.informative.tolist()) in bunch.DESCR


@pytest.mark.parametrize(
    ("generate", "options", "message"),
    [
        (make_artificial_classification, {"n_features": 3}, "must"),
        (make_licorice, {"n_samples": 9}, "n_samples must be an integer of at least 10; got 9"),
        (make_licorice, {"radius": 0}, "radius must be a number above 0; got 0"),
        (make_licorice, {"n_cylinders": "3"}, "n_cylinders must be an integer of at least 1; got '3'"),
        (make_local_relevance, {"n_features": 6}, "n_features must be an integer of at least 7; got 6"),
        (make_local_relevance, {"rules": ["cubic"]}, "rules must be some of"),
        (make_local_relevance_table, {"rules": []}, "rules must be some of 'category', 'category_number'"),
        (make_local_relevance_table, {"n_categories": 1}, "n_categories must be an integer of at least 2"),
        (make_local_relevance_table, {"label_noise": 0.6}, "label_noise must be a number of at least 0 and"),
    ],
)
def test_invalid_parameters_raise(generate, options, message):
    with pytest.raises(ValueError, match=message):
        generate(**options)
