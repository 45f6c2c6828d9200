"""Counterfactuals of numbers and of tables."""

import itertools

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import Constraints, counterfactuals


@pytest.fixture(scope="module")
def square():
    return np.random.default_rng(0).uniform(-1, 1, (400, 3))


@pytest.fixture(scope="module")
def threshold(square):
    return LANNClassifier(random_state=0).fit(square, square[:, 1] > 0.2)


QUERIES = np.random.default_rng(1).uniform(-1, 1, (40, 3))


def test_a_threshold_is_crossed(square, threshold):
    found = counterfactuals(threshold, QUERIES)
    assert found.found.all()
    assert found.changed[:, 1].all()
    assert found.changed.sum() <= 60
    assert ((found.rows[:, 1] > 0.2) == found.labels).mean() > 0.9
    np.testing.assert_allclose(
        found.distances, (np.abs(found.rows - QUERIES) / square.std(axis=0)).sum(axis=1)
    )
    np.testing.assert_array_equal(threshold.predict(found.rows), found.labels)
    probabilities = threshold.predict_proba(found.rows).max(axis=1)
    np.testing.assert_array_equal(found.row_probabilities, probabilities)
    assert probabilities.min() >= 0.6
    before = threshold.predict_proba(QUERIES)
    np.testing.assert_array_equal(found.probabilities, before.max(axis=1))
    np.testing.assert_array_equal(found.label_probabilities, before.min(axis=1))


@pytest.mark.parametrize("at_least", [0.0, 0.7, 0.9])
def test_the_wanted_class_has_at_least_the_probability(threshold, at_least):
    found = counterfactuals(threshold, QUERIES, target=True, at_least=at_least)
    probabilities = threshold.predict_proba(found.rows)[:, 1]
    assert found.found.mean() > 0.9
    assert (probabilities[found.found] >= max(at_least, 0.5)).all()
    there = (threshold.predict_proba(QUERIES)[:, 1] >= at_least) & threshold.predict(QUERIES)
    np.testing.assert_array_equal(found.changed.any(axis=1) | ~found.found, ~there)
    assert np.isnan(found.plausibility[there]).all()


def near_shares(X, labels, rows, wanted, is_category):
    """Return the share of the ten nearest rows with a label, of standardized and one-hot encoded rows."""
    shares = []
    for row, label in zip(rows, wanted, strict=True):
        squares = np.where(is_category, 2.0 * (row != X), ((X - row) / X.std(axis=0)) ** 2)
        near = np.argsort(squares.sum(axis=1), kind="stable")[:10]
        shares.append((labels[near] == label).mean())
    return np.array(shares)


def test_plausibility_is_the_share_of_the_nearest_rows(square):
    letters = np.array(["a", "b", "c"])[np.arange(400) % 3]
    frame = pd.DataFrame(square, columns=["x", "y", "z"]).assign(letter=letters)
    label = np.where((square[:, 1] > 0.2) | (letters == "c"), "yes", "no")
    clf = LANNClassifier(random_state=0).fit(frame, label)
    found = counterfactuals(clf, frame[:60], at_least=0.7)
    assert found.found.all()
    expected = near_shares(clf.model_.X, label, found.rows, found.labels, np.arange(4) == 3)
    np.testing.assert_array_equal(found.plausibility, expected)
    assert found.plausibility.mean() > 0.8


def test_a_plausible_change_is_preferred_to_a_smaller_one():
    X = np.r_[[[-0.5, 0.0]], np.random.default_rng(0).uniform(-1, 1, (400, 2))]
    y = X[:, 0] > 0.5
    y[0] = True  # alone among rows of the other class
    clf = LANNClassifier(random_state=0, max_iter=0, n_neighbors=1).fit(X, y)
    assert clf.predict([[-0.7, 0.0], X[0]]).tolist() == [False, True]
    found = counterfactuals(clf, [[-0.7, 0.0]], constraints={"allow": [0]})
    assert found.rows[0, 0] > 0.5
    assert found.plausibility.tolist() == [1.0]


def test_extreme_values_are_the_last_resort():
    x = np.r_[np.zeros(300), np.linspace(1, 2, 300), [50.0, 60.0, 70.0]]
    X = np.column_stack([x, np.random.default_rng(0).normal(size=603)])
    y = np.r_[np.zeros(300), np.ones(300), [2.0, 2.0, 2.0]]
    clf = LANNClassifier(random_state=0, max_iter=0, n_neighbors=3).fit(X, y)
    usual, extreme = (counterfactuals(clf, X[:10], target=target) for target in (1, 2))
    assert usual.found.all()
    assert usual.rows[:, 0].max() <= 2
    assert extreme.found.all()
    assert (extreme.rows[:, 0] > 2).all()
    assert (extreme.plausibility <= 0.3).all()


