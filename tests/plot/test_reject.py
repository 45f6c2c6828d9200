import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lann.plot import RejectDisplay
from lann.reject import (
    RejectOption,
    accuracy_reject_curve,
    aurc,
    precision_reject_curve,
    recall_reject_curve,
    risk_coverage_curve,
)

FUNCTIONS = {
    "risk_coverage": risk_coverage_curve,
    "accuracy_reject": accuracy_reject_curve,
    "precision_reject": precision_reject_curve,
    "recall_reject": recall_reject_curve,
}
Y_TRUE, Y_PRED = np.array([0, 1, 1, 0, 1, 0, 1, 0]), np.array([0, 1, 0, 0, 1, 1, 1, 0])
CERTAINTY = np.array([0.9, 0.99, 0.6, 0.8, 0.7, 0.55, 0.95, 0.85])


@pytest.fixture(scope="module")
def held_out(breast_cancer):
    X, y = breast_cancer
    return X[1::2], y[1::2]


@pytest.fixture(scope="module")
def linear(breast_cancer):
    X, y = breast_cancer
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_curves_are_those_of_the_functions(kind, assert_legible):
    by_class = {"label": 1} if kind[0] in ("p", "r") and kind != "risk_coverage" else {}
    display = RejectDisplay.from_predictions(Y_TRUE, Y_PRED, CERTAINTY, kind=kind, data_name="Toy")
    (curve,) = display.curves
    shares, values = FUNCTIONS[kind](Y_TRUE, Y_PRED, CERTAINTY, **by_class)
    np.testing.assert_array_equal(curve.shares, shares)
    np.testing.assert_array_equal(curve.values, values)
    assert curve.aurc == aurc(Y_TRUE, Y_PRED, CERTAINTY)
    # The line goes on to where nothing is accepted.
    drawn = display.lines_[0].get_xydata()
    own = drawn[1:] if kind == "risk_coverage" else drawn[:-1]
    np.testing.assert_array_equal(own, np.column_stack([shares, values]))
    assert {drawn[:, 0].min(), drawn[:, 0].max()} == {0.0, 1.0}
    assert "Toy: 8 rows" in display.ax_.get_title()
    assert ("class 1" in display.ax_.get_title()) == bool(by_class)
    assert_legible(display.figure_)


@pytest.mark.parametrize(
    ("kind", "point"),
    [
        ("risk_coverage", (0.75, 0.0)),
        ("recall_reject", (0.25, 1.0)),
    ],
)
def test_what_is_accepted_is_marked(kind, point):
    display = RejectDisplay.from_predictions(Y_TRUE, Y_PRED, CERTAINTY, accepted=CERTAINTY > 0.65, kind=kind)
    assert display.curves[0].point == point
    (marked,) = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert (marked.get_xdata()[0], marked.get_ydata()[0]) == point
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[1] == "chosen: 75% accepted"
    nothing = RejectDisplay.from_predictions(Y_TRUE, Y_PRED, CERTAINTY, accepted=CERTAINTY > 1.0, kind=kind)
    assert nothing.curves[0].point is None


def test_several_estimators_share_axes(binary_clf, linear, held_out, assert_legible):
    X, y = held_out
    together = RejectDisplay.from_estimator({"LANN": binary_clf, "linear": linear}, X, y)
    first = RejectDisplay.from_estimator(binary_clf, X, y, name="LANN")
    second = RejectDisplay.from_estimator(linear, X, y, name="linear", ax=first.ax_)
    for one, other in zip(together.ax_.lines, second.ax_.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
        assert (one.get_color(), one.get_linestyle()) == (other.get_color(), other.get_linestyle())
    assert len({line.get_color() for line in together.lines_}) == 2
    assert first.ax_.get_ylim() == together.ax_.get_ylim()
    assert_legible(first.figure_)


def test_reject_option_has_its_certainty_and_its_choice(breast_cancer, held_out, assert_legible):
    X, y = breast_cancer
    option = RejectOption(LogisticRegression(max_iter=10_000), coverage=0.8, cv=3, random_state=0)
    option.fit(X[::2], y[::2])
    X, y = held_out
    display = RejectDisplay.from_estimator(option, X, y, data_name="Breast cancer")
    (curve,) = display.curves
    assert curve.name == "LogisticRegression"
    predicted = option.estimator_.predict(X)
    assert curve.aurc == aurc(y, predicted, option.certainties(X))
    accepted = np.asarray(option.decision(X)) == "accepted"
    assert 0 < accepted.mean() < 1
    assert curve.point == (accepted.mean(), (predicted != y)[accepted].mean())
    assert_legible(display.figure_)


def test_noise_among_few_rows_does_not_set_the_limits():
    rng = np.random.default_rng(0)
    certainty = np.sort(rng.random(1000))[::-1]
    y_pred = (rng.random(1000) < 0.05).astype(int)
    y_pred[0] = 1  # the most certain prediction is wrong: the risk starts at 100 %
    display = RejectDisplay.from_predictions(np.zeros(1000, int), y_pred, certainty)
    assert display.ax_.get_ylim()[1] < 0.3
    assert display.curves[0].values.max() == 1.0


def test_invalid_parameters_raise(binary_clf, clf, iris_frame, breast_cancer, held_out):
    X, y = held_out
    with pytest.raises(ValueError, match="kind must be"):
        RejectDisplay.from_estimator(binary_clf, X, y, kind="roc")
    with pytest.raises(ValueError, match="label must name the class whose recall is drawn"):
        RejectDisplay.from_estimator(clf, *iris_frame, kind="recall_reject")
    with pytest.raises(ValueError, match="name must be None if several estimators"):
        RejectDisplay.from_estimator({"a": binary_clf}, X, y, name="b")
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba; use from_predictions"):
        RejectDisplay.from_estimator(LinearSVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"accepted must have a bool for each of the 8 rows; got \[1, 0\]"):
        RejectDisplay.from_predictions(Y_TRUE, Y_PRED, CERTAINTY, accepted=[1, 0])
    with pytest.raises(ValueError, match="at least one curve"):
        RejectDisplay([])
