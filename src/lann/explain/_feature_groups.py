"""Groups of features: correlated features, and one-hot columns of one variable, added up.

Relevance is divided arbitrarily between correlated features; their sum is not arbitrary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.types import Floats, Indices
from lann._support.validation import Number, validate
from lann.columns.schema import as_table, infer_schema, read

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

THRESHOLD = 0.9
# Fewer rows correlate by chance; more tell nothing new.
FEWEST_ROWS = 20
MOST_ROWS = 1000
# Rows of the matrix of correlations that are held at once.
BLOCK = 512
# How many features the name of a group has.
MOST_NAMED_FEATURES = 3

# Groups of features, as positions.
Groups = tuple[tuple[int, ...], ...]


def correlated_groups(
    X: ArrayLike, *, threshold: float = THRESHOLD, feature_names: Sequence[Any] | None = None
) -> dict[str, list[str]]:
    """Find groups of correlated features.

    Two features belong together if their correlation is at least `threshold`; groups are the connected
    components of these pairs. The correlation of two numbers is the absolute value of Pearson's or
    Spearman's, that of a category and a number the correlation ratio of the numbers or their ranks, and that
    of two categories Cramér's V, the latter two without their bias. Each refers to the rows in which both
    features have a value, at least 20.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        At least 20 rows. Of more than 1000 rows, 1000 are used, evenly spaced. Columns of text and categories
        are categories; ordered categories, bools and dates are numbers.
    threshold : float, default=0.9
        Above 0, at most 1.
    feature_names : sequence of str or None, default=None
        None is the columns of a DataFrame, or x0, x1, ….

    Returns
    -------
    groups : dict of str to list of str
        For each group of at least two features its name and the names of the features, as
        `group_features` takes them.

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
    table, values, is_category = as_table(X), X, None
    if table is not None and not all(dtype.is_numeric() for dtype in table.schema.values()):
        schema = infer_schema(table, "from_dtype", has_names=True)
        values, is_category = read(table, schema), np.array(schema.n_categories) > 0
    values = check_array(
        values, dtype=np.float64, ensure_min_samples=FEWEST_ROWS, ensure_all_finite="allow-nan"
    )
    names = [str(name) for name in feature_names] or [f"x{feature}" for feature in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise ValueError(
            f"feature_names must name the {values.shape[1]} features of X; got {len(names)} names."
        )
    return named_groups(correlated_features(values, threshold, is_category), names)


def correlated_features(
    X: Floats, threshold: float = THRESHOLD, is_category: NDArray[np.bool_] | None = None
) -> Groups:
    """Return groups of correlated features; none where there are too few rows to tell.

    Parameters
    ----------
    X : (n_rows, n_features)
        Categories as codes, NaN for gaps.
    threshold : float
    is_category : (n_features,) or None
        Which features are categories; None is none.
    """
    from scipy.stats import rankdata

    n_rows, n_features = X.shape
    if n_rows < FEWEST_ROWS:
        return ()
    sample = X[np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.int64)]
    categories = np.zeros(n_features, bool) if is_category is None else is_category
    numbers = np.flatnonzero(~categories)
    present = ~np.isnan(sample[:, numbers])
    ranks = rankdata(sample[:, numbers], axis=0, nan_policy="omit")
    forms = [_filled(sample[:, numbers]), _filled(ranks)]
    pairs = numbers[_number_pairs(forms, present, threshold)].tolist()
    for one in np.flatnonzero(categories):
        codes = sample[:, one]
        for other in np.flatnonzero(categories[:one]):
            if _cramers_v(codes, sample[:, other]) >= threshold - 1e-12:
                pairs.append((one, other))
        for number, rows, *values in zip(numbers, present.T, *(form.T for form in forms), strict=True):
            if max(_correlation_ratio(codes[rows], form[rows]) for form in values) >= threshold - 1e-12:
                pairs.append((one, number))
    return _connected(pairs, n_features)


