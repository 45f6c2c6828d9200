from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.embedding import LANNEmbedding, NeighborEmbedding, compare_embeddings, paper_embeddings
from lann.plot import EmbeddingDisplay


@pytest.fixture(scope="module")
def halves(flowers):
    X, y = flowers
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def embedding(halves):
    X, y, _, _ = halves
    clf = LANNClassifier(max_iter=3, random_state=0)
    return LANNEmbedding(clf, n_epochs=30, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def comparison(halves):
    linear = {name: paper_embeddings()[name] for name in ("PCA", "LDA", "GMLVQ")}
    return compare_embeddings(*halves, embeddings=linear)


@pytest.fixture(scope="module")
def blobs_of():
    """Points in as many groups as there are classes."""

    def make(n_classes, n_each=20):
        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(n_classes), n_each)
        return 9 * rng.random((n_classes, 2))[labels] + 0.2 * rng.normal(size=(len(labels), 2)), labels

    return make


def _texts(figure):
    legends = [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]
    return [[text.get_text() for text in legend.get_texts()] for legend in legends]


def _one_vote(clf, points, labels, row):
    """The vote on a training point without itself, by a search among all others."""
    lengths, neighbors = clf.kneighbors(points[[row]], n_neighbors=clf.n_neighbors_ + 1)
    keep = neighbors[0] != row
    neighbors, distances = neighbors[0][keep][: clf.n_neighbors_], lengths[0][keep][: clf.n_neighbors_] ** 2
    shares = clf._model.shares(neighbors[None], distances[None])[0]
    return neighbors, shares, np.bincount(labels[neighbors], shares, minlength=len(clf.classes_))


def test_training_points_are_where_the_embedding_has_them(embedding, halves):
    display = EmbeddingDisplay.from_estimator(embedding)
    np.testing.assert_array_equal(display.places[0], embedding.embedding_)
    np.testing.assert_array_equal(display.labels[0], halves[1])
    (points,) = display.ax_.collections
    drawn = points.get_offsets()
    # All of them, in another order than that of the classes.
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(embedding.embedding_, axis=0))
    assert np.abs(drawn - embedding.embedding_).max() > 1
    assert _texts(display.figure_) == [["0", "1", "2"]]
    assert len(display.ax_.get_xticks()) == 0
    assert display.ax_.get_aspect() == 1


def test_new_points_are_placed_over_pale_ones(embedding, halves):
    _, _, X, y = halves
    display = EmbeddingDisplay.from_estimator(embedding, X, y, class_names=["setosa", "versic.", "virg."])
    np.testing.assert_array_equal(display.new_places[0], embedding.transform(X))
    np.testing.assert_array_equal(display.new_labels[0], y)
    behind, front = sorted(display.ax_.collections, key=lambda drawn: drawn.get_zorder())
    assert behind.get_facecolor()[:, :3].min() > front.get_facecolor()[:, :3].min() + 0.5
    assert _texts(display.figure_) == [["setosa", "versic.", "virg."]]
    assert display.title == "75 new points among 75"


def test_without_labels_new_points_have_the_predicted_class(embedding, halves):
    X = halves[2]
    display = EmbeddingDisplay.from_estimator(embedding, X)
    np.testing.assert_array_equal(display.new_labels[0], embedding.classifier_.predict(X))


def test_a_pipeline_is_drawn_as_its_last_step(halves):
    X, y, X_new, y_new = halves
    clf = LANNClassifier(max_iter=3, random_state=0)
    pipe = make_pipeline(StandardScaler(), LANNEmbedding(clf, n_epochs=30, random_state=0)).fit(X, y)
    display = EmbeddingDisplay.from_estimator(pipe, X_new, y_new, color="confidence")
    np.testing.assert_allclose(display.new_places[0], pipe.transform(X_new))
    shares = pipe[-1].classifier_.predict_proba(pipe[0].transform(X_new)).max(axis=1)
    np.testing.assert_allclose(display.values, shares)


def test_no_training_point_votes_on_itself(embedding, halves):
    X, y = halves[0], halves[1].to_numpy()
    clf = embedding.classifier_
    points = X.to_numpy()
    clf_on_arrays = LANNClassifier(max_iter=3, random_state=0).fit(points, y)
    votes = np.array([_one_vote(clf_on_arrays, points, y, row)[2] for row in range(len(y))])
    display = EmbeddingDisplay.from_estimator(embedding, color="confidence")
    np.testing.assert_allclose(display.values, votes.max(axis=1))
    wrong = EmbeddingDisplay.from_estimator(embedding, color="error").wrong
    np.testing.assert_array_equal(wrong, votes.argmax(axis=1) != y)
    assert wrong.any()
    # Asked about their own points, all are sure and right.
    assert (clf.predict(X) == y).all()
    assert clf.predict_proba(X).max(axis=1).mean() > display.values.mean()


