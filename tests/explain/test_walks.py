"""Walks: supports equal the votes on rows that are changed feature by feature, and add up."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.datasets import make_local_relevance
from lann.explain import _walks
from lann.explain._walks import walk_supports
from lann.model import walk_rows


def reference(predict_proba, model, queries, ends):
    """Return the supports by loops over rows, orders and features, from predicted probabilities alone."""
    n_queries, n_features = queries.shape
    supports = np.zeros((n_queries, model.n_classes, n_features))
    for i, query in enumerate(queries):
        rows = ends[i][ends[i] >= 0]
        for row in rows:
            held = np.abs(model.contributions(query[None], np.array([[row]]))[0, 0])
            order = np.argsort(-np.round(held / held.sum(), 9), kind="stable")
            for way in (order, order[::-1]):
                now, before = query.copy(), predict_proba(query[None])[0]
                for feature in way:
                    now[feature] = model.X[row, feature]
                    after = predict_proba(now[None])[0]
                    supports[i, :, feature] += (before - after) / 2 / len(rows)
                    before = after
    return supports


@pytest.fixture(scope="module")
def planted():
    return make_local_relevance(300, 8, random_state=0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_candidates": None},
        {"n_candidates": None, "metric": "full", "max_iter": 4},
        {"n_candidates": None, "max_iter": 0, "n_neighbors": 4},
    ],
)
def test_supports_are_what_features_change_in_predicted_probabilities(planted, parameters):
    X, y, _ = planted
    clf = LANNClassifier(random_state=0, **parameters).fit(X[:90], y[:90])
    queries, ends = X[200:206], np.array([[0, 5], [1, 7], [2, -1], [3, 3], [4, 60], [80, 81]])
    found = walk_supports(clf.model_, queries, ends)
    expected = reference(clf.predict_proba, clf.model_, queries, ends)
    np.testing.assert_allclose(found.supports, expected, atol=1e-9)
    change = clf.predict_proba(queries) - [clf.predict_proba(X[e[e >= 0]]).mean(axis=0) for e in ends]
    np.testing.assert_allclose(found.supports.sum(axis=2), change, atol=1e-9)
    assert (found.changes >= np.abs(found.supports).sum(axis=1) / 2 - 1e-12).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [LMNN, GMLVQ])
def test_baselines(planted, kind):
    X, y, _ = planted
    clf = kind(max_iter=5).fit(X[:90], y[:90])
    ends = np.array([[0, 1], [1, -1], [1, 0]])
    found = walk_supports(clf.model_, X[200:203], ends).supports
    np.testing.assert_allclose(found, reference(clf.predict_proba, clf.model_, X[200:203], ends), atol=1e-9)


def test_sample_weights_class_weights_and_left_out_rows(planted):
    X, y, _ = planted
    weights = np.random.default_rng(0).integers(1, 4, 90).astype(float)
    clf = LANNClassifier(random_state=0, n_candidates=None, class_weight="balanced")
    clf.fit(X[:90], y[:90], sample_weight=weights)
    model, rows = clf.model_, np.array([3, 8])
    ends = np.array([[20, 30], [40, 50]])

    def without(row):
        def predict_proba(queries):
            return model.vote(*model.voters(queries, exclude=np.full(len(queries), row))).probabilities

        return predict_proba

    found = walk_supports(model, X[rows], ends, exclude=rows).supports
    for i, row in enumerate(rows):
        expected = reference(without(row), model, X[rows[i : i + 1]], ends[i : i + 1])[0]
        np.testing.assert_allclose(found[i], expected, atol=1e-9)


def test_a_feature_without_difference_has_no_support(planted):
    X, y, _ = planted
    clf = LANNClassifier(random_state=0).fit(X[:90], y[:90])
    query = X[200:201].copy()
    query[0, 3] = X[5, 3]
    assert (walk_supports(clf.model_, query, np.array([[5]])).supports[0, :, 3] == 0).all()


def test_features_beyond_the_first_share_what_they_change_together(planted, monkeypatch):
    X, y, _ = planted
    clf = LANNClassifier(random_state=0, n_candidates=None).fit(X[:90], y[:90])
    queries, ends = X[200:204], np.array([[0], [1], [2], [3]])
    whole = walk_supports(clf.model_, queries, ends).supports
    monkeypatch.setattr(_walks, "MOST_ALONE", 3)
    found = walk_supports(clf.model_, queries, ends).supports
    np.testing.assert_allclose(found.sum(axis=2), whole.sum(axis=2), atol=1e-9)
    held = np.abs(clf.model_.contributions(queries, ends)[:, 0])
    for i in range(4):
        last = np.argsort(-held[i])[3:]
        ratios = found[i, 0, last] / held[i, last]
        np.testing.assert_allclose(ratios, ratios[0], atol=1e-9)


def test_the_same_bits_one_by_one_and_at_any_number_of_threads(planted):
    X, y, _ = planted
    clf = LANNClassifier(random_state=0).fit(X[:200], y[:200])
    ends = clf.explain(X[200:260]).contrast_rows
    one = walk_supports(clf.model_, X[200:260], ends, n_jobs=1).supports
    two = walk_supports(clf.model_, X[200:260], ends, n_jobs=2).supports
    assert np.array_equal(one, two)
    for i in (0, 31):
        alone = walk_supports(clf.model_, X[200 + i : 201 + i], ends[i : i + 1]).supports
        np.testing.assert_allclose(alone[0], one[i], atol=1e-12)


def test_no_rows_of_other_classes():
    clf = LANNClassifier(1, max_iter=0).fit([[0.0], [1.0]], [0, 1])
    found = walk_supports(clf.model_, np.array([[0.2]]), np.array([[-1]]))
    assert (found.supports == 0).all()
    assert (found.changes == 0).all()


def test_candidates_are_enough_for_the_votes_on_the_way(planted):
    """With a shortlist, the result is near the votes of all rows."""
    X, y, _ = make_local_relevance(1300, 8, random_state=1)
    clf = LANNClassifier(random_state=0).fit(X[:1200], y[:1200])
    explanation = clf.explain(X[1200:1220])
    expected = reference(clf.predict_proba, clf.model_, X[1200:1220], explanation.contrast_rows)
    difference = np.abs(explanation.supports - expected)
    assert difference.mean() < 0.02
    large = np.abs(expected) > 0.1
    assert np.mean(np.sign(explanation.supports[large]) == np.sign(expected[large])) > 0.98


def test_categories_and_gaps_add_up():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"color": rng.choice(["a", "b", "c"], 300), "x": rng.normal(size=300), "z": 1.0})
    frame.loc[rng.random(300) < 0.2, "x"] = np.nan
    y = (frame["color"] == "a") ^ (frame["x"].fillna(0) > 0)
    explanation = LANNClassifier(random_state=0).fit(frame[:250], y[:250]).explain(frame[250:])
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)
    assert (explanation.supports[:, :, 2] == 0).all()  # a constant column
    assert np.abs(explanation.support[:, 0]).mean() > 0.1
    assert (explanation.base_values > -1e-9).all()


def test_rows_on_the_way():
    rows = walk_rows(np.zeros((1, 3)), np.ones((1, 3)), np.array([[2, 0, 1]]), np.array([0, 1, 3]))
    assert rows[0, 0].tolist() == [[0, 0, 0], [0, 0, 1], [1, 1, 1]]
    assert rows[0, 1].tolist() == [[1, 1, 1], [1, 1, 0], [0, 0, 0]]
