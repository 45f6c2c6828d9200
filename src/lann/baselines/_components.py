"""Principal axes, and the number of components of a linear map."""

from __future__ import annotations

import numpy as np

from lann._types import Floats


def check_n_components(n_components: int | None, n_features: int) -> int:
    """Return the number of components, where None is n_features; raise ValueError if it is more."""
    if n_components is None:
        return n_features
    if n_components > n_features:
        raise ValueError(f"n_components={n_components} must be at most the number of features, {n_features}.")
    return n_components


def principal_axes(centered: Floats) -> tuple[Floats, Floats]:
    """Return the principal axes of centered rows, those of the largest variance first.

    Parameters
    ----------
    centered : (n_rows, n_features)

    Returns
    -------
    variances : (n_features,)
        Up to a common factor.
    axes : (n_features, n_features)
        Rows are axes; orthonormal.
    """
    variances, axes = np.linalg.eigh(centered.T @ centered)  # ascending
    return variances[::-1], axes[:, ::-1].T
