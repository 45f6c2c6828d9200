"""The metrics of training rows as matrices over the features."""

from __future__ import annotations

from typing import Any

from lann._types import Floats
from lann.explain._fitted import check_rows, model_of


def local_matrices(clf: Any, rows: Any = None) -> Floats:
    """Return the metrics of training rows near themselves, as matrices.

    d_j(x) ≈ (x − x_j)ᵀ A_j (x − x_j), in the user's units, with all levels of the metric. The eigenvectors of
    A_j are the directions in which row j measures differences most and least. Without curves the form is
    exact everywhere; with curves it holds while no feature leaves its segment of the curve or crosses a
    threshold at which the curve jumps. The diagonals, scaled, are `feature_weights_`.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    rows : int, array-like of int or None, default=None
        Positions of training rows; None is all of them. Each takes n_features² numbers.

    Returns
    -------
    matrices : ndarray of shape (n_rows, n_features, n_features)

    Raises
    ------
    ValueError
        If the classifier keeps no training rows, or `rows` are not distinct training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lann import LANNClassifier
    >>> from lann.datasets import make_licorice
    >>> from lann.explain import local_matrices
    >>> X, y, cylinders = make_licorice(400, random_state=0, return_axes=True)
    >>> clf = LANNClassifier(metric="full", random_state=0).fit(X, y)
    >>> sizes, directions = np.linalg.eigh(local_matrices(clf, [0, 1, 2]))  # ascending
    >>> directions[:, :, 0].shape  # the direction that counts least for each row
    (3, 3)
    """
    model = model_of(clf)
    return model.local_matrices(check_rows(rows, len(model.X)))
