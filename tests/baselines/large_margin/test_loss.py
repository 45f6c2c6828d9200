"""The large-margin loss and its gradient equal sums over all triplets."""

import numpy as np
import pytest

from lann.baselines._class_neighbors import nearest_same_class
from lann.baselines._large_margin import loss as loss_module
from lann.baselines._large_margin.loss import LargeMarginLoss


def make_problem(n_groups=1, rank=4, n_rows=60, seed=0):
    """Return rows of classes of different sizes, one of them a single row, far from the origin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)) + 10.0
    labels = rng.permutation(np.r_[np.arange(5), [3, 4], rng.integers(1, 4, n_rows - 7)])
    groups = rng.permutation(np.arange(n_rows) % n_groups)
    maps = 0.5 * rng.normal(size=(n_groups, rank, 4))
    return X, labels, nearest_same_class(X, labels, 3), groups, maps


def reference_loss(X, labels, targets, groups, maps, push_weight):
    """Return the loss, one triplet at a time, and the number of triplets with a positive hinge."""

    def distance(i, j):
        return np.sum((maps[groups[j]] @ (X[i] - X[j])) ** 2)

    pull, hinges = 0.0, []
    for i, row_targets in enumerate(targets):
        for target in row_targets[row_targets >= 0]:
            pull += distance(i, target)
            for other in np.flatnonzero(labels != labels[i]):
                hinges.append(max(0.0, 1.0 + distance(i, target) - distance(i, other)))
    n_pairs = np.count_nonzero(targets >= 0)
    loss = ((1 - push_weight) * pull + push_weight * np.sum(np.square(hinges))) / n_pairs
    return loss, np.count_nonzero(hinges)


groups_and_ranks = pytest.mark.parametrize(("n_groups", "rank"), [(1, 4), (1, 2), (3, 4), (5, 1)])


@groups_and_ranks
@pytest.mark.parametrize("push_weight", [0.0, 0.3, 1.0])
def test_loss_equals_the_sum_over_triplets(n_groups, rank, push_weight):
    X, labels, targets, groups, maps = make_problem(n_groups, rank)
    assert (targets < 0).any()
    expected, n_positive = reference_loss(X, labels, targets, groups, maps, push_weight)
    assert n_positive > 100
    loss, _ = LargeMarginLoss(X, labels, targets, groups, push_weight=push_weight)(maps)
    assert loss == pytest.approx(expected, rel=1e-9)


@groups_and_ranks
def test_gradient_equals_finite_differences(reference, n_groups, rank):
    X, labels, targets, groups, maps = make_problem(n_groups, rank)
    loss = LargeMarginLoss(X, labels, targets, groups, push_weight=0.4)
    _, gradient = loss(maps)
    expected = reference.slopes(lambda changed: loss(changed)[0], maps)
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_loss_does_not_depend_on_blocks_and_tiles(monkeypatch, n_groups):
    X, labels, targets, groups, maps = make_problem(n_groups, n_rows=150)
    expected_loss, expected = LargeMarginLoss(X, labels, targets, groups, push_weight=0.5)(maps)
    monkeypatch.setattr(loss_module, "QUERY_BLOCK", 7)
    monkeypatch.setattr(loss_module, "ROW_TILE", 32)
    loss, gradient = LargeMarginLoss(X, labels, targets, groups, push_weight=0.5)(maps)
    assert loss == pytest.approx(expected_loss, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)


def test_loss_does_not_depend_on_the_order_of_the_rows():
    X, labels, targets, groups, maps = make_problem(3)
    expected_loss, expected = LargeMarginLoss(X, labels, targets, groups, push_weight=0.5)(maps)
    order = np.random.default_rng(1).permutation(len(X))
    positions = np.argsort(order)
    targets = np.where(targets < 0, -1, positions[targets])[order]
    loss, gradient = LargeMarginLoss(X[order], labels[order], targets, groups[order], push_weight=0.5)(maps)
    assert loss == pytest.approx(expected_loss, rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_same_bits_with_any_n_jobs(n_groups):
    X, labels, targets, groups, maps = make_problem(n_groups, n_rows=700)
    one, other = (
        LargeMarginLoss(X, labels, targets, groups, push_weight=0.5, n_jobs=n_jobs)(maps) for n_jobs in (1, 2)
    )
    assert one[0] == other[0]
    np.testing.assert_array_equal(one[1], other[1])


def test_only_impostors_within_the_margin_count():
    # Rows 0 and 1 are targets of each other at distance 1; their margins end at a squared distance of 2.
    X = np.array([[0.0], [1.0], [-1.3], [-1.5]])
    labels, targets = np.array([0, 0, 1, 2]), np.array([[1], [0], [-1], [-1]])
    loss, _ = LargeMarginLoss(X, labels, targets, np.zeros(4, np.int64), push_weight=1.0)(np.eye(1)[None])
    assert loss == pytest.approx((2.0 - 1.69) ** 2 / 2)


def test_loss_is_0_without_targets():
    X, labels = np.eye(3), np.arange(3)
    targets = nearest_same_class(X, labels, 2)
    loss = LargeMarginLoss(X, labels, targets, np.zeros(3, np.int64), push_weight=0.5)
    value, gradient = loss(np.eye(3)[None])
    assert value == 0.0
    assert not gradient.any()
