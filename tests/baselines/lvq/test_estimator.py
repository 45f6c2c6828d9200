"""What the four estimators of generalized learning vector quantization have in common."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from lann.baselines import GMLVQ, GRLVQ, LGMLVQ, LGRLVQ
from lann.baselines._lvq import cost as cost_module

MATRIX, LOCAL = (GMLVQ, LGMLVQ), (LGRLVQ, LGMLVQ)
all_estimators = pytest.mark.parametrize("estimator", [GRLVQ, LGRLVQ, GMLVQ, LGMLVQ])


@pytest.fixture(scope="module")
def few_wines():
    """44 training rows with 13 features, so few that matrices can overfit."""
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.25, stratify=y, random_state=7)
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


@all_estimators
@pytest.mark.parametrize("options", [{}, {"solver": "stochastic", "max_iter": 30, "random_state": 0}])
def test_accuracy_with_few_rows(estimator, options, few_wines):
    X_train, X_test, y_train, y_test = few_wines
    clf = estimator(**options).fit(X_train, y_train)
    assert clf.score(X_train, y_train) > 0.97
    assert clf.score(X_test, y_test) > 0.9


@all_estimators
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"activation": "identity", "alpha": 0.0, "max_iter": 10},
        {"solver": "stochastic", "max_iter": 3},
        {"prototypes_per_class": 3},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_feature_weights_add_up_to_one(estimator, options, few_wines):
    X_train, _, y_train, _ = few_wines
    clf = estimator(random_state=0, **options).fit(X_train, y_train)
    assert clf.feature_weights_.shape == (3 * clf.prototypes_per_class, 13)
    for weights in (clf.feature_weights_, clf.class_feature_weights_):
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert clf.mean_feature_weights_.sum() == pytest.approx(1.0)
    assert np.allclose(clf.feature_weights_, clf.feature_weights_[0]) == (estimator not in LOCAL)


@all_estimators
def test_loss_curve_decreases(estimator, few_wines):
    X_train, _, y_train, _ = few_wines
    clf = estimator().fit(X_train, y_train)
    assert len(clf.loss_curve_) == clf.n_iter_ > 1
    assert np.all(np.diff(clf.loss_curve_) <= 0)


@all_estimators
def test_predictions_are_the_labels_of_the_nearest_prototypes(estimator, few_wines):
    X_train, X_test, y_train, _ = few_wines
    clf = estimator(prototypes_per_class=2, random_state=0).fit(X_train, y_train)
    nearest = clf.explain(X_test).neighbors[:, 0]
    assert np.array_equal(clf.predict(X_test), clf.prototype_labels_[nearest])
    assert np.array_equal(clf.predict(clf.prototypes_), clf.prototype_labels_)
    np.testing.assert_array_equal(clf.predict_proba(clf.prototypes_).max(axis=1), 1.0)


@all_estimators
def test_explanations_contain_a_prototype_of_every_class(estimator, few_wines):
    X_train, X_test, y_train, _ = few_wines
    clf = estimator(prototypes_per_class=2, random_state=0).fit(X_train, y_train)
    explanation = clf.explain(X_test)
    assert np.array_equal(np.sort(explanation.neighbor_labels, axis=1), [[0, 1, 2]] * len(X_test))
    np.testing.assert_allclose(explanation.contributions.sum(axis=2), explanation.distances**2)
    assert np.all(np.diff(explanation.distances, axis=1) >= 0)
    shares = np.take_along_axis(explanation.probabilities, explanation.neighbor_labels, axis=1)
    np.testing.assert_array_equal(explanation.vote_shares, shares)
    nearest = clf.feature_weights_[explanation.neighbors[:, 0]]
    assert np.array_equal(explanation.feature_weights, nearest)
    assert explanation.neighbor_ids[0, 0] == f"prototype {explanation.neighbors[0, 0]}"
    assert explanation.supports.shape == (len(X_test), 3, 13)


@all_estimators
def test_alpha_keeps_all_directions_in_use(estimator, few_wines):
    X_train, _, y_train, _ = few_wines
    smallest = []
    for alpha in (0.001, 0.1):
        clf = estimator(alpha=alpha).fit(X_train, y_train)
        if estimator in MATRIX:
            smallest.append(np.linalg.svd(clf.components_, compute_uv=False).min() ** 2)
        else:
            smallest.append(clf.feature_weights_.min())
    assert smallest[1] > 3 * smallest[0]


@all_estimators
def test_invariant_under_units_and_translation(estimator, few_wines):
    X_train, X_test, y_train, _ = few_wines
    clf = estimator().fit(X_train, y_train)
    moved = estimator().fit(1000 * X_train + 5, y_train)
    np.testing.assert_allclose(moved.feature_weights_, clf.feature_weights_, atol=1e-6)
    np.testing.assert_allclose(moved.prototypes_, 1000 * clf.prototypes_ + 5, rtol=1e-4, atol=0.1)
    assert np.array_equal(moved.predict(1000 * X_test + 5), clf.predict(X_test))


@all_estimators
@pytest.mark.parametrize("solver", ["lbfgs", "stochastic"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_blocks_give_the_same_bits_with_any_n_jobs(monkeypatch, estimator, solver, few_wines):
    monkeypatch.setattr(cost_module, "MAPPED", 500)  # several blocks
    X_train, X_test, y_train, _ = few_wines
    results = []
    for n_jobs in (1, 2):
        clf = estimator(prototypes_per_class=2, solver=solver, max_iter=5, n_jobs=n_jobs, random_state=0)
        with threadpool_limits(n_jobs, user_api="blas"):
            clf.fit(X_train, y_train)
            results.append((clf.prototypes_, clf.feature_weights_, clf.predict_proba(X_test)))
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)


@all_estimators
def test_small_classes_have_fewer_prototypes(estimator, blobs):
    X, y = blobs
    rows = np.r_[0:20, 30:50, 60:62]
    clf = estimator(prototypes_per_class=4, random_state=0).fit(X[rows], y[rows])
    assert np.bincount(clf.prototype_labels_).tolist() == [4, 4, 2]
    assert clf.score(X[rows], y[rows]) > 0.85


@all_estimators
def test_two_prototypes_fit_a_class_of_two_clusters(estimator):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 0], 40)
    centers = np.array([[-3.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    X = np.repeat(centers, 40, axis=0) + 0.4 * rng.normal(size=(120, 2))
    assert estimator(prototypes_per_class=2, random_state=0).fit(X, y).score(X, y) > 0.97


@all_estimators
def test_max_iter_0_keeps_class_means_and_equal_weights(estimator, few_wines):
    X_train, _, y_train, _ = few_wines
    clf = estimator(max_iter=0).fit(X_train, y_train)
    means = [X_train[y_train == label].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose(clf.prototypes_, means, atol=1e-12)
    np.testing.assert_allclose(clf.feature_weights_, 1 / 13)


@all_estimators
def test_warning_has_the_name_of_the_estimator(estimator, few_wines):
    X_train, _, y_train, _ = few_wines
    message = f"{estimator.__name__} has not converged after 2 iterations"
    with pytest.warns(ConvergenceWarning, match=message):
        estimator(max_iter=2).fit(X_train, y_train)


@all_estimators
def test_activation_and_steepness_change_the_result(estimator, few_wines):
    X_train, _, y_train, _ = few_wines
    identity, flat, steep = (
        estimator(max_iter=100, **options).fit(X_train, y_train).prototypes_
        for options in ({"activation": "identity"}, {"steepness": 2.0}, {"steepness": 8.0})
    )
    assert not np.allclose(identity, flat)
    assert not np.allclose(flat, steep)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("prototypes_per_class", 0),
        ("prototypes_per_class", 1.5),
        ("n_components", 0),
        ("metric_per", "point"),
        ("activation", "tanh"),
        ("steepness", 0),
        ("alpha", -1),
        ("solver", "newton"),
        ("max_iter", -1),
        ("tol", -1e-3),
    ],
)
def test_invalid_parameters_raise(parameter, value, few_wines):
    X_train, _, y_train, _ = few_wines
    with pytest.raises(ValueError, match=f"{parameter} must be .*; got {value!r}"):
        LGMLVQ(**{parameter: value}).fit(X_train, y_train)


@pytest.mark.parametrize("estimator", MATRIX)
def test_more_components_than_features_raise(estimator, few_wines):
    X_train, _, y_train, _ = few_wines
    with pytest.raises(ValueError, match="n_components=14 must be at most the number of features, 13"):
        estimator(n_components=14).fit(X_train, y_train)


@pytest.mark.parametrize("estimator", LOCAL)
def test_metric_per_class(estimator, few_wines):
    X_train, X_test, y_train, y_test = few_wines
    clf = estimator(prototypes_per_class=2, metric_per="class", random_state=0).fit(X_train, y_train)
    for label in range(3):
        one, other = clf.feature_weights_[clf.prototype_labels_ == label]
        assert np.array_equal(one, other)
    assert not np.allclose(clf.class_feature_weights_[0], clf.class_feature_weights_[1])
    assert clf.score(X_test, y_test) > 0.9
