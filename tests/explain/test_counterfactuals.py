"""Counterfactuals of numbers and of tables."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import counterfactuals


@pytest.fixture(scope="module")
def square():
    return np.random.default_rng(0).uniform(-1, 1, (400, 3))


@pytest.fixture(scope="module")
def threshold(square):
    return LANNClassifier(random_state=0).fit(square, square[:, 1] > 0.2)


QUERIES = np.random.default_rng(1).uniform(-1, 1, (40, 3))


def test_a_threshold_is_just_crossed(square, threshold):
    found = counterfactuals(threshold, QUERIES)
    assert found.found.all()
    assert found.changed[:, 1].all()
    assert found.changed.sum() <= 45
    alone = found.changed.sum(axis=1) == 1
    np.testing.assert_allclose(found.rows[alone, 1], 0.2, atol=0.15)
    changes = np.abs(found.rows - QUERIES)[alone, 1]
    np.testing.assert_allclose(found.distances[alone], changes / square[:, 1].std())
    np.testing.assert_array_equal(threshold.predict(found.rows), found.labels)


def test_frozen_features_stay(square):
    frame = pd.DataFrame(square, columns=["age", "dose", "weight"])
    clf = LANNClassifier(random_state=0).fit(frame, square[:, 0] + square[:, 1] > 0)
    queries = pd.DataFrame(QUERIES, columns=frame.columns)
    for frozen in (["age"], [0], "age", [np.int64(-3)]):
        found = counterfactuals(clf, queries, frozen=frozen)
        assert not found.changed[:, 0].any()
        assert found.found.mean() > 0.9
    assert found.feature_names.tolist() == ["age", "dose", "weight"]
    assert set(found.to_frame()["feature"]) <= {"dose", "weight"}


def test_values_stay_in_the_range_of_the_data(square, threshold):
    far = QUERIES.copy()
    far[:, 1] = -5.0  # changed values return into the range, others stay
    found = counterfactuals(threshold, far)
    assert found.found.all()
    assert (found.rows[:, 1] >= square[:, 1].min()).all()


def test_integers_stay_integer():
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.integers(0, 20, 300), rng.uniform(0, 20, 300)]).astype(float)
    clf = LANNClassifier(random_state=0).fit(data, data[:, 0] > 10.5)
    queries = np.array([[3.0, 4.0], [18.0, 7.5], [10.0, 1.0], [11.0, 0.5]])
    found = counterfactuals(clf, queries)
    assert found.found.all()
    np.testing.assert_array_equal(found.rows[:, 0], np.rint(found.rows[:, 0]))
    real = counterfactuals(clf, queries, integers=[])
    assert (real.rows[:, 0] != np.rint(real.rows[:, 0])).any()
    both = counterfactuals(clf, queries, integers=["x0", 1])
    changed = both.rows[both.changed]
    np.testing.assert_array_equal(changed, np.rint(changed))


def test_a_target_for_all_or_for_each(iris):
    X, y = iris
    clf = LANNClassifier(random_state=0).fit(X[::2], y[::2])
    queries = X[1::10]
    found = counterfactuals(clf, queries, target=2, max_features=4)
    there = clf.predict(queries) == 2
    assert there.any()
    assert found.found.all()
    assert (found.labels == 2).all()
    np.testing.assert_array_equal(found.rows[there], queries[there])
    assert (found.distances[there] == 0).all()
    targets = (clf.predict(queries) + 1) % 3
    each = counterfactuals(clf, queries, target=targets, max_features=4)
    np.testing.assert_array_equal(each.labels[each.found], targets[each.found])
    assert each.found.mean() > 0.9


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target": "maybe"}, "target must be one of the classes"),
        ({"target": [True, False]}, "one for each of the 40 rows"),
        ({"frozen": ["size"]}, "frozen must have names of features or positions below 3; got 'size'"),
        ({"frozen": [3]}, "frozen must have names of features or positions below 3; got 3"),
        ({"frozen": [True]}, "frozen must have names of features or positions below 3; got True"),
        ({"integers": "some"}, "integers must have names of features or positions below 3; got 'some'"),
        ({"max_features": 0}, "max_features must be an integer of at least 1; got 0"),
        ({"n_candidates": 1.5}, "n_candidates must be an integer of at least 1; got 1.5"),
    ],
)
def test_invalid_arguments_raise(threshold, parameters, message):
    with pytest.raises(ValueError, match=message):
        counterfactuals(threshold, QUERIES, **parameters)


@pytest.fixture(scope="module")
def changes(passengers):
    frame, _, clf = passengers
    return counterfactuals(clf, frame[300:360])


def test_they_are_found_and_verified_by_predicting_the_table(changes, passengers):
    frame, _, clf = passengers
    assert changes.found.mean() > 0.9
    table = changes.to_table()
    assert list(table.columns) == list(frame.columns)
    assert table.index.tolist() == frame.index[300:360].tolist()
    assert table["Sailed"].dtype.kind == "M"
    assert table["Class"].cat.categories.tolist() == ["3rd", "2nd", "1st"]
    assert clf.predict(table).tolist() == changes.labels.tolist()
    unchanged = ~changes.found
    assert (changes.rows[unchanged] == changes.queries[unchanged])[:, 0].all()


def test_values_stay_on_their_steps_and_no_value_becomes_a_gap(changes, passengers):
    _, _, clf = passengers
    assert not (np.isnan(changes.rows) & ~np.isnan(changes.queries)).any()
    assert not changes.changed[np.isnan(changes.rows)].any()
    for feature in (0, 1, 4, 5, 6):
        values = changes.rows[:, feature]
        assert np.array_equal(values[~np.isnan(values)], np.rint(values[~np.isnan(values)]))
    for feature, n_categories in ((0, 2), (4, 3)):
        assert set(changes.rows[changes.changed[:, feature], feature]) <= set(range(n_categories))
    low, high = np.nanmin(clf.model_.X, axis=0), np.nanmax(clf.model_.X, axis=0)
    inside = (changes.rows >= low) & (changes.rows <= high)
    assert inside[changes.changed].all()


def test_frozen_features_and_unseen_categories_stay(passengers, odd_queries):
    _, _, clf = passengers
    changes = counterfactuals(clf, odd_queries, frozen=["Sex", "Town"])
    assert not changes.changed[:, [0, 4]].any()
    assert changes.query_values[0, 4] == changes.row_values[0, 4] == "Wien"
    assert changes.to_table().iloc[0]["Town"] == "Wien"
    assert clf.predict(changes.to_table()).tolist() == changes.labels.tolist()


def test_a_gap_can_become_a_value():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 200)
    x[:80] = np.nan
    frame = pd.DataFrame({"x": x, "noise": rng.normal(size=200)})
    y = np.isnan(x)
    clf = LANNClassifier(random_state=0).fit(frame, y)
    changes = counterfactuals(clf, frame[:5], frozen=["noise"])
    assert changes.found.all()
    assert not np.isnan(changes.rows[:, 0]).any()
    assert changes.distances.tolist() == [1.0] * 5
    # A value cannot become a gap.
    back = counterfactuals(clf, frame[100:105], frozen=["noise"])
    assert not np.isnan(back.rows).any()
