"""Relevances and supports of categories: as changing the category changes the vote."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.encoding import CategoryPositions, initial_positions
from lann.explain import _landmarks
from lann.explain._landmarks import compute_landmarks, landmarks_of
from lann.model import category_values


@pytest.mark.parametrize("n_cities", [16, 20])
def test_a_category_that_decides_together_with_a_number_has_half_of_the_vote(n_cities):
    """With half of the other cities the label is the same, whatever the order of the cities' names."""
    rng = np.random.default_rng(0)
    city, x = rng.integers(0, n_cities, 1200), rng.uniform(-1, 1, 1200)
    frame = pd.DataFrame(
        {"city": [f"c{number:02}" for number in city], "x": x, "noise": rng.normal(size=1200)}
    )
    y = (city % 2) ^ (x > 0)
    clf = LANNClassifier(random_state=0).fit(frame[:1000], y[:1000])
    assert clf.score(frame[1000:], y[1000:]) > 0.9
    landmarks = landmarks_of(clf.model_)
    is_clear = np.abs(clf.model_.X[landmarks.rows, 1]) > 0.1
    near_half = np.abs(landmarks.readings.alone[is_clear, 0] - 0.5) < 0.15
    assert near_half.mean() > 0.95
    explanation = clf.explain(frame[1000:])
    assert (explanation.relevances[:, :2].min(axis=1) > 5 * explanation.relevances[:, 2]).mean() > 0.95
    assert np.abs(explanation.support[:, 0]).mean() > 5 * np.abs(explanation.support[:, 2]).mean()


def test_the_support_of_a_category_has_the_sign_of_changing_it():
    rng = np.random.default_rng(0)
    n = 700
    frame = pd.DataFrame(
        {
            "Sex": rng.choice(["male", "female"], n, p=[0.65, 0.35]),
            "Class": pd.Categorical(
                rng.choice(["1st", "2nd", "3rd"], n), ["3rd", "2nd", "1st"], ordered=True
            ),
            "Age": rng.normal(30, 12, n),
            "Town": rng.choice(["Ulm", "Bern", "Graz"], n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "Age"] = np.nan
    frame.loc[rng.random(n) < 0.05, "Town"] = None
    logit = -1.2 + 2.8 * (frame["Sex"] == "female") + 0.8 * (frame["Class"] == "1st")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "survived", "died")
    clf = LANNClassifier(random_state=0).fit(frame[:500], y[:500])
    queries = frame[500:]
    explanation = clf.explain(queries)
    other = queries.assign(Sex=queries["Sex"].map({"male": "female", "female": "male"}))
    survived = list(clf.classes_).index("survived")
    lost = (clf.predict_proba(queries) - clf.predict_proba(other))[:, survived]
    support = explanation.supports[:, survived, 0]
    clear = np.abs(lost) > 0.2
    assert clear.mean() > 0.5
    assert np.mean(support[clear] != 0) > 0.9
    assert np.mean(support[clear] * lost[clear] >= 0) > 0.99
    assert explanation.relevances[:, 0].mean() > 2 * explanation.relevances[:, 3].mean()


def test_readings_of_a_category_are_the_mean_over_all_categories_by_their_shares():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"color": rng.choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1]), "x": rng.normal(size=200)}
    )
    frame.loc[:9, "color"] = None
    y = (frame["color"] == "a") ^ (frame["x"] > 0)
    clf = LANNClassifier(random_state=0, max_iter=2).fit(frame, y)
    model, found = clf.model_, compute_landmarks(clf.model_)
    row = int(found.rows[5])
    others = np.delete(np.arange(200), row)

    def vote(query):
        distances = model.distances(query[None], others[None])[0]
        nearest = np.lexsort((others, distances))[:20]
        shares = 1.0 / (distances[nearest] + model.vote_rule.epsilon)
        return np.bincount(model.labels[others[nearest]], shares, 2) / shares.sum()

    before, expected = vote(model.X[row]), 0.0
    for code in (0.0, 1.0, 2.0, np.nan):
        share = np.isnan(model.X[:, 0]).mean() if np.isnan(code) else np.mean(model.X[:, 0] == code)
        lost = before - vote(np.array([code, model.X[row, 1]]))
        expected += share * np.abs(lost).sum() / 2
    np.testing.assert_allclose(found.readings.alone[5, 0], expected, atol=1e-12)


def test_many_categories_are_represented_by_quantiles_of_their_positions():
    shares = np.full(200, 1 / 200)
    side = np.repeat([-1.0, 1.0], [50, 150])
    order = np.random.default_rng(0).permutation(200)
    positions = CategoryPositions(
        np.stack([5 * side[order], 0.1 * initial_positions(shares)[:, 0]], 1), shares, 200
    )
    codes, weights = category_values(positions, 24)
    assert len(codes) == 24
    np.testing.assert_allclose(weights.sum(), 1.0)
    np.testing.assert_allclose(weights[side[order][codes.astype(int)] < 0].sum(), 0.25)


def test_categories_with_many_axes_cost_as_much_as_numbers(monkeypatch):
    """The number of changed rows, and of landmarks, falls with the number of axes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{f}": rng.integers(0, 30, 400).astype(str) for f in range(4)})
    clf = LANNClassifier(random_state=0, max_iter=0).fit(frame, rng.integers(0, 2, 400))
    model = clf.model_
    assert model.n_axes == 64
    assert len(compute_landmarks(model).rows) == 400
    monkeypatch.setattr(_landmarks, "WORK", 1e8)
    found = compute_landmarks(model)
    n_changed = len(found.rows) * 4 * 8
    assert len(found.rows) > 3
    assert n_changed * 64 * 64 <= 1e8
    assert np.isfinite(found.readings.relevances).all()
