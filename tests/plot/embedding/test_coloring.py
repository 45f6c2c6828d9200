import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from lann import LANNClassifier
from lann.embedding import LANNEmbedding
from lann.plot import EmbeddingDisplay


def test_training_rows_do_not_vote_on_themselves(embedding, halves, leave_one_out_vote):
    X, y = halves[0].to_numpy(), halves[1].to_numpy()
    clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    votes = np.array([leave_one_out_vote(clf, X, y, row)[2] for row in range(len(y))])
    display = EmbeddingDisplay.from_estimator(embedding, color="confidence")
    np.testing.assert_allclose(display.values, votes.max(axis=1))
    misclassified = EmbeddingDisplay.from_estimator(embedding, color="error").misclassified
    np.testing.assert_array_equal(misclassified, votes.argmax(axis=1) != y)
    assert misclassified.any()
    # With their own votes, all training rows are classified correctly and with more confidence.
    assert (clf.predict(X) == y).all()
    assert clf.predict_proba(X).max(axis=1).mean() > display.values.mean()


def test_misclassified_new_rows_are_emphasized(embedding, halves, legend_texts):
    _, _, X, y = halves
    display = EmbeddingDisplay.from_estimator(embedding, X, y, color="error")
    np.testing.assert_array_equal(display.misclassified, embedding.classifier_.predict(X) != y)
    assert f"{display.misclassified.sum()} of 75 rows are misclassified" in display.title
    assert legend_texts(display.figure_)[0][-1] == "misclassified"
    assert "light gray: training rows" in [text.get_text() for text in display.ax_.texts]
    largest = max(markers.get_sizes().max() for markers in display.ax_.collections)
    (emphasized,) = [m for m in display.ax_.collections if m.get_sizes().max() == largest]
    assert len(emphasized.get_offsets()) == display.misclassified.sum()


def test_dominant_feature_is_the_most_relevant_one(binary_clf, breast_cancer, monkeypatch):
    monkeypatch.setattr("lann.plot._embedding.coloring.N_NAMED_FEATURES", 1)
    X, _ = breast_cancer
    embedding = LANNEmbedding(FrozenEstimator(binary_clf), max_iter=30, random_state=0).fit(X)
    display = EmbeddingDisplay.from_estimator(embedding, color="dominant")
    relevances = binary_clf.explain(X).relevances
    dominant = binary_clf.feature_names_in_[relevances.argmax(axis=1)]
    is_clear = relevances.max(axis=1) >= 0.01
    names, counts = np.unique(dominant[is_clear], return_counts=True)
    assert len(names) > 1
    others = ["other features"] + ["no single feature"] * (not is_clear.all())
    assert display.value_names[0] == names[counts.argmax()]
    assert display.value_names[1:] == others
    shown = np.array(display.value_names)[display.values]
    np.testing.assert_array_equal(shown == "no single feature", ~is_clear)
    is_named = is_clear & (shown != "other features")
    np.testing.assert_array_equal(shown[is_named], dominant[is_named])
    assert not np.isin(dominant[is_clear & ~is_named], display.value_names).any()


@pytest.mark.parametrize("color", ["petal length (cm)", 2])
def test_color_of_a_feature_is_its_relevance(embedding, halves, color):
    X = halves[2]
    display = EmbeddingDisplay.from_estimator(embedding, X, color=color)
    np.testing.assert_array_equal(display.values, embedding.classifier_.explain(X).relevances[:, 2])
    (color_bar,) = display.ax_.child_axes
    assert color_bar.get_xlabel() == "share of the vote that depends on petal length (cm)"


@pytest.mark.parametrize(
    ("color", "message"),
    [
        ("weight", "color must be one of 'class', .* from 0 to 3; got 'weight'"),
        (4, "from 0 to 3; got 4"),
    ],
)
def test_unknown_color_raises(embedding, color, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay.from_estimator(embedding, color=color)


def test_errors_of_new_rows_need_labels(embedding, halves):
    with pytest.raises(ValueError, match="color='error' needs the labels of X; got y=None"):
        EmbeddingDisplay.from_estimator(embedding, halves[2], color="error")
