import matplotlib.pyplot as plt
import numpy as np
import pytest

from lann.plot import RelevanceDisplay


def test_marks_are_the_means_of_each_class(clf, flowers):
    X, y = flowers
    display = RelevanceDisplay.from_estimator(clf, X, y, quantiles=(0.2, 0.8))
    relevances = clf.explain(X).relevances
    for place in range(3):
        own = relevances[y == place]
        np.testing.assert_allclose(display.means[place], own.mean(axis=0))
        np.testing.assert_allclose(display.highs[place], np.quantile(own, 0.8, axis=0))
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    first = display.ax_.get_yticklabels()[0].get_text()
    assert first == X.columns[display.means.max(axis=0).argmax()]


def test_weights_are_the_reading_of_the_paper(clf, flowers):
    display = RelevanceDisplay.from_estimator(clf, reading="weights")
    shares = clf.feature_weights_ / clf.feature_weights_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(display.means[1], shares[flowers[1] == 1].mean(axis=0))
    assert "weights" in display.ax_.get_xlabel()


def test_a_baseline_shows_its_weights(weighing):
    display = RelevanceDisplay.from_estimator(weighing)
    np.testing.assert_allclose(display.means.sum(axis=1), 1)
    with pytest.raises(ValueError, match="reading='votes' is for LANNClassifier"):
        RelevanceDisplay.from_estimator(weighing, reading="votes")


def test_the_fingerprints_of_two_classes_are_one_call(two_class, assert_legible):
    display = RelevanceDisplay.from_estimator(two_class)
    assert display.means.shape == (2, 30)
    assert len(display.axes_) == 1
    assert len(display.ax_.get_yticklabels()) == 30
    assert_legible(display.figure_)


@pytest.mark.parametrize(("n_classes", "n_features"), [(2, 4), (3, 13), (2, 60), (10, 64), (5, 4)])
def test_legible(n_classes, n_features, long_names, assert_legible):
    means = np.random.default_rng(0).random((n_classes, n_features))
    display = RelevanceDisplay(
        means=means, lows=means / 2, highs=means * 1.2, feature_names=long_names(n_features),
        class_names=[f"class with a name, {place}" for place in range(n_classes)],
    ).plot()  # fmt: skip
    assert len(display.axes_) == (1 if n_classes <= 3 else n_classes)
    assert_legible(display.figure_)


def test_it_draws_where_it_is_told(clf):
    figure, axes = plt.subplots(1, 2)
    display = RelevanceDisplay.from_estimator(clf, ax=axes[1], n_features=2, sort=False)
    assert display.figure_ is figure
    assert len(display.ax_.get_yticklabels()) == 2


def test_what_is_refused(clf):
    with pytest.raises(ValueError, match="reading must be one of"):
        RelevanceDisplay.from_estimator(clf, reading="shap")
    with pytest.raises(ValueError, match="two ascending numbers"):
        RelevanceDisplay.from_estimator(clf, quantiles=(0.9, 0.1))