def test_errors_of_new_points_are_those_of_the_classifier(embedding, halves):
    _, _, X, y = halves
    display = EmbeddingDisplay.from_estimator(embedding, X, y, color="error")
    np.testing.assert_array_equal(display.wrong, embedding.classifier_.predict(X) != y)
    assert f"{display.wrong.sum()} of 75 new points" in display.title
    assert _texts(display.figure_)[0][-1] == "voted for another class"
    largest = max(drawn.get_sizes().max() for drawn in display.ax_.collections)
    (marked,) = [drawn for drawn in display.ax_.collections if drawn.get_sizes().max() == largest]
    assert len(marked.get_offsets()) == display.wrong.sum()


def test_the_dominant_feature_is_the_most_relevant_one(two_class, tumours):
    X, _ = tumours
    embedding = LANNEmbedding(two_class, prefit=True, n_epochs=30, random_state=0).fit(X)
    display = EmbeddingDisplay.from_estimator(embedding, color="dominant")
    most = two_class.explain(X).relevances.argmax(axis=1)
    names, counts = np.unique(two_class.feature_names_in_[most], return_counts=True)
    assert len(display.value_names) == 7  # six, and what is left
    assert display.value_names[0] == names[counts.argmax()]
    assert display.value_names[-1] == "other features"
    shown = np.array(display.value_names)[display.values]
    named = shown != "other features"
    np.testing.assert_array_equal(shown[named], two_class.feature_names_in_[most][named])
    assert not np.isin(two_class.feature_names_in_[most][~named], display.value_names).any()
    assert counts.sum() - named.sum() == (~named).sum() > 0


@pytest.mark.parametrize("color", ["petal length (cm)", 2])
def test_one_feature_is_colored_by_its_relevance(embedding, halves, color):
    X = halves[2]
    display = EmbeddingDisplay.from_estimator(embedding, X, color=color)
    np.testing.assert_array_equal(display.values, embedding.classifier_.explain(X).relevances[:, 2])
    (scale,) = display.ax_.child_axes
    assert "hangs on petal length" in scale.get_xlabel()


def test_lines_go_to_the_neighbors_that_decided(embedding, halves):
    X = halves[2]
    display = EmbeddingDisplay.from_estimator(embedding, X, lines_from=[3, 60])
    explanation = embedding.classifier_.explain(X.iloc[[3, 60]])
    lines = display.lines.reshape(2, -1, 2, 2)
    np.testing.assert_allclose(lines[:, :, 0], np.tile(display.new_places[0][[3, 60], None], (1, 5, 1)))
    np.testing.assert_array_equal(lines[:, :, 1], embedding.embedding_[explanation.neighbors])
    np.testing.assert_allclose(display.line_shares, explanation.vote_shares.ravel())
    own = EmbeddingDisplay.from_estimator(embedding, lines_from=7)
    points, y = halves[0].to_numpy(), halves[1].to_numpy()
    clf = LANNClassifier(max_iter=3, random_state=0).fit(points, y)
    neighbors, shares, _ = _one_vote(clf, points, y, 7)
    np.testing.assert_array_equal(own.lines[:, 1], embedding.embedding_[neighbors])
    np.testing.assert_allclose(own.line_shares, shares)


def test_other_embeddings_have_points_and_classes_only(halves):
    X, y, X_new, y_new = halves
    plain = NeighborEmbedding(n_epochs=30, random_state=0).fit(X)
    assert _texts(EmbeddingDisplay.from_estimator(plain).figure_) == []
    labeled = EmbeddingDisplay.from_estimator(plain, y=y)
    np.testing.assert_array_equal(labeled.labels[0], y)
    new = EmbeddingDisplay.from_estimator(plain, X_new, y_new)
    np.testing.assert_array_equal(new.new_places[0], plain.transform(X_new))
    assert _texts(new.figure_) == [["0", "1", "2"]]
    for asked in ({"color": "confidence"}, {"color": "petal length (cm)"}, {"lines_from": [0]}):
        with pytest.raises(ValueError, match="needs the classifier of a LANNEmbedding"):
            EmbeddingDisplay.from_estimator(plain, **asked)
    with pytest.raises(ValueError, match="for each of the 75 points; got 3"):
        EmbeddingDisplay.from_estimator(plain, y=[0, 1, 2])


