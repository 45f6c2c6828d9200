"""Initial map, target neighbors and margin of large margin nearest neighbors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats, Indices
from lann.baselines._components import check_n_components, principal_axes


class Initialization(NamedTuple):
    """What is fixed before maps are learned.

    Attributes
    ----------
    components : (n_components, n_features)
        The initial map.
    targets : (n_rows, n_targets)
        The nearest rows of the same class under the initial map; -1 where there are fewer.
    margin : float
        Mean squared distance to the targets under the initial map.
    """

    components: Floats
    targets: Indices
    margin: float


def initial_components(X: Floats, init: str | ArrayLike, n_components: int | None) -> Floats:
    """Return the initial map, (n_components, n_features).

    Parameters
    ----------
    X : (n_rows, n_features)
    init : {"pca", "identity"} or array-like of shape (n_components, n_features)
    n_components : int or None
        None is n_features, or the number of rows of `init` if that is an array.
    """
    n_features = X.shape[1]
    if not isinstance(init, str):
        return _check_init(init, n_components, n_features)
    rank = check_n_components(n_components, n_features)
    # All principal axes together are a rotation of the features, which changes no distance.
    if init == "identity" or rank == n_features:
        return np.eye(rank, n_features)
    return np.ascontiguousarray(principal_axes(X - X.mean(axis=0))[1][:rank])


def _check_init(init: Any, n_components: int | None, n_features: int) -> Floats:
    components = np.array(init, dtype=np.float64)
    if components.shape != (len(components) if n_components is None else n_components, n_features):
        n_rows = "n_components" if n_components is None else n_components
        raise ValueError(
            f"init must have the shape ({n_rows}, {n_features}); got an array of shape {components.shape}."
        )
    return components


def mean_target_distance(mapped: Floats, targets: Indices) -> float:
    """Return the mean squared distance of rows to their targets, or 1 if that is 0.

    Parameters
    ----------
    mapped : (n_rows, rank)
    targets : (n_rows, n_targets)
        -1 where there are fewer.
    """
    total = 0.0
    for column in targets.T:
        present = column >= 0
        total += float(np.square(mapped[present] - mapped[column[present]]).sum())
    mean = total / max(int(np.count_nonzero(targets >= 0)), 1)
    return mean if mean > 0.0 else 1.0
