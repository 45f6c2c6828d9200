import numpy as np
import pytest

from lann.encoding import Encoding, FeatureCurves
from lann.training._cells import Cells


@pytest.fixture
def X():
    X = np.random.default_rng(1).normal(size=(40, 4))
    X[:5, 0] = -0.5  # on a threshold
    return X


def cells_of(curves, X):
    return Cells(Encoding.identity(4).replace(curves=curves), X)


@pytest.fixture(params=[0, 2])
def curves(request, X):
    """Curves with up to two thresholds per feature, one of which is an edge; one feature is constant."""
    rng = np.random.default_rng(0)
    straight = FeatureCurves.straight(np.column_stack([rng.normal(size=(50, 3)), np.ones(50)]), 4)
    inf = np.inf
    thresholds = np.array([[-0.5, 0.3], [inf, inf], [straight.edges[2, 1], inf], [0.2, inf]])
    jumps = np.array([[0.4, 0.7], [0.0, 0.0], [1.1, 0.0], [0.0, 0.0]])
    stepped = straight.with_thresholds(thresholds[:, : request.param])
    return stepped.with_slopes(np.exp(rng.normal(size=(4, 4))), jumps[:, : request.param])


def test_values_are_those_of_the_transform(curves, X):
    used = np.array([3, 17, 3, 0, 39])
    found = cells_of(curves, X).values(curves, np.empty(0), used)
    np.testing.assert_allclose(found, curves.transform(X[used]), atol=1e-14)


def test_gradients_equal_finite_differences(reference, curves, X):
    rng = np.random.default_rng(2)
    used = rng.permutation(40)[:25]
    pull = rng.normal(size=(25, 4))

    def pulled(slopes, jumps):
        return np.sum(pull * curves.with_slopes(slopes, jumps).transform(X[used]))

    by_slope, by_jump, by_position = cells_of(curves, X).gradients(curves, used, pull)
    assert len(by_position) == 0
    expected = reference.slopes(lambda slopes: pulled(slopes, curves.jumps), curves.slopes)
    np.testing.assert_allclose(by_slope, expected, rtol=1e-6, atol=1e-7)
    expected = reference.slopes(lambda jumps: pulled(curves.slopes, jumps), curves.jumps)
    np.testing.assert_allclose(by_jump, expected, rtol=1e-6, atol=1e-7)
    assert np.count_nonzero(by_jump) == 2 * curves.n_steps
