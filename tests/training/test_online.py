import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metrics import DiagonalMetric
from lann.training import Settings
from lann.training.online import OnlineLearner
from lann.vote import softmax_loss


def learner_of(points, labels, weights, n_classes, *, k=3, epsilon=0.01, temperature=1.0, norm=True, **more):
    relative = more.pop("relative", False)
    settings = Settings(
        loss="softmax",
        temperature=temperature,
        power=1.0,
        fixed_norm=norm,
        smoothing=more.pop("smoothing", 0.0),
    )
    return OnlineLearner(
        points, labels, weights, n_classes, settings, k=k, epsilon=epsilon, relative=relative
    )


def test_a_step_by_hand():
    """One query with two neighbors, of its own and of another class."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    labels, weights = np.array([0, 0, 1]), np.ones((3, 2))
    beta, rate = 0.5, 0.1
    learner = learner_of(points, labels, weights, 2, k=2, epsilon=0.0, temperature=beta)
    loss = learner.exhaustive_pass(np.array([0]), rate)
    # d_1 = 1, d_2 = 2; S(0) = 1, S(1) = 1/2
    p_0 = np.exp(1 / beta) / (np.exp(1 / beta) + np.exp(0.5 / beta))
    assert loss == pytest.approx(-np.log(p_0))
    alike = 1 / (beta * 1**2) * (1 - p_0)  # ∂E/∂d_1
    unlike = -1 / (beta * 2**2) * (1 - p_0)  # ∂E/∂d_2
    roots_1 = np.array([1 - rate * alike * 2, 1.0])
    roots_2 = np.array([1 - rate * unlike * 2, 1 - rate * unlike * 2])
    np.testing.assert_allclose(weights[0], 1.0)
    np.testing.assert_allclose(weights[1], roots_1**2 * 2 / np.sum(roots_1**2))
    np.testing.assert_allclose(weights[2], roots_2**2 * 2 / np.sum(roots_2**2))
    assert weights[1, 0] < weights[1, 1]


def made_up(seed, n_points, ties):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_points, 3))
    if ties:  # twins: equally far from everyone, and bit for bit so as long as they learn the same
        points = points[rng.integers(0, n_points // 3, n_points)]
    return points, rng.integers(0, 3, n_points), rng


RATES = [0.0, 1e-3, 0.05, 1.0, 100.0]


@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("rate", RATES)
def test_an_exhaustive_pass_is_the_plain_loop(reference, rate, norm):
    points, labels, rng = made_up(0, 120, ties=False)
    fast, slow = np.ones(points.shape), np.ones(points.shape)
    learner = learner_of(points, labels, fast, 3, k=4, norm=norm)
    # Every step may magnify the rounding of those before it, and large ones do: fewer of these.
    n_rows, tolerance = (120, 1e-9) if rate < 1 else (20, 1e-7)
    for _ in range(3):
        rows = rng.permutation(120)[:n_rows]
        loss = learner.exhaustive_pass(rows, rate)
        expected = reference.exhaustive_pass(
            points, labels, slow, rows, rate, k=4, epsilon=0.01, temperature=1.0, n_classes=3, norm=norm
        )
        assert loss == pytest.approx(expected, rel=tolerance)
        np.testing.assert_allclose(fast, slow, rtol=tolerance, atol=tolerance)
    assert np.any(fast != 1.0) == (rate > 0)


@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("rate", RATES)
def test_with_the_same_rounding_it_is_the_plain_loop_for_good(reference, rate, ties, norm):
    """The loop now takes distances and slopes from the library, so that nothing but the search can differ."""

    def measure(x, points, weights):
        return DiagonalMetric(points, weights).distances(x[None], np.arange(len(points))[None])[0]

    def slopes_of(d, near_labels, label, temperature, n_classes):
        slopes = np.empty(len(d))
        loss = softmax_loss(d, near_labels, label, len(d), 1.0, temperature, n_classes, slopes)
        return slopes, loss

    points, labels, rng = made_up(1, 400, ties)
    fast, slow = np.ones(points.shape), np.ones(points.shape)
    learner = learner_of(points, labels, fast, 3, k=4, norm=norm)
    for _ in range(3):
        rows = rng.permutation(400)[:300]
        loss = learner.exhaustive_pass(rows, rate)
        expected = reference.exhaustive_pass(
            points, labels, slow, rows, rate, k=4, epsilon=0.01, temperature=1.0, n_classes=3, norm=norm,
            measure=measure, slopes_of=slopes_of,
        )  # fmt: skip
        assert loss == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)


def test_more_rows_than_a_block(reference):
    points, labels, rng = made_up(1, 600, ties=False)
    fast, slow = np.ones(points.shape), np.ones(points.shape)
    learner = learner_of(points, labels, fast, 3, k=5, temperature=5.0)
    for _ in range(2):
        rows = rng.permutation(600)
        loss = learner.exhaustive_pass(rows, 0.2)
        expected = reference.exhaustive_pass(
            points, labels, slow, rows, 0.2, k=5, epsilon=0.01, temperature=5.0, n_classes=3
        )
        assert loss == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_ties_on_a_grid_are_broken_by_index(reference):
    """Small integers are added without rounding, so that many distances are equal."""
    rng = np.random.default_rng(2)
    points, labels = rng.integers(0, 4, (150, 3)).astype(float), rng.integers(0, 3, 150)
    moved = 0
    for row in range(0, 150, 10):
        fast = rng.integers(1, 3, points.shape).astype(float)
        slow, before = fast.copy(), fast.copy()
        learner_of(points, labels, fast, 3, k=4, norm=False).exhaustive_pass(np.array([row]), 0.1)
        reference.exhaustive_pass(
            points, labels, slow, [row], 0.1, k=4, epsilon=0.01, temperature=1.0, n_classes=3, norm=False
        )
        np.testing.assert_allclose(fast, slow, rtol=1e-12)
        moved += np.any(fast != before)
    assert moved > 5


def test_with_all_points_as_candidates_a_shortlist_pass_is_exhaustive():
    points, labels, rng = made_up(3, 60, ties=False)
    exhaustive, shortlisted = np.ones(points.shape), np.ones(points.shape)
    rows = rng.permutation(60)
    one = learner_of(points, labels, exhaustive, 3).exhaustive_pass(rows, 0.1)
    candidates = np.tile(np.arange(60), (60, 1))
    other = learner_of(points, labels, shortlisted, 3).shortlist_pass(rows, candidates, 0.1)
    assert one == pytest.approx(other)
    np.testing.assert_allclose(exhaustive, shortlisted, rtol=1e-12)


def test_a_rate_of_zero_measures_and_moves_nothing():
    points, labels, rng = made_up(4, 50, ties=False)
    weights = rng.exponential(size=points.shape)
    weights *= 3 / weights.sum(axis=1, keepdims=True)
    before = weights.copy()
    assert learner_of(points, labels, weights, 3).exhaustive_pass(np.arange(50), 0.0) > 0
    np.testing.assert_allclose(weights, before, rtol=1e-14)


def test_the_same_bits_at_any_number_of_threads():
    points, labels, rng = made_up(5, 400, ties=False)
    rows = rng.permutation(400)
    results = []
    for n_jobs in (1, 2):
        weights = np.ones(points.shape)
        settings = Settings(
            loss="softmax", temperature=2.0, power=1.0, fixed_norm=True, smoothing=0.0, n_jobs=n_jobs
        )
        learner = OnlineLearner(points, labels, weights, 3, settings, k=5, epsilon=0.01, relative=False)
        learner.exhaustive_pass(rows, 0.3)
        results.append(weights)
    np.testing.assert_array_equal(*results)


@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-6, 0.1, 1e3, 1e12, 1e200]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([1e-300, 1e-9, 0.1]),
)
def test_weights_stay_inside_their_constraint_after_any_update(
    seed, rate, norm, relative, smoothing, epsilon
):
    """Duplicates with different labels, zero distances, steps of any size."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(8, 2))[rng.integers(0, 8, 20)]
    labels, weights = rng.integers(0, 2, 20), np.ones((20, 2))
    learner = learner_of(
        points, labels, weights, 2, norm=norm, relative=relative, smoothing=smoothing, epsilon=epsilon
    )
    for _ in range(2):
        learner.exhaustive_pass(rng.permutation(20), rate)
        assert np.all(np.isfinite(weights))
        assert np.all(weights >= 0)
        if norm:
            np.testing.assert_allclose(weights.sum(axis=1), 2.0, rtol=1e-9)
        else:
            assert weights.min() >= np.exp(-6.0) * (1 - 1e-9)
            assert weights.max() <= np.exp(6.0) * (1 + 1e-9)


def test_smoothing_brings_like_neighbors_together():
    points, labels, rng = made_up(6, 80, ties=False)
    rows = rng.permutation(80)
    spread = []
    for smoothing in (0.0, 0.5):
        weights = np.ones(points.shape)
        learner_of(points, labels, weights, 3, smoothing=smoothing).exhaustive_pass(rows, 0.1)
        spread.append(weights.std(axis=0).mean())
    assert spread[1] < spread[0]
