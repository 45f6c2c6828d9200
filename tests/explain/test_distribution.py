"""Percentiles, shares of categories and typical values, compared with slow and obvious ones."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import group_features
from lann.explain._training_rows import ValueDistribution

CATEGORY = 2


def slow_percentile(column, weights, value):
    """Return the percentage of the weight below a value, plus half of that at it; gaps are left out."""
    below = sum(w for x, w in zip(column, weights, strict=True) if x < value)
    equal = sum(w for x, w in zip(column, weights, strict=True) if x == value)
    total = sum(w for x, w in zip(column, weights, strict=True) if not np.isnan(x))
    return 100 * (below + equal / 2) / total


def slow_range(column, weights):
    """Return the smallest value with a tenth of the weight up to it, and the same from above."""
    pairs = sorted((x, w) for x, w in zip(column, weights, strict=True) if not np.isnan(x))
    tenth = 0.1 * sum(w for _, w in pairs) - 1e-9
    return next(
        x for x, _ in pairs if sum(w for other, w in pairs if other <= x) >= tenth
    ), next(x for x, _ in reversed(pairs) if sum(w for other, w in pairs if other >= x) >= tenth)  # fmt: skip


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def made(request):
    """Rows of three features: two numbers with ties and gaps, and a category."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, 12, 90) / 2, rng.normal(size=90), rng.integers(0, 5, 90)], axis=1)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.choice([0.5, 1.0, 3.0], 90) if request.param else np.ones(90)
    labels = rng.integers(0, 3, 90)
    return ValueDistribution(X, labels, 4, weights, np.array([False, False, True]))


def test_percentiles_are_the_share_below_plus_half_of_the_ties(made):
    queries = np.array(
        [[2.5, 0.3, 1.0], [-9.0, 9.0, 4.0], [np.nan, made.X[3, 1], 0.0], [2.6, np.nan, np.nan]]
    )
    found = made.percentiles(queries, np.arange(3))
    for (row, feature), value in np.ndenumerate(queries):
        if feature == CATEGORY or np.isnan(value):
            assert np.isnan(found[row, feature])
        else:
            expected = slow_percentile(made.X[:, feature], made.row_weights, value)
            assert found[row, feature] == pytest.approx(expected)
    assert found[1].tolist()[:2] == [0.0, 100.0]


def test_typical_ranges_leave_out_a_tenth_at_each_end(made):
    rows, shares = made.typical
    for label in range(3):
        own = made.labels == label
        for feature in (0, 1):
            low, high = slow_range(made.X[own, feature], made.row_weights[own])
            ends = rows[label, :2, feature]
            assert made.X[ends, feature].tolist() == [low, high]
            assert own[ends].all()
            assert np.isnan(shares[label, :, feature]).all()
    assert (rows[3] == -1).all()  # a class without rows


def test_typical_categories_are_the_most_frequent_ones(made):
    rows, shares = made.typical
    for label in range(3):
        own = made.labels == label
        counts = {
            code: made.row_weights[own & (made.X[:, CATEGORY] == code)].sum() / made.row_weights[own].sum()
            for code in range(5)
        }
        expected = sorted(counts.values(), reverse=True)
        n_used = min(1 + next(n for n in range(5) if sum(expected[: n + 1]) >= 0.8 or n == 2), 3)
        used = rows[label, :, CATEGORY] >= 0
        assert used.sum() == n_used
        np.testing.assert_allclose(shares[label, used, CATEGORY], expected[:n_used])
        for row, share in zip(rows[label, used, CATEGORY], shares[label, used, CATEGORY], strict=True):
            assert made.labels[row] == label
            assert counts[int(made.X[row, CATEGORY])] == pytest.approx(share)


@pytest.fixture(scope="module")
def people():
    """A table with a number, a category with a gap, a bool, a date and an ordered category."""
    rng = np.random.default_rng(0)
    n_rows = 120
    y = np.where(np.arange(n_rows) % 2, "old", "young")
    frame = pd.DataFrame(
        {
            "age": np.where(y == "old", 60.0, 20.0) + rng.integers(0, 20, n_rows),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], n_rows, p=[0.7, 0.2, 0.1]),
            "member": y == "old",
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D"),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n_rows), ["S", "M", "L"], ordered=True),
        }
    )
    frame.loc[4, "city"] = None
    return frame, y


def test_explanations_of_tables_have_context(people):
    frame, y = people
    explanation = LANNClassifier(max_iter=0).fit(frame, y).explain(frame[:6])
    rows = [explanation.row(i) for i in range(6)]
    found = [
        dict(zip(row.feature_names, zip(row.percentiles, row.category_shares, strict=True), strict=True))
        for row in rows
    ]
    for i, by_name in enumerate(found):
        for name, (percentile, share) in by_name.items():
            has_order = name not in ("city", "member")
            assert np.isnan(percentile) != has_order, name
            assert np.isnan(share) == (has_order or (i == 4 and name == "city")), name
    age = slow_percentile(frame["age"], np.ones(len(frame)), frame["age"][2])
    assert found[2]["age"][0] == pytest.approx(age)
    assert found[0]["city"][1] == pytest.approx((frame["city"] == frame["city"][0]).mean())
    assert found[0]["member"][1] == 0.5
    row = next(row for row in rows if row.prediction == "old")
    typical = dict(zip(row.feature_names, row.typical, strict=True))
    low, high = typical["age"].split(" to ")
    own = frame["age"][y == "old"]
    assert (own < float(low)).mean() <= 0.1
    assert (own > float(high)).mean() <= 0.1
    cities = frame["city"][y == "old"]
    assert typical["city"].startswith(f"Ulm {(cities == 'Ulm').mean():.0%}")
    assert typical["member"] == "yes 100%"
    assert typical["since"].count("2020-") == 2
    assert set(typical["size"].split(" to ")) <= {"S", "M", "L"}


def test_groups_have_no_context(people):
    frame, y = people
    explanation = LANNClassifier(max_iter=0).fit(frame, y).explain(frame[:1])
    grouped = group_features(explanation, {"person": ["age", "member"]})
    assert grouped.feature_names.tolist() == ["person", "city", "since", "size"]

    def context(explained):
        row = explained.row(0)
        texts = zip([row.percentile_text(j) for j in range(len(row.feature_names))], row.typical, strict=True)
        return dict(zip(row.feature_names, texts, strict=True))

    single, both = context(explanation), context(grouped)
    assert both["person"] == ("", "")
    assert {name: both[name] for name in ("city", "since", "size")} == {
        name: single[name] for name in ("city", "since", "size")
    }
    again = group_features(grouped, {"rest": ["city", "size"]})
    assert again.feature_names.tolist() == ["person", "rest", "since"]
    assert context(again) == {"person": ("", ""), "rest": ("", ""), "since": single["since"]}
