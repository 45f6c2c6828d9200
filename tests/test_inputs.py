"""Statistics of the numbers of a table."""

import numpy as np
import pytest

from lann._support import inputs as _inputs
from lann._support.inputs import weighted_moments


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_moments_of_many_rows_are_those_of_blocks(monkeypatch, dtype):
    X = np.random.default_rng(0).normal(size=(103, 4)).astype(dtype)
    X[:, 1] += 1e3
    X[:, 3] = 7.25
    means, variances = weighted_moments(X, None)
    monkeypatch.setattr(_inputs, "BLOCK", 10)
    in_blocks = weighted_moments(X, None)
    np.testing.assert_allclose(in_blocks, (means, variances), rtol=1e-12)
    assert in_blocks[0].dtype == np.float64
    assert (in_blocks[0][3], in_blocks[1][3]) == (7.25, 0.0)
    np.testing.assert_allclose(weighted_moments(X, np.ones(103)), in_blocks, rtol=1e-12)
