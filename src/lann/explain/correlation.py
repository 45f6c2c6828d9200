"""Features that say the same: how relevance is split between them is arbitrary, their sum is not."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._types import Floats, Indices
from lann._validation import Number, validate

THRESHOLD = 0.9
# Fewer points correlate by chance; more tell nothing new.
FEWEST_ROWS = 20
MOST_ROWS = 1000
# Rows of the matrix of correlations that are held at once.
BLOCK = 512
# How many groups a warning names, and how many features the name of a group.
MOST_NAMED_GROUPS = 5
MOST_NAMED_FEATURES = 3

Places = tuple[tuple[int, ...], ...]


def correlated_groups(
    X: ArrayLike, *, threshold: float = THRESHOLD, feature_names: Sequence[Any] | None = None
) -> dict[str, list[str]]:
    """
    Find features that say nearly the same.

    Two features belong together where Pearson's or Spearman's correlation is at least `threshold` or at most
    −`threshold`, and so do all that are connected in this way, over others if need be.

    Parameters
    ----------
    X
        The training data, (n_samples, n_features), at least 20 rows. Of more than 1000 rows as many are
        looked at, evenly spread.
    threshold
        Above 0, at most 1.
    feature_names
        By default the columns of a data frame, or x0, x1, ….

    Returns
    -------
    groups
        For each group of at least two features a name for it, and the names of the features: what
        `group_features` takes.

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
    names = [str(name) for name in feature_names] or [f"x{place}" for place in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise ValueError(
            f"feature_names must name the {values.shape[1]} features of X; got {len(names)} names."
        )
    return named(correlated_places(values, threshold), names)


def correlated_places(X: Floats, threshold: float = THRESHOLD) -> Places:
    """The same, as places of features; none where there are too few rows to tell."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.stats import rankdata

    n_rows, n_features = X.shape
    if n_rows < FEWEST_ROWS:
        return ()
    some = X[np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.int64)]
    forms = [_standardized(some), _standardized(rankdata(some, axis=0))]
    edges: list[Indices] = []
    for start in range(0, n_features, BLOCK):
        part = slice(start, start + BLOCK)
        alike = np.any([np.abs(form[:, part].T @ form) >= threshold - 1e-12 for form in forms], axis=0)
        edges.append(np.argwhere(alike) + np.array([start, 0]))
    ends = np.concatenate(edges).T
    graph = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n_features, n_features))
    _, group = connected_components(graph, directed=False)
    members = [np.flatnonzero(group == found) for found in np.flatnonzero(np.bincount(group) > 1)]
    return tuple(sorted(tuple(places.tolist()) for places in members))


def named(groups: Places, names: Sequence[Any] | NDArray[Any]) -> dict[str, list[str]]:
    """The groups by names: of themselves, and of the features in them."""
    members = [[str(names[place]) for place in group] for group in groups]
    return {" + ".join(_shortened(group)): group for group in members}


def warn_of_correlated(groups: Iterable[str], *, stacklevel: int) -> None:
    """One sentence that names the groups."""
    listed = list(groups)
    shown = [f"({name})" for name in listed[:MOST_NAMED_GROUPS]]
    if left_out := len(listed) - len(shown):
        shown.append(f"{left_out} more groups")
    warnings.warn(
        f"Some features say nearly the same in the training data, so that how relevance is split between "
        f'them is arbitrary: {", ".join(shown)}; correlated="group" adds them up.',
        UserWarning,
        stacklevel=stacklevel + 1,
    )


def _shortened(group: list[str]) -> list[str]:
    if len(group) <= MOST_NAMED_FEATURES:
        return group
    shown = group[: MOST_NAMED_FEATURES - 1]
    return [*shown, f"{len(group) - len(shown)} more"]


def _standardized(X: Floats) -> Floats:
    """Columns of mean 0 and length 1, so that products are correlations; 0 where a column is constant."""
    largest = np.abs(X).max(axis=0)
    centered = X / np.where(largest > 0, largest, 1.0)  # squares of huge values would overflow
    centered -= centered.mean(axis=0)
    lengths = np.sqrt((centered**2).sum(axis=0))
    # What is left of a constant by rounding is no spread.
    varies = lengths > 1e-10 * np.sqrt(len(X))
    return np.where(varies, centered / np.where(varies, lengths, 1.0), 0.0)
