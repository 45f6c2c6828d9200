"""Groups of features: correlated features, and one-hot columns of one variable, added up.

Relevance is divided arbitrarily between correlated features; their sum is not arbitrary.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.format import printable
from lann._support.types import Floats, Indices
from lann._support.validation import Number, validate
from lann.columns.schema import TableValues, as_table, infer_schema, read

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

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
    table, is_category = as_table(X), None
    if table is None or all(dtype.is_numeric() for dtype in table.schema.values()):
        values = check_array(
            X, dtype=np.float64, ensure_min_samples=FEWEST_ROWS, ensure_all_finite="allow-nan"
        )
    else:
        if len(table) < FEWEST_ROWS:
            raise ValueError(f"X has {len(table)} rows; at least {FEWEST_ROWS} are needed.")
        schema = infer_schema(table, "from_dtype", has_names=True)
        values, is_category = read(table, schema), np.array(schema.n_categories) > 0
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
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_rows, n_features = X.shape
    if n_rows < FEWEST_ROWS:
        return ()
    sample = X[np.linspace(0, n_rows - 1, min(n_rows, MOST_ROWS)).astype(np.int64)]
    if is_category is None or not is_category.any():
        ends = _number_pairs(sample, threshold).T
    else:
        numbers, categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
        pairs = numbers[_number_pairs(sample[:, numbers], threshold)]
        others = category_pairs(sample[:, categories], sample[:, numbers], threshold)
        ends = np.concatenate([pairs, np.concatenate([categories, numbers])[others]]).T
    graph = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n_features, n_features))
    _, group = connected_components(graph, directed=False)
    members = [np.flatnonzero(group == found) for found in np.flatnonzero(np.bincount(group) > 1)]
    return tuple(sorted(tuple(features.tolist()) for features in members))


def _number_pairs(sample: Floats, threshold: float) -> Indices:
    """Return pairs of correlated numbers, each in both orders: (n_pairs, 2)."""
    from scipy.stats import rankdata

    present = ~np.isnan(sample)
    forms = [_filled(sample), _filled(rankdata(sample, axis=0, nan_policy="omit"))]
    edges: list[Indices] = [np.empty((0, 2), np.int64)]
    for start in range(0, sample.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        found = [np.abs(_present_correlations(form, present, part)) for form in forms]
        high = np.any([values >= threshold - 1e-12 for values in found], axis=0)
        edges.append(np.argwhere(high) + np.array([start, 0]))
    return np.concatenate(edges)


def _filled(sample: Floats) -> Floats:
    """Return columns with mean 0 and largest value 1, and 0 for gaps."""
    present = ~np.isnan(sample)
    values = np.where(present, sample, 0.0)
    largest = np.abs(values).max(axis=0)
    values /= np.where(largest > 0, largest, 1.0)
    means = values.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return np.where(present, values - means, 0.0)


def _present_correlations(values: Floats, present: NDArray[np.bool_], part: slice) -> Floats:
    """Return Pearson's correlations over the rows in which both features have values.

    0 where these are few, or one of the features is constant in them: (n_part, n_features).
    """
    own, mask = values[:, part].T, present.astype(np.float64)
    own_mask = mask[:, part].T
    counts = np.maximum(own_mask @ mask, 1.0)
    sums, others = own @ mask, own_mask @ values
    squares = own**2 @ mask - sums**2 / counts
    other_squares = own_mask @ values**2 - others**2 / counts
    products = own @ values - sums * others / counts
    tell = (counts >= FEWEST_ROWS) & (np.minimum(squares, other_squares) > 1e-20 * counts)
    norms = np.sqrt(np.where(tell, squares * other_squares, 1.0))
    return np.where(tell, products / norms, 0.0)


def category_pairs(categories: Floats, numbers: Floats, threshold: float) -> Indices:
    """Return correlated pairs of a category and another feature: (n_pairs, 2).

    Features count from the first category to the last one, then from the first number on. The cost of a
    category is that of a few passes over all values, however many categories there are.

    Parameters
    ----------
    categories : (n_rows, n_categories)
        Codes, NaN for gaps.
    numbers : (n_rows, n_numbers)
        NaN for gaps.
    threshold : float
    """
    from scipy.stats import rankdata

    n_features = categories.shape[1]
    # The values of all features as positions in one list; gaps are -1.
    codes = np.full(categories.shape, -1)
    owner: list[int] = []
    for feature, column in enumerate(categories.T):
        seen = ~np.isnan(column)
        distinct, position = np.unique(column[seen], return_inverse=True)
        codes[seen, feature] = position + len(owner)
        owner += [feature] * len(distinct)
    forms = []
    if numbers.shape[1]:
        forms = [_filled(numbers), _filled(rankdata(numbers, axis=0, nan_policy="omit"))]
    pairs = [np.empty((0, 2), np.int64)]
    for feature in range(n_features):
        found = np.zeros(n_features + numbers.shape[1])
        found[:n_features] = _cramers_v(codes, np.array(owner, np.int64), feature)
        for form in forms:
            ratios = _correlation_ratios(codes[:, feature], form, ~np.isnan(numbers))
            found[n_features:] = np.maximum(found[n_features:], ratios)
        high = np.flatnonzero(found >= threshold - 1e-12)
        pairs.append(np.stack([np.full(len(high), feature), high], axis=1))
    return np.concatenate(pairs)


def _cramers_v(codes: Indices, owner: Indices, feature: int) -> Floats:
    """Return Cramér's V of a category and all others, without its bias (Bergsma 2013): (n_features,).

    Parameters
    ----------
    codes : (n_rows, n_features)
        Positions in the list of the values of all features, -1 for gaps.
    owner : (n_values,)
        The feature of each value.
    feature : int
    """
    n_features, n_values = codes.shape[1], len(owner)
    row, other = np.nonzero((codes >= 0) & (codes[:, [feature]] >= 0))
    own, theirs = codes[row, feature], codes[row, other]
    cells, counts = np.unique(own * n_values + theirs, return_counts=True)
    own, theirs = np.divmod(cells, n_values)
    with_own, own_cell = np.unique(own * n_features + owner[theirs], return_inverse=True)
    own_totals = np.bincount(own_cell, counts)
    their_totals = np.bincount(theirs, counts, n_values)
    n_rows = np.maximum(np.bincount(other, minlength=n_features), 2)
    squares = counts**2 / (own_totals[own_cell] * their_totals[theirs])
    phi = np.bincount(owner[theirs], squares, n_features) - 1.0
    n_own = np.bincount(with_own % n_features, minlength=n_features)
    n_theirs = np.bincount(owner[their_totals > 0], minlength=n_features)
    phi = np.maximum(phi - (n_own - 1) * (n_theirs - 1) / (n_rows - 1), 0.0)
    smaller = np.minimum(
        n_own - (n_own - 1) ** 2 / (n_rows - 1), n_theirs - (n_theirs - 1) ** 2 / (n_rows - 1)
    )
    # Categories of which nearly every row has its own one tell nothing.
    tell = (n_rows - np.maximum(n_own, n_theirs) >= FEWEST_ROWS) & (smaller > 1.0)
    return np.sqrt(np.where(tell, phi / np.where(tell, smaller - 1.0, 1.0), 0.0))


def _correlation_ratios(codes: Indices, values: Floats, present: NDArray[np.bool_]) -> Floats:
    """Return the correlation ratio of a category and each number, without its bias: (n_numbers,).

    It is √ε², with ε² the share of the variance between categories, corrected for their number (Kelley 1935).

    Parameters
    ----------
    codes : (n_rows,)
        -1 for gaps.
    values : (n_rows, n_numbers)
        0 for gaps.
    present : (n_rows, n_numbers)
    """
    from scipy.sparse import csr_array

    seen = np.flatnonzero(codes >= 0)
    values_seen, own = np.unique(codes[seen], return_inverse=True)
    members = csr_array(  # (n_values, n_rows)
        (np.ones(len(seen)), (own, np.arange(len(seen)))), shape=(len(values_seen), len(seen))
    )
    mask = present[seen].astype(np.float64)
    counts = members @ mask
    n_rows, n_own = np.maximum(counts.sum(axis=0), 1.0), (counts > 0).sum(axis=0)
    sums = members @ values[seen]
    shift = sums.sum(axis=0) ** 2 / n_rows
    total = (values[seen] ** 2).sum(axis=0) - shift
    between = (sums**2 / np.maximum(counts, 1.0)).sum(axis=0) - shift
    tell = (n_rows - n_own >= FEWEST_ROWS) & (n_own > 1) & (total > 1e-20 * n_rows)
    within = np.where(tell, 1.0 - between / np.where(tell, total, 1.0), 1.0)
    corrected = 1.0 - within * (n_rows - 1) / np.where(tell, n_rows - n_own, 1.0)
    return np.sqrt(np.clip(np.where(tell, corrected, 0.0), 0.0, 1.0))


def named_groups(groups: Groups, names: Sequence[Any] | NDArray[Any]) -> dict[str, list[str]]:
    """Return a name for each group, and the names of its features."""
    found = {}
    for group in groups:
        members = [str(names[feature]) for feature in group]
        shown = members
        if len(members) > MOST_NAMED_FEATURES:
            shown = members[: MOST_NAMED_FEATURES - 1]
            shown = [*shown, f"{len(members) - len(shown)} more"]
        found[" + ".join(shown)] = members
    return found


def warn_of_correlated(groups: Iterable[str], *, stacklevel: int) -> None:
    """Warn that relevance is divided arbitrarily within the named groups."""
    listed = list(groups)
    shown = [f"({printable(name)})" for name in listed[:MOST_NAMED_GROUPS]]
    if n_more := len(listed) - len(shown):
        shown.append(f"{n_more} more groups")
    warnings.warn(
        "Some features are correlated in the training data, and relevance is divided between them "
        f'arbitrarily: {", ".join(shown)}; correlated="group" adds them up.',
        UserWarning,
        stacklevel=stacklevel + 1,
    )


def group_features(
    explanation: Explanation, mapping: Mapping[str, Iterable[Any]] | Sequence[Any]
) -> Explanation:
    """Add up features: one-hot columns of one variable, or correlated features.

    Contributions and supports add up exactly. Relevances are sums of effects without signs, which can be
    larger than the effect of changing all features of a group at once.

    Parameters
    ----------
    explanation : Explanation
    mapping : mapping of str to list of str, or sequence of shape (n_features,)
        For each group its name and the names of its features (others stay as they are), or for each feature
        the name of its group.

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
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:2])
    >>> grouped = explanation.group_features(["sepal", "sepal", "petal", "petal"])
    >>> grouped.feature_names.tolist(), grouped.contributions.shape
    (['sepal', 'petal'], (2, 7, 2))
    """
    groups = _positions_of_groups(mapping, [str(name) for name in explanation.feature_names])
    members = list(groups.values())

    def summed(values: NDArray[Any]) -> Floats:
        """Add up the features of each group: (…, n_features) to (…, n_groups)."""
        return np.stack([values[..., features].sum(axis=-1) for features in members], axis=-1)

    sizes = np.array([len(features) for features in members])
    columns = explanation._feature_columns[[features[0] for features in members]]

    def marked(values: NDArray[np.bool_], least: Any = 1) -> NDArray[np.bool_]:
        """Return whether so many features of each group are marked: (n, n_features) to (n, n_groups)."""
        return summed(values) >= least

    e, shown, training = explanation, explanation._query_values, explanation._training_values
    if isinstance(training, TableValues):
        training = _GroupedValues(training.schema, training.X, training, members)
    elif training is not None:
        training = _single(training, members)
    parts: dict[str, NDArray[Any]] = {
        "contributions": summed(e.contributions),
        "feature_weights": summed(e.feature_weights),
    }
    if e.has_supports:
        parts |= {"contrast_rows": e.contrast_rows, "supports": summed(e.supports)}
    return replace(
        e,
        queries=_single(e.queries, members),
        relevances=summed(e.relevances),
        feature_names=np.array(list(groups), dtype=object),
        unmeasured=marked(e.unmeasured, sizes),
        unseen=marked(e.unseen),
        outside=None if e.outside is None else marked(e.outside),
        _query_values=None if shown is None else _single(shown, members),
        _training_values=training,
        _parts=parts,
        _details=None,
        _correlated=_correlated_groups(e._correlated, members),
        _columns=np.where(sizes > 1, -1, columns),
    )


@dataclass(frozen=True)
class _GroupedValues(TableValues):
    """Rows in the user's values, a value for each group, which are looked up when they are needed."""

    values: TableValues
    members: list[list[int]]

    def __getitem__(self, rows: Any) -> np.ndarray:
        return _single(self.values[rows], self.members)

    def cells(self, rows: Indices) -> np.ndarray:
        return _single(self.values.cells(rows), self.members)


