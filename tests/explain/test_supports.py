"""Supports equal the votes on the rows on walks, and their standard errors hold."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.datasets import make_local_relevance
from lann.explain import _supports, reference_rows, walk_plan, walk_supports
from lann.explain._supports import MOST_ALONE


def by_loops(predict_proba, queries, references):
    """Return the supports by loops over rows, walks, orders and features, from predictions alone."""
    n_queries, n_features = queries.shape
    plan = walk_plan(n_features)
    supports = np.zeros((n_queries, predict_proba(queries).shape[1], n_features))
    for i, query in enumerate(queries):
        for row, positions in zip(references, plan.positions, strict=True):
            order = np.argsort(positions)
            for way in (order, order[::-1]):
                now, before = query.copy(), predict_proba(query[None])[0]
                for feature in way:
                    now[feature] = row[feature]
                    after = predict_proba(now[None])[0]
                    supports[i, :, feature] += (before - after) / 2 / len(references)
                    before = after
    return supports


@pytest.fixture(scope="module")
def planted():
    return make_local_relevance(300, 8, random_state=0)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"metric": "full", "max_iter": 4}, {"max_iter": 0, "n_neighbors": 4}, {"n_candidates": None}],
)
def test_supports_are_what_features_change_in_predicted_probabilities(planted, parameters):
    X, y, _ = planted
    clf = LANNClassifier(random_state=0, **parameters).fit(X[:90], y[:90])
    explanation = clf.explain(X[200:204])
    references = reference_rows(clf.model_)
    expected = by_loops(clf.predict_proba, X[200:204], references)
    np.testing.assert_allclose(explanation.supports, expected, atol=1e-12)
    base = clf.predict_proba(references).mean(axis=0)
    np.testing.assert_allclose(explanation.base_values, np.tile(base, (4, 1)), atol=1e-12)
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [LMNN, GMLVQ])
def test_baselines(planted, kind):
    X, y, _ = planted
    clf = kind(max_iter=5).fit(X[:90], y[:90])
    expected = by_loops(clf.predict_proba, X[200:203], reference_rows(clf.model_))
    np.testing.assert_allclose(clf.explain(X[200:203]).supports, expected, atol=1e-9)


def test_sample_weights_class_weights_and_left_out_rows(planted):
    X, y, _ = planted
    weights = np.random.default_rng(0).integers(1, 4, 90).astype(float)
    clf = LANNClassifier(random_state=0, class_weight="balanced")
    clf.fit(X[:90], y[:90], sample_weight=weights)
    model, rows = clf.model_, np.array([3, 8])

    def without(row):
        def predict_proba(queries):
            return model.vote(*model.voters(queries, exclude=np.full(len(queries), row))).probabilities

        return predict_proba

    found = clf.explain(X[rows]).supports
    for i, row in enumerate(rows):
        expected = by_loops(without(row), X[rows[i : i + 1]], reference_rows(model))[0]
        np.testing.assert_allclose(found[i], expected, atol=1e-9)


def test_reference_rows_have_the_quantiles_of_each_feature():
    X = np.column_stack([np.arange(100.0), np.repeat([0.0, 1.0], [75, 25]), np.full(100, np.nan)])
    X[:60, 2] = 7.0
    clf = LANNClassifier(max_iter=0).fit(X, np.arange(100) % 2)
    rows = reference_rows(clf.model_)
    n_walks = len(rows)
    np.testing.assert_allclose(np.sort(rows[:, 0]), np.floor((np.arange(n_walks) + 0.5) / n_walks * 100))
    assert (rows[:, 1] == 1).mean() == 0.25
    assert np.isnan(rows[:, 2]).mean() == 0.4
    # A row of weight 3 is the same as three of it.
    weights = np.random.default_rng(0).integers(1, 4, 100)
    weighted = LANNClassifier(max_iter=0).fit(X, np.arange(100) % 2, sample_weight=weights)
    repeated = np.repeat(X, weights, axis=0)
    again = LANNClassifier(max_iter=0).fit(repeated, np.repeat(np.arange(100) % 2, weights))
    np.testing.assert_array_equal(reference_rows(weighted.model_), reference_rows(again.model_))


def test_plans_are_the_same_for_every_model():
    plan = walk_plan(5)
    assert (np.sort(plan.ranks, axis=0) == np.arange(len(plan.ranks))[:, None]).all()
    assert (np.sort(plan.positions, axis=1) == np.arange(5)).all()
    assert len(walk_plan(2).ranks) > len(walk_plan(100).ranks)
    assert walk_plan(100).positions.shape[1] == MOST_ALONE + 1


def test_supports_are_not_noise_between_seeds():
    X, y, _ = make_local_relevance(700, 8, random_state=0)
    found = [
        LANNClassifier(random_state=seed).fit(X[:600], y[:600]).explain(X[600:]).supports[:, 1]
        for seed in (0, 1)
    ]
    assert np.mean([np.corrcoef(*rows)[0, 1] for rows in zip(*found, strict=True)]) > 0.9


def test_intervals_cover_the_value_of_many_more_walks(planted):
    """Of 95 % intervals, 93 to 97 % have the value of 100 times as many walks."""
    X, y, _ = planted
    clf = LANNClassifier(random_state=0).fit(X[:200], y[:200])
    n_walks = len(walk_plan(8).ranks)
    expected = walk_supports(clf, X[200:212], n_walks=100 * n_walks).supports[:, 1]
    covered = []
    for seed in range(1, 21):
        found = walk_supports(clf, X[200:212], seed=seed)
        assert (found.errors[:, 1] > 0).all()
        covered.append(np.abs(found.supports[:, 1] - expected) <= 1.96 * found.errors[:, 1])
    assert 0.93 <= np.mean(covered) <= 0.97


def test_many_features_share_the_credit_of_the_least_relevant_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 60))
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    clf = LANNClassifier(random_state=0, max_iter=2).fit(X[:100], y[:100])
    explanation = clf.explain(X[100:103])
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)
    together = np.argsort(-explanation.relevances[0], kind="stable")[MOST_ALONE:]
    own = explanation.supports[0, 1, together] / explanation.relevances[0, together]
    np.testing.assert_allclose(own, own[0])


def test_a_sample_votes_on_the_way_where_there_are_many_rows(planted, monkeypatch):
    X, y, _ = planted
    clf = LANNClassifier(random_state=0).fit(X[:200], y[:200])
    exact = clf.explain(X[200:220]).supports[:, 1]
    monkeypatch.setattr(_supports, "MOST_VOTERS", 120)
    explanation = clf.explain(X[200:220])
    base = clf.predict_proba(reference_rows(clf.model_)).mean(axis=0)
    np.testing.assert_allclose(explanation.base_values, np.tile(base, (20, 1)), atol=1e-12)
    near = [np.corrcoef(*rows)[0, 1] for rows in zip(exact, explanation.supports[:, 1], strict=True)]
    assert np.mean(near) > 0.8


def test_categories_and_gaps_add_up():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"color": rng.choice(["a", "b", "c"], 300), "x": rng.normal(size=300), "z": 1.0})
    frame.loc[rng.random(300) < 0.2, "x"] = np.nan
    y = (frame["color"] == "a") ^ (frame["x"].fillna(0) > 0)
    explanation = LANNClassifier(random_state=0).fit(frame[:250], y[:250]).explain(frame[250:])
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)
    assert (explanation.supports[:, :, 2] == 0).all()  # a constant column
    assert np.abs(explanation.supports[:, 0, 0]).mean() > 0.1
    assert (explanation.base_values > -1e-9).all()


def test_a_feature_without_which_distances_are_measured_has_no_support(planted):
    X, y, _ = planted
    queries = X[200:203].copy()
    queries[1, 4] = np.nan  # which no training row has
    explanation = LANNClassifier(random_state=0).fit(X[:90], y[:90]).explain(queries)
    assert explanation.row(1).unmeasured.any()
    assert (explanation.supports[1, :, 4] == 0).all()
    assert (explanation.supports[0, :, 4] != 0).any()
