"""Relevances and supports equal the votes on changed rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from lann import LANNClassifier
from lann._support.rows import stratified_rows
from lann.baselines import GMLVQ, LGRLVQ, LMNN
from lann.datasets import make_local_relevance
from lann.explain import _readings, class_relevances
from lann.explain._landmarks import landmarks_of
from lann.explain._readings import compute_landmarks, read_prototypes
from lann.explain._supports import walk_supports
from lann.explain._training_rows import Queries
from lann.model import typical_values


@pytest.fixture(scope="module")
def planted():
    return make_local_relevance(900, 8, random_state=0)


@pytest.fixture(scope="module", params=["diagonal", "full"])
def fitted(planted, request):
    X, y, _ = planted
    return LANNClassifier(metric=request.param, random_state=0, max_iter=8).fit(X[:600], y[:600])


def test_readings_equal_votes_on_changed_rows(fitted, planted, monkeypatch):
    """One landmark by hand: the 20 nearest of all other training rows."""
    monkeypatch.setattr(_readings, "MOST_LANDMARKS", 40)
    X, y, _ = planted
    model = fitted.model_
    found = compute_landmarks(model)
    row = found.rows[7]
    others = np.delete(np.arange(600), row)

    def vote(changed):
        distances = model.distances(changed[None], others[None])[0]
        nearest = np.lexsort((others, distances))[:20]
        shares = 1.0 / (distances[nearest] + model.vote_rule.epsilon)
        return np.bincount(y[others[nearest]], shares, 2) / shares.sum()

    before = vote(X[row])
    np.testing.assert_allclose(found.readings.votes[7], before)
    for feature in (0, 3):
        changes = []
        for value in typical_values(X[:600])[:, feature]:
            changed = X[row].copy()
            changed[feature] = value
            changes.append(np.abs(vote(changed) - before).sum() / 2)
        np.testing.assert_allclose(found.readings.alone[7, feature], np.mean(changes), atol=1e-12)


def test_they_are_computed_once_and_pickled_with_the_model(fitted, monkeypatch):
    model = fitted.model_
    landmarks = landmarks_of(model)
    assert landmarks_of(model) is landmarks
    queries = model.X[:3]
    expected = fitted.explain(queries).relevances
    again = pickle.loads(pickle.dumps(fitted))
    monkeypatch.setattr(_readings, "compute_landmarks", None)  # nothing is computed again
    np.testing.assert_array_equal(again.explain(queries).relevances, expected)


def test_relevances_by_class_are_means_over_landmarks(fitted):
    landmarks = landmarks_of(fitted.model_)
    for label, found in enumerate(class_relevances(fitted)):
        own = fitted.model_.labels[landmarks.rows] == label
        np.testing.assert_allclose(found, landmarks.readings.relevances[own].mean(axis=0))


def test_two_rows_are_enough():
    clf = LANNClassifier(1, max_iter=0).fit([[0.0, 1.0], [5.0, 1.0]], [0, 1])
    explanation = clf.explain([[1.0, 1.0]])
    assert np.isfinite(explanation.relevances).all()
    assert explanation.relevances[0, 1] == 0.0


def test_the_landmarks_of_many_rows_are_those_of_a_sample(monkeypatch):
    monkeypatch.setattr(_readings, "MOST_ROWS", 100)
    monkeypatch.setattr(_readings, "N_SAMPLED", 90)
    monkeypatch.setattr(_readings, "MOST_LANDMARKS", 40)
    model = LANNClassifier(max_iter=4, random_state=0).fit(*load_wine(return_X_y=True)).model_
    sampled = stratified_rows(model.labels, 90)
    found, own = compute_landmarks(model), compute_landmarks(model.subset(sampled))
    np.testing.assert_array_equal(found.rows, sampled[own.rows])
    np.testing.assert_array_equal(found.readings.relevances, own.readings.relevances)
    np.testing.assert_array_equal(found.contrast_rows, sampled[own.contrast_rows])
    assert np.isin(found.representatives, np.append(sampled, -1)).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [GMLVQ, LGRLVQ])
def test_readings_of_prototypes_equal_the_votes_on_changed_rows(kind, wine):
    X, y = scale(wine[0]), wine[1]
    clf = kind(prototypes_per_class=2, max_iter=10, random_state=0).fit(X, y)
    found = read_prototypes(Queries(clf.model_, X[:4]))
    before = clf.predict_proba(X[:4])
    np.testing.assert_array_equal(found.votes, before)
    values = clf.model_.typical_values
    for feature in (0, 6, 12):
        changed = np.repeat(X[:4, None], len(values), axis=1)
        changed[:, :, feature] = values[:, feature]
        after = clf.predict_proba(changed.reshape(-1, 13)).reshape(4, len(values), -1)
        expected = np.abs(after - before[:, None]).sum(axis=2).mean(axis=1) / 2
        np.testing.assert_allclose(found.alone[:, feature], expected, atol=1e-9)


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
def planted_of_walks():
    return make_local_relevance(300, 8, random_state=0)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_candidates": None},
        {"n_candidates": None, "metric": "full", "max_iter": 4},
        {"n_candidates": None, "max_iter": 0, "n_neighbors": 4},
    ],
)
def test_supports_are_what_features_change_in_predicted_probabilities(planted_of_walks, parameters):
    X, y, _ = planted_of_walks
    clf = LANNClassifier(random_state=0, **parameters).fit(X[:90], y[:90])
    queries, ends = X[200:206], np.array([[0, 5], [1, 7], [2, -1], [3, 3], [4, 60], [80, 81]])
    supports, changes = walk_supports(Queries(clf.model_, queries), ends)
    expected = reference(clf.predict_proba, clf.model_, queries, ends)
    np.testing.assert_allclose(supports, expected, atol=1e-9)
    change = clf.predict_proba(queries) - [clf.predict_proba(X[e[e >= 0]]).mean(axis=0) for e in ends]
    np.testing.assert_allclose(supports.sum(axis=2), change, atol=1e-9)
    assert (changes >= np.abs(supports).sum(axis=1) / 2 - 1e-12).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [LMNN, GMLVQ])
def test_baselines(planted_of_walks, kind):
    X, y, _ = planted_of_walks
    clf = kind(max_iter=5).fit(X[:90], y[:90])
    ends = np.array([[0, 1], [1, -1], [1, 0]])
    found = walk_supports(Queries(clf.model_, X[200:203]), ends)[0]
    np.testing.assert_allclose(found, reference(clf.predict_proba, clf.model_, X[200:203], ends), atol=1e-9)


def test_sample_weights_class_weights_and_left_out_rows(planted_of_walks):
    X, y, _ = planted_of_walks
    weights = np.random.default_rng(0).integers(1, 4, 90).astype(float)
    clf = LANNClassifier(random_state=0, n_candidates=None, class_weight="balanced")
    clf.fit(X[:90], y[:90], sample_weight=weights)
    model, rows = clf.model_, np.array([3, 8])
    ends = np.array([[20, 30], [40, 50]])

    def without(row):
        def predict_proba(queries):
            return model.vote(*model.voters(queries, exclude=np.full(len(queries), row))).probabilities

        return predict_proba

    found = walk_supports(Queries(model, X[rows], rows), ends)[0]
    for i, row in enumerate(rows):
        expected = reference(without(row), model, X[rows[i : i + 1]], ends[i : i + 1])[0]
        np.testing.assert_allclose(found[i], expected, atol=1e-9)


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
