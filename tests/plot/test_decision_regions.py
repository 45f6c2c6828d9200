import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.neighbors import KNeighborsClassifier

from lann import LANNClassifier
from lann.plot import DecisionRegionsDisplay, class_colors


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


def test_many_classes_with_long_names(long_class_names, long_names, assert_legible):
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 30
    display = DecisionRegionsDisplay(
        xs=np.linspace(0, 1, 20), ys=np.linspace(0, 1, 20), regions=rng.integers(0, 30, (20, 20)),
        X=rng.random((300, 2)), labels=labels, ellipses=np.empty((0, 0, 2)), ellipse_labels=np.empty(0, int),
        feature_names=[f"{name} in the blood sample (mg/dl)" for name in long_names(2)],
        class_names=long_class_names, subtitle="Diseases: 300 rows",
    ).plot()  # fmt: skip
    assert_legible(display.figure_)
    legend = display.ax_.get_legend()
    display.figure_.canvas.draw()
    assert legend.get_window_extent().x0 >= display.ax_.get_window_extent().x1 - 1
    texts = [text.get_text() for text in legend.get_texts()]
    assert [text.split("type ")[1] for text in texts] == [str(k + 1) for k in range(30)]
    colors = [to_hex(rows.get_facecolor()[0]).upper() for rows in display.ax_.collections[1:]]
    assert colors == class_colors(30)
    assert display.ax_.get_title() == "Decision regions: the predicted class\nDiseases: 300 rows"


def test_more_than_two_features_raise(clf):
    with pytest.raises(ValueError, match="must have 2 features to draw its regions; got 4"):
        DecisionRegionsDisplay.from_estimator(clf)
