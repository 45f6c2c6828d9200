import numpy as np

from lann.metric import Levels, find_copies

ROWS = np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0], [1.0, 2.0], [-0.0, 3.0], [5.0, 5.0]])
LABELS = np.array([0, 1, 0, 1, 1, 0])


def levels_of(row_weights=None):
    return Levels.plain(ROWS, LABELS, 2, row_weights=row_weights)


def groups_of(copies):
    """Return the rows of each group."""
    return {tuple(np.flatnonzero(copies.group == group)) for group in range(len(copies.distinct))}


def test_copies_have_the_same_values_and_the_same_label():
    copies = find_copies(levels_of())
    assert groups_of(copies) == {(0, 2), (1, 4), (3,), (5,)}
    np.testing.assert_array_equal(copies.group[copies.distinct], np.arange(4))


def test_the_merged_rows_do_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    X, labels, weights = rng.integers(0, 3, (200, 3)).astype(float), rng.integers(0, 2, 200), rng.random(200)
    levels = Levels.plain(X, labels, 2, row_weights=weights)
    merged = find_copies(levels).merge(levels)
    assert len(merged.X) < 60
    shuffled = levels.subset(rng.permutation(200))
    again = find_copies(shuffled).merge(shuffled)
    for name in ("X", "labels", "row_weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(merged, name))


def test_merged_rows_have_the_sum_of_the_weights_relative_to_the_mean():
    merged = find_copies(levels_of()).merge(levels_of())
    rows = zip(merged.X, merged.labels, merged.row_weights, strict=True)
    table = {(*row, label): weight for row, label, weight in rows}
    expected = {(1.0, 2.0, 0): 2, (0.0, 3.0, 1): 2, (1.0, 2.0, 1): 1, (5.0, 5.0, 0): 1}
    assert table == {row: count / 1.5 for row, count in expected.items()}
    weighted = levels_of(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 5.0]))
    merged = find_copies(weighted).merge(weighted)
    np.testing.assert_allclose(sorted(merged.row_weights), np.array([4, 4, 5, 7]) / 5)


def test_every_copy_gets_the_metric_of_its_group():
    levels = levels_of()
    copies = find_copies(levels)
    merged = copies.merge(levels)
    learned = merged.replace(
        point_log_weights=np.arange(8.0).reshape(4, 2), point_matrices=np.arange(16.0).reshape(4, 2, 2)
    )
    expanded = copies.expand(learned, levels)
    assert expanded.X is levels.X
    assert expanded.labels is levels.labels
    assert expanded.row_weights is None
    np.testing.assert_array_equal(expanded.point_log_weights, learned.point_log_weights[copies.group])
    np.testing.assert_array_equal(expanded.point_matrices, learned.point_matrices[copies.group])
    assert copies.expand(merged, levels).point_matrices is None
