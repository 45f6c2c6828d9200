"""Conformal sets of a fitted classifier by crepes and MAPIE: marginal, and class-conditional (Mondrian)."""

import numpy as np
import pytest
from scipy.stats import betabinom
from sklearn.base import BaseEstimator, RegressorMixin

from lann import LANNClassifier, LANNRegressor

# Each bound on the number of covered rows is broken once in a thousand draws of the rows.
TAIL = 1e-3
CONFIDENCE = 0.8
N_CALIBRATION = 600


@pytest.fixture(scope="module")
def noisy():
    """Three classes whose labels are random for a share of their rows: "low" is the smallest and noisiest."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 4))
    y = np.digitize(X[:, 0], [-1.0, -0.3])
    is_random = rng.random(len(y)) < np.array([0.5, 0.2, 0.05])[y]
    labels = np.array(["low", "middle", "high"])[np.where(is_random, rng.integers(0, 3, len(y)), y)]
    parts = np.split(np.arange(len(y)), [400, 400 + N_CALIBRATION])
    return [(X[rows], labels[rows]) for rows in parts]


@pytest.fixture(scope="module")
def fitted(noisy):
    return LANNClassifier(max_iter=4, random_state=0).fit(*noisy[0])


def bounds(n_calibration, n_test, confidence=CONFIDENCE):
    """Return the smallest and the largest share of covered test rows that is not surprising.

    The number of covered rows has a beta-binomial distribution where scores have no ties: binomial, with a
    probability of coverage that depends on the calibration rows.
    """
    n_inside = int(np.ceil((n_calibration + 1) * confidence))
    counts = betabinom(n_test, n_inside, n_calibration + 1 - n_inside)
    return counts.ppf(TAIL) / n_test, counts.ppf(1 - TAIL) / n_test


def is_covered(sets, y, classes):
    return sets[np.arange(len(y)), np.searchsorted(classes, y)]


def crepes_sets(fitted, noisy, *, by_class):
    crepes = pytest.importorskip("crepes")
    wrapped = crepes.WrapClassifier(fitted)
    wrapped.calibrate(*noisy[1], class_cond=by_class, seed=0)
    return wrapped.predict_set(noisy[2][0], confidence=CONFIDENCE, labels=False, seed=0).astype(bool)


def mapie_sets(fitted, noisy, *, score="lac", label=None):
    """Return the sets of MAPIE; with a label, those of a quantile of the calibration rows of this class."""
    classification = pytest.importorskip("mapie.classification")
    X, y = noisy[1]
    rows = np.full(len(y), True) if label is None else y == label
    conformal = classification.SplitConformalClassifier(
        fitted, confidence_level=CONFIDENCE, conformity_score=score, random_state=0
    )
    conformal.conformalize(X[rows], y[rows])
    predicted, sets = conformal.predict_set(noisy[2][0])
    np.testing.assert_array_equal(predicted, fitted.predict(noisy[2][0]))
    return sets[:, :, 0]


def test_marginal_sets_of_crepes_cover_the_labels(noisy, fitted):
    y = noisy[2][1]
    sets = crepes_sets(fitted, noisy, by_class=False)
    low, high = bounds(N_CALIBRATION, len(y))
    assert 0.7 < low < CONFIDENCE < high < 0.9
    assert low <= is_covered(sets, y, fitted.classes_).mean() <= high
    assert sets.sum(axis=1).mean() < 1.8


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_marginal_sets_of_mapie_cover_the_labels(noisy, fitted, score):
    """Labels without votes have equal probabilities, so that there is no upper bound on the coverage."""
    y = noisy[2][1]
    sets = mapie_sets(fitted, noisy, score=score)
    assert is_covered(sets, y, fitted.classes_).mean() >= bounds(N_CALIBRATION, len(y))[0]
    assert sets.sum(axis=1).mean() < 2.2


@pytest.mark.filterwarnings("ignore:WARNING. your conformalization dataset has less labels")
def test_class_conditional_sets_of_mapie_cover_the_labels_of_every_class(noisy, fitted):
    y_calibration, y = noisy[1][1], noisy[2][1]
    sets = np.stack(
        [mapie_sets(fitted, noisy, label=label)[:, i] for i, label in enumerate(fitted.classes_)], axis=1
    )
    assert sets.sum(axis=1).mean() < 2.6
    for label in fitted.classes_:
        own = y == label
        low, _ = bounds((y_calibration == label).sum(), own.sum())
        assert is_covered(sets, y, fitted.classes_)[own].mean() >= low


class Spread(RegressorMixin, BaseEstimator):
    """The standard deviation that a fitted regressor predicts, as an estimator of residuals."""

    def __init__(self, regressor=None):
        self.regressor = regressor

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.regressor.predict(X, return_std=True)[1]


@pytest.fixture(scope="module")
def spread_out():
    """A target whose noise depends on a feature: rows to learn from, to calibrate with, and to test."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2100, 3))
    y = np.sin(5 * X[:, 0]) + (0.05 + 0.6 * X[:, 1]) * rng.normal(size=len(X))
    return [(X[rows], y[rows]) for rows in np.split(np.arange(len(y)), [500, 500 + N_CALIBRATION])]


@pytest.fixture(scope="module")
def regressor(spread_out):
    return LANNRegressor(max_iter=4, random_state=0).fit(*spread_out[0])


def check_intervals(intervals, spread_out, regressor):
    """Check the coverage, and that intervals are wide where the noise is strong."""
    X, y = spread_out[2]
    low, high = bounds(N_CALIBRATION, len(y))
    assert low <= np.mean((intervals[:, 0] <= y) & (y <= intervals[:, 1])) <= high
    widths = intervals[:, 1] - intervals[:, 0]
    assert widths[X[:, 1] > 0.8].mean() > 2 * widths[X[:, 1] < 0.2].mean()


def test_intervals_of_crepes_with_our_spread_cover_the_values(spread_out, regressor):
    crepes = pytest.importorskip("crepes")
    predictions, spreads = regressor.predict(spread_out[1][0], return_std=True)
    conformal = crepes.ConformalRegressor().fit(residuals=spread_out[1][1] - predictions, sigmas=spreads)
    predictions, spreads = regressor.predict(spread_out[2][0], return_std=True)
    intervals = conformal.predict_int(predictions, sigmas=spreads, confidence=CONFIDENCE)
    check_intervals(np.asarray(intervals), spread_out, regressor)


def test_intervals_of_mapie_with_our_spread_cover_the_values(spread_out, regressor):
    regression = pytest.importorskip("mapie.regression")
    scores = pytest.importorskip("mapie.conformity_scores")
    score = scores.ResidualNormalisedScore(Spread(regressor).fit(None, None), prefit=True, sym=True)
    conformal = regression.SplitConformalRegressor(
        regressor, confidence_level=CONFIDENCE, conformity_score=score
    )
    conformal.conformalize(*spread_out[1])
    predictions, intervals = conformal.predict_interval(spread_out[2][0])
    np.testing.assert_array_equal(predictions, regressor.predict(spread_out[2][0]))
    check_intervals(intervals[:, :, 0], spread_out, regressor)


def test_own_intervals_cover_the_values(spread_out, regressor):
    intervals = regressor.predict_interval(spread_out[2][0], CONFIDENCE)
    check_intervals(intervals, spread_out, regressor)
