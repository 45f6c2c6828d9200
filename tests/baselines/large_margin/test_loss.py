import numpy as np
import pytest

from lann._validation import validate_parameters
from lann.baselines import LMNN
from lann.baselines._class_neighbors import nearest_same_class
from lann.baselines._large_margin import loss as loss_module
from lann.baselines._large_margin.initial import LARGE_MARGIN, mean_distance, start_map
from lann.baselines._large_margin.learning import held_near, learn_maps
from lann.baselines._large_margin.loss import LargeMargin


def by_triplets(points, labels, targets, groups, maps, push):
    """The loss, one triplet at a time; and how many triplets there were that cost something."""

    def distance(i, j):
        return np.sum((maps[groups[j]] @ (points[i] - points[j])) ** 2)

    pull, hinges = 0.0, []
    for i, own in enumerate(targets):
        for target in own[own >= 0]:
            pull += distance(i, target)
            for other in np.flatnonzero(labels != labels[i]):
                hinges.append(max(0.0, 1.0 + distance(i, target) - distance(i, other)))
    n_pairs = np.count_nonzero(targets >= 0)
    return ((1 - push) * pull + push * np.sum(np.square(hinges))) / n_pairs, np.count_nonzero(hinges)


def a_problem(n_groups=1, rank=4, n_points=60, seed=0):
    """Points of classes of several sizes, one of them a single point, far from the origin."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_points, 4)) + 10.0
    labels = rng.permutation(np.r_[np.arange(5), [3, 4], rng.integers(1, 4, n_points - 7)])
    groups = rng.permutation(np.arange(n_points) % n_groups)
    maps = 0.5 * rng.normal(size=(n_groups, rank, 4))
    return points, labels, nearest_same_class(points, labels, 3), groups, maps


many_forms = pytest.mark.parametrize(("n_groups", "rank"), [(1, 4), (1, 2), (3, 4), (5, 1)])


@many_forms
@pytest.mark.parametrize("push", [0.0, 0.3, 1.0])
def test_the_loss_is_that_of_all_triplets(n_groups, rank, push):
    points, labels, targets, groups, maps = a_problem(n_groups, rank)
    assert (targets < 0).any()
    expected, n_active = by_triplets(points, labels, targets, groups, maps, push)
    assert n_active > 100
    loss, _ = LargeMargin(points, labels, targets, groups, push=push)(maps)
    assert loss == pytest.approx(expected, rel=1e-9)


@many_forms
def test_the_gradient_equals_finite_differences(reference, n_groups, rank):
    points, labels, targets, groups, maps = a_problem(n_groups, rank)
    loss = LargeMargin(points, labels, targets, groups, push=0.4)
    _, gradient = loss(maps)
    expected = reference.slopes(lambda changed: loss(changed)[0], maps)
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_blocks_and_tiles_change_nothing(monkeypatch, n_groups):
    points, labels, targets, groups, maps = a_problem(n_groups, n_points=150)
    whole_loss, whole = LargeMargin(points, labels, targets, groups, push=0.5)(maps)
    monkeypatch.setattr(loss_module, "QUERY_BLOCK", 7)
    monkeypatch.setattr(loss_module, "POINT_TILE", 32)
    loss, gradient = LargeMargin(points, labels, targets, groups, push=0.5)(maps)
    assert loss == pytest.approx(whole_loss, rel=1e-12)
    np.testing.assert_allclose(gradient, whole, rtol=1e-9, atol=1e-12)


def test_the_order_of_the_points_changes_nothing():
    points, labels, targets, groups, maps = a_problem(3)
    loss, gradient = LargeMargin(points, labels, targets, groups, push=0.5)(maps)
    order = np.random.default_rng(1).permutation(len(points))
    place = np.argsort(order)
    moved = np.where(targets < 0, -1, place[targets])[order]
    again, slopes = LargeMargin(points[order], labels[order], moved, groups[order], push=0.5)(maps)
    assert again == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_threads_do_not_change_a_bit(n_groups):
    points, labels, targets, groups, maps = a_problem(n_groups, n_points=700)
    one, other = (
        LargeMargin(points, labels, targets, groups, push=0.5, n_jobs=n_jobs)(maps) for n_jobs in (1, 2)
    )
    assert one[0] == other[0]
    np.testing.assert_array_equal(one[1], other[1])


def test_only_impostors_within_the_margin_count():
    # Points 0 and 1 are alike, 1 apart; the margin of both ends at a squared distance of 2.
    points = np.array([[0.0], [1.0], [-1.3], [-1.5]])
    labels, targets = np.array([0, 0, 1, 2]), np.array([[1], [0], [-1], [-1]])
    loss, _ = LargeMargin(points, labels, targets, np.zeros(4, np.int64), push=1.0)(np.eye(1)[None])
    assert loss == pytest.approx((2.0 - 1.69) ** 2 / 2)


def test_without_any_target_there_is_nothing_to_learn():
    points = np.eye(3)
    loss = LargeMargin(
        points, np.arange(3), nearest_same_class(points, np.arange(3), 2), np.zeros(3, int), push=0.5
    )
    value, gradient = loss(np.eye(3)[None])
    assert value == 0.0
    assert not gradient.any()


def test_held_near_adds_the_departure(reference):
    points, labels, targets, groups, maps = a_problem(2)
    loss = LargeMargin(points, labels, targets, groups, push=0.5)
    start = np.tile(np.eye(4), (2, 1, 1))
    objective = held_near(loss, start, 0.7)
    value, (gradient,) = objective(maps)
    assert value == pytest.approx(loss(maps)[0] + 0.7 * np.sum((maps - start) ** 2))
    expected = reference.slopes(lambda changed: objective(changed)[0], maps)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


def test_learning_lowers_the_loss_and_a_penalty_keeps_maps_near_their_start():
    points, labels, targets, groups, _ = a_problem(2)
    loss = LargeMargin(points, labels, targets, groups, push=0.5)
    start = np.tile(np.eye(4), (2, 1, 1))
    departures = []
    for penalty in (0.0, 100.0, 1e5):
        found = learn_maps(loss, start, alpha=penalty, max_iter=30, tol=1e-6, name="", verbose=0)
        assert found.losses[-1] < loss(start)[0]
        departures.append(np.linalg.norm(found.arrays[0] - start))
    assert departures[0] > departures[1] > departures[2]


def test_starts_are_the_principal_axes_the_features_or_what_is_given():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3)) * [1.0, 5.0, 3.0] + 7.0
    axes = start_map(points, "pca", 2)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.abs(axes), np.eye(3)[[1, 2]], atol=0.2)
    np.testing.assert_array_equal(start_map(points, "identity", 2), np.eye(2, 3))
    np.testing.assert_array_equal(start_map(points, "pca", None), np.eye(3))
    given = rng.normal(size=(2, 3))
    np.testing.assert_array_equal(start_map(points, given.tolist(), None), given)


def test_the_margin_is_the_mean_squared_distance_of_targets():
    points = np.array([[0.0], [1.0], [3.0]])
    assert mean_distance(points, np.array([[1, 2], [0, -1], [-1, -1]])) == pytest.approx((1 + 9 + 1) / 3)
    assert mean_distance(np.zeros((2, 1)), np.array([[1], [0]])) == 1.0
    assert mean_distance(points, np.full((3, 2), -1)) == 1.0


@pytest.mark.parametrize(
    ("init", "n_components", "message"),
    [
        ("random", None, "init must be 'pca', or 'identity', or an array .*; got 'random'"),
        (3, None, "init must be 'pca', or 'identity', or an array"),
        (None, None, "init must be 'pca', or 'identity', or an array"),
        ("pca", 0, "n_components must be an integer of at least 1, or None; got 0"),
        ("pca", 4, "n_components=4 is more than the 3 features there are"),
        (np.eye(2), None, r"init has the shape \(2, 2\)"),
        (np.eye(3), 2, r"it must be \(2, 3\)"),
    ],
)
def test_starts_that_cannot_be_are_refused(init, n_components, message):
    def start():
        validate_parameters(LMNN(init=init, n_components=n_components), LARGE_MARGIN)
        return start_map(np.ones((5, 3)), init, n_components)

    with pytest.raises(ValueError, match=message):
        start()
