"""What the four kinds of learning vector quantization promise alike."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from lann.baselines import GMLVQ, GRLVQ, LGMLVQ, LGRLVQ
from lann.baselines._lvq import cost as cost_module

MATRICES, LOCAL = (GMLVQ, LGMLVQ), (LGRLVQ, LGMLVQ)
every = pytest.mark.parametrize("kind", [GRLVQ, LGRLVQ, GMLVQ, LGMLVQ])


@pytest.fixture(scope="module")
def wines():
    """A quarter to learn from, as little as 44 points of 13 features: where matrices may overfit."""
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.25, stratify=y, random_state=7)
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


@every
@pytest.mark.parametrize("options", [{}, {"solver": "stochastic", "max_iter": 30, "random_state": 0}])
def test_wine_is_told_apart_from_few_points(kind, options, wines):
    X_train, X_test, y_train, y_test = wines
    estimator = kind(**options).fit(X_train, y_train)
    assert estimator.score(X_train, y_train) > 0.97
    assert estimator.score(X_test, y_test) > 0.9


@every
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"squashing": "identity", "alpha": 0.0, "max_iter": 10},
        {"solver": "stochastic", "max_iter": 3},
        {"prototypes_per_class": 3},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_relevances_add_up_to_one(kind, options, wines):
    X_train, _, y_train, _ = wines
    estimator = kind(random_state=0, **options).fit(X_train, y_train)
    n_prototypes = 3 * estimator.prototypes_per_class
    assert estimator.feature_weights_.shape == (n_prototypes, 13)
    for relevances in (estimator.feature_weights_, estimator.class_feature_weights_):
        np.testing.assert_allclose(relevances.sum(axis=1), 1.0)
    assert estimator.mean_feature_weights_.sum() == pytest.approx(1.0)
    assert np.allclose(estimator.feature_weights_, estimator.feature_weights_[0]) == (kind not in LOCAL)


@every
def test_the_loss_falls_and_the_curve_is_that_of_the_iterations(kind, wines):
    X_train, _, y_train, _ = wines
    estimator = kind().fit(X_train, y_train)
    assert len(estimator.loss_curve_) == estimator.n_iter_ > 1
    assert np.all(np.diff(estimator.loss_curve_) <= 0)


@every
def test_labels_are_those_of_the_nearest_prototypes(kind, wines):
    X_train, X_test, y_train, _ = wines
    estimator = kind(prototypes_per_class=2, random_state=0).fit(X_train, y_train)
    explanation = estimator.explain(X_test)
    nearest = explanation.neighbors[:, 0]
    assert np.array_equal(estimator.predict(X_test), estimator.prototype_labels_[nearest])
    assert np.array_equal(estimator.predict(estimator.prototypes_), estimator.prototype_labels_)
    np.testing.assert_array_equal(estimator.predict_proba(estimator.prototypes_).max(axis=1), 1.0)


@every
def test_explanations_name_a_prototype_of_every_class(kind, wines):
    X_train, X_test, y_train, _ = wines
    estimator = kind(prototypes_per_class=2, random_state=0).fit(X_train, y_train)
    explanation = estimator.explain(X_test)
    assert np.array_equal(np.sort(explanation.neighbor_labels, axis=1), [[0, 1, 2]] * len(X_test))
    np.testing.assert_allclose(explanation.contributions.sum(axis=2), explanation.distances**2)
    assert np.all(np.diff(explanation.distances, axis=1) >= 0)
    shares = np.take_along_axis(explanation.probabilities, explanation.neighbor_labels, axis=1)
    np.testing.assert_array_equal(explanation.vote_shares, shares)
    nearest = estimator.feature_weights_[explanation.neighbors[:, 0]]
    assert np.array_equal(explanation.feature_weights, nearest)
    assert explanation.neighbor_ids[0, 0] == f"prototype {explanation.neighbors[0, 0]}"
    assert explanation.supports.shape == (len(X_test), 3, 13)


@every
def test_a_heavier_penalty_leaves_no_direction_out(kind, wines):
    X_train, _, y_train, _ = wines
    smallest = []
    for penalty in (0.001, 0.1):
        estimator = kind(alpha=penalty).fit(X_train, y_train)
        if kind in MATRICES:
            omegas = (
                np.atleast_3d(estimator.components_)[None, ..., 0] if kind is GMLVQ else estimator.components_
            )
            smallest.append(np.linalg.svd(omegas, compute_uv=False).min() ** 2)
        else:
            smallest.append(estimator.feature_weights_.min())
    assert smallest[1] > 3 * smallest[0]


@every
def test_the_unit_and_the_origin_of_the_data_do_not_matter(kind, wines):
    X_train, X_test, y_train, _ = wines
    plain = kind().fit(X_train, y_train)
    moved = kind().fit(1000 * X_train + 5, y_train)
    np.testing.assert_allclose(moved.feature_weights_, plain.feature_weights_, atol=1e-6)
    np.testing.assert_allclose(moved.prototypes_, 1000 * plain.prototypes_ + 5, rtol=1e-4, atol=0.1)
    assert np.array_equal(moved.predict(1000 * X_test + 5), plain.predict(X_test))


@every
@pytest.mark.parametrize("solver", ["lbfgs", "stochastic"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_bits_at_any_number_of_threads(monkeypatch, kind, solver, wines):
    monkeypatch.setattr(cost_module, "MAPPED", 500)  # several blocks, so that there is something to share
    X_train, X_test, y_train, _ = wines
    found = []
    for n_jobs in (1, 2):
        with threadpool_limits(n_jobs, user_api="blas"):
            estimator = kind(
                prototypes_per_class=2, solver=solver, max_iter=5, n_jobs=n_jobs, random_state=0
            ).fit(X_train, y_train)
            found.append((estimator.prototypes_, estimator.feature_weights_, estimator.predict_proba(X_test)))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@every
def test_a_class_of_few_points_has_fewer_prototypes(kind, blobs):
    X, y = blobs
    few = np.r_[0:20, 30:50, 60:62]
    estimator = kind(prototypes_per_class=4, random_state=0).fit(X[few], y[few])
    assert np.bincount(estimator.prototype_labels_).tolist() == [4, 4, 2]
    assert estimator.score(X[few], y[few]) > 0.85


@every
def test_more_prototypes_tell_a_class_of_two_parts_apart(kind):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 0], 40)
    X = np.array([[-3.0, 0.0], [0.0, 0.0], [3.0, 0.0]])[np.repeat([0, 1, 2], 40)] + 0.4 * rng.normal(
        size=(120, 2)
    )
    assert kind(prototypes_per_class=2, random_state=0).fit(X, y).score(X, y) > 0.97


@every
def test_no_iterations_leave_class_means(kind, wines):
    X_train, _, y_train, _ = wines
    estimator = kind(max_iter=0).fit(X_train, y_train)
    means = [X_train[y_train == label].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose(estimator.prototypes_, means, atol=1e-12)
    np.testing.assert_allclose(estimator.feature_weights_, 1 / 13)


@every
def test_stopping_early_is_said(kind, wines):
    X_train, _, y_train, _ = wines
    with pytest.warns(ConvergenceWarning, match=f"{kind.__name__} has not converged after 2 iterations"):
        kind(max_iter=2).fit(X_train, y_train)


@every
def test_squashing_and_its_steepness_matter(kind, wines):
    X_train, _, y_train, _ = wines
    options = ({"squashing": "identity"}, {"steepness": 2.0}, {"steepness": 8.0})
    found = [kind(max_iter=100, **some).fit(X_train, y_train).prototypes_ for some in options]
    assert not np.allclose(found[0], found[1])
    assert not np.allclose(found[1], found[2])


@every
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("prototypes_per_class", 0),
        ("prototypes_per_class", 1.5),
        ("squashing", "tanh"),
        ("steepness", 0),
        ("alpha", -1),
        ("solver", "newton"),
        ("max_iter", -1),
        ("tol", -1e-3),
    ],
)
def test_parameters_are_checked(kind, parameter, value, wines):
    with pytest.raises(ValueError, match=f"{parameter} must be"):
        kind(**{parameter: value}).fit(wines[0], wines[2])


@pytest.mark.parametrize("kind", MATRICES)
def test_ranks_are_checked(kind, wines):
    with pytest.raises(ValueError, match="n_components must be an integer of at least 1, or None; got 0"):
        kind(n_components=0).fit(wines[0], wines[2])
    with pytest.raises(ValueError, match="n_components=14 exceeds the 13 features; None takes all"):
        kind(n_components=14).fit(wines[0], wines[2])


@pytest.mark.parametrize("kind", LOCAL)
def test_metrics_may_be_those_of_classes(kind, wines):
    X_train, X_test, y_train, y_test = wines
    estimator = kind(prototypes_per_class=2, metric_per="class", random_state=0).fit(X_train, y_train)
    for label in range(3):
        one, other = estimator.feature_weights_[estimator.prototype_labels_ == label]
        assert np.array_equal(one, other)
    assert not np.allclose(estimator.class_feature_weights_[0], estimator.class_feature_weights_[1])
    assert estimator.score(X_test, y_test) > 0.9
    with pytest.raises(ValueError, match="metric_per must be one of 'prototype', 'class'; got 'point'"):
        kind(metric_per="point").fit(X_train, y_train)
