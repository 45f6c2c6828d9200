"""The classifier on arrays of Dask and of this process, on threads: the same as the ordinary one."""

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import lann
from lann.distributed import DaskLANN


def in_blocks(X, y, size=400):
    return da.from_array(X, chunks=(size, 2)), da.from_array(y, chunks=size)


@pytest.fixture(scope="module")
def fitted(planted, options):
    """A classifier with five tiles in three shards."""
    import lann.search._cell_search
    import lann.training._train

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lann.training._train, "TILE_ROWS", 300)
        patch.setattr(lann.training._train, "MANY_ROWS", 500)
        patch.setattr(lann.search._cell_search, "FEWEST_POINTS", 500)
        X, y, _ = planted
        return DaskLANN(**options, rows_per_shard=500).fit(*in_blocks(X, y))


def test_the_fit_equals_that_of_the_ordinary_classifier(fitted, planted, options, small_tiles):
    X, y, queries = planted
    ordinary = lann.LANNClassifier(**options).fit(X, y)
    assert len(fitted.tile_losses_) == 5
    assert fitted.n_shards_ == 3
    gathered = fitted.gather()
    for name in ("point_log_weights", "class_log_weights", "components", "X", "labels"):
        expected = getattr(ordinary.model_.levels, name)
        np.testing.assert_array_equal(getattr(gathered.model_.levels, name), expected, err_msg=name)
    np.testing.assert_array_equal(gathered.model_.index.cells, ordinary.model_.index.cells)
    assert gathered.model_.index.n_probed == ordinary.model_.index.n_probed
    for value, expected in zip(
        vars(gathered.model_.vote_rule).values(), vars(ordinary.model_.vote_rule).values(), strict=True
    ):
        np.testing.assert_array_equal(value, expected)
    np.testing.assert_array_equal(fitted.predict_proba(queries), ordinary.predict_proba(queries))
    distances, rows = ordinary.kneighbors(queries)
    np.testing.assert_array_equal(fitted.kneighbors(queries)[0], distances)
    np.testing.assert_array_equal(fitted.kneighbors(queries)[1], rows)


def test_blocks_of_queries_are_computed_later(fitted, planted):
    queries = planted[2]
    blocks = da.from_array(queries, chunks=(60, 6))
    labels, probabilities = fitted.predict(blocks), fitted.predict_proba(blocks)
    assert labels.chunks == ((60, 60, 60, 20),)
    assert (labels.dtype, probabilities.shape) == (fitted.classes_.dtype, (200, 3))
    np.testing.assert_array_equal(labels.compute(), fitted.predict(queries))
    np.testing.assert_array_equal(probabilities.compute(), fitted.predict_proba(queries))
    found = fitted.kneighbors(blocks, 9)
    searches = [{key for key in dict(array.dask) if "search_shard" in str(key)} for array in found]
    assert len(searches[0]) == 12
    assert searches[0] == searches[1]  # one search for both
    distances, rows = dask.compute(*found)
    assert rows.shape == distances.shape == (200, 9)
    np.testing.assert_array_equal(rows, fitted.kneighbors(queries, 9, return_distance=False))


@pytest.mark.parametrize("k", [1, 60, 1500])
def test_any_number_of_neighbors_is_that_of_the_gathered_classifier(fitted, planted, k):
    queries = planted[2][:20]
    found, expected = fitted.kneighbors(queries, k), fitted.gather().kneighbors(queries, k)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_queries_that_are_far_from_all_rows(fitted, planted):
    queries = planted[2][:30].copy()
    queries[[2, 11], 0] = 1e6, -1e20
    queries[17] = 1e50
    gathered = fitted.gather()
    for part in (queries, queries[[17]]):
        found, expected = fitted.kneighbors(part), gathered.kneighbors(part)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        probabilities = fitted.predict_proba(part)
        assert np.isfinite(probabilities).all()
        np.testing.assert_array_equal(probabilities, gathered.predict_proba(part))
    alone = [fitted.predict_proba(queries[[row]])[0] for row in (1, 2, 3)]
    np.testing.assert_array_equal(fitted.predict_proba(queries)[1:4], alone)


