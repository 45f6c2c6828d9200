from dataclasses import replace

import numpy as np
import pytest


def test_a_lead_is_over_the_rows_and_seeds_that_both_have(made_up):
    results = made_up()
    ours = results.agreements["lann", 8]
    ours[0] = replace(ours[0], aucs=np.array([1.0] * 20 + [0.0] * 30))
    assert results.lead("lann", "tree-shap", 8) == pytest.approx(((1 - 0.85) + (0.98 - 0.85)) / 2)
    del results.agreements["tree-shap", 8][0]
    assert results.lead("lann", "tree-shap", 8) == pytest.approx(0.98 - 0.85)
    assert results.lead("lann", "nobody", 8) is None


def test_means_over_seeds(made_up):
    results = made_up()
    first = results.agreements["lann", 12]
    first[1] = replace(first[1], auc=0.96, seconds=None)
    assert results.mean("lann", 12) == pytest.approx(0.97)
    assert results.std("lann", 12) == pytest.approx(0.02 / 2**0.5)
    assert results.mean("lann", 12, "seconds") is None
    assert results.mean("lann", 99) is results.std("lann", 99) is None
    assert (results.n_rows("lann", 8), results.n_rows("lime-lann", 8), results.n_rows("x", 8)) == (
        50,
        20,
        None,
    )
