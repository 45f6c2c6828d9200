"""What embeddings promise: scikit-learn's checks, the same bits, one place a point, one clear sentence."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from lann import LANNClassifier
from lann.embedding import LANNEmbedding, NeighborEmbedding

EMBEDDINGS = [LANNEmbedding, NeighborEmbedding]
every = pytest.mark.parametrize("kind", EMBEDDINGS)


@parametrize_with_checks([kind() for kind in EMBEDDINGS])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def quick(kind, **options):
    return kind(**({"max_iter": 40, "random_state": 0} | options))


@every
def test_training_points_stay_where_they_are(kind, iris):
    """Also copies of a point, of which iris has some, with one place for each of them."""
    X, y = iris
    embedding = quick(kind).fit(X, y)
    assert np.array_equal(embedding.transform(X), embedding.embedding_)
    assert np.array_equal(quick(kind).fit_transform(X, y), embedding.embedding_)
    assert embedding.embedding_.dtype == np.float64


@every
def test_copies_with_other_labels_share_a_place(kind, iris):
    X, y = iris
    X, y = np.concatenate([X, X[:40]]), np.concatenate([y, 2 - y[:40]])
    embedding = quick(kind).fit(X, y)
    assert np.array_equal(embedding.embedding_[:40], embedding.embedding_[150:])
    assert np.array_equal(embedding.transform(X), embedding.embedding_)


@every
def test_a_place_depends_on_the_point_alone(kind, iris):
    X, y = iris
    embedding = quick(kind).fit(X[::2], y[::2])
    together = embedding.transform(X[1::2])
    alone = np.concatenate([embedding.transform(row[None]) for row in X[1::2]])
    assert np.array_equal(together, alone)
    assert np.array_equal(embedding.set_params(n_jobs=2).transform(X[1::2]), together)


@every
@pytest.mark.parametrize("method", ["umap", "densmap", "tsne"])
def test_same_seed_same_bits_at_any_number_of_threads(kind, method, iris):
    X, y = iris
    options = {"method": method, "max_iter": 250}
    one, two, other = (
        quick(kind, **options, n_jobs=jobs, random_state=seed).fit(X[::2], y[::2])
        for jobs, seed in [(1, 0), (2, 0), (1, 1)]
    )
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.array_equal(one.transform(X), two.transform(X))
    if method != "tsne":  # which begins at the main directions and draws nothing
        assert not np.array_equal(one.embedding_, other.embedding_)


def test_same_bits_in_another_process(in_new_process, iris):
    there = in_new_process("""
        import json
        from sklearn.datasets import load_iris
        from lann.embedding import LANNEmbedding

        X, y = load_iris(return_X_y=True)
        embedding = LANNEmbedding(max_iter=30, random_state=0).fit(X[::3], y[::3])
        print(json.dumps([float(value).hex() for value in embedding.transform(X[1::3]).ravel()]))
    """)
    X, y = iris
    here = LANNEmbedding(max_iter=30, random_state=0).fit(X[::3], y[::3]).transform(X[1::3])
    assert there == [float(value).hex() for value in here.ravel()]


@every
def test_pickled_cloned_and_in_a_pipeline(kind, iris):
    X, y = iris
    embedding = quick(kind).fit(X[::2], y[::2])
    assert np.array_equal(pickle.loads(pickle.dumps(embedding)).transform(X), embedding.transform(X))
    assert clone(embedding).get_params() == embedding.get_params()
    line = make_pipeline(StandardScaler(), quick(kind), KNeighborsClassifier()).fit(X[::2], y[::2])
    assert line.score(X[1::2], y[1::2]) > 0.85


def test_grid_search_over_the_classifier(iris):
    X, y = iris
    line = make_pipeline(quick(LANNEmbedding, classifier=LANNClassifier(max_iter=1)), KNeighborsClassifier())
    grid = {"lannembedding__classifier__metric": ["diagonal", "full"], "lannembedding__min_dist": [0.1]}
    search = GridSearchCV(line, grid, cv=2).fit(X[::2], y[::2])
    assert search.best_score_ > 0.85


@every
def test_names_in_and_out(kind, iris):
    X = pd.DataFrame(iris[0], columns=["a", "b", "c", "d"])
    embedding = quick(kind).set_output(transform="pandas").fit(X, iris[1])
    assert embedding.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    prefix = kind.__name__.lower()
    assert embedding.transform(X).columns.tolist() == [f"{prefix}0", f"{prefix}1"]
    with pytest.raises(ValueError, match="feature names"):
        embedding.transform(X[["b", "a", "c", "d"]])


@every
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1; got 0"),
        ({"n_neighbors": 1}, "n_neighbors must be an integer of at least 2; got 1"),
        ({"min_dist": 2.0}, "min_dist must be a number of at least 0 and at most 1; got 2.0"),
        ({"method": "pca"}, "method must be one of 'umap', 'densmap', 'tsne'; got 'pca'"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, or None; got 0"),
        ({"method": "tsne", "max_iter": 100}, "max_iter must be an integer of at least 250"),
        ({"method": "tsne", "n_components": 4}, "method='tsne' has at most 3 components; got n_components=4"),
        ({"n_jobs": 0}, "n_jobs must be None, or an integer other than 0; got 0"),
        ({"verbose": -1}, "verbose must be an integer of at least 0"),
    ],
)
def test_wrong_parameters(kind, options, sentence, iris):
    with pytest.raises(ValueError, match=sentence):
        kind(**options).fit(*iris)


@every
def test_a_fit_that_fails_loses_nothing(kind, iris):
    X, y = iris
    embedding = quick(kind).fit(X[::2], y[::2])
    before = embedding.transform(X)
    with pytest.raises(ValueError, match="NaN"):
        embedding.fit(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match="at least"):
        embedding.fit(X[49:51], y[49:51])
    assert np.array_equal(embedding.transform(X), before)


@every
def test_not_fitted(kind, iris):
    with pytest.raises(NotFittedError):
        kind().transform(iris[0])


@every
def test_constant_columns_and_extreme_units(kind, iris):
    X, y = iris
    plain = quick(kind).fit(X[::2], y[::2]).embedding_
    assert np.isfinite(plain).all()
    for factor in (1e-120, 1e60):
        assert np.isfinite(quick(kind).fit(X[::2] * factor, y[::2]).transform(X[1::2] * factor)).all()
    with_constant = np.column_stack([X, np.ones(len(X))])
    assert np.isfinite(quick(kind).fit(with_constant, y).embedding_).all()
