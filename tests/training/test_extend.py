import numpy as np
import pytest

from lann import _native
from lann.metric import join_weights
from lann.model import RowMemory
from lann.search import ExactSearch
from lann.training import Settings
from lann.training import extend as extend_memory
from lann.training._extend import LARGEST_STEP, N_NEIGHBORS, mean_matrices
from lann.training._online import CONSTRAINTS, with_weights
from lann.vote import zero_distance_guard


def extend(levels, *args, **options):
    return extend_memory(RowMemory(levels), *args, **options)[0].levels


@pytest.mark.parametrize("point_metrics", [True, False])
def test_new_rows_are_added_and_change_the_metrics_of_their_neighbors(learned, point_metrics):
    settings = Settings(point_metrics=point_metrics)
    extended = extend(learned, learned.X[:3] + 0.05, learned.labels[:3], settings)
    assert extended.X.shape == (93, 4)
    assert extended.point_log_weights.shape == (93, 4)
    np.testing.assert_array_equal(extended.labels[90:], learned.labels[:3])
    assert extended.curves is learned.curves
    np.testing.assert_array_equal(extended.class_log_weights, learned.class_log_weights)
    n_changed = np.any(
        np.abs(extended.point_log_weights[:90] - learned.point_log_weights) > 1e-9, axis=1
    ).sum()
    assert (0 < n_changed <= 30) == point_metrics


def extend_in_full(levels, X, labels, settings, row_weights, epsilon):
    """Add rows by copies of all arrays, with a search among all rows: slow, and obvious."""
    n_old, n_new = len(levels.X), len(X)
    log_weights, matrices = np.zeros((n_new, levels.point_log_weights.shape[1])), None
    shares, near = np.zeros((n_new, N_NEIGHBORS)), np.zeros((n_new, N_NEIGHBORS), int)
    for label in set(labels) & set(levels.labels):
        old, new = np.flatnonzero(levels.labels == label), np.flatnonzero(labels == label)
        k = min(N_NEIGHBORS, len(old))
        search = ExactSearch(levels.class_metric().subset(old))
        found, distances = search.query(levels.transform(X[new]), k)
        closeness = 1.0 / (distances + 1e-9 * zero_distance_guard(distances))
        near[new, :k], shares[new, :k] = old[found], closeness / closeness.sum(axis=1, keepdims=True)
    log_weights = np.einsum("qk,qkf->qf", shares, levels.point_log_weights[near])
    if levels.point_matrices is not None:
        new_matrices = mean_matrices(levels.point_matrices, near, shares)
        matrices = np.concatenate([levels.point_matrices, new_matrices])
    extended = levels.replace(
        X=np.concatenate([levels.X, X]),
        labels=np.concatenate([levels.labels, labels]),
        point_log_weights=np.concatenate([levels.point_log_weights, log_weights]),
        point_matrices=matrices,
        row_weights=join_weights((levels.row_weights, n_old), (row_weights, n_new)),
    )
    rows = np.arange(n_old, n_old + n_new)
    search = ExactSearch(extended.class_metric())
    k = min(settings.n_candidates, n_old + n_new - 1)
    candidates, _ = search.query(extended.points[rows], k, exclude=rows)
    rule = settings.loss_rule(levels)
    rule = rule._replace(n_neighbors=min(rule.n_neighbors, n_old + n_new - 1))
    targets = settings.targets(extended)
    rate, smoothing = settings.learning_rate, settings.smoothing
    if matrices is not None:
        roots, matrices = np.sqrt(extended.weights), matrices.copy()
        options = (rule, epsilon, rate, LARGEST_STEP, CONSTRAINTS.index("bounded"), smoothing)
        _native.matrix_steps(rows, candidates, extended.points, targets, roots, matrices, *options)
        return extended.replace(point_matrices=matrices)
    weights = extended.weights
    options = (rule, epsilon, rate, smoothing)
    _native.relative_weight_steps(rows, candidates, extended.points, targets, weights, *options)
    return with_weights(extended, weights)


@pytest.mark.parametrize("step", [1, 5, 30])
@pytest.mark.parametrize("form", ["diagonal", "full"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_candidates", [8, 50])
def test_the_result_is_that_of_copies_of_all_arrays(learned, step, form, weighted, n_candidates):
    rng = np.random.default_rng(0)
    old, new = np.split(rng.permutation(90), [60])
    levels = learned.subset(old)
    if form == "full":
        levels = levels.replace(point_matrices=np.eye(4) + 0.1 * rng.normal(size=(60, 4, 4)))
    settings = Settings(n_candidates=n_candidates, class_weight=np.array([1.0, 2.0, 0.5]))
    memory, expected, epsilon = RowMemory(levels), levels, 0.01
    for start in range(0, 30, step):
        rows = new[start : start + step]
        weights = rng.exponential(size=step) if weighted else None
        added = learned.X[rows], learned.labels[rows], settings
        memory, _ = extend_memory(memory, *added, row_weights=weights, epsilon=epsilon)
        expected = extend_in_full(expected, *added, weights, epsilon)
    found = memory.levels
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.labels, expected.labels)
    # The logarithms of unchanged weights are kept, and not computed again.
    np.testing.assert_allclose(found.point_log_weights, expected.point_log_weights, rtol=1e-9, atol=1e-12)
    if form == "full":
        np.testing.assert_allclose(found.point_matrices, expected.point_matrices, rtol=1e-9, atol=1e-12)
        assert np.abs(found.point_matrices[:60] - levels.point_matrices).max() > 1e-3
    else:
        assert np.abs(found.point_log_weights[:60] - levels.point_log_weights).max() > 1e-3
    if weighted:
        np.testing.assert_array_equal(found.row_weights, expected.row_weights)
    assert memory.class_counts.tolist() == np.bincount(expected.labels).tolist()
