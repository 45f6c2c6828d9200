"""LANNEmbedding and NeighborEmbedding: metrics, neighbors, tables and new rows."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from lann import LANNClassifier
from lann.baselines import LMNN
from lann.datasets import make_licorice
from lann.embedding import LANNEmbedding, NeighborEmbedding, compare_embeddings

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


@pytest.mark.parametrize("method", ["umap", "densmap", "tsne"])
def test_the_same_seed_gives_the_same_bits(method, iris):
    X, y = iris[0][::2], iris[1][::2]
    classifier = LANNClassifier(max_iter=1, random_state=0)
    options = {"classifier": classifier, "method": method, "max_iter": 250}
    one, two, other = (
        LANNEmbedding(**options, n_jobs=n_jobs, random_state=seed).fit(X, y)
        for n_jobs, seed in [(1, 0), (2, 0), (1, 1)]
    )
    assert one.n_iter_ > 0
    assert np.array_equal(one.embedding_, two.embedding_)
    assert np.array_equal(one.transform(X), two.transform(X))
    if method != "tsne":  # which starts from principal components and draws nothing
        assert not np.array_equal(one.embedding_, other.embedding_)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"symmetry": "all"}, "symmetry must be one of 'neighbor', 'min', 'mean', 'max'; got 'all'"),
        ({"classifier": KNeighborsClassifier()}, "classifier must be None, .* a baseline .*; got KNeighbors"),
        ({"method": "pca"}, "method must be one of 'umap', 'densmap', 'tsne'; got 'pca'"),
        ({"method": "tsne", "max_iter": 100}, "max_iter must be an integer of at least 250"),
        ({"method": "tsne", "n_components": 4}, "method='tsne' has at most 3 components; got n_components=4"),
    ],
)
def test_invalid_parameters_raise(options, sentence, iris):
    with pytest.raises(ValueError, match=sentence):
        LANNEmbedding(**options).fit(*iris)


def test_fits_a_copy_of_the_classifier(iris):
    X, y = iris
    clf = LANNClassifier(max_iter=1, random_state=3)
    embedding = LANNEmbedding(clf, max_iter=20, random_state=0).fit(X, y)
    assert not hasattr(clf, "classes_")
    assert np.array_equal(embedding.classifier_.feature_weights_, clf.fit(X, y).feature_weights_)
    assert embedding.classes_.tolist() == [0, 1, 2]


def test_takes_a_fitted_classifier(fitted):
    X, _, clf = fitted
    embedding = LANNEmbedding(FrozenEstimator(clf), max_iter=20, random_state=0).fit(X)
    assert embedding.classifier_.model_ is clf.model_
    lengths, neighbors = clf.kneighbors(n_neighbors=14)
    assert np.array_equal(embedding.neighbors_, neighbors)
    assert np.array_equal(embedding.distances_, lengths)


def test_what_a_classifier_learns_later_changes_no_embedding(iris):
    X, y = iris
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X[::2], y[::2])
    embedding = LANNEmbedding(FrozenEstimator(clf), max_iter=20, random_state=0).fit(X[::2])
    before = embedding.transform(X)
    clf.partial_fit(X[1::2], y[1::2])
    assert len(embedding.classifier_.feature_weights_) == len(embedding.embedding_) == 75
    assert np.array_equal(embedding.transform(X), before)


def test_a_classifier_fitted_on_other_rows_raises(fitted):
    X, y, clf = fitted
    with pytest.raises(ValueError, match="X must be the rows that it was fitted with"):
        LANNEmbedding(FrozenEstimator(clf)).fit(X[::-1], y[::-1])
    with pytest.raises(NotFittedError):
        LANNEmbedding(FrozenEstimator(LANNClassifier())).fit(X, y)


def test_a_baseline_can_be_embedded(iris):
    X, y = iris
    embedding = LANNEmbedding(LMNN(max_iter=5), max_iter=20, random_state=0).fit(X, y)
    _, neighbors = embedding.classifier_.kneighbors(n_neighbors=14)
    np.testing.assert_array_equal(embedding.neighbors_, neighbors)
    np.testing.assert_array_equal(embedding.transform(X), embedding.embedding_)


def test_rules_of_symmetry_change_the_lists(fitted):
    X, _, clf = fitted
    lengths = {
        rule: LANNEmbedding(FrozenEstimator(clf), symmetry=rule, max_iter=5, random_state=0).fit(X).distances_
        for rule in ("min", "mean", "max")
    }
    assert (lengths["min"] <= lengths["mean"] + 1e-12).all()
    assert (lengths["mean"] <= lengths["max"] + 1e-12).all()
    assert lengths["min"].sum() < lengths["max"].sum()


def test_untrained_it_is_the_euclidean_embedding(iris):
    X, y = iris[0][::2], iris[1][::2]
    clf = LANNClassifier(max_iter=0, n_candidates=None)
    ours = LANNEmbedding(clf, max_iter=60, random_state=0).fit(X, y)
    plain = NeighborEmbedding(max_iter=60, random_state=0).fit(X)
    np.testing.assert_allclose(ours.distances_, plain.distances_)
    assert np.array_equal(ours.embedding_, plain.embedding_)


def _among_its_class(embedding, X, y, X_new, y_new):
    """Return the share of new rows whose nearest training rows in the embedding are mostly of their class."""
    coordinates = embedding.fit(X, y).embedding_
    return KNeighborsClassifier(5).fit(coordinates, y).score(embedding.transform(X_new), y_new)


@pytest.mark.slow
def test_new_rows_of_licorice_are_among_their_class():
    X, y = make_licorice(1500, axis_aligned=True, random_state=0)
    split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    X, X_new, y, y_new = split
    clf = LANNClassifier(random_state=0)
    learned = _among_its_class(LANNEmbedding(clf, max_iter=200, random_state=0), X, y, X_new, y_new)
    plain = _among_its_class(NeighborEmbedding(max_iter=200, random_state=0), X, y, X_new, y_new)
    assert learned > 0.92
    assert plain < 0.75


@pytest.fixture(scope="module")
def embedding(passengers):
    frame, _, clf = passengers
    return LANNEmbedding(FrozenEstimator(clf), max_iter=20, random_state=0).fit(frame[:300])


def test_a_frozen_classifier_of_a_table(embedding, passengers, odd_queries):
    frame, _, clf = passengers
    assert np.array_equal(embedding.transform(frame[:300]), embedding.embedding_)
    assert np.isfinite(embedding.transform(odd_queries)).all()
    assert embedding.feature_names_in_.tolist() == frame.columns.tolist()
    other = frame[:300].assign(Sex="male")
    with pytest.raises(ValueError, match="X must be the rows that it was fitted with"):
        LANNEmbedding(FrozenEstimator(clf)).fit(other)
    with pytest.raises(ValueError, match="feature names"):
        embedding.transform(frame.rename(columns={"Sex": "sex"}))


def test_arrays_with_gaps(blobs):
    X, y = blobs
    X[::5, 1] = np.nan
    found = LANNEmbedding(LANNClassifier(max_iter=1, random_state=0), max_iter=20, random_state=0).fit(X, y)
    assert np.array_equal(found.transform(X), found.embedding_)
    frozen = LANNEmbedding(FrozenEstimator(found.classifier_), max_iter=20, random_state=0).fit(X)
    assert np.array_equal(frozen.neighbors_, found.neighbors_)


def test_scores_of_a_table(passengers):
    frame, y, clf = passengers
    found = compare_embeddings(
        frame[:300], y[:300], frame[300:], y[300:],
        embeddings={"LANN": LANNEmbedding(clf, max_iter=20, random_state=0)},
    )  # fmt: skip
    assert found["LANN"].held_out_accuracy > 0.7
    assert np.isfinite(found.to_frame().to_numpy()).all()
