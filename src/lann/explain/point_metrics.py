"""How training points measure close to themselves, as matrices over the features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lann._types import Floats, Indices
from lann.explain.left_out import check_rows

if TYPE_CHECKING:
    from lann.metrics.levels import Levels


def local_matrices(clf: Any, rows: Any = None) -> Floats:
    """How some training points measure close to themselves: (n_rows, n_features, n_features).

    d_j(x) ≈ (x − x_j)ᵀ A_j (x − x_j), in the data's units, with all levels of the metric together. The
    eigenvectors of A_j are the directions in which point j sees differences most and least; one that matters
    to nobody near j has a small eigenvalue. Without curves the form is exact everywhere; with them it holds
    as long as no feature leaves its stretch of the curve. `feature_weights_` has the diagonals alone.

    Parameters
    ----------
    clf
        A fitted LANNClassifier.
    rows : int, (n_rows,) or None
        Rows of the training data; None is all of them. Each takes n_features² numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from lann import LANNClassifier
    >>> from lann.datasets import make_licorice
    >>> from lann.explain import local_matrices
    >>> X, y, cylinders = make_licorice(400, random_state=0, return_axes=True)
    >>> clf = LANNClassifier(metric="full", random_state=0).fit(X, y)
    >>> matrices = local_matrices(clf, [0, 1, 2])
    >>> sizes, directions = np.linalg.eigh(matrices)  # ascending
    >>> directions[:, :, 0].shape  # what each of them sees least
    (3, 3)
    """
    check_is_fitted(clf)
    levels = getattr(getattr(clf, "_model", None), "levels", None)
    if levels is None:
        raise ValueError(
            f"{type(clf).__name__} has no training points that own a metric; LANNClassifier has."
        )
    return matrices_at(levels, check_rows(rows, len(levels.X)))


def matrices_at(levels: Levels, rows: Indices) -> Floats:
    """A_j = J Mᵀ Λ_j M J of some points: (n_rows, n_features, n_features), in the data's units.

    The metric Λ_j along the axes, through the map M, and through the slopes J of the curves at the point.
    """
    slopes = levels.curves.slopes_at(levels.X[rows])  # (n_rows, n_features)
    axes = np.eye(levels.X.shape[1]) if levels.map is None else levels.map
    if levels.point_maps is None:
        roots = np.sqrt(levels.weights[rows])[:, :, None] * axes  # (n_rows, n_axes, n_features)
    else:
        roots = np.matmul(levels.own_maps(rows).astype(np.float64).swapaxes(1, 2), axes)
    roots = roots * slopes[:, None, :]
    return np.matmul(roots.swapaxes(1, 2), roots)
