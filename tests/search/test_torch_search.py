"""The search on a device of torch, here its CPU: tiles, chunks, bounds, ties and shortlists."""

import numpy as np
import pytest

from lann.metric import DiagonalMetric
from lann.search import ExactSearch, Shortlist

torch = pytest.importorskip("torch")
from lann.search import _torch_search as torch_search  # noqa: E402
from lann.search._torch_search import Lift, TorchSearch, TorchShortlist, sum_in_order  # noqa: E402

CPU = torch.device("cpu")
# Fewer rows than a group of chunks, one group, and several tiles.
TILES = [None, 4096]


def metric_of(kind, rng, n_points=5000, n_axes=9):
    points = rng.normal(size=(n_points, n_axes)) * np.exp(2 * rng.normal(size=n_axes)) + 3
    weights = np.exp(0.7 * rng.normal(size=points.shape))
    if kind == "classes":
        return DiagonalMetric(points, weights[:4], rng.integers(0, 4, n_points))
    if kind == "shared":
        return DiagonalMetric(points, weights[0])
    if kind == "single":
        return DiagonalMetric(points.astype(np.float32), weights.astype(np.float32))
    return DiagonalMetric(points, weights)


def check_bits(search, metric, queries, k, exclude=None):
    found = search.query(queries, k, exclude=exclude)
    expected = ExactSearch(metric).query(queries, k, exclude=exclude)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("tile_rows", TILES)
@pytest.mark.parametrize("kind", ["own", "classes", "shared", "single"])
@pytest.mark.parametrize("k", [1, 10, 60])
def test_it_has_the_bits_of_the_exact_search(kind, k, tile_rows):
    rng = np.random.default_rng(k)
    metric = metric_of(kind, rng)
    search = TorchSearch(metric, CPU, tile_rows=tile_rows)
    queries = metric.points[:150] + np.where(np.arange(150) < 50, 0.0, 0.3)[:, None] * rng.normal(size=9)
    check_bits(search, metric, queries, k)
    check_bits(search, metric, queries, k, exclude=np.arange(150) - 1)
    lost = search.nearest(search.to_device(queries), k)[2]
    assert len(lost) == 0


@pytest.mark.parametrize("n_points", [1, 12, 31, 4095, 4097])
def test_few_points(n_points):
    rng = np.random.default_rng(n_points)
    metric = DiagonalMetric(rng.normal(size=(n_points, 2)), rng.exponential(size=(n_points, 2)))
    check_bits(TorchSearch(metric, CPU, tile_rows=4096), metric, rng.normal(size=(20, 2)), min(n_points, 7))


@pytest.mark.parametrize("tile_rows", TILES)
def test_ties_come_by_index(tile_rows):
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, (9000, 3)).astype(float)
    metric = DiagonalMetric(points, rng.integers(0, 3, points.shape).astype(float))
    search = TorchSearch(metric, CPU, tile_rows=tile_rows)
    queries = rng.integers(0, 3, (40, 3)).astype(float)
    check_bits(search, metric, queries, 5)
    check_bits(search, metric, queries, 5, exclude=rng.integers(0, 9000, 40))
    # All of them have more points at distance 0 than are measured, so that the CPU decides.
    assert len(search.nearest(search.to_device(queries), 5)[2]) == 40


@pytest.mark.parametrize("scale", [1e-160, 1e-60, 1e-9, 1e9, 1e60])
@pytest.mark.parametrize("far", [1.0, 1e3, 1e12, 1e100])
def test_scales_and_far_queries(scale, far):
    rng = np.random.default_rng(1)
    metric = DiagonalMetric(rng.normal(size=(300, 4)) * scale, rng.exponential(size=(300, 4)))
    queries = rng.normal(size=(30, 4)) * scale
    queries[::3] *= far
    check_bits(TorchSearch(metric, CPU), metric, queries, 6)


