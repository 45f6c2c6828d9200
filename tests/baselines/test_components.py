"""Principal axes are orthonormal and sorted by variance."""

import numpy as np

from lann.baselines._components import principal_axes


def test_axes_are_sorted_by_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 10.0, 0.1]
    variances, axes = principal_axes(X - X.mean(axis=0))
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(axes), np.eye(3)[[1, 0, 2]], atol=0.02)
    np.testing.assert_allclose(variances / 200, (X @ axes.T).var(axis=0))
