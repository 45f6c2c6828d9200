"""Correlated features: relevance is divided between them arbitrarily, their sum is not."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._types import Floats, Indices
from lann._validation import Number, validate

THRESHOLD = 0.9
# Fewer rows correlate by chance; more tell nothing new.
FEWEST_ROWS = 20
MOST_ROWS = 1000
# Rows of the matrix of correlations that are held at once.
BLOCK = 512
# How many groups a warning names, and how many features the name of a group.
MOST_NAMED_GROUPS = 5
MOST_NAMED_FEATURES = 3

# Groups of features, as positions.
Groups = tuple[tuple[int, ...], ...]


def correlated_groups(
    X: ArrayLike, *, threshold: float = THRESHOLD, feature_names: Sequence[Any] | None = None
) -> dict[str, list[str]]:
    """Find groups of correlated features.

    Two features belong together if the absolute value of Pearson's or Spearman's correlation is at least
    `threshold`; groups are the connected components of these pairs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At least 20 rows. Of more than 1000 rows, 1000 are used, evenly spaced.
    threshold : float, default=0.9
        Above 0, at most 1.
    feature_names : sequence of str or None, default=None
        None is the columns of a DataFrame, or x0, x1, ….

    Returns
    -------
    groups : dict of str to list of str
        For each group of at least two features its name and the names of the features, as
        `Explanation.group_features` takes them.

    Raises
    ------
    ValueError
        If there are fewer than 20 rows, or the number of names is not that of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.explain import correlated_groups
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> X[:, 3] = np.exp(X[:, 1])
    >>> correlated_groups(X)
    {'x1 + x3': ['x1', 'x3']}
    """
    from sklearn.utils.validation import check_array

    validate("threshold", threshold, Number(0, 1, closed="right"))
    if feature_names is None:
        feature_names = list(getattr(X, "columns", []))
    values = check_array(X, dtype=np.float64, ensure_min_samples=FEWEST_ROWS)
    names = [str(name) for name in feature_names] or [f"x{feature}" for feature in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise ValueError(
            f"feature_names must name the {values.shape[1]} features of X; got {len(names)} names."
        )
    return named_groups(correlated_features(values, threshold), names)


def correlated_features(X: Floats, threshold: float = THRESHOLD) -> Groups:
    """Return groups of correlated features; none where there are too few rows to tell."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.stats import rankdata

    n_rows, n_features = X.shape
    if n_rows < FEWEST_ROWS:
        return ()
    sample = X[np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.int64)]
    forms = [_standardized(sample), _standardized(rankdata(sample, axis=0))]
    edges: list[Indices] = []
    for start in range(0, n_features, BLOCK):
        part = slice(start, start + BLOCK)
        high = np.any([np.abs(form[:, part].T @ form) >= threshold - 1e-12 for form in forms], axis=0)
        edges.append(np.argwhere(high) + np.array([start, 0]))
    ends = np.concatenate(edges).T
    graph = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n_features, n_features))
    _, group = connected_components(graph, directed=False)
    members = [np.flatnonzero(group == found) for found in np.flatnonzero(np.bincount(group) > 1)]
    return tuple(sorted(tuple(features.tolist()) for features in members))


def named_groups(groups: Groups, names: Sequence[Any] | NDArray[Any]) -> dict[str, list[str]]:
    """Return a name for each group, and the names of its features."""
    members = [[str(names[feature]) for feature in group] for group in groups]
    return {" + ".join(_shortened(group)): group for group in members}


def warn_of_correlated(groups: Iterable[str], *, stacklevel: int) -> None:
    """Warn that relevance is divided arbitrarily within the named groups."""
    listed = list(groups)
    shown = [f"({name})" for name in listed[:MOST_NAMED_GROUPS]]
    if n_more := len(listed) - len(shown):
        shown.append(f"{n_more} more groups")
    warnings.warn(
        "Some features are correlated in the training data, and relevance is divided between them "
        f'arbitrarily: {", ".join(shown)}; correlated="group" adds them up.',
        UserWarning,
        stacklevel=stacklevel + 1,
    )


def _shortened(group: list[str]) -> list[str]:
    if len(group) <= MOST_NAMED_FEATURES:
        return group
    shown = group[: MOST_NAMED_FEATURES - 1]
    return [*shown, f"{len(group) - len(shown)} more"]


def _standardized(X: Floats) -> Floats:
    """Return columns of mean 0 and norm 1, so that products are correlations; 0 for a constant column."""
    largest = np.abs(X).max(axis=0)
    centered = X / np.where(largest > 0, largest, 1.0)  # squares of huge values would overflow
    centered -= centered.mean(axis=0)
    norms = np.sqrt((centered**2).sum(axis=0))
    # Rounding leaves a small norm of a constant column.
    varies = norms > 1e-10 * np.sqrt(len(X))
    return np.where(varies, centered / np.where(varies, norms, 1.0), 0.0)
