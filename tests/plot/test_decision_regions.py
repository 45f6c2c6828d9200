import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.plot import DecisionRegionsDisplay


@pytest.fixture(scope="module", params=["diagonal", "full"])
def plane(request, flowers):
    X, y = flowers
    return LANNClassifier(metric=request.param, max_iter=3, random_state=0).fit(X.iloc[:, 2:], y)


def test_regions_are_predictions(plane):
    display = DecisionRegionsDisplay.from_estimator(plane, n_ellipses=6)
    asked = slice(5, None, 30)  # every 30th place in both directions, row by row
    places = [[x, y] for y in display.ys[asked] for x in display.xs[asked]]
    predicted = plane.predict(pd.DataFrame(places, columns=plane.feature_names_in_))
    np.testing.assert_array_equal(plane.classes_[display.regions[asked, asked].ravel()], predicted)
    assert np.unique(predicted).tolist() == [0, 1, 2]
    assert display.ax_.get_xlabel() == "petal length (cm)"
    assert len(display.points) == 150


def test_ellipses_belong_to_training_points(plane, flowers):
    display = DecisionRegionsDisplay.from_estimator(plane, n_ellipses=6)
    centers = display.ellipses[:, :-1].mean(axis=1)  # the last point closes the line
    known = flowers[0].iloc[:, 2:].to_numpy()
    for center, owner in zip(centers, display.owners, strict=True):
        gap = np.abs(known - center).sum(axis=1)
        assert gap.min() < 1e-6
        assert owner in flowers[1][gap < 1e-6].to_numpy()


def test_other_models_have_regions_without_ellipses(flowers):
    from sklearn.neighbors import KNeighborsClassifier

    X, y = flowers
    knn = KNeighborsClassifier().fit(X.iloc[:, 2:].to_numpy(), y)
    display = DecisionRegionsDisplay.from_estimator(knn, X.iloc[:, 2:].to_numpy(), y)
    assert len(display.ellipses) == 0
    assert np.unique(display.regions).tolist() == [0, 1, 2]


def test_legible(plane, assert_legible):
    assert_legible(DecisionRegionsDisplay.from_estimator(plane).figure_)


def test_more_features_are_refused(clf):
    with pytest.raises(ValueError, match="over 2 features; the model has 4"):
        DecisionRegionsDisplay.from_estimator(clf)