def _connected(pairs: Sequence[Sequence[int]], n_items: int) -> Groups:
    """Return the groups of several items that pairs connect."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_items, n_items))
    _, group = connected_components(graph, directed=False)
    members = (np.flatnonzero(group == found) for found in np.flatnonzero(np.bincount(group) > 1))
    return tuple(sorted(tuple(items.tolist()) for items in members))


def _number_pairs(forms: list[Floats], present: NDArray[np.bool_], threshold: float) -> Indices:
    """Return pairs of correlated numbers, each in both orders: (n_pairs, 2).

    Pearson's correlations are over the rows in which both features have values; there is none where these
    are few, or one of the features is constant in them.
    """
    pairs, mask = [np.empty((0, 2), np.int64)], present.astype(np.float64)
    for start in range(0, mask.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        own_mask = mask[:, part].T
        counts = np.maximum(own_mask @ mask, 1.0)
        is_high = np.zeros(counts.shape, bool)
        for values in forms:
            own = values[:, part].T
            sums, others = own @ mask, own_mask @ values
            squares = own**2 @ mask - sums**2 / counts
            other_squares = own_mask @ values**2 - others**2 / counts
            tell = (counts >= FEWEST_ROWS) & (np.minimum(squares, other_squares) > 1e-20 * counts)
            norms = np.sqrt(np.where(tell, squares * other_squares, np.inf))
            is_high |= np.abs((own @ values - sums * others / counts) / norms) >= threshold - 1e-12
        pairs.append(np.argwhere(is_high) + np.array([start, 0]))
    return np.concatenate(pairs)


def _filled(sample: Floats) -> Floats:
    """Return columns with mean 0 and largest value 1, and 0 for gaps."""
    present = ~np.isnan(sample)
    values = np.where(present, sample, 0.0)
    largest = np.abs(values).max(axis=0)
    values /= np.where(largest > 0, largest, 1.0)
    means = values.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return np.where(present, values - means, 0.0)


def _cramers_v(one: Floats, other: Floats) -> float:
    """Return Cramér's V of two categories, without its bias (Bergsma 2013); codes, NaN for gaps."""
    present = ~(np.isnan(one) | np.isnan(other))
    ones, own = np.unique(one[present], return_inverse=True)
    others, theirs = np.unique(other[present], return_inverse=True)
    n_rows, n_one, n_other = len(own), len(ones), len(others)
    # Categories of which nearly every row has its own one tell nothing.
    if min(n_one, n_other) < 2 or n_rows - max(n_one, n_other) < FEWEST_ROWS:
        return 0.0
    cells, counts = np.unique(own * n_other + theirs, return_counts=True)
    totals = np.bincount(own)[cells // n_other] * np.bincount(theirs)[cells % n_other]
    phi = (counts**2 / totals).sum() - 1.0 - (n_one - 1) * (n_other - 1) / (n_rows - 1)
    smaller = min(n - (n - 1) ** 2 / (n_rows - 1) for n in (n_one, n_other))
    return float(np.sqrt(max(phi, 0.0) / (smaller - 1.0)))


def _correlation_ratio(codes: Floats, values: Floats) -> float:
    """Return the correlation ratio of a category and a number, without its bias.

    It is √ε², with ε² the share of the variance between categories, corrected for their number (Kelley 1935).
    """
    present = ~np.isnan(codes)
    values = values[present] - values[present].mean()
    distinct, own = np.unique(codes[present], return_inverse=True)
    n_rows, n_own, total = len(own), len(distinct), (values**2).sum()
    if n_own < 2 or n_rows - n_own < FEWEST_ROWS or total <= 1e-20 * n_rows:
        return 0.0
    between = (np.bincount(own, values) ** 2 / np.bincount(own)).sum()
    corrected = 1.0 - (1.0 - between / total) * (n_rows - 1) / (n_rows - n_own)
    return float(np.sqrt(np.clip(corrected, 0.0, 1.0)))


def named_groups(groups: Groups, names: Sequence[Any] | NDArray[Any]) -> dict[str, list[str]]:
    """Return a name for each group, and the names of its features."""
    found = {}
    for group in groups:
        members = shown = [str(names[feature]) for feature in group]
        if len(members) > MOST_NAMED_FEATURES:
            shown = [*members[: MOST_NAMED_FEATURES - 1], f"{len(members) - MOST_NAMED_FEATURES + 1} more"]
        found[" + ".join(shown)] = members
    return found


def correlated_columns(explanation: Explanation) -> dict[str, list[str]]:
    """Return the groups of features that are correlated in the training data.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    groups : dict of str to list of str
        As `correlated_groups` returns them for the training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import correlated_columns
    >>> X, y = load_iris(return_X_y=True)
    >>> correlated_columns(LANNClassifier(random_state=0).fit(X, y).explain(X[:1]))
    {'x2 + x3': ['x2', 'x3']}
    """
    return named_groups(explanation._correlated, explanation.feature_names)


def group_features(
    explanation: Explanation, mapping: Mapping[str, Iterable[Any]] | Sequence[Any] | None = None
) -> Explanation:
    """Add up features: one-hot columns of one variable, or correlated features.

    Supports add up exactly; their standard errors are those of independent supports. Relevances are sums of
    effects without signs, which can be larger than the effect of changing all features of a group at once.

    Parameters
    ----------
    explanation : Explanation
    mapping : mapping of str to list of str, sequence of shape (n_features,) or None, default=None
        For each group its name and the names of its features (others stay as they are), or for each feature
        the name of its group. None is the groups of features that are correlated in the training data.

    Returns
    -------
    grouped : Explanation
        With a feature for each group, at the position of its first feature. A group of several features has
        no single value: its values are NaN. It is unseen if any of its features is, and unmeasured if all
        are.

    Raises
    ------
    ValueError
        If the mapping names unknown features, or a feature twice.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import group_features
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = LANNClassifier(7, random_state=0).fit(X, y).explain(X[:2])
    >>> grouped = group_features(explanation, ["sepal", "sepal", "petal", "petal"])
    >>> grouped.feature_names.tolist(), grouped.supports.shape
    (['sepal', 'petal'], (2, 3, 2))
    """
    import pandas as pd

    e, names = explanation, [str(name) for name in explanation.feature_names]
    mapping = correlated_columns(e) if mapping is None else mapping
    group_of, groups = pd.factorize(np.array(_group_of_each(mapping, names), dtype=object))
    members = [np.flatnonzero(group_of == group) for group in range(len(groups))]
    sizes, first = np.bincount(group_of), [features[0] for features in members]

    def summed(values: NDArray[Any]) -> Floats:
        """Add up the features of each group: (…, n_features) to (…, n_groups)."""
        return np.stack([values[..., features].sum(axis=-1) for features in members], axis=-1)

    def single(values: NDArray[Any]) -> NDArray[Any]:
        """Keep the values of groups of one feature, NaN for others: (…, n_features) to (…, n_groups)."""
        return np.where(sizes > 1, np.nan, values[..., first])

    correlated = [(group_of[one[0]], group_of[feature]) for one in e._correlated for feature in one]
    return replace(
        e,
        relevances=summed(e.relevances),
        feature_names=groups,
        _queries=single(e._queries),
        _unmeasured=summed(e._unmeasured) == sizes,
        _unseen=summed(e._unseen) > 0,
        _outside=None if e._outside is None else summed(e._outside) > 0,
        _query_values=None if e._query_values is None else single(e._query_values),
        # As if the errors of different features were independent.
        _parts={"supports": summed(e.supports), "errors": np.sqrt(summed(np.square(e.support_errors)))},
        _asked=None,
        _correlated=_connected(correlated, len(members)),
        _columns=np.where(sizes > 1, -1, e._feature_columns[first]),
    )


def _group_of_each(mapping: Mapping[str, Iterable[Any]] | Sequence[Any], names: list[str]) -> list[str]:
    """Return the group of each feature; a feature that no group names is a group of its own."""
    if not isinstance(mapping, Mapping):
        if len(mapping) != len(names):
            raise ValueError(
                f"mapping must name a group for each of the {len(names)} features; got {len(mapping)} names."
            )
        return [str(group) for group in mapping]
    groups: dict[str, str] = {}
    for group, features in mapping.items():
        if isinstance(features, str):
            raise ValueError(f"mapping must have a list of features for {group!r}; got {features!r}.")
        for feature in map(str, features):
            if feature not in names or feature in groups:
                raise ValueError(
                    f"mapping must name features of the explanation, each once; got {feature!r} in {group!r}."
                )
            groups[feature] = str(group)
    for group in groups.values():
        if group in names and groups.get(group) != group:
            raise ValueError(f"mapping has a group {group!r}, which is the name of a feature outside it.")
    return [groups.get(name, name) for name in names]
