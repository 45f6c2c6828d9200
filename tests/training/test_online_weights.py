import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann import _native
from lann.metric import Levels
from lann.training import OnlineSettings, Settings
from lann.training._loss import LossRule, Targets
from lann.training._online import OnlineWeights
from lann.vote import SHARES

RATES = [0.0, 1e-3, 0.05, 1.0, 100.0]


def online(points, labels, *, k=3, epsilon=0.01, temperature=1.0, constraint="norm", n_jobs=None):
    levels = Levels.plain(points, labels, labels.max() + 1)
    rule = OnlineSettings(n_neighbors=k).loss_rule(labels.max() + 1, temperature)
    return OnlineWeights(levels, rule, epsilon, constraint, n_jobs=n_jobs)


def random_points(seed, n_points, *, twins=False):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_points, 3))
    if twins:  # equally far from all points, to the bit as long as they learn the same
        points = points[rng.integers(0, n_points // 3, n_points)]
    return points, rng.integers(0, 3, n_points), rng


@pytest.mark.parametrize("constraint", ["norm", "bounded"])
@pytest.mark.parametrize("rate", RATES)
def test_a_pass_equals_the_plain_loop(reference, rate, constraint):
    points, labels, rng = random_points(0, 120)
    updates, slow = online(points, labels, k=4, constraint=constraint), np.ones(points.shape)
    # Every step may increase the rounding of those before it, and large ones do: fewer of these.
    n_rows, tolerance = (120, 1e-9) if rate < 1 else (20, 1e-7)
    for _ in range(3):
        rows = rng.permutation(120)[:n_rows]
        loss = updates.train_pass(rows, rate)
        expected = reference.exhaustive_pass(
            points, labels, slow, rows, rate, k=4, epsilon=0.01, temperature=1.0, n_classes=3,
            norm=3.0 if constraint == "norm" else None,
        )  # fmt: skip
        assert loss == pytest.approx(expected, rel=tolerance)
        np.testing.assert_allclose(updates.metric.weights, slow, rtol=tolerance, atol=tolerance)
    assert np.any(slow != 1.0) == (rate > 0)


def test_the_same_bits_at_any_number_of_threads():
    points, labels, rng = random_points(5, 400)
    rows = rng.permutation(400)
    one, other = (online(points, labels, k=5, temperature=2.0, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.train_pass(rows, 0.3) == other.train_pass(rows, 0.3)
    np.testing.assert_array_equal(one.metric.weights, other.metric.weights)


@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-6, 0.1, 1e3, 1e12, 1e200]),
    st.sampled_from(["norm", "determinant", "bounded"]),
    st.sampled_from([1e-300, 1e-9, 0.1]),
)
def test_weights_obey_their_constraint_after_any_step(seed, rate, constraint, epsilon):
    """Duplicates with different labels, zero distances, steps of any size."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 2))[rng.integers(0, 8, 20)]
    updates = online(points, np.arange(20) % 2, constraint=constraint, epsilon=epsilon)
    weights = updates.metric.weights
    for _ in range(2):
        updates.train_pass(rng.permutation(20), rate)
        assert np.all(np.isfinite(weights))
        assert np.all(weights >= 0)
        assert np.all(np.isfinite(updates.levels().point_log_weights))
        if constraint == "norm":
            np.testing.assert_allclose(weights.sum(axis=1), 2.0, rtol=1e-9)
        else:
            assert weights.min() >= np.exp(-6.0) * (1 - 1e-9)
            assert weights.max() <= np.exp(6.0) * (1 + 1e-9)


def relative_steps(
    points, labels, rows, candidates, *, rate=0.1, smoothing=0.0, epsilon=0.01, weights=None, targets=None
):  # fmt: skip
    weights = np.ones(points.shape) if weights is None else weights
    rule = LossRule(SHARES, 4, Settings.power, Settings.floor, labels.max() + 1)
    targets = Targets.equal(labels) if targets is None else targets
    options = (rule, epsilon, rate, smoothing)
    return _native.relative_weight_steps(rows, candidates, points, targets, weights, *options), weights


def test_a_relative_step_equals_the_plain_loop(reference):
    points, labels, rng = random_points(6, 60)
    rows = rng.permutation(60)[:20]
    candidates = np.stack([rng.permutation(60)[:12] for _ in rows])
    candidates[:, 5] = -1
    total, weights = relative_steps(points, labels, rows, candidates)
    slow, expected = np.ones(points.shape), 0.0
    for i, row_candidates in zip(rows, candidates, strict=True):
        near = np.array([j for j in row_candidates if j not in (-1, i)])
        d = np.array([np.sum(slow[j] * (points[i] - points[j]) ** 2) for j in near])
        order = np.lexsort((near, d))[:4]
        near, d = near[order], d[order] + 0.01

        def loss(distances, i=i, near=near):
            return reference.share_loss(distances, labels[near], labels[i], 4.0, 0.02)

        expected += loss(d)
        for j, slope in zip(near, reference.slopes(loss, d), strict=True):
            change = -0.1 * slope * slow[j] * (points[i] - points[j]) ** 2
            slow[j] = np.clip(slow[j] * np.exp(np.clip(change, -0.5, 0.5)), np.exp(-6.0), np.exp(6.0))
    assert total == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(weights, slow, rtol=1e-6)
    assert np.abs(np.log(slow)).max() > 0.01
