import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.embedding import LANNEmbedding, NeighborEmbedding
from lann.plot import EmbeddingDisplay


def test_training_rows_are_drawn_in_random_order(embedding, halves, legend_texts):
    display = EmbeddingDisplay.from_estimator(embedding)
    np.testing.assert_array_equal(display.coordinates[0], embedding.embedding_)
    np.testing.assert_array_equal(display.labels[0], halves[1])
    (markers,) = display.ax_.collections
    drawn = markers.get_offsets()
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(embedding.embedding_, axis=0))
    assert np.abs(drawn - embedding.embedding_).max() > 1
    assert legend_texts(display.figure_) == [["0", "1", "2"]]
    assert len(display.ax_.get_xticks()) == 0
    assert display.ax_.get_aspect() == 1


def test_new_rows_are_drawn_over_pale_training_rows(embedding, halves, legend_texts):
    _, _, X, y = halves
    display = EmbeddingDisplay.from_estimator(
        embedding, X, y, class_names=["setosa", "versic.", "virg."], data_name="Iris"
    )
    np.testing.assert_array_equal(display.new_coordinates[0], embedding.transform(X))
    np.testing.assert_array_equal(display.new_labels[0], y)
    back, front = sorted(display.ax_.collections, key=lambda markers: markers.get_zorder())
    assert back.get_facecolor()[:, :3].min() > front.get_facecolor()[:, :3].min() + 0.5
    assert legend_texts(display.figure_) == [["setosa", "versic.", "virg."]]
    written = {text.get_text() for text in display.ax_.texts}
    assert {"setosa", "versic.", "virg.", "pale: training rows"} <= written
    title = "Embedding: similar rows are near each other\nIris: 75 new rows among 75 training rows"
    assert display.title == title


def test_new_rows_without_labels_have_the_predicted_class(embedding, halves):
    X = halves[2]
    display = EmbeddingDisplay.from_estimator(embedding, X)
    np.testing.assert_array_equal(display.new_labels[0], embedding.classifier_.predict(X))


def test_pipeline_transforms_new_rows(halves):
    X, y, X_new, y_new = halves
    clf = LANNClassifier(max_iter=3, random_state=0)
    pipe = make_pipeline(StandardScaler(), LANNEmbedding(clf, max_iter=30, random_state=0)).fit(X, y)
    display = EmbeddingDisplay.from_estimator(pipe, X_new, y_new, color="confidence")
    np.testing.assert_allclose(display.new_coordinates[0], pipe.transform(X_new))
    shares = pipe[-1].classifier_.predict_proba(pipe[0].transform(X_new)).max(axis=1)
    np.testing.assert_allclose(display.values, shares)


def test_neighbor_embedding_has_classes_only_if_given(halves, legend_texts):
    X, y, X_new, y_new = halves
    embedding = NeighborEmbedding(max_iter=30, random_state=0).fit(X)
    assert legend_texts(EmbeddingDisplay.from_estimator(embedding).figure_) == []
    with_labels = EmbeddingDisplay.from_estimator(embedding, y=y)
    np.testing.assert_array_equal(with_labels.labels[0], y)
    new = EmbeddingDisplay.from_estimator(embedding, X_new, y_new)
    np.testing.assert_array_equal(new.new_coordinates[0], embedding.transform(X_new))
    assert legend_texts(new.figure_) == [["0", "1", "2"]]
    for options in ({"color": "confidence"}, {"color": "petal length (cm)"}, {"lines_from": [0]}):
        with pytest.raises(ValueError, match="needs the classifier of a LANNEmbedding"):
            EmbeddingDisplay.from_estimator(embedding, **options)
    with pytest.raises(ValueError, match="must have 75 labels, one per row; got 3"):
        EmbeddingDisplay.from_estimator(embedding, y=[0, 1, 2])


def test_draws_on_the_given_axes(embedding, comparison):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    assert EmbeddingDisplay.from_estimator(embedding, ax=left).figure_ is figure
    display = EmbeddingDisplay.from_comparison(comparison, ax=right)
    assert display.figure_ is figure
    figure.canvas.draw()
    assert all(ax.get_window_extent().x0 > left.get_window_extent().x1 for ax in display.axes_)


def test_invalid_estimators_raise(embedding, clf, halves):
    X = halves[0]
    embedding_3d = LANNEmbedding(FrozenEstimator(embedding.classifier_), n_components=3, max_iter=10).fit(X)
    with pytest.raises(ValueError, match=r"must have 2 dimensions to be drawn; got shape \(75, 3\)"):
        EmbeddingDisplay.from_estimator(embedding_3d)
    with pytest.raises(ValueError, match="must be a LANNEmbedding or NeighborEmbedding; got LANNClassifier"):
        EmbeddingDisplay.from_estimator(clf)
    with pytest.raises(ValueError, match="y was given without X"):
        EmbeddingDisplay.from_estimator(embedding, y=[0] * 75)


def test_classifier_trained_after_the_embedding_raises(halves):
    X, y, X_new, y_new = halves
    clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    embedding = LANNEmbedding(FrozenEstimator(clf), max_iter=10, random_state=0).fit(X)
    embedding.classifier_.partial_fit(X_new[:5], y_new[:5])
    for options in ({}, {"X": X_new}, {"color": "confidence"}):
        with pytest.raises(ValueError, match=r"other rows \(80\) after .* \(75 rows\); fit the embedding"):
            EmbeddingDisplay.from_estimator(embedding, **options)