def test_frozen_and_allowed_features(square):
    frame = pd.DataFrame(square, columns=["age", "dose", "weight"])
    clf = LANNClassifier(random_state=0).fit(frame, square[:, 0] + square[:, 1] > 0)
    queries = pd.DataFrame(QUERIES, columns=frame.columns)
    for only in ({"frozen": ["age"]}, {"frozen": [0]}, {"frozen": [np.int64(-3)]}, {"allow": ["dose", 2]}):
        found = counterfactuals(clf, queries, constraints=only)
        assert not found.changed[:, 0].any()
        assert found.found.mean() > 0.8
    assert found.feature_names.tolist() == ["age", "dose", "weight"]
    assert set(found.to_frame()["feature"]) <= {"dose", "weight"}


def test_directions_and_ranges(square):
    clf = LANNClassifier(random_state=0).fit(square, square[:, 0] - square[:, 1] > 0)
    queries = QUERIES[clf.predict(QUERIES)]
    only = {"direction": {0: "down", "x1": "up", 2: "up"}, "range": {0: [-0.5, None], 1: [None, 0.25]}}
    found = counterfactuals(clf, queries, constraints=only)
    assert found.found.mean() > 0.7
    rows, changed = found.rows, found.changed
    assert changed.sum(axis=0)[:2].min() > 3
    assert (rows[:, 0] <= queries[:, 0]).all()
    assert (rows[:, 1:] >= queries[:, 1:]).all()
    assert (rows[changed[:, 0], 0] >= -0.5).all()
    assert (rows[changed[:, 1], 1] <= 0.25).all()
    away = counterfactuals(clf, queries, constraints={"direction": {0: "up", 1: "down"}})
    assert not away.found.any()


def test_a_costly_feature_changes_less(square):
    clf = LANNClassifier(random_state=0).fit(square, square[:, 0] + square[:, 1] > 0)
    cheap, costly = (counterfactuals(clf, QUERIES, constraints={"cost": cost}) for cost in ({}, {0: 20.0}))
    sizes = [np.abs(found.rows - found.queries).sum(axis=0) for found in (cheap, costly)]
    assert sizes[1][0] < 0.6 * sizes[0][0]
    assert sizes[1][1] > sizes[0][1]
    np.testing.assert_array_equal(cheap.plausibility, 1.0)
    np.testing.assert_array_equal(costly.plausibility, 1.0)


