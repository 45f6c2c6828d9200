import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

from lann import LANNClassifier
from lann.plot import DecisionRegionsDisplay


@pytest.fixture(scope="module", params=["diagonal", "full"])
def two_features_clf(request, iris_frame):
    X, y = iris_frame
    return LANNClassifier(metric=request.param, max_iter=3, random_state=0).fit(X.iloc[:, 2:], y)


def test_regions_are_predictions(two_features_clf):
    display = DecisionRegionsDisplay.from_estimator(two_features_clf, n_ellipses=6)
    sample = slice(5, None, 30)
    grid = [[x, y] for y in display.ys[sample] for x in display.xs[sample]]
    predicted = two_features_clf.predict(pd.DataFrame(grid, columns=two_features_clf.feature_names_in_))
    regions = two_features_clf.classes_[display.regions[sample, sample].ravel()]
    np.testing.assert_array_equal(regions, predicted)
    assert np.unique(predicted).tolist() == [0, 1, 2]
    assert display.ax_.get_xlabel() == "petal length (cm)"
    assert len(display.X) == 150


def test_ellipses_are_centered_on_training_rows(two_features_clf, iris_frame):
    display = DecisionRegionsDisplay.from_estimator(two_features_clf, n_ellipses=6)
    centers = display.ellipses[:, :-1].mean(axis=1)  # the last point is the first one again
    training = iris_frame[0].iloc[:, 2:].to_numpy()
    assert len(centers) == 6
    for center, label in zip(centers, display.ellipse_labels, strict=True):
        difference = np.abs(training - center).sum(axis=1)
        assert difference.min() < 1e-6
        assert label in iris_frame[1][difference < 1e-6].to_numpy()


def test_other_models_have_regions_without_ellipses(iris_frame):
    X, y = iris_frame[0].iloc[:, 2:].to_numpy(), iris_frame[1]
    display = DecisionRegionsDisplay.from_estimator(KNeighborsClassifier().fit(X, y), X, y)
    assert len(display.ellipses) == 0
    assert np.unique(display.regions).tolist() == [0, 1, 2]


def test_labels_are_legible(two_features_clf, assert_legible):
    assert_legible(DecisionRegionsDisplay.from_estimator(two_features_clf).figure_)


def test_more_than_two_features_raise(clf):
    with pytest.raises(ValueError, match="must have 2 features to draw its regions; got 4"):
        DecisionRegionsDisplay.from_estimator(clf)
