"""LANNEmbedding: whose metrics, which neighbors, and where new points of a class go."""

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from lann import LANNClassifier
from lann.baselines import LMNN
from lann.datasets import load, make_licorice
from lann.embedding import LANNEmbedding, NeighborEmbedding, compare_embeddings


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


def test_a_fitted_classifier_survives_cloning(fitted):
    X, y, clf = fitted
    embedding = LANNEmbedding(FrozenEstimator(clf), max_iter=20, random_state=0)
    assert np.array_equal(clone(embedding).fit_transform(X), embedding.fit_transform(X))
    comparison = compare_embeddings(X, y, embeddings={"LANN": embedding})
    assert np.array_equal(comparison["LANN"].coordinates, embedding.fit_transform(X))


def test_what_a_classifier_learns_later_changes_no_embedding(iris):
    X, y = iris
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X[::2], y[::2])
    embedding = LANNEmbedding(FrozenEstimator(clf), max_iter=20, random_state=0).fit(X[::2])
    before = embedding.transform(X)
    clf.partial_fit(X[1::2], y[1::2])
    assert len(embedding.classifier_.feature_weights_) == len(embedding.embedding_) == 75
    assert np.array_equal(embedding.transform(X), before)


def test_names_and_labels_must_fit_a_fitted_classifier(iris):
    X = pd.DataFrame(iris[0], columns=list("abcd"))
    clf = LANNClassifier(max_iter=1).fit(X, iris[1])
    with pytest.raises(ValueError, match="The columns must be those of the fit"):
        LANNEmbedding(FrozenEstimator(clf)).fit(X.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LANNEmbedding(FrozenEstimator(clf)).fit(X, iris[1][:-1])


def test_a_classifier_fitted_on_other_rows_raises(fitted):
    X, y, clf = fitted
    with pytest.raises(ValueError, match="X must be the rows that it was fitted with"):
        LANNEmbedding(FrozenEstimator(clf)).fit(X[::-1], y[::-1])
    with pytest.raises(NotFittedError):
        LANNEmbedding(FrozenEstimator(LANNClassifier())).fit(X, y)


def test_other_wrong_parameters(iris):
    with pytest.raises(ValueError, match=r"classifier must be None, .* a baseline .*; got KNeighbors"):
        LANNEmbedding(KNeighborsClassifier()).fit(*iris)
    with pytest.raises(
        ValueError, match="symmetry must be one of 'neighbor', 'min', 'mean', 'max'; got 'all'"
    ):
        LANNEmbedding(symmetry="all").fit(*iris)
    with pytest.raises(ValueError, match="y has one class only"):
        LANNEmbedding().fit(iris[0][:50], iris[1][:50])


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
    """Share of new points whose nearest five training points in the embedding are mostly of their class."""
    coordinates = embedding.fit(X, y).embedding_
    return KNeighborsClassifier(5).fit(coordinates, y).score(embedding.transform(X_new), y_new)


def test_new_points_of_licorice_land_among_their_class():
    X, y = make_licorice(1500, axis_aligned=True, random_state=0)
    split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    X, X_new, y, y_new = split
    clf = LANNClassifier(feature_dropout=0.0, random_state=0)
    learned = _among_its_class(LANNEmbedding(clf, max_iter=200, random_state=0), X, y, X_new, y_new)
    plain = _among_its_class(NeighborEmbedding(max_iter=200, random_state=0), X, y, X_new, y_new)
    assert learned > 0.92
    assert plain < 0.75


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("LANN_DATA"), reason="needs the paper's data files: set LANN_DATA")
def test_new_points_of_image_segmentation_land_among_their_class():
    X, y = load("image-segmentation", return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    learned = LANNEmbedding(max_iter=200, random_state=0)
    assert _among_its_class(learned, X, y, X_new, y_new) > 0.96
    voters = KNeighborsClassifier(5).fit(learned.embedding_, y)
    for label in np.unique(y):  # every class, not only most
        assert voters.score(learned.transform(X_new[y_new == label]), y_new[y_new == label]) > 0.88, label