def test_an_explanation_has_the_neighbors_of_all_rows(fitted, planted, monkeypatch):
    import lann.distributed._classifier

    monkeypatch.setattr(lann.distributed._classifier, "ROWS_FOR_EXPLANATIONS", 200)
    X, _, queries = planted
    rows = np.concatenate([X[:2], queries[:4]])
    found, expected = fitted.explain(rows), fitted.gather().explain(rows)
    np.testing.assert_array_equal(found.neighbor_ids, expected.neighbors)
    for name in ("distances", "vote_shares", "probabilities", "neighbor_labels"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert [0, 1] not in found.neighbor_ids[:2].tolist()
    np.testing.assert_array_equal((found.left_out >= 0), [True, True, False, False, False, False])
    assert found.relevances.shape == (6, 6)


def test_an_explanation_that_leaves_out_no_row_has_the_predicted_probabilities(fitted, planted):
    rows = planted[0][:3]
    explanation = fitted.explain(rows, leave_out=None)
    np.testing.assert_array_equal(explanation.probabilities, fitted.predict_proba(rows))
    np.testing.assert_array_equal(explanation.neighbor_ids[:, 0], [0, 1, 2])


@pytest.mark.parametrize(
    "changes",
    [
        {"n_candidates": None},
        {"class_weight": "balanced"},
        {"max_iter": 0},
        {"metric": "low_rank", "n_components": 2, "n_neighbors": 5, "power": 2},
    ],
    ids=str,
)
def test_other_parameters(planted, options, small_tiles, changes):
    X, y, queries = planted
    clf = DaskLANN(**(options | changes), rows_per_shard=500).fit(*in_blocks(X[:900], y[:900]))
    gathered = clf.gather()
    np.testing.assert_array_equal(clf.predict_proba(queries), gathered.predict_proba(queries))
    np.testing.assert_array_equal(clf.kneighbors(queries)[1], gathered.kneighbors(queries)[1])


def test_copies_of_rows_are_trained_as_one_row(planted, options, small_tiles):
    X, y, queries = planted
    X, y = np.concatenate([X[:600], X[:600]]), np.concatenate([y[:600], y[:600]])
    clf = DaskLANN(**options, rows_per_shard=500).fit(*in_blocks(X, y))
    weights = clf.gather().model_.levels.point_log_weights
    assert weights.any()
    np.testing.assert_array_equal(weights[:600], weights[600:])
    np.testing.assert_array_equal(clf.predict(queries), clf.gather().predict(queries))


def test_rows_are_added_to_what_a_gathered_classifier_has_learned(fitted, planted, monkeypatch):
    import lann.search._cell_search

    monkeypatch.setattr(lann.search._cell_search, "FEWEST_POINTS", 500)
    X, y, _ = planted
    gathered = fitted.gather()
    partition = gathered.model_.index.partition
    assert not gathered.model_.memory.index_is_old
    gathered.partial_fit(X[:3] + 0.1, y[:3])
    assert gathered.model_.index.partition is partition
    expected = fitted.gather().model_.levels.point_log_weights
    np.testing.assert_allclose(gathered.model_.levels.point_log_weights[:1500], expected, atol=0.5)
    np.testing.assert_array_equal(gathered.components_, fitted.components_)


def test_the_same_seed_gives_the_same_bits_in_other_blocks(fitted, planted, options, small_tiles):
    X, y, queries = planted
    again = DaskLANN(**options, rows_per_shard=800).fit(*in_blocks(X, y, size=250))
    assert again.n_shards_ == 2
    np.testing.assert_array_equal(again.predict_proba(queries), fitted.predict_proba(queries))


def test_a_previous_fit_is_kept_if_the_next_one_fails(planted, options, small_tiles):
    X, y, queries = planted
    clf = DaskLANN(**options).fit(X[:300], y[:300])
    expected = clf.predict_proba(queries)
    with pytest.raises(ValueError, match="one class only"):
        clf.fit(X[:300], np.zeros(300))
    np.testing.assert_array_equal(clf.predict_proba(queries), expected)


def test_parameters_are_those_of_the_ordinary_classifier():
    names = DaskLANN().get_params()
    ordinary = lann.LANNClassifier().get_params()
    assert set(ordinary) - set(names) == {"warm_start", "max_points", "forget_policy"}
    assert set(names) - set(ordinary) == {"rows_per_shard"}
    assert {name: names[name] for name in names if name in ordinary} == {
        name: ordinary[name] for name in ordinary if name in names
    }
    assert clone(DaskLANN(alpha=2.0)).alpha == 2.0


def test_a_classifier_that_is_not_fitted_says_so(planted):
    for method in ("predict", "predict_proba", "kneighbors", "explain"):
        with pytest.raises(NotFittedError):
            getattr(DaskLANN(), method)(planted[2])


def test_progress_is_printed(planted, options, small_tiles, capsys):
    DaskLANN(**options, verbose=1).fit(planted[0][:600], planted[1][:600])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[DaskLANN] training on a sample of 600 of 600 rows"
    assert any("epoch 3/3" in line for line in lines)
    assert "[DaskLANN] training 2 tiles" in lines
