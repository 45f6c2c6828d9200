"""Learning vector quantization: cost, model and the four estimators."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from lann.baselines import GMLVQ, GRLVQ, LGMLVQ, LGRLVQ
from lann.baselines._lvq_model import Cost, Prototypes

N_FEATURES = 4
PROTOTYPE_LABELS = np.array([0, 0, 1, 1, 2])
# Which prototypes share a metric.
METRIC_INDICES = {"all": np.zeros(5, np.int64), "prototype": np.arange(5), "class": PROTOTYPE_LABELS}
all_forms = pytest.mark.parametrize(
    ("rank", "metric_per"),
    list(product([None, 2, N_FEATURES], METRIC_INDICES)),  # None is a diagonal metric
)


def make_problem(rank, metric_per, **options):
    """Return a cost of 40 rows of three classes, five prototypes and maps of any trace."""
    rng = np.random.default_rng(0)
    metric_indices = METRIC_INDICES[metric_per]
    n_metrics = metric_indices[-1] + 1
    shape = (n_metrics, N_FEATURES) if rank is None else (n_metrics, rank, N_FEATURES)
    X, labels = rng.normal(size=(40, N_FEATURES)), rng.integers(0, 3, 40)
    cost = Cost(X, labels, PROTOTYPE_LABELS, metric_indices, **options)
    return cost, rng.normal(size=(5, N_FEATURES)), rng.normal(size=shape)


def reference_cost(cost, prototypes, maps):
    """Compute the cost in a loop over rows and prototypes."""
    omegas = [np.diag(omega) if omega.ndim == 1 else omega for omega in maps]
    omegas = [omega / np.linalg.norm(omega) for omega in omegas]
    total = 0.0
    for x, label in zip(cost.X, cost.labels, strict=True):
        distances = [
            np.sum((omegas[metric] @ (x - w)) ** 2)
            for w, metric in zip(prototypes, cost.metric_indices, strict=True)
        ]
        same = min(d for d, other in zip(distances, cost.prototype_labels, strict=True) if other == label)
        other = min(d for d, other in zip(distances, cost.prototype_labels, strict=True) if other != label)
        mu = (same - other) / (same + other)
        total += mu if cost.steepness is None else 1 / (1 + np.exp(-cost.steepness * mu))
    log_determinants = [np.log(np.linalg.det(omega @ omega.T)) / len(omega) for omega in omegas]
    return total / len(cost.X) - cost.alpha * np.mean(log_determinants)


@all_forms
@pytest.mark.parametrize("steepness", [None, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_cost_equals_definition(rank, metric_per, steepness, alpha):
    cost, prototypes, maps = make_problem(rank, metric_per, steepness=steepness, alpha=alpha)
    value, _ = cost(prototypes, maps)
    assert value == pytest.approx(reference_cost(cost, prototypes, maps), rel=1e-10)


@all_forms
@pytest.mark.parametrize("steepness", [None, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_gradients_equal_finite_differences(reference, rank, metric_per, steepness, alpha):
    cost, prototypes, maps = make_problem(rank, metric_per, steepness=steepness, alpha=alpha)
    _, (prototype_gradient, map_gradient) = cost(prototypes, maps)
    expected = reference.slopes(lambda changed: cost(changed, maps)[0], prototypes)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(prototype_gradient, expected, rtol=1e-5, atol=1e-8)
    expected = reference.slopes(lambda changed: cost(prototypes, changed)[0], maps)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(map_gradient, expected, rtol=1e-5, atol=1e-8)


@pytest.fixture(params=["diagonal", "matrix"])
def prototypes(request):
    rng = np.random.default_rng(0)
    shape = (2, 3) if request.param == "diagonal" else (2, 2, 3)
    return Prototypes(
        rng.normal(size=(3, 3)),
        np.array([0, 0, 1]),
        np.array([0, 0, 1]),
        rng.normal(size=shape),
        rng.normal(size=(20, 3)),
    )


def omega_of(prototypes, number):
    omega = prototypes.maps[prototypes.metric_indices[number]]
    return np.diag(omega) if omega.ndim == 1 else omega


def test_distances_equal_the_formula(prototypes):
    queries = np.random.default_rng(1).normal(size=(200, 3))
    distances = prototypes.all_distances(queries)
    for number, w in enumerate(prototypes.X):
        expected = np.square((queries - w) @ omega_of(prototypes, number).T).sum(axis=1)
        np.testing.assert_allclose(distances[:, number], expected)
    assert np.array_equal(prototypes.all_distances(queries, n_jobs=2), distances)


def test_nearest_prototype_of_every_class_votes():
    model = Prototypes(
        np.array([[0.0], [4.0], [7.0]]), np.array([0, 0, 1]), np.zeros(3, np.int64), np.ones((1, 1)),
        np.zeros((2, 1)),
    )  # fmt: skip
    nearest, distances = model.voters(np.array([[3.0], [1.0], [6.0]]))
    assert nearest.tolist() == [[1, 2], [0, 2], [2, 1]]
    assert distances.tolist() == [[1.0, 16.0], [1.0, 36.0], [1.0, 4.0]]


def test_neighbors_and_local_matrices_agree_with_the_distances(prototypes):
    queries = np.random.default_rng(1).normal(size=(6, 3))
    indices, distances = prototypes.kneighbors(queries, 2)
    expected = prototypes.all_distances(queries)
    np.testing.assert_array_equal(indices, np.argsort(expected, axis=1)[:, :2])
    np.testing.assert_array_equal(prototypes.distances(queries, indices), distances)
    steps = queries[:, None, :] - prototypes.X
    squares = np.einsum("qpf,pfg,qpg->qp", steps, prototypes.local_matrices(np.arange(3)), steps)
    np.testing.assert_allclose(squares, expected)


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
def test_accuracy_with_few_rows(estimator, few_wines):
    X_train, X_test, y_train, y_test = few_wines
    clf = estimator().fit(X_train, y_train)
    assert clf.score(X_train, y_train) > 0.97
    assert clf.score(X_test, y_test) > 0.9


@all_estimators
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"activation": "identity", "alpha": 0.0, "max_iter": 10},
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
def test_explanations_contain_a_prototype_of_every_class(estimator, few_wines):
    X_train, X_test, y_train, _ = few_wines
    clf = estimator(prototypes_per_class=2, random_state=0).fit(X_train, y_train)
    explanation = clf.explain(X_test)
    assert np.array_equal(np.sort(explanation.neighbor_labels, axis=1), [[0, 1, 2]] * len(X_test))
    np.testing.assert_allclose(clf.contributions(X_test).sum(axis=2), explanation.distances**2)
    assert np.all(np.diff(explanation.distances, axis=1) >= 0)
    shares = np.take_along_axis(explanation.probabilities, explanation.neighbor_labels, axis=1)
    np.testing.assert_array_equal(explanation.vote_shares, shares)
    nearest = clf.feature_weights_[explanation.neighbors[:, 0]]
    assert np.array_equal(clf.neighbor_feature_weights(X_test), nearest)
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
def test_max_iter_0_keeps_class_means_and_equal_weights(estimator, few_wines):
    X_train, _, y_train, _ = few_wines
    clf = estimator(max_iter=0).fit(X_train, y_train)
    means = [X_train[y_train == label].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose(clf.prototypes_, means, atol=1e-12)
    np.testing.assert_allclose(clf.feature_weights_, 1 / 13)


@pytest.mark.parametrize("estimator", LOCAL)
def test_metric_per_class(estimator, few_wines):
    X_train, X_test, y_train, y_test = few_wines
    clf = estimator(prototypes_per_class=2, metric_per="class", random_state=0).fit(X_train, y_train)
    for label in range(3):
        one, other = clf.feature_weights_[clf.prototype_labels_ == label]
        assert np.array_equal(one, other)
    assert not np.allclose(clf.class_feature_weights_[0], clf.class_feature_weights_[1])
    assert clf.score(X_test, y_test) > 0.9


def test_relevant_features_have_the_largest_weights():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 8))
    X[:, [2, 5]] += np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[y]
    weights = GRLVQ().fit(X, y).mean_feature_weights_
    assert set(np.argsort(weights)[-2:]) == {2, 5}
    assert weights[[2, 5]].min() > 3 * np.delete(weights, [2, 5]).max()
    # Without the regularization, the other weights go to 0.
    assert GRLVQ(alpha=0.0).fit(X, y).mean_feature_weights_[[2, 5]].sum() > 0.95


@pytest.mark.parametrize("n_components", [1, 2, None])
def test_distances_are_euclidean_after_the_transform(n_components, iris):
    X, y = iris
    clf = GMLVQ(n_components=n_components).fit(X, y)
    assert clf.components_.shape == (n_components or 4, 4)
    assert np.square(clf.components_).sum() == pytest.approx(1.0)
    transformed, prototypes = clf.transform(X), clf.transform(clf.prototypes_)
    assert transformed.shape == (150, n_components or 4)
    expected = np.square(transformed[:, None] - prototypes).sum(axis=2)
    np.testing.assert_allclose(clf.explain(X).distances, np.sqrt(np.sort(expected, axis=1)))


def test_each_class_weights_the_feature_in_which_it_is_narrow():
    # Class 0 is narrow in the first feature, class 1 in the second; the third is noise.
    rng = np.random.default_rng(0)
    narrow, wide = 0.2 * rng.normal(size=100), 3.0 * rng.normal(size=100)
    X = np.concatenate([np.stack([narrow, wide], axis=1), np.stack([wide, 1.0 + narrow], axis=1)])
    X = np.column_stack([X, rng.normal(size=200)])
    y = np.repeat([0, 1], 100)
    clf = LGRLVQ().fit(X, y)
    assert clf.class_feature_weights_.argmax(axis=1).tolist() == [0, 1]
    assert clf.score(X, y) > 0.9


def test_better_than_one_matrix_if_classes_extend_in_different_directions():
    # A cross: one class along either diagonal, both around the origin.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    long, short = 3 * rng.normal(size=300), 0.2 * rng.normal(size=300)
    signs = np.where(y == 0, 1.0, -1.0)
    X = np.stack([long + short, signs * (long - short)], axis=1)
    assert LGMLVQ().fit(X, y).score(X, y) > 0.9 > GMLVQ().fit(X, y).score(X, y)


@pytest.mark.parametrize(("n_components", "per_class"), [(1, 1), (2, 2), (None, 1)])
def test_transform_returns_the_distances_to_all_prototypes(n_components, per_class, iris):
    X, y = iris
    clf = LGMLVQ(n_components=n_components, prototypes_per_class=per_class, random_state=0).fit(X, y)
    assert clf.components_.shape == (3 * per_class, n_components or 4, 4)
    np.testing.assert_allclose(np.square(clf.components_).sum(axis=(1, 2)), 1.0)
    transformed = clf.transform(X)
    steps = X[:, None, :] - clf.prototypes_
    expected = np.linalg.norm(np.einsum("prf,ipf->ipr", clf.components_, steps), axis=2)
    np.testing.assert_allclose(transformed, expected)
    assert np.array_equal(clf.prototype_labels_[transformed.argmin(axis=1)], clf.predict(X))
    assert list(clf.get_feature_names_out()) == [f"lgmlvq{number}" for number in range(3 * per_class)]
