"""EmbeddingDisplay."""

import itertools

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
    assert written == {"setosa", "versic.", "virg."}
    assert display.ax_.get_xlabel() == "pale: training rows"
    title = "Embedding: similar rows are near each other\nIris: 75 new rows among 75 training rows"
    assert display.title == title


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
    for options in ({"color": "confidence"}, {"lines_from": [0]}):
        with pytest.raises(ValueError, match="need a LANNEmbedding"):
            EmbeddingDisplay.from_estimator(embedding, **options)


def test_invalid_estimators_raise(embedding, clf, halves):
    embedding_3d = LANNEmbedding(FrozenEstimator(embedding.classifier_), n_components=3, max_iter=10)
    with pytest.raises(ValueError, match=r"in 2 dimensions; got an array of shape \(75, 3\)"):
        EmbeddingDisplay.from_estimator(embedding_3d.fit(halves[0]))
    with pytest.raises(ValueError, match="must be a LANNEmbedding or NeighborEmbedding; got LANNClassifier"):
        EmbeddingDisplay.from_estimator(clf)


def test_training_rows_do_not_vote_on_themselves(embedding, halves):
    X, y = halves[0], halves[1].to_numpy()
    votes = embedding.classifier_.explain(X).probabilities  # without the rows themselves
    display = EmbeddingDisplay.from_estimator(embedding, color="confidence")
    np.testing.assert_allclose(display.values, votes.max(axis=1))
    misclassified = EmbeddingDisplay.from_estimator(embedding, color="error").misclassified
    np.testing.assert_array_equal(misclassified, votes.argmax(axis=1) != y)
    assert misclassified.any()
    assert (embedding.classifier_.predict(X) == y).all()


def test_misclassified_new_rows_are_emphasized(embedding, halves, legend_texts):
    _, _, X, y = halves
    display = EmbeddingDisplay.from_estimator(embedding, X, y, color="error")
    np.testing.assert_array_equal(display.misclassified, embedding.classifier_.predict(X) != y)
    assert f"{display.misclassified.sum()} of 75 rows are misclassified" in display.title
    assert legend_texts(display.figure_)[0][-1] == "misclassified"
    assert display.ax_.get_xlabel() == "light gray: training rows"
    largest = max(markers.get_sizes().max() for markers in display.ax_.collections)
    (emphasized,) = [m for m in display.ax_.collections if m.get_sizes().max() == largest]
    assert len(emphasized.get_offsets()) == display.misclassified.sum()


@pytest.mark.parametrize("subset", ["training", "held_out"])
def test_panels_have_names_and_accuracies(comparison, subset, legend_texts):
    display = EmbeddingDisplay.from_comparison(comparison, subset=subset, title="Iris")
    assert display.names == ["PCA", "LDA", "GMLVQ"]
    for panel, ax, note in zip(comparison.panels, display.axes_, display.notes, strict=True):
        leave_one_out, held_out = (f"{a:.2f}"[1:] for a in (panel.accuracy, panel.held_out_accuracy))
        assert note == f"leave-one-out {leave_one_out}, held-out {held_out}"
        assert (ax.get_title(), ax.get_xlabel()) == (panel.name, note)
    (entries,) = legend_texts(display.figure_)  # one for all panels
    assert sorted(entries) == ["0", "1", "2"] + ["training row (pale)"] * (subset == "held_out")
    if subset == "held_out":
        np.testing.assert_array_equal(display.new_coordinates[2], comparison["GMLVQ"].held_out_coordinates)
    else:
        assert display.new_coordinates == [None] * 3


def test_lines_end_at_the_neighbors(embedding, halves):
    X = halves[2]
    display = EmbeddingDisplay.from_estimator(embedding, X, lines_from=[3, 60])
    explanation = embedding.classifier_.explain(X.iloc[[3, 60]])
    lines = display.lines.reshape(2, -1, 2, 2)
    starts = np.tile(display.new_coordinates[0][[3, 60], None], (1, explanation.neighbors.shape[1], 1))
    np.testing.assert_allclose(lines[:, :, 0], starts)
    np.testing.assert_array_equal(lines[:, :, 1], embedding.embedding_[explanation.neighbors])
    np.testing.assert_allclose(display.line_shares, explanation.vote_shares.ravel())


def test_names_that_would_overlap_are_omitted(legend_texts):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(100), 10)
    names = [f"object {k}" for k in range(100)]
    display = EmbeddingDisplay(rng.normal(size=(1000, 2)), labels, class_names=names).plot()
    display.figure_.canvas.draw()
    written = [text for text in display.ax_.texts if "outside" not in text.get_text()]
    boxes = [text.get_window_extent() for text in written]
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))
    assert 10 < len(written) < 100
    assert len(legend_texts(display.figure_)[0]) == 100


