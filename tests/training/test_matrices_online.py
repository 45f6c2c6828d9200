import numpy as np
import pytest

from lann.metrics import Levels, MatrixMetric
from lann.training import Settings, join
from lann.training.matrices_online import OnlineMatrices, inherited_maps
from lann.training.monitor import Monitor
from lann.training.one_by_one import learn_matrices_online
from lann.training.run import Run

PUBLISHED = Settings(loss="softmax", temperature=1.0, power=1.0, n_neighbors=4, smoothing=0.0)


def made_up(seed=0, n_points=60):
    rng = np.random.default_rng(seed)
    levels = Levels.plain(rng.normal(size=(n_points, 3)), rng.integers(0, 3, n_points), 3)
    return levels.replace(class_log_weights=0.3 * rng.normal(size=(3, 3))), rng


def plain_loop(reference, levels, rows, rate, epsilon, *, norm):
    """The paper's loop with matrices: all points searched, a plain step on each neighbor's Ω, the norm."""
    maps = np.tile(np.eye(3), (len(levels.X), 1, 1))
    roots, total = np.sqrt(levels.weights), 0.0
    for i in rows:
        own = roots[:, :, None] * maps
        d = reference.matrix_distances(levels.points[i : i + 1], levels.points, own)
        near, d = reference.nearest(d, 4, exclude=[i])
        slopes, loss = reference.papers_slopes(
            d[0] + epsilon, levels.labels[near[0]], levels.labels[i], 1.0, 3
        )
        total += loss
        for j, slope in zip(near[0], slopes, strict=True):
            u = roots[j] * (levels.points[j] - levels.points[i])
            maps[j] -= rate * slope * 2 * np.outer(u, u) @ maps[j]
            if norm:
                maps[j] *= np.sqrt(3 / np.sum((roots[j][:, None] * maps[j]) ** 2))
            else:
                mean = np.sum(maps[j] ** 2) / 3
                maps[j] *= np.sqrt(np.clip(mean, np.exp(-6.0), np.exp(6.0)) / mean)
    return maps, total / len(rows)


@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("rate", [1e-3, 0.05, 1.0])
def test_an_exhaustive_pass_is_the_plain_loop(reference, rate, norm):
    levels, rng = made_up()
    rows = rng.permutation(60)[: 60 if rate < 1 else 10]
    learner = OnlineMatrices(levels, PUBLISHED.replace(fixed_norm=norm), relative=False)
    loss = learner.one_pass(rows, None, rate)
    maps, expected = plain_loop(reference, levels, rows, rate, learner._rules[1], norm=norm)
    assert loss == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(learner.levels().point_matrices, maps, rtol=1e-6, atol=1e-7)


def test_with_all_points_as_candidates_a_shortlist_pass_is_exhaustive():
    levels, rng = made_up(1)
    rows = rng.permutation(60)
    one, other = (OnlineMatrices(levels, PUBLISHED, relative=False) for _ in range(2))
    assert one.one_pass(rows, None, 0.1) == other.one_pass(rows, np.tile(np.arange(60), (60, 1)), 0.1)
    np.testing.assert_array_equal(one.maps, other.maps)


def test_a_rate_of_zero_measures_and_moves_nothing():
    levels, _ = made_up(2)
    learner = OnlineMatrices(levels, Settings(), relative=False)
    assert learner.one_pass(np.arange(60), None, 0.0, left=0.0) > 0
    np.testing.assert_array_equal(learner.maps, np.tile(np.eye(3), (60, 1, 1)))


@pytest.mark.parametrize("rate", [1e-3, 0.1, 10.0])
def test_the_determinant_stays_what_it_was(rate):
    levels, rng = made_up(3)
    learner = OnlineMatrices(levels, PUBLISHED.replace(determinant=True), relative=False)
    learner.one_pass(rng.permutation(60)[:20], None, rate)
    inside = np.mean(np.linalg.svd(learner.maps)[1] ** 2, axis=1) < np.exp(5.9)  # the other bound not reached
    assert inside.sum() > 30
    np.testing.assert_allclose(np.linalg.det(learner.maps[inside]), 1.0, rtol=1e-6)
    assert not np.allclose(learner.maps, np.eye(3))


@pytest.mark.parametrize("more", [{}, {"fixed_norm": True}, {"determinant": True}])
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("rate", [1e-6, 0.1, 1e3, 1e12, 1e200])
def test_matrices_stay_inside_their_constraint_after_any_update(rate, relative, more):
    """Duplicates with different labels, zero distances, steps of any size."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(8, 2))[rng.integers(0, 8, 20)]
    levels = Levels.plain(X, rng.integers(0, 2, 20), 2)
    settings = PUBLISHED.replace(smoothing=0.1, **more)
    learner = OnlineMatrices(levels, settings, relative=relative)
    for _ in range(2):
        learner.one_pass(rng.permutation(20), None, rate)
        assert np.all(np.isfinite(learner.maps))
        squares = np.mean(np.linalg.svd(learner.maps)[1] ** 2, axis=1)
        if "fixed_norm" in more:
            np.testing.assert_allclose(squares, 1.0, rtol=1e-9)
        else:
            assert np.abs(np.log(squares)).max() <= 6.0 + 1e-9


@pytest.mark.parametrize("exhaustive", [False, True])
def test_learning_lowers_the_loss(blobs, exhaustive):
    monitor = Monitor(5)
    settings = PUBLISHED.replace(exhaustive=exhaustive, fixed_norm=True, smoothing=0.03)
    levels = Levels.plain(*blobs, 3)
    learned = learn_matrices_online(
        levels, settings, Run(5, np.random.default_rng(0), monitor, np.arange(0, 90, 5))
    )
    assert monitor.losses[-1] < monitor.losses[0]
    assert len(monitor.held_out_losses) == len(monitor.losses)
    assert learned.point_matrices.shape == (90, 4, 4)


def test_new_points_inherit_the_mean_of_like_ones():
    maps = np.random.default_rng(0).normal(size=(4, 2, 2))
    near, shares = np.array([[2, 0], [1, 1], [0, 0]]), np.array([[1.0, 0.0], [0.25, 0.75], [0.0, 0.0]])
    found = inherited_maps(maps, near, shares)
    np.testing.assert_array_equal(found[0], maps[2])
    np.testing.assert_allclose(found[1], maps[1])
    np.testing.assert_array_equal(found[2], np.eye(2))


def test_points_that_join_get_matrices(blobs):
    X, y = blobs
    rng = np.random.default_rng(1)
    maps = np.eye(4) + 0.1 * rng.normal(size=(80, 4, 4))
    order = rng.permutation(90)
    old, new = order[:80], order[80:]
    levels = Levels.plain(X[old], y[old], 3).replace(point_matrices=maps)
    joined = join(levels, X[new], y[new], Settings())
    assert joined.point_matrices.shape == (90, 4, 4)
    assert isinstance(joined.local_metric(), MatrixMetric)
    np.testing.assert_array_equal(levels.point_matrices, maps)
    assert not np.array_equal(joined.point_matrices[:80], maps)
    np.testing.assert_allclose(joined.point_matrices[:80], maps, atol=0.5)
    same = join(levels, X[old[:3]], y[old[:3]], Settings(point_metrics=False))
    np.testing.assert_allclose(same.point_matrices[80:], maps[:3], atol=1e-6)
