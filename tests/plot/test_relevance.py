"""RelevanceDisplay and RelevanceMapDisplay."""

import numpy as np
import pytest

from lann.plot import RelevanceDisplay, RelevanceMapDisplay


def test_markers_are_the_means_of_each_class(clf, iris_frame):
    X, y = iris_frame
    display = RelevanceDisplay.from_estimator(clf, X, y)
    relevances = clf.explain(X).relevances
    for label in range(3):
        members = relevances[y == label]
        np.testing.assert_allclose(display.means[label], members.mean(axis=0))
        np.testing.assert_allclose(display.highs[label], np.quantile(members, 0.9, axis=0))
    assert [panel.get_title() for panel in display.axes_] == ["0", "1", "2"]
    first = display.ax_.get_yticklabels()[0].get_text()
    assert first == X.columns[display.means.max(axis=0).argmax()]


def test_feature_weights_are_averaged_by_class(clf, iris_frame):
    display = RelevanceDisplay.from_estimator(clf, quantity="feature_weights")
    weights = clf.feature_weights_ / clf.feature_weights_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(display.means[1], weights[iris_frame[1] == 1].mean(axis=0))
    assert "feature weights" in display.figure_.get_supxlabel()


@pytest.mark.parametrize(("n_classes", "n_features"), [(2, 60), (8, 64), (12, 64)])
def test_labels_are_legible(n_classes, n_features, long_names, assert_legible):
    means = np.random.default_rng(0).random((n_classes, n_features))
    display = RelevanceDisplay(
        means=means, lows=means / 2, highs=means * 1.2, feature_names=long_names(n_features),
        class_names=[f"class with a name, {k}" for k in range(n_classes)],
    ).plot()  # fmt: skip
    assert len(display.axes_) == (n_classes if n_classes <= 8 else 1)
    assert_legible(display.figure_)


def test_axis_label_and_title_say_what_is_shown(clf, iris_frame):
    X, y = iris_frame
    display = RelevanceDisplay.from_estimator(clf, X, y, data_name="Iris")
    label = display.figure_.get_supxlabel().replace("\n", " ")
    assert "share of the vote that depends on the feature" in label
    assert "marker: mean; bar: the middle 80% of the rows" in label
    assert display.figure_.get_suptitle() == "Relevance of the features, by class\nIris: 150 rows"
    display.figure_.canvas.draw()
    assert all(text.get_text().endswith("%") for text in display.ax_.get_xticklabels())


def test_many_classes_are_a_heat_map(long_class_names, long_names, assert_legible):
    means = np.random.default_rng(0).random((30, 14))
    means[7] = np.nan  # a class without rows
    display = RelevanceDisplay(
        means=means, lows=means, highs=means, feature_names=long_names(14), class_names=long_class_names,
        subtitle="900 rows",
    ).plot(n_features=5)  # fmt: skip
    assert_legible(display.figure_)
    shown = np.argsort(-np.nan_to_num(means).max(axis=0), kind="stable")[:5]
    present = np.delete(np.arange(30), 7)
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), means[np.ix_(present, shown)])
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert [name.split("type ")[1] for name in names] == [str(label + 1) for label in present]
    assert "5 of 14 features" in display.ax_.get_title()


def test_similar_rows_are_adjacent():
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat([0, 1, 2], 20))
    relevances = np.eye(3)[group] + 0.01 * rng.random((60, 3))
    display = RelevanceMapDisplay(
        relevances=relevances, labels=group % 2, feature_names=["a", "b", "c"], class_names=["x", "y"]
    ).plot()
    assert np.count_nonzero(np.diff(group[display.row_order_])) == 2
    assert sorted(display.row_order_.tolist()) == list(range(60))


def test_image_is_of_the_relevances(clf, iris_frame):
    X, y = iris_frame
    display = RelevanceMapDisplay.from_estimator(clf, X, y, n_features=3)
    image = display.ax_.images[0].get_array()
    relevances = clf.explain(X).relevances
    np.testing.assert_array_equal(image, relevances[np.ix_(display.row_order_, display.shown_)])
    assert display.shown_.tolist() == np.argsort(-relevances.mean(axis=0))[:3].tolist()


def test_feature_weights_of_a_baseline(baseline):
    display = RelevanceMapDisplay.from_estimator(baseline, quantity="feature_weights")
    np.testing.assert_allclose(display.relevances.sum(axis=1), 1)
    assert display.ax_.get_title() == "Feature weights, by row\n150 training rows"


@pytest.mark.parametrize(("n_classes", "n_features"), [(3, 13), (10, 64)])
def test_labels_of_maps_are_legible(n_classes, n_features, long_names, assert_legible):
    rng = np.random.default_rng(0)
    display = RelevanceMapDisplay(
        relevances=rng.random((50, n_features)), labels=np.arange(50) % n_classes,
        feature_names=long_names(n_features), class_names=[f"class {k}" for k in range(n_classes)],
    ).plot()  # fmt: skip
    assert_legible(display.figure_)
    assert len(display.ax_.get_legend().get_texts()) == n_classes


def test_rows_of_many_classes_are_ordered_by_class(long_class_names, long_names, assert_legible):
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.arange(90) % 30)
    display = RelevanceMapDisplay(
        relevances=rng.random((90, 5)), labels=labels, feature_names=long_names(5),
        class_names=long_class_names, subtitle="Diseases: 90 rows",
    ).plot()  # fmt: skip
    assert_legible(display.figure_)
    assert labels[display.row_order_].tolist() == np.repeat(np.arange(30), 3).tolist()
    assert display.ax_.get_legend() is None
    (strip,) = display.ax_.child_axes
    names = [text.get_text() for text in strip.get_yticklabels()]
    assert [name.split("type ")[1] for name in names] == [str(k + 1) for k in range(30)]
    assert display.ax_.get_title() == "Relevance of the features, by row\nDiseases: 90 rows"