def test_a_few_outliers_are_outside_but_no_class(make_clusters):
    coordinates, labels = make_clusters(2, 200)
    coordinates[:2] *= 1000
    ax = EmbeddingDisplay(coordinates, labels, class_names=["a", "b"]).plot().ax_
    assert np.ptp(ax.get_xlim()) < 30
    assert "2 outside" in [text.get_text() for text in ax.texts]
    labels[:2] = 2
    ax = EmbeddingDisplay(coordinates, labels, class_names=["a", "b", "c"]).plot().ax_
    assert np.ptp(ax.get_xlim()) > 1000


@pytest.mark.parametrize("color", ["petal length (cm)", 2])
def test_color_of_a_feature_is_its_relevance(embedding, halves, color):
    display = EmbeddingDisplay.from_estimator(embedding, halves[2], color=color)
    np.testing.assert_array_equal(display.values, embedding.classifier_.explain(halves[2]).relevances[:, 2])
    label = display.figure_.axes[-1].get_ylabel()
    assert label == "share of the vote that depends on petal length (cm)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": "weight"}, "color must be one of 'class', .* from 0 to 3; got 'weight'"),
        ({"color": 4}, "from 0 to 3; got 4"),
        ({"lines_from": [75]}, "lines_from must be an integer of at least 0 and at most 74; got 75"),
        ({"y": [0] * 75}, "y was given without X"),
    ],
)
def test_invalid_options_raise(embedding, options, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay.from_estimator(embedding, **options)


@pytest.mark.parametrize(("n_classes", "n_panels"), [(2, 1), (7, 7), (40, 6)])
def test_every_class_has_its_own_marker_in_the_legend(make_clusters, n_classes, n_panels):
    coordinates, labels = make_clusters(n_classes)
    names = [f"object {k}" for k in range(n_classes)]
    display = EmbeddingDisplay([coordinates] * n_panels, [labels] * n_panels, class_names=names).plot()
    legend = display.ax_.get_legend() or display.figure_.legends[0]
    markers = {(handle.get_marker(), handle.get_markerfacecolor()) for handle in legend.legend_handles}
    assert len(markers) == n_classes
    if n_classes <= 7:
        assert len({shape for shape, _ in markers}) == len({color for _, color in markers}) == n_classes
    display.figure_.canvas.draw()
    assert display.figure_.bbox.contains(*legend.get_window_extent().p0 + 1)
    assert display.figure_.bbox.contains(*legend.get_window_extent().p1 - 1)


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize(("n_panels", "n_classes"), [(2, 3), (7, 7)])
def test_panels_and_legend_do_not_overlap_in_given_axes(make_clusters, layout, n_panels, n_classes):
    figure, ax = plt.subplots(layout=layout)
    coordinates, labels = make_clusters(n_classes)
    display = EmbeddingDisplay(
        [coordinates] * n_panels, [labels] * n_panels, names=[f"method {k}" for k in range(n_panels)],
        notes=["leave-one-out .98"] * n_panels, title="Some data",
    ).plot(ax)  # fmt: skip
    figure.canvas.draw()
    assert display.figure_ is figure
    boxes = [panel.get_tightbbox() for panel in display.axes_]
    boxes.append(figure.subfigs[0].legends[0].get_window_extent())
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))
    for box in boxes:
        assert figure.bbox.contains(*box.p0)
        assert figure.bbox.contains(*box.p1)
    assert min(panel.get_window_extent().height for panel in display.axes_) > 40


XY = np.arange(12.0).reshape(6, 2)


LABELS = np.array([0, 1, 0, 1, 0, 1])


TWO = [XY, XY]


@pytest.mark.parametrize(
    ("coordinates", "labels", "options", "message"),
    [
        (XY * np.nan, None, {}, "coordinates must be finite, in 2 dimensions"),
        (XY, list("ababab"), {}, "labels must be indices into the names, integers from 0; got .*'a'"),
        (XY, LABELS[:5], {}, r"labels must have shape \(6,\), one value per row; got \(5,\)"),
        (XY, LABELS, {"class_names": ["a"]}, "class_names must have 2 names, one per class; got 1"),
        (TWO, [LABELS], {}, "labels must be a list with one item for each of 2 panels"),
        (TWO, None, {"values": LABELS}, "values, misclassified and lines need a single panel; got 2"),
    ],
)
def test_invalid_parameters_raise(coordinates, labels, options, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay(coordinates, labels, **options)
