import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from lann import LANNClassifier
from lann.metric import Levels
from lann.model import LocalModel, NeighborModel
from lann.search import CellIndex, _cell_search


@pytest.fixture
def levels(blobs):
    rng = np.random.default_rng(1)
    plain = Levels.plain(*blobs, 3)
    return plain.replace(
        class_log_weights=0.3 * rng.normal(size=(3, 4)), point_log_weights=0.3 * rng.normal(size=(90, 4))
    )


def make_model(levels, **options):
    return LocalModel(levels, **{"n_candidates": None, "n_neighbors": 5, "power": 1.0} | options)


def test_neighbors_are_nearest_under_the_point_metrics(reference, levels):
    queries = levels.X[:10] + 0.1
    indices, distances = make_model(levels).kneighbors(queries, 6)
    expected = reference.nearest(reference.distances(queries, levels.X, levels.weights), 6)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-12)


@pytest.mark.parametrize("n_candidates", [8, 20])
def test_the_shortlist_is_taken_under_the_class_metrics(reference, levels, n_candidates):
    queries = levels.X[:10] + 0.1
    indices, _ = make_model(levels, n_candidates=n_candidates).kneighbors(queries, 5)
    coarse = reference.distances(queries, levels.X, np.exp(levels.class_log_weights)[levels.labels])
    own = reference.distances(queries, levels.X, levels.weights)
    np.testing.assert_array_equal(indices, reference.shortlisted(coarse, own, n_candidates, 5)[0])


def test_distances_to_given_rows(reference, levels):
    queries, rows = levels.X[:4] + 0.1, np.array([[0, 5], [80, 3], [7, 7], [1, 89]])
    expected = reference.distances(queries, levels.X, levels.weights)
    found = make_model(levels).distances(queries, rows)
    np.testing.assert_allclose(found, np.take_along_axis(expected, rows, axis=1), rtol=1e-12)