@pytest.mark.parametrize("points", ["training", "held out"])
def test_a_comparison_has_names_and_accuracies_below(comparison, points):
    display = EmbeddingDisplay.from_comparison(comparison, points=points, title="Iris")
    assert len(display.axes_) == 3
    assert display.names == ["PCA", "LDA", "GMLVQ"]
    for panel, ax, note in zip(comparison.panels, display.axes_, display.notes, strict=True):
        own, held_out = (f"{share:.2f}"[1:] for share in (panel.accuracy, panel.held_out_accuracy))
        assert note == f"re-classified {own}, held out {held_out}"
        assert [text.get_text() for text in ax.texts] == [panel.name, note]
    assert _texts(display.figure_) == [["0", "1", "2"]]  # one for all
    if points == "held out":
        np.testing.assert_array_equal(display.new_places[2], comparison["GMLVQ"].held_out_places)
    display.figure_.canvas.draw()
    sizes = {tuple(np.round(ax.get_window_extent().size)) for ax in display.axes_}
    assert len(sizes) == 1
    # Names below the panels, the key below these.
    floor = display.axes_[0].get_window_extent().y0
    name, note = (text.get_window_extent() for text in display.axes_[0].texts)
    key = next(ax for ax in display.figure_.axes if ax.get_legend()).get_legend().get_window_extent()
    assert floor >= name.y1 > name.y0 >= note.y1 - 1 > note.y0 >= key.y1 - 1 > key.y0 >= -1


def test_anything_with_panels_is_drawn(blobs_of):
    places, labels = blobs_of(2)
    panel = SimpleNamespace(
        name="mine", places=places, labels=np.array(["b", "a"])[labels], held_out_places=None,
        held_out_labels=None, accuracy=None, held_out_accuracy=None,
    )  # fmt: skip
    display = EmbeddingDisplay.from_comparison(SimpleNamespace(panels=[panel] * 7))
    assert display.notes == [""] * 7
    assert display.class_names == ["a", "b"]
    np.testing.assert_array_equal(display.labels[0], 1 - labels)
    assert len(display.axes_) == 7  # and the key in the empty corner, level with the last
    display.figure_.canvas.draw()
    (key,) = [ax for ax in display.figure_.axes if ax.get_legend()]
    assert key.get_window_extent().y0 == pytest.approx(display.axes_[-1].get_window_extent().y0, abs=3)
    with pytest.raises(ValueError, match="needs held-out points in every panel"):
        EmbeddingDisplay.from_comparison(SimpleNamespace(panels=[panel]), points="held out")


@pytest.mark.parametrize("n_classes", [2, 7, 40])
@pytest.mark.parametrize("n_panels", [1, 6, 7])
def test_every_class_is_told_apart(blobs_of, n_classes, n_panels):
    places, labels = blobs_of(n_classes)
    names = [f"object {place}" for place in range(n_classes)]
    display = EmbeddingDisplay([places] * n_panels, [labels] * n_panels, class_names=names).plot()
    (key,) = [ax.get_legend() for ax in display.figure_.axes if ax.get_legend()]
    looks = {(mark.get_marker(), mark.get_markerfacecolor()) for mark in key.legend_handles}
    assert len(looks) == n_classes
    if n_classes <= 7:  # in color, and in shape
        assert len({shape for shape, _ in looks}) == len({color for _, color in looks}) == n_classes
    display.figure_.canvas.draw()
    assert display.figure_.bbox.contains(*key.get_window_extent().p0 + 1)
    assert display.figure_.bbox.contains(*key.get_window_extent().p1 - 1)
    if n_panels == 1 and n_classes == 40:  # names are written beside the points, too
        boxes = [text.get_window_extent() for text in display.ax_.texts]
        assert sorted(text.get_text() for text in display.ax_.texts) == sorted(names)
        assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


def test_names_that_would_lie_over_others_are_left_out():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(100), 10)
    names = [f"object {place}" for place in range(100)]
    display = EmbeddingDisplay(rng.normal(size=(1000, 2)), labels, class_names=names).plot()
    display.figure_.canvas.draw()
    written = [text for text in display.ax_.texts if "outside" not in text.get_text()]
    boxes = [text.get_window_extent() for text in written]
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])
    assert 20 < len(written) < 100
    assert len(_texts(display.figure_)[0]) == 100  # the key has them all


