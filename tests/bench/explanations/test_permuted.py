import numpy as np
import pytest

from lann.bench.explanations.permuted import permuted_auc, permuted_task


def test_the_same_labels_in_another_order(task):
    first, again, second = (permuted_task(task, permutation) for permutation in (0, 0, 1))
    np.testing.assert_array_equal(first.y, again.y)
    assert (first.y != second.y).any()
    assert (first.y != task.y).mean() > 0.3
    np.testing.assert_array_equal(np.sort(first.y), np.sort(task.y))
    assert first.X is task.X


def test_the_gate_is_left_out(task, explainer_of):
    def gate_first(queries):
        return np.tile([9.0, 2.0, 1.0, 1.0, 3.0], (len(queries), 1))

    assert permuted_auc(explainer_of(gate_first), None, task) == pytest.approx(2 / 3)