def test_votes_are_shares_of_the_support(levels):
    model = make_model(levels, power=2.0)
    indices, distances = model.voters(levels.X[:10] + 0.1)
    votes = model.vote(indices, distances)
    support = (distances + model.vote_rule.epsilon) ** -2.0
    np.testing.assert_allclose(votes.shares, support / support.sum(axis=1, keepdims=True), rtol=1e-12)
    for label in range(3):
        own = np.where(levels.labels[indices] == label, votes.shares, 0.0).sum(axis=1)
        np.testing.assert_allclose(votes.probabilities[:, label], own, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_rows", [1, 3])
def test_no_more_rows_vote_than_there_are(blobs, n_rows):
    X, y = blobs
    model = make_model(Levels.plain(X[:n_rows], y[:n_rows], 3))
    assert model.voters(X[:2])[0].shape == (2, n_rows)


def test_neighbors_of_allowed_classes(reference, levels):
    """Both ways to search classes: class by class, and by searching ever more neighbors."""
    queries = levels.X[:12] + 0.1
    allowed = np.random.default_rng(0).random((12, 3)) < 0.5
    model = make_model(levels)
    own = reference.distances(queries, levels.X, levels.weights)
    own[~allowed[:, levels.labels]] = np.inf
    indices, distances = reference.nearest(own, 4)
    indices[~np.isfinite(distances)] = -1
    for found in (
        model.kneighbors_of_classes(queries, allowed, 4),
        NeighborModel.kneighbors_of_classes(model, queries, allowed, 4),
    ):
        np.testing.assert_array_equal(found[0], indices)
        np.testing.assert_allclose(found[1], distances, rtol=1e-12)


@pytest.mark.parametrize("n_candidates", [None, 7])
def test_candidates_replace_a_row_that_is_left_out(levels, n_candidates):
    model = make_model(levels, n_candidates=n_candidates)
    queries = levels.X[:8] + 0.1
    indices, distances, n_searched = model.candidates(queries)
    assert n_searched == (5 if n_candidates is None else 7)
    assert indices.shape == distances.shape == (8, n_searched + 1)
    np.testing.assert_allclose(distances, model.distances(queries, indices), rtol=1e-12)


def test_a_search_among_some_rows(reference, levels):
    rows, queries = np.array([3, 30, 31, 80]), levels.X[:6] + 0.1
    found = make_model(levels, n_candidates=2).search_among(rows)(queries, 3)
    expected = reference.nearest(reference.distances(queries, levels.X[rows], levels.weights[rows]), 3)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_few_queries_find_the_same_neighbors_as_many_in_some_cells(levels, monkeypatch):
    monkeypatch.setattr(_cell_search, "FEWEST_POINTS", 50)
    full = CellIndex.build(levels.class_metric())
    model = make_model(levels, n_candidates=10, epsilon=1.0, index=replace(full, n_probed=3))
    assert full.partition.n_cells > 3
    queries = levels.X[:40] + 0.1
    expected = model.kneighbors(queries, 5)
    exact = make_model(levels, n_candidates=10, epsilon=1.0, index=replace(full, n_probed=99))
    assert (expected[0] != exact.kneighbors(queries, 5)[0]).any()
    fresh = make_model(levels, n_candidates=10, epsilon=1.0, index=replace(full, n_probed=3))
    for row in range(40):
        for one, many in zip(fresh.kneighbors(queries[row : row + 1], 5), expected, strict=True):
            np.testing.assert_array_equal(one[0], many[row])
    assert "_search" not in vars(fresh)  # few queries do not wait for it


def test_the_search_is_not_pickled_and_built_again(levels):
    model = make_model(levels, n_candidates=20)
    model.derived["answer"] = 42
    queries = levels.X[:10] + 0.1
    expected = model.kneighbors(queries, 5)
    assert not any("search" in name for name in model.__getstate__())
    again = pickle.loads(pickle.dumps(model))
    assert again.derived == {"answer": 42}
    for one, other in zip(again.kneighbors(queries, 5), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def counts():
    return np.random.default_rng(3).integers(1, 4, 90)


@pytest.fixture
def weighted(levels, counts):
    return levels.replace(row_weights=counts.astype(float))


@pytest.fixture
def repeated(levels, counts):
    return levels.subset(np.repeat(np.arange(90), counts))


@pytest.mark.parametrize(
    "options", [{}, {"power": 2.0, "n_neighbors": 8}, {"n_neighbors": 200, "power": 0.0}]
)
def test_a_row_of_weight_two_votes_as_two_rows(weighted, repeated, options):
    one, other = make_model(weighted, **options), make_model(repeated, **options)
    assert one.vote_rule == other.vote_rule
    queries = weighted.X + 0.1
    expected = other.vote(*other.voters(queries)).probabilities
    found = one.vote(*one.voters(queries))
    np.testing.assert_allclose(found.probabilities, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(one.feature_weights(), other.feature_weights()[_firsts(repeated, weighted)])


def _firsts(repeated, levels):
    """Return the first copy of each row."""
    return np.array([np.flatnonzero((x == repeated.X).all(axis=1))[0] for x in levels.X])


@pytest.mark.parametrize(("n_candidates", "expected"), [(None, 12), (10, 10), (3, 5), (500, 12)])
def test_as_many_rows_are_searched_as_any_have_the_votes(levels, n_candidates, expected):
    """Ten rows have a weight of 0.3: 12 rows have at least 5, 11 need not."""
    weights = np.where(np.arange(90) < 10, 0.3, 1.0)
    model = make_model(levels.replace(row_weights=weights), n_candidates=n_candidates)
    assert np.sort(weights)[:12].sum() >= 5 > np.sort(weights)[:11].sum()
    assert model.n_voters == expected
    assert make_model(levels, n_candidates=n_candidates).n_voters == 5


def test_copies_do_not_change_the_typical_distance(levels):
    everyone = np.concatenate([np.arange(90), np.zeros(500, np.int64)])
    many = make_model(levels.subset(everyone))
    assert many.vote_rule == make_model(levels.replace(row_weights=np.full(90, 2.0))).vote_rule


def test_a_model_of_some_rows_votes_as_they_do():
    X, y = load_wine(return_X_y=True)
    clf = LANNClassifier(5, max_iter=4, random_state=0, n_candidates=None).fit(X, y)
    rows = np.arange(0, 178, 3)
    part = clf.model_.subset(rows)
    found, distances = part.kneighbors(X[:20], 5)
    every = np.tile(rows, (20, 1))
    all_distances = clf.model_.distances(X[:20], every)
    order = np.argsort(all_distances, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(found, order)
    np.testing.assert_allclose(distances, np.take_along_axis(all_distances, order, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(part.labels, y[rows])


@pytest.mark.parametrize("n_copies", [3, 30])
def test_copies_do_not_change_epsilon_of_many_rows(levels, monkeypatch, n_copies):
    monkeypatch.setattr(_cell_search, "FEWEST_POINTS", 50)
    rows = np.tile(np.arange(len(levels.X)), n_copies)
    expected = make_model(levels, n_candidates=20).vote_rule.epsilon
    assert make_model(levels.subset(rows), n_candidates=20).vote_rule.epsilon == pytest.approx(
        expected, rel=0.3
    )
