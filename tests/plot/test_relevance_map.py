import numpy as np
import pytest

from lann.plot import RelevanceMapDisplay


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


def test_number_of_rows_is_limited(clf):
    assert RelevanceMapDisplay.from_estimator(clf, n_rows=30).relevances.shape == (30, 4)


def test_feature_weights_of_a_baseline(baseline):
    display = RelevanceMapDisplay.from_estimator(baseline, quantity="feature_weights")
    np.testing.assert_allclose(display.relevances.sum(axis=1), 1)
    assert display.ax_.get_title() == "Feature weights, by row\n150 training rows"


@pytest.mark.parametrize(("n_classes", "n_features"), [(2, 4), (3, 13), (10, 64)])
def test_labels_are_legible(n_classes, n_features, long_names, assert_legible):
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


@pytest.mark.parametrize("n_classes", [3, 10])
def test_a_legend_of_long_names_does_not_hide_the_title(n_classes, long_class_names, assert_legible):
    rng = np.random.default_rng(0)
    display = RelevanceMapDisplay(
        relevances=rng.random((40, 5)), labels=np.arange(40) % n_classes, feature_names=list("abcde"),
        class_names=long_class_names[:n_classes],
    ).plot()  # fmt: skip
    assert_legible(display.figure_)


@pytest.mark.parametrize("n_rows", [1, 2])
def test_few_rows_keep_their_order(n_rows):
    display = RelevanceMapDisplay(
        relevances=np.zeros((n_rows, 2)),
        labels=np.zeros(n_rows, int),
        feature_names=["a", "b"],
        class_names=["x"],
    ).plot()
    assert display.row_order_.tolist() == list(range(n_rows))
