import numpy as np
import pytest

from lann import LANNClassifier
from lann.plot import FeatureCurvesDisplay


def test_curves_are_those_of_the_model(binary_clf):
    display = FeatureCurvesDisplay.from_estimator(binary_clf, n_features=3)
    for feature in display.shown_:
        values = np.tile(display.values[:, [feature]], (1, 30))
        curve = binary_clf.curves_.transform(values)[:, feature]
        expected = (curve - curve[0]) / (curve[-1] - curve[0])
        np.testing.assert_allclose(display.heights[:, feature], expected, atol=1e-12)


def test_a_jump_is_a_vertical_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    clf = LANNClassifier(max_iter=2, random_state=0).fit(X, X[:, 0] > 0.3)
    jump = clf.curves_.jumps[0].argmax()
    threshold = clf.curves_.thresholds[0, jump]
    assert threshold == pytest.approx(0.3, abs=0.02)
    display = FeatureCurvesDisplay.from_estimator(clf)
    assert display.shown_[0] == 0
    x, height = display.axes_[0].lines[1].get_data()
    after = np.flatnonzero(x == threshold)[0]
    assert x[after - 1] == np.nextafter(threshold, -np.inf)
    low, high = clf.curves_.transform(np.tile(display.values[[0, -1], :1], 2))[:, 0]
    assert height[after] - height[after - 1] == pytest.approx(clf.curves_.jumps[0, jump] / (high - low))
    assert np.all(np.diff(x) >= 0)
    assert np.all(np.diff(height) >= 0)


def test_units_are_in_the_axis_labels(clf):
    display = FeatureCurvesDisplay.from_estimator(clf)
    assert {ax.get_xlabel() for ax in display.axes_} == {
        "petal length (cm)", "petal width (cm)", "sepal length (cm)", "sepal width (cm)",
    }  # fmt: skip
    assert display.axes_[0].get_title() == f"relevance {100 * display.relevances.max():.1f}%"
    assert display.ax_.get_ylabel() == "learned scale"


def test_legend_names_what_is_drawn(clf, passengers, legend_texts):
    curves = ["learned curve", "counts the same everywhere", "steeper: counts more here"]
    figure = FeatureCurvesDisplay.from_estimator(clf).figure_
    assert legend_texts(figure) == [[*curves, "rows, the middle 99%"]]
    display = FeatureCurvesDisplay.from_estimator(passengers[2], data_name="Titanic", n_features=6)
    assert legend_texts(display.figure_)[0][-2:] == ["missing values", "category (size: rows)"]
    title = display.figure_.get_suptitle().replace("\n", " ")
    assert "the steeper, the more a difference counts" in title
    assert title.endswith("Titanic: 300 training rows; the 6 most relevant of 7 features")


def test_few_different_values_have_a_bar_each():
    values = np.linspace(1.0, 3.0, 240)[:, None]
    data = np.repeat([1.0, 2.0, 3.0], [5, 2, 10])[:, None]
    display = FeatureCurvesDisplay(
        values=values,
        heights=(values - 1) / 2,
        data=data,
        feature_names=["pclass"],
        relevances=np.array([0.5]),
    ).plot()
    bars = display.ax_.patches
    np.testing.assert_allclose([bar.get_x() + bar.get_width() / 2 for bar in bars], [1, 2, 3])
    np.testing.assert_allclose(
        np.array([bar.get_height() for bar in bars]) / bars[2].get_height(), [0.5, 0.2, 1]
    )
    display.figure_.canvas.draw()
    assert all(tick == round(tick) for tick in display.ax_.get_xticks())


@pytest.mark.parametrize("n_features", [1, 20])
def test_labels_are_legible(n_features, long_names, assert_legible):
    rng = np.random.default_rng(0)
    values = np.linspace(np.zeros(n_features), 1000 * rng.random(n_features), 240)
    display = FeatureCurvesDisplay(
        values=values, heights=values / values[-1], data=values, feature_names=long_names(n_features),
        relevances=rng.random(n_features),
    ).plot(n_features=None)  # fmt: skip
    assert_legible(display.figure_)
    assert len({ax.get_xlabel() for ax in display.axes_}) == n_features


def test_invalid_parameters_raise(clf, baseline):
    with pytest.raises(ValueError, match="has no feature curves"):
        FeatureCurvesDisplay.from_estimator(baseline)
    with pytest.raises(ValueError, match="n_features must be an integer of at least 1"):
        FeatureCurvesDisplay.from_estimator(clf, n_features=0)