def _single(values: np.ndarray, members: list[list[int]]) -> np.ndarray:
    """Keep the values of groups of one feature, NaN for others: (…, n_features) to (…, n_groups)."""
    several = np.full(values.shape[:-1], np.nan)
    columns = [values[..., features[0]] if len(features) == 1 else several for features in members]
    return np.stack(columns, axis=-1)


def _positions_of_groups(
    mapping: Mapping[str, Iterable[Any]] | Sequence[Any], names: list[str]
) -> dict[str, list[int]]:
    """Return the features of each group, in the order of their first features."""
    if isinstance(mapping, Mapping):
        origins = _group_of_each(mapping, names)
    else:
        origins = [str(origin) for origin in mapping]
        if len(origins) != len(names):
            raise ValueError(
                f"mapping must name a group for each of the {len(names)} features; got {len(origins)} names."
            )
    groups: dict[str, list[int]] = {}
    for feature, origin in enumerate(origins):
        groups.setdefault(origin, []).append(feature)
    return groups


def _group_of_each(mapping: Mapping[str, Iterable[Any]], names: list[str]) -> list[str]:
    """Return the group of each feature; a feature that no group names is a group of its own."""
    origins: dict[str, str] = {}
    for group, features in mapping.items():
        if isinstance(features, str):
            raise ValueError(f"mapping must have a list of features for {group!r}; got {features!r}.")
        for feature in map(str, features):
            if feature not in names or feature in origins:
                raise ValueError(
                    f"mapping must name features of the explanation, each once; got {feature!r} in {group!r}."
                )
            origins[feature] = str(group)
    for group in origins.values():
        if group in names and origins.get(group) != group:
            raise ValueError(f"mapping has a group {group!r}, which is the name of a feature outside it.")
    return [origins.get(name, name) for name in names]


def _correlated_groups(correlated: Groups, members: list[list[int]]) -> Groups:
    """Return which groups are correlated, given which features were; sets that overlap are joined."""
    group_of = {feature: group for group, features in enumerate(members) for feature in features}
    joined: list[set[int]] = []
    for features in correlated:
        found = {group_of[feature] for feature in features}
        separate = [other for other in joined if not other & found]
        joined = [*separate, found.union(*(other for other in joined if other & found))]
    return tuple(sorted(tuple(sorted(group)) for group in joined if len(group) > 1))
