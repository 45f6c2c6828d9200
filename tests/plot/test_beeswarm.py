import numpy as np
import pytest

from lann.plot import SupportBeeswarmDisplay


def test_dots_are_the_supports_of_the_class(clf, iris_frame):
    X, _ = iris_frame
    display = SupportBeeswarmDisplay.from_estimator(clf, X, label=2)
    expected = clf.explain(X).supports[:, 2]
    np.testing.assert_array_equal(display.supports, expected)
    dots = display.ax_.collections[0].get_offsets()
    np.testing.assert_array_equal(dots[:, 0], expected[:, display.shown_[0]])
    assert np.abs(dots[:, 1]).max() < 0.5  # every dot is nearest to the line of its feature
    assert display.shown_.tolist() == np.argsort(-np.abs(expected).mean(axis=0), kind="stable").tolist()


def test_colors_are_the_ranks_of_the_values():
    values = np.array([[1.0], [5.0], [2.0], [1e9]])
    display = SupportBeeswarmDisplay(
        supports=np.array([[0.1], [0.2], [0.3], [0.4]]), values=values, feature_names=["a"]
    ).plot()
    np.testing.assert_allclose(display.ax_.collections[0].get_array(), [0, 2 / 3, 1 / 3, 1])


@pytest.mark.parametrize("n_features", [1, 60])
def test_labels_are_legible(n_features, long_names, assert_legible):
    supports = np.random.default_rng(0).normal(size=(40, n_features))
    display = SupportBeeswarmDisplay(
        supports=supports, values=supports, feature_names=long_names(n_features), class_name="a class"
    ).plot(n_features=None)
    assert_legible(display.figure_)


def test_title_and_axis_say_what_is_shown(binary_clf, breast_cancer):
    X, _ = breast_cancer
    display = SupportBeeswarmDisplay.from_estimator(binary_clf, X, n_features=5, data_name="Breast cancer")
    np.testing.assert_array_equal(display.supports, binary_clf.explain(X).supports[:, 1])
    assert display.ax_.get_title() == (
        "Support of malignant by the values of the features\nBreast cancer: 190 rows\n"
        "5 of 30 features, largest mean support first"
    )
    assert display.ax_.get_xlabel().startswith("support of malignant (share of the vote)")
    display.figure_.canvas.draw()
    assert all(text.get_text().endswith("%") for text in display.ax_.get_xticklabels())


def test_an_unknown_label_raises(clf):
    with pytest.raises(ValueError, match="label must be one of the classes"):
        SupportBeeswarmDisplay.from_estimator(clf, label=9)