def test_a_query_with_too_few_chunks_is_searched_with_more(monkeypatch):
    rng = np.random.default_rng(2)
    metric = metric_of("own", rng)
    search = TorchSearch(metric, CPU)
    monkeypatch.setattr(torch_search, "LEAST_SPARE", 0)
    queries = metric.points[:300] + 0.1
    # 16 chunks of the nearest 16 rows prove nothing: the last minimum is the last neighbor itself.
    points = search.to_device(queries)
    *_, is_sure = search._nearest(points, 16, torch.full((300,), -1), 16)
    assert not is_sure.all()
    assert len(search.nearest(points, 16)[2]) == 0
    check_bits(search, metric, queries, 16)


def test_large_numbers_of_neighbors_and_small_blocks(monkeypatch):
    monkeypatch.setattr(torch_search, "TERMS", 2**16)
    monkeypatch.setattr(torch_search, "MINIMA", 2**11)
    monkeypatch.setattr(torch_search, "HELD_QUERIES", 17)
    metric = metric_of("own", np.random.default_rng(3), n_points=6000)
    check_bits(TorchSearch(metric, CPU), metric, metric.points[:40], 500)


@pytest.mark.parametrize("n_axes", [1, 3, 4, 15, 16, 17, 31, 37, 64, 101])
def test_sums_have_the_order_of_the_compiled_kernels(n_axes):
    rng = np.random.default_rng(n_axes)
    metric = DiagonalMetric(rng.normal(size=(20, n_axes)), rng.exponential(size=(20, n_axes)))
    queries = rng.normal(size=(5, n_axes))
    expected = metric.distances(queries, np.tile(np.arange(20), (5, 1)))
    differences = torch.tensor(queries[:, None] - metric.points)
    terms = torch.tensor(metric.weights) * differences * differences
    np.testing.assert_array_equal(sum_in_order(terms.movedim(2, 0)).numpy(), expected)


@pytest.mark.parametrize("kind", ["own", "classes", "shared", "single"])
@pytest.mark.parametrize("in_halves", [False, True])
def test_the_product_is_within_its_bound(kind, in_halves):
    metric = metric_of(kind, np.random.default_rng(4), n_points=4096)
    lift = Lift(metric, CPU, in_halves)
    points = metric.points.astype(np.float64)
    queries = torch.tensor(1.7 * points[::8] - 0.7 * points.mean(axis=0))
    block, tile = lift.block(queries, torch.full((512,), -1)), lift.tile(slice(0, 4096))
    assert torch.isfinite(block.sizes).all()
    if in_halves:  # as the kernel does on a GPU
        high = block.factors.half()
        low = (block.factors - high.float()).half()
        (own_high, own_low), total = tile.factors, tile.constants
        for one, other in ((low, own_high), (high, own_low), (high, own_high)):
            assert torch.isfinite(one).all()
            assert torch.isfinite(other).all()
            total = total + one.float() @ other.float().T
    else:
        total = tile.constants + block.factors @ tile.factors[0].T
    products = total.double() / lift.unit + block.offsets[:, None]
    exact = torch.tensor(metric.distances(queries.numpy(), np.tile(np.arange(4096), (512, 1))))
    # Of 128 chunks, first come the first points.
    exact = exact.view(512, 128, 32).transpose(1, 2).flatten(1)
    assert (products <= lift.bounds(block.sizes[:, None], exact)).all()
    assert (products >= 2 * exact - lift.bounds(block.sizes[:, None], exact)).all()
    assert (products - exact).abs().max() < 1e-4 * exact.max()


@pytest.mark.parametrize("kind", ["own", "single"])
def test_shortlists_have_the_bits_of_the_cpu(kind):
    rng = np.random.default_rng(5)
    coarse, metric = metric_of("classes", rng), metric_of(kind, rng)
    coarse = DiagonalMetric(metric.points, coarse.weights, coarse.labels)
    on_device = TorchShortlist(TorchSearch(coarse, CPU), metric, 50)
    on_cpu = Shortlist(ExactSearch(coarse), metric, 50)
    queries = np.concatenate([metric.points[:100], 1e9 * metric.points[:3]]).astype(np.float64)
    for exclude in (None, np.arange(103)):
        for k in (7, 55):
            found, expected = (s.query(queries, k, exclude=exclude) for s in (on_device, on_cpu))
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])
