import numpy as np
import pytest

from lann.plot import ContributionBeeswarmDisplay


def test_dots_are_the_supports_of_a_class(clf, flowers):
    X, _ = flowers
    display = ContributionBeeswarmDisplay.from_estimator(clf, X, label=2)
    expected = clf.explain(X).supports[:, 2]
    np.testing.assert_array_equal(display.supports, expected)
    dots = display.ax_.collections[0].get_offsets()
    np.testing.assert_array_equal(dots[:, 0], expected[:, display.shown_[0]])
    assert np.abs(dots[:, 1]).max() < 0.5  # no dot lies nearer to another feature's line
    assert display.shown_.tolist() == np.argsort(-np.abs(expected).mean(axis=0), kind="stable").tolist()


def test_of_two_classes_it_is_the_second(two_class, tumours):
    X, _ = tumours
    display = ContributionBeeswarmDisplay.from_estimator(two_class, X)
    np.testing.assert_array_equal(display.supports, two_class.explain(X).supports[:, 1])
    assert "malignant" in display.ax_.get_xlabel()
    assert len(display.ax_.get_yticklabels()) == 20


def test_of_more_classes_it_is_the_prediction(clf, flowers):
    display = ContributionBeeswarmDisplay.from_estimator(clf, flowers[0])
    np.testing.assert_array_equal(display.supports, clf.explain(flowers[0]).support)


def test_colors_follow_the_order_of_the_values():
    values = np.array([[1.0], [5.0], [2.0], [1e9]])
    display = ContributionBeeswarmDisplay(
        supports=np.array([[0.1], [0.2], [0.3], [0.4]]), values=values, feature_names=["a"]
    ).plot()
    np.testing.assert_allclose(display.ax_.collections[0].get_array(), [0, 2 / 3, 1 / 3, 1])


@pytest.mark.parametrize("n_features", [1, 4, 30, 60])
def test_legible(n_features, long_names, assert_legible):
    supports = np.random.default_rng(0).normal(size=(40, n_features))
    display = ContributionBeeswarmDisplay(
        supports=supports, values=supports, feature_names=long_names(n_features), target="a class"
    ).plot(n_features=None)
    assert_legible(display.figure_)


def test_what_is_refused(clf, weighing):
    with pytest.raises(ValueError, match="label must be one of the classes"):
        ContributionBeeswarmDisplay.from_estimator(clf, label=9)
    with pytest.raises(ValueError, match="does not tell what speaks for and against"):
        ContributionBeeswarmDisplay.from_estimator(weighing)
