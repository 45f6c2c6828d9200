"""What `fit` learns, and what its parameters change."""

import numpy as np
import pytest

from lann import LANNClassifier


def clf_of(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 4} | options))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"levels": ("class",)},
        {"levels": ("point",)},
        {"n_candidates": None},
        {"metric": "full"},
    ],
)
def test_the_loss_falls(wine, options):
    X, y = wine
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    clf = clf_of(**options, max_iter=6, alpha=0.0).fit(X, y)
    assert clf.n_iter_ == len(clf.loss_curve_) == 6
    assert np.all(np.isfinite(clf.loss_curve_))
    assert clf.loss_curve_[-1] < clf.loss_curve_[0]


@pytest.mark.parametrize("options", [{}, {"levels": ("curves",)}])
def test_with_curves_units_do_not_matter(wine, options):
    X, y = wine
    scale = 2.0 ** np.arange(-6, 7)  # exact in float64
    one = clf_of(**options).fit(X[::2], y[::2])
    other = clf_of(**options).fit(X[::2] * scale, y[::2])
    np.testing.assert_array_equal(other.predict(X[1::2] * scale), one.predict(X[1::2]))
    np.testing.assert_allclose(other.predict_proba(X[1::2] * scale), one.predict_proba(X[1::2]), atol=1e-6)
    np.testing.assert_allclose(other.feature_weights_, one.feature_weights_, rtol=1e-5)


def test_more_regularization_keeps_curves_straighter(wine):
    X, y = wine
    deviations = []
    for alpha in (0.0, 1.0, 100.0):
        curves = clf_of(levels=("curves",), alpha=alpha).fit(X, y).curves_
        deviations.append(np.log(curves.slopes).std(axis=1).mean())
    assert deviations[0] > deviations[1] > deviations[2]


def test_warm_start_drops_a_level_that_is_switched_off(wine):
    clf = clf_of(warm_start=True, max_iter=3).fit(*wine)
    clf.set_params(levels=("point",)).fit(*wine)
    assert clf.curves_.is_identity
    assert not clf.model_.levels.class_log_weights.any()


def test_a_constant_feature_neither_counts_nor_decides(iris):
    X, y = iris
    X = np.column_stack([X, np.full(len(X), 5.0)])
    clf = clf_of(max_iter=3).fit(X, y)
    assert np.all(clf.feature_weights_[:, -1] == 0)
    elsewhere = X.copy()
    elsewhere[:, -1] = 500.0
    np.testing.assert_array_equal(clf.predict_proba(elsewhere), clf.predict_proba(X))
