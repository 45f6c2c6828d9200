"""Counterfactuals of tables: other categories, values in place of gaps, steps, and the user's values."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import counterfactuals


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


def test_the_table_of_changes_shows_the_users_values(changes):
    found = changes.to_frame()
    sex = found[found["feature"] == "Sex"]
    assert len(sex) > 10
    assert set(zip(sex["from"], sex["to"], strict=True)) <= {("male", "female"), ("female", "male")}
    only = changes.changed[:, 0] & (changes.changed.sum(axis=1) == 1)
    assert changes.distances[only].tolist() == [1.0] * only.sum()
    assert (found["query_id"] == 1000 + 7 * (300 + found["query"])).all()


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


def test_data_as_a_table(passengers):
    frame, _, clf = passengers
    only_graz = frame[300:][(frame[300:]["Town"] == "Graz")]
    changes = counterfactuals(clf, frame[300:320], data=only_graz, frozen=["Sex"])
    moved = changes.to_frame().query("feature == 'Town'")
    assert set(moved["to"]) <= {"Graz"}
    assert changes.found.any()
    with pytest.raises(ValueError, match="data has a category of 'Town' that the training data do not have"):
        counterfactuals(clf, frame[300:301], data=frame[300:].assign(Town="Wien"))
    with pytest.raises(ValueError, match="data has no value of 'Age' in any row"):
        counterfactuals(clf, frame[300:301], data=frame[300:].assign(Age=np.nan))


def test_a_category_beyond_the_frequent_ones_is_found():
    rng = np.random.default_rng(0)
    city = np.concatenate([rng.integers(0, 12, 400), np.full(12, 12)])
    frame = pd.DataFrame({"city": [f"c{number:02}" for number in city], "noise": rng.normal(size=412)})
    y = np.where(city == 12, "rare", "usual")
    clf = LANNClassifier(random_state=0, n_neighbors=3).fit(frame, y)
    changes = counterfactuals(clf, frame[:10], target="rare", frozen=["noise"])
    assert changes.found.all()
    assert set(changes.to_frame()["to"]) == {"c12"}