def test_names_that_are_alike_but_for_their_middle_are_told_apart(blobs_of):
    names = [f"class number {place} long name" for place in (10, 20, 30)]
    for n_panels in (1, 2):
        places, labels = blobs_of(3)
        display = EmbeddingDisplay([places] * n_panels, [labels] * n_panels, class_names=names).plot()
        (written,) = _texts(display.figure_)
        assert len(set(written)) == 3
        assert [name.split("0")[0][-1] for name in written] == ["1", "2", "3"]


def test_a_long_note_is_in_lines_that_fit(blobs_of):
    note = "re-classified .98 of the training rows, each of them left out; held out .96 of those it never saw"
    display = EmbeddingDisplay(*blobs_of(3), names=["mine"], notes=[note]).plot()
    display.figure_.canvas.draw()
    written = [text.get_text() for text in display.ax_.texts]
    assert len(written) == 3
    assert " ".join(written[1:]) == note
    edge = display.figure_.bbox
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert all(edge.x0 <= box.x0 and box.x1 <= edge.x1 for box in boxes)


def test_more_points_are_smaller(blobs_of):
    few, many = (EmbeddingDisplay(*blobs_of(3, n)).plot().ax_.collections[0] for n in (20, 3000))
    assert few.get_sizes().max() > 3 * many.get_sizes().max()
    assert few.get_alpha() > many.get_alpha()
    assert many.get_rasterized()
    assert not few.get_rasterized()


def test_a_few_far_points_do_not_squeeze_the_others(blobs_of):
    places, labels = blobs_of(2, 200)
    places[:2] *= 1000
    ax = EmbeddingDisplay(places, labels, class_names=["a", "b"]).plot().ax_
    assert np.ptp(ax.get_xlim()) < 30
    assert [text.get_text() for text in ax.texts] == ["2 outside"]
    labels[:2] = 2  # a class of their own is not left out
    ax = EmbeddingDisplay(places, labels, class_names=["a", "b", "c"]).plot().ax_
    assert np.ptp(ax.get_xlim()) > 1000


def test_panels_take_the_place_of_axes_that_are_given(embedding, comparison):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    assert EmbeddingDisplay.from_estimator(embedding, ax=left).figure_ is figure
    display = EmbeddingDisplay.from_comparison(comparison, ax=right)
    assert display.figure_ is figure
    figure.canvas.draw()
    assert all(ax.get_window_extent().x0 > left.get_window_extent().x1 for ax in display.axes_)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"color": "weight"}, "color must be one of 'class', .* from 0 to 3; got 'weight'"),
        ({"color": 4}, "from 0 to 3; got 4"),
        ({"lines_from": [75]}, "lines_from must be an integer of at least 0 and at most 74; got 75"),
        ({"y": [0] * 75}, "y was given without X"),
    ],
)
def test_what_cannot_be_shown(embedding, asked, said):
    with pytest.raises(ValueError, match=said):
        EmbeddingDisplay.from_estimator(embedding, **asked)


def test_a_classifier_that_has_learned_more_since_is_refused(halves):
    X, y, X_new, y_new = halves
    clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    embedding = LANNEmbedding(clf, prefit=True, n_epochs=10, random_state=0).fit(X)
    embedding.classifier_.partial_fit(X_new[:5], y_new[:5])
    for asked in ({}, {"X": X_new}, {"color": "confidence"}):
        with pytest.raises(ValueError, match=r"other points since \(80, where 75 were placed\); fit the emb"):
            EmbeddingDisplay.from_estimator(embedding, **asked)


def test_errors_need_labels(embedding, halves):
    with pytest.raises(ValueError, match="color='error' needs the labels of X; got y=None"):
        EmbeddingDisplay.from_estimator(embedding, halves[2], color="error")


def test_other_shapes_are_refused(embedding, clf, halves):
    X = halves[0]
    deep = LANNEmbedding(embedding.classifier_, prefit=True, n_components=3, n_epochs=10).fit(X)
    with pytest.raises(ValueError, match=r"drawn in 2 dimensions; got places of shape \(75, 3\)"):
        EmbeddingDisplay.from_estimator(deep)
    with pytest.raises(ValueError, match="LANNClassifier is no embedding"):
        EmbeddingDisplay.from_estimator(clf)
    with pytest.raises(ValueError, match=r"labels must be one for each of 75 points; got \(3,\)"):
        EmbeddingDisplay(embedding.embedding_, [0, 1, 2])
    with pytest.raises(ValueError, match="class_names must name the 3 classes; got 2 names"):
        EmbeddingDisplay(embedding.embedding_, np.arange(75) % 3, class_names=["a", "b"])
