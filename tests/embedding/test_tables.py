"""Embeddings of tables: as the classifier sees them."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator

from lann import LANNClassifier
from lann.embedding import LANNEmbedding, compare_embeddings
from lann.embedding._comparison import scaled_features
from lann.plot import EmbeddingDisplay

pytest.importorskip("umap")


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


def test_fit_and_transform_a_table(passengers):
    frame, y, _ = passengers
    own = LANNEmbedding(LANNClassifier(max_iter=1, random_state=0), max_iter=20, random_state=0)
    coordinates = own.fit_transform(frame[:200], y[:200])
    assert coordinates.shape == (200, 2)
    assert np.array_equal(own.transform(frame[:200]), coordinates)
    assert own.classifier_.schema_.features[0].categories == ("female", "male")


def test_arrays_with_gaps(blobs):
    X, y = blobs
    X[::5, 1] = np.nan
    found = LANNEmbedding(LANNClassifier(max_iter=1, random_state=0), max_iter=20, random_state=0).fit(X, y)
    assert np.array_equal(found.transform(X), found.embedding_)
    frozen = LANNEmbedding(FrozenEstimator(found.classifier_), max_iter=20, random_state=0).fit(X)
    assert np.array_equal(frozen.neighbors_, found.neighbors_)


def test_a_row_without_any_value_raises(blobs):
    X, y = blobs
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X, y)
    found = LANNEmbedding(FrozenEstimator(clf), max_iter=20, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Row 0 of X has no value to measure"):
        found.transform(np.full((1, 4), np.nan))


def test_tags_are_those_of_the_classifier():
    from sklearn.utils import get_tags

    from lann.baselines import LMNN

    assert get_tags(LANNEmbedding()).input_tags.allow_nan
    assert get_tags(LANNEmbedding(LANNClassifier())).input_tags.categorical
    assert not get_tags(LANNEmbedding(LMNN())).input_tags.allow_nan


def test_displays(embedding, passengers):
    frame, y, _ = passengers
    shown = EmbeddingDisplay.from_estimator(embedding, frame[300:], y[300:])
    assert shown.figure_ is not None
    colored = EmbeddingDisplay.from_estimator(embedding, color="Sex")
    np.testing.assert_array_equal(colored.values, embedding.classifier_.explain(frame[:300]).relevances[:, 0])


def test_scores_of_a_table(embedding, passengers):
    frame, y, clf = passengers
    found = compare_embeddings(
        frame[:300], y[:300], frame[300:], y[300:],
        embeddings={"LANN": LANNEmbedding(clf, max_iter=20, random_state=0)},
    )  # fmt: skip
    assert found["LANN"].held_out_accuracy > 0.7
    assert np.isfinite(found.to_frame().to_numpy()).all()


def test_scaled_features(passengers, iris):
    frame, _, _ = passengers
    scaled = scaled_features(frame)
    # 2 coordinates for Age and its gaps, 1 for Sex, 4 for Town and its gaps.
    assert scaled.shape == (400, 1 + 1 + 2 + 1 + 4 + 1 + 1)
    numbers = [0, 1, 3, 4, 9, 10]
    np.testing.assert_allclose(scaled[:, [*numbers[1:2], *numbers[3:4], 9, 10]].std(axis=0), 1.0)
    np.testing.assert_allclose(scaled[:, 5:9].var(axis=0).sum(), 1.0)
    given = iris[0].copy()
    np.testing.assert_allclose(scaled_features(given), (given - given.mean(axis=0)) / given.std(axis=0))
    given[3, 1] = np.nan
    assert scaled_features(given).shape == (150, 5)
    assert np.isnan(given).sum() == 1
    assert PCA(2).fit_transform(scaled).shape == (400, 2)
