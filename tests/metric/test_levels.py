import numpy as np
import pytest

from lann.metric import Encoding, FeatureCurves
from lann.metric._levels import Levels


@pytest.fixture
def levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    labels = rng.integers(0, 2, 30)
    curves = FeatureCurves.straight(X, 4)
    curves = FeatureCurves(curves.edges, np.exp(rng.normal(size=curves.slopes.shape)))
    return Levels(
        X,
        labels,
        Encoding.identity(3).replace(curves=curves),
        rng.normal(size=(2, 3)),
        rng.normal(size=X.shape),
    )


def test_feature_weights_predict_the_distance_of_a_small_step(levels):
    scale = np.array([1.0, 2.0, 0.5])
    weights = levels.feature_weights(scale)
    metric, step = levels.local_metric(), 1e-7
    for feature in range(3):
        moved = levels.X.copy()
        moved[:, feature] += step * scale[feature]
        own = np.arange(30)[:, None]
        d = metric.distances(levels.curves.transform(moved), own)[:, 0]
        inside = levels.curves.locate(moved)[0][:, feature] == levels.curves.locate(levels.X)[0][:, feature]
        assert inside.sum() > 25
        np.testing.assert_allclose(d[inside] / step**2, weights[inside, feature], rtol=1e-4)


@pytest.fixture(params=[(None, 3), (None, 2), (2, 2)], ids=["square", "narrow", "mapped"])
def with_matrices(levels, request):
    """Points that own matrices: over the features or, after a linear map, over fewer axes."""
    rng = np.random.default_rng(3)
    n_axes, rank = request.param
    changes = {"point_matrices": rng.normal(size=(30, n_axes or 3, rank))}
    if n_axes is not None:
        changes["components"] = rng.normal(size=(n_axes, 3))
        changes["class_log_weights"] = rng.normal(size=(2, n_axes))
        changes["point_log_weights"] = rng.normal(size=(30, n_axes))
    return levels.replace(**changes)


def test_matrices_measure_after_the_weights(reference, with_matrices):
    queries = np.random.default_rng(4).normal(size=(5, 3))
    everyone = np.tile(np.arange(30), (5, 1))
    found = with_matrices.local_metric().distances(with_matrices.transform(queries), everyone)
    matrices = np.sqrt(with_matrices.weights)[:, :, None] * with_matrices.point_matrices
    expected = reference.matrix_distances(with_matrices.transform(queries), with_matrices.points, matrices)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_diagonal_matrices_are_weights(levels):
    roots = np.exp(0.5 * levels.point_log_weights)
    same = levels.replace(
        point_log_weights=np.zeros(roots.shape), point_matrices=roots[:, :, None] * np.eye(3)
    )
    rng = np.random.default_rng(5)
    curved, candidates = levels.curves.transform(rng.normal(size=(6, 3))), rng.integers(0, 30, (6, 4))
    for of in (
        lambda x: x.local_metric().distances(curved, candidates),
        lambda x: x.contributions(curved, candidates),
        lambda x: x.feature_weights(np.array([1.0, 2.0, 0.5])),
        lambda x: x.with_fixed_norm().local_metric().distances(curved, candidates),
    ):
        np.testing.assert_allclose(of(same), of(levels), rtol=1e-12)


def test_feature_weights_of_matrices_predict_the_distance_of_a_small_step(with_matrices):
    scale = np.array([1.0, 2.0, 0.5])
    weights = with_matrices.feature_weights(scale)
    metric, step, curves = with_matrices.local_metric(), 1e-7, with_matrices.curves
    for feature in range(3):
        moved = with_matrices.X.copy()
        moved[:, feature] += step * scale[feature]
        d = metric.distances(with_matrices.transform(moved), np.arange(30)[:, None])[:, 0]
        inside = curves.locate(moved)[0][:, feature] == curves.locate(with_matrices.X)[0][:, feature]
        assert inside.sum() > 25
        np.testing.assert_allclose(d[inside] / step**2, weights[inside, feature], rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_contributions_of_matrices_add_up_to_the_distance(with_matrices, dtype):
    levels = with_matrices.replace(point_matrices=with_matrices.point_matrices.astype(dtype))
    rng = np.random.default_rng(6)
    queries, candidates = rng.normal(size=(8, 3)), rng.integers(0, 30, (8, 5))
    contributions = levels.contributions(levels.curves.transform(queries), candidates)
    assert contributions.shape == (8, 5, 3)
    d = levels.local_metric().distances(levels.transform(queries), candidates)
    np.testing.assert_allclose(contributions.sum(axis=2), d, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("with_map", [False, True])
def test_local_matrices_predict_the_distance_of_a_small_step(levels, with_map):
    rng = np.random.default_rng(8)
    if with_map:
        levels = levels.replace(components=rng.normal(size=(3, 3)))
    rows, step = np.array([0, 4, 9]), 1e-7 * rng.normal(size=(3, 3))
    moved = levels.X[rows] + step
    inside = (levels.curves.locate(moved)[0] == levels.curves.locate(levels.X[rows])[0]).all()
    assert inside
    found = levels.local_metric().distances(levels.transform(moved), rows[:, None])[:, 0]
    expected = np.einsum("if,ifg,ig->i", step, levels.local_matrices(rows), step)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
