import numpy as np
import pytest

from benchmarks.explanations.summary import PLANTED, auc_difference
from benchmarks.explanations.tasks import data_name

NAME = data_name(8)


def test_aucs_are_compared_on_the_rows_and_seeds_that_both_have(made_up):
    results, _, _ = made_up()
    ours = results.cells[PLANTED, "lann", NAME]
    ours[0] = {**ours[0], "aucs": np.repeat([1.0, 0.0], [20, 30]).tolist()}
    expected = ((1 - 0.85) + (0.99 - 0.85)) / 2
    assert auc_difference(results, "lann", "tree-shap", NAME) == pytest.approx(expected)
    del results.cells[PLANTED, "tree-shap", NAME][0]
    assert auc_difference(results, "lann", "tree-shap", NAME) == pytest.approx(0.99 - 0.85)
    assert auc_difference(results, "lann", "unknown", NAME) is None