def test_constraints_are_read_from_a_file(square, threshold, tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(
        'allow = ["x1", "x2"]\nfrozen = []\n'
        '[range]\nx1 = [-0.5, inf]\n[direction]\nx1 = "down"\n[cost]\nx2 = 3\n'
    )
    mapping = {"allow": [1, 2], "range": {1: [-0.5, None]}, "direction": {1: "down"}, "cost": {2: 3}}
    for given in (path, str(path), Constraints.of(mapping)):
        found = counterfactuals(threshold, QUERIES, constraints=given)
        np.testing.assert_array_equal(
            found.rows, counterfactuals(threshold, QUERIES, constraints=mapping).rows
        )
    assert found.changed.any()
    path.write_text("allow = x1")
    with pytest.raises(ValueError, match="is not a TOML file: Invalid value"):
        counterfactuals(threshold, QUERIES, constraints=path)


def test_several_results_change_different_features(square):
    clf = LANNClassifier(random_state=0).fit(square, square[:, 0] + square[:, 1] > 0)
    found = counterfactuals(clf, QUERIES, n_results=3)
    assert found.found.all()
    np.testing.assert_array_equal(np.unique(found.positions), np.arange(40))
    counts = np.bincount(found.positions)
    assert counts.max() <= 3
    assert (counts > 1).mean() > 0.7
    np.testing.assert_array_equal(found.queries, QUERIES[found.positions])
    np.testing.assert_array_equal(clf.predict(found.rows), found.labels)
    for query in range(40):
        own = np.flatnonzero(found.positions == query)
        assert found.ranks[own].tolist() == list(range(1, len(own) + 1))
        for first, second in itertools.combinations(found.changed[own], 2):
            assert (first > second).any()
            assert (first < second).any()
    frame = found.to_frame()
    assert frame.groupby("query")["rank"].max().tolist() == counts.tolist()
    assert (frame["probability_after"] >= 0.6).all()
    assert (frame["probability_before"] <= 0.5).all()
    alone = counterfactuals(clf, QUERIES)
    assert (alone.plausibility <= found.plausibility[found.ranks == 1] + 1e-12).mean() > 0.8


def test_values_stay_in_the_range_of_the_data(square, threshold):
    far = QUERIES.copy()
    far[:, 1] = -5.0  # changed values return into the range, others stay
    found = counterfactuals(threshold, far)
    assert found.found.all()
    assert (found.rows[:, 1] >= square[:, 1].min()).all()


def test_values_have_the_decimals_of_their_column():
    rng = np.random.default_rng(0)
    data = np.column_stack(
        [rng.integers(0, 20, 300), rng.normal(0, 3, 300).round(1), rng.normal(0, 300, 300)]
    )
    clf = LANNClassifier(random_state=0).fit(data, data[:, 0] + data[:, 1] + data[:, 2] / 100 > 10)
    queries = np.column_stack(
        [rng.integers(0, 20, 40), rng.normal(0, 3, (40, 1)), rng.normal(0, 300, (40, 1))]
    )
    found = counterfactuals(clf, queries, n_results=3)
    assert found.found.mean() > 0.9
    for feature, decimals in enumerate((0, 1, 1)):  # the last one: a thousandth of its standard deviation
        changed = found.rows[found.changed[:, feature], feature]
        assert len(changed) > 5
        np.testing.assert_array_equal(changed, np.round(changed, decimals))
        assert not (np.signbit(changed) & (changed == 0)).any()


def test_a_target_for_all_or_for_each(iris):
    X, y = iris
    clf = LANNClassifier(random_state=0).fit(X[::2], y[::2])
    queries = X[1::10]
    found = counterfactuals(clf, queries, target=2, max_features=4)
    there = clf.predict_proba(queries)[:, 2] >= 0.6
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
        ({"constraints": {"frozen": ["size"]}}, "names of features or positions below 3; got 'size'"),
        ({"constraints": {"allow": [3]}}, "names of features or positions below 3; got 3"),
        ({"constraints": {"cost": {True: 2}}}, "names of features or positions below 3; got True"),
        ({"constraints": {"alow": []}}, "the keys allow, frozen, direction, range, cost; got 'alow'"),
        ({"constraints": {"frozen": "x0"}}, "frozen of constraints must be a list of features; got 'x0'"),
        ({"constraints": {"cost": [1]}}, r"cost of constraints must be a mapping by feature; got \[1\]"),
        ({"constraints": {"cost": {0: -1}}}, "cost must be a number of at least 0; got -1 for 0"),
        ({"constraints": {"direction": {0: "left"}}}, "direction must be 'up' or 'down'; got 'left' for 0"),
        ({"constraints": {"range": {0: [1]}}}, r"range of 'x0' must be two values, low and high; got \[1\]"),
        ({"constraints": {"range": {0: [3, 4]}}}, "no value between the smallest and the largest"),
        ({"constraints": {"range": {0: ["a", 4]}}}, "'x0' has numbers in the training data; got 'a'"),
        ({"max_features": 0}, "max_features must be an integer of at least 1; got 0"),
        ({"n_results": 1.5}, "n_results must be an integer of at least 1; got 1.5"),
        ({"at_least": 60}, "at_least must be a number of at least 0 and at most 1; got 60"),
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
    changes = counterfactuals(clf, odd_queries, constraints={"frozen": ["Sex", "Town"]})
    assert not changes.changed[:, [0, 4]].any()
    assert changes.query_values[0, 4] == changes.row_values[0, 4] == "Wien"
    assert changes.to_table().iloc[0]["Town"] == "Wien"
    assert clf.predict(changes.to_table()).tolist() == changes.labels.tolist()


def test_ranges_of_categories_dates_and_steps(passengers):
    frame = passengers[0][["Class", "Town", "Sailed"]]
    points = frame["Class"].cat.codes + 2 * (frame["Town"] == "Ulm") + frame["Sailed"].dt.day_of_year / 45
    clf = LANNClassifier(random_state=0).fit(frame, points > 3)
    only = {
        "range": {"Town": ["Ulm", "Bern"], "Class": ["3rd", "2nd"], "Sailed": ["1912-02-15", None]},
        "direction": {"Class": "up", "Sailed": "up"},
    }
    found = counterfactuals(clf, frame, target=True, constraints=only, n_results=3)
    values = {name: found.row_values[found.changed[:, i], i] for i, name in enumerate(frame)}
    assert set(values["Town"]) <= {"Ulm", "Bern"}
    assert set(values["Class"]) == {"2nd"}
    assert min(values["Sailed"]) >= "1912-02-15"
    assert min(map(len, values.values())) > 10
    with pytest.raises(
        ValueError, match=r"range of 'Town' must list categories of the training rows; got \["
    ):
        counterfactuals(clf, frame[:2], constraints={"range": {"Town": ["Atlantis"]}})
    with pytest.raises(ValueError, match="direction must be of a feature with an order; got 'up' for 'Town'"):
        counterfactuals(clf, frame[:2], constraints={"direction": {"Town": "up"}})


def test_a_gap_becomes_a_value_only_if_that_is_allowed():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 200)
    x[:80] = np.nan
    frame = pd.DataFrame({"x": x, "noise": rng.normal(size=200)})
    y = np.isnan(x)
    clf = LANNClassifier(random_state=0).fit(frame, y)
    changes = counterfactuals(clf, frame[:5], constraints={"allow": ["x"]})
    assert changes.found.all()
    assert not np.isnan(changes.rows[:, 0]).any()
    assert changes.distances.tolist() == [1.0] * 5
    assert not counterfactuals(clf, frame[:5]).changed[:, 0].any()
    rising = counterfactuals(clf, frame[:5], constraints={"allow": ["x"], "direction": {"x": "up"}})
    assert not rising.found.any()
    # A value cannot become a gap.
    back = counterfactuals(clf, frame[100:105], constraints={"allow": ["x"]})
    assert not np.isnan(back.rows).any()
