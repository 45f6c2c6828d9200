"""The bound on the rounding of the lifted product, on which the exactness of the search rests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metric import DiagonalMetric, rounding_bound


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    seed=st.integers(0, 10**6),
    n_features=st.sampled_from([1, 3, 20, 100]),
    spread=st.sampled_from([0.1, 1.0, 4.0]),
    scale=st.sampled_from([1e-4, 1.0, 1e6]),
    offset=st.sampled_from([0.0, 10.0, 1e4]),
    shared=st.booleans(),
)
def test_the_bound_holds_for_every_pair(dtype, seed, n_features, spread, scale, offset, shared):
    rng = np.random.default_rng(seed)
    points = (rng.normal(size=(50, n_features)) + offset * rng.random(n_features)) * scale
    weights = np.exp(spread * rng.normal(size=n_features if shared else points.shape))
    queries = np.concatenate([points[:10] + 1e-6 * scale * rng.normal(size=(10, n_features)), points[:5] * 3])
    metric = DiagonalMetric(points, weights)
    lifted, add = metric.lift_queries(queries, dtype)
    products = (lifted @ metric.lift_points(dtype).T).astype(np.float64) + add[:, None]
    exact = np.array(
        [
            np.sum(
                np.broadcast_to(weights, points.shape).astype(np.longdouble)
                * (x.astype(np.longdouble) - points) ** 2,
                axis=1,
            )
            for x in queries
        ]
    ).astype(np.float64)
    sizes, rounding = metric.rounding(queries, dtype)
    bounds = np.array(
        [[rounding_bound(size, d, rounding) for d in row] for size, row in zip(sizes, exact, strict=True)]
    )
    assert np.all(np.abs(products - exact) <= bounds)


def test_the_bound_is_of_use():
    """A bound that always held by being huge would have every query searched twice."""
    rng = np.random.default_rng(0)
    metric = DiagonalMetric(rng.normal(size=(1000, 10)), np.exp(0.3 * rng.normal(size=(1000, 10))))
    queries = rng.normal(size=(20, 10))
    sizes, rounding = metric.rounding(queries, np.float32)
    nearest = np.sort(metric.distances(queries, np.tile(np.arange(1000), (20, 1))), axis=1)
    gaps = nearest[:, 13] - nearest[:, 4]  # the fifth neighbor and the last spare one
    assert (
        np.mean([rounding_bound(s, d, rounding) for s, d in zip(sizes, nearest[:, 4], strict=True)] < gaps)
        > 0.9
    )
