"""What all embeddings promise beyond the common checks."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from lann import LANNClassifier
from lann.embedding import LANNEmbedding, NeighborEmbedding

every = pytest.mark.parametrize("kind", [LANNEmbedding, NeighborEmbedding])


def quick(kind, **options):
    return kind(**({"max_iter": 40, "random_state": 0} | options))


@every
def test_training_rows_keep_their_coordinates(kind, iris):
    """Also copies of a row, of which iris has some."""
    X, y = iris
    embedding = quick(kind).fit(X, y)
    assert np.array_equal(embedding.transform(X), embedding.embedding_)
    assert np.array_equal(quick(kind).fit_transform(X, y), embedding.embedding_)
    assert embedding.embedding_.dtype == np.float64


@every
def test_copies_with_other_labels_have_the_same_coordinates(kind, iris):
    X, y = iris
    X, y = np.concatenate([X, X[:40]]), np.concatenate([y, 2 - y[:40]])
    embedding = quick(kind).fit(X, y)
    assert np.array_equal(embedding.embedding_[:40], embedding.embedding_[150:])
    assert np.array_equal(embedding.transform(X), embedding.embedding_)


@every
@pytest.mark.parametrize("method", ["umap", "densmap", "tsne"])
def test_the_same_seed_gives_the_same_bits(kind, method, iris):
    X, y = iris
    options = {"method": method, "max_iter": 250}
    one, two, other = (
        quick(kind, **options, n_jobs=n_jobs, random_state=seed).fit(X[::2], y[::2])
        for n_jobs, seed in [(1, 0), (2, 0), (1, 1)]
    )
    assert one.n_iter_ > 0
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.array_equal(one.transform(X), two.transform(X))
    if method != "tsne":  # which starts from principal components and draws nothing
        assert not np.array_equal(one.embedding_, other.embedding_)


def test_the_same_bits_in_another_process(in_new_process, iris):
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


def test_grid_search_over_the_classifier(iris):
    X, y = iris
    line = make_pipeline(quick(LANNEmbedding, classifier=LANNClassifier(max_iter=1)), KNeighborsClassifier())
    grid = {"lannembedding__classifier__metric": ["diagonal", "full"], "lannembedding__min_dist": [0.1]}
    search = GridSearchCV(line, grid, cv=2).fit(X[::2], y[::2])
    assert search.best_score_ > 0.85


@every
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_neighbors": 1}, "n_neighbors must be an integer of at least 2; got 1"),
        ({"method": "pca"}, "method must be one of 'umap', 'densmap', 'tsne'; got 'pca'"),
        ({"method": "tsne", "max_iter": 100}, "max_iter must be an integer of at least 250"),
        ({"method": "tsne", "n_components": 4}, "method='tsne' has at most 3 components; got n_components=4"),
    ],
)
def test_invalid_parameters_raise(kind, options, sentence, iris):
    with pytest.raises(ValueError, match=sentence):
        kind(**options).fit(*iris)


@every
def test_too_few_rows_raise(kind, iris):
    with pytest.raises(ValueError, match="at least"):
        quick(kind).fit(iris[0][49:51], iris[1][49:51])


@every
def test_constant_columns_and_extreme_units(kind, iris):
    X, y = iris
    for factor in (1e-120, 1e60):
        assert np.isfinite(quick(kind).fit(X[::2] * factor, y[::2]).transform(X[1::2] * factor)).all()
    with_constant = np.column_stack([X, np.ones(len(X))])
    assert np.isfinite(quick(kind).fit(with_constant, y).embedding_).all()
