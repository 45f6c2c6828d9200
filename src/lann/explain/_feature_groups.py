"""Groups of features: one-hot columns of one variable, or correlated features, added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats, Indices
from lann.encoding import TableValues

if TYPE_CHECKING:
    from lann.explain._correlation import Groups
    from lann.explain._explanation import Explanation


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

    def summed(values: Floats) -> Floats:
        """Add up the features of each group: (…, n_features) to (…, n_groups)."""
        return np.stack([values[..., features].sum(axis=-1) for features in members], axis=-1)

    sizes = np.array([len(features) for features in members])

    def marked(values: np.ndarray | None, least: np.ndarray) -> np.ndarray | None:
        """Return whether so many features of each group are marked: (n, n_features) to (n, n_groups)."""
        return None if values is None else summed(values) >= least

    shown, training = explanation._query_values, explanation._training_values
    if isinstance(training, TableValues):
        training = _GroupedValues(training.schema, training.X, training, members)
    elif training is not None:
        training = _single(training, members)
    return replace(
        explanation,
        queries=_single(explanation.queries, members),
        relevances=summed(explanation.relevances),
        feature_names=np.array(list(groups), dtype=object),
        unmeasured=marked(explanation.unmeasured, sizes),
        unseen=marked(explanation.unseen, np.ones_like(sizes)),
        outside=marked(explanation.outside, np.ones_like(sizes)),
        _query_values=None if shown is None else _single(shown, members),
        _training_values=training,
        _contributions=summed(explanation.contributions),
        _feature_weights=summed(explanation.feature_weights),
        _contrast_rows=explanation.contrast_rows if explanation.has_supports else None,
        _supports=summed(explanation.supports) if explanation.has_supports else None,
        _details=None,
        _correlated=_correlated_groups(explanation._correlated, members),
        _grouped=_grouped(explanation._grouped, members),
        _columns=_columns(explanation._columns, members),
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


def _grouped(before: np.ndarray | None, members: list[list[int]]) -> np.ndarray:
    """Return which groups have several features: (n_groups,)."""
    several = [len(features) > 1 for features in members]
    return np.array(several) if before is None else several | before[[features[0] for features in members]]


def _columns(before: Indices | None, members: list[list[int]]) -> Indices:
    """Return the column of the training rows of each group, -1 for several: (n_groups,)."""
    columns = np.array([features[0] if len(features) == 1 else -1 for features in members])
    return columns if before is None else np.where(columns < 0, -1, before[columns])


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
            if feature not in names:
                raise ValueError(
                    f"mapping names {feature!r}, which is not one of the features {_listed(names)}."
                )
            if feature in origins:
                raise ValueError(f"mapping has {feature!r} in {origins[feature]!r} and in {group!r}.")
            origins[feature] = str(group)
    for group in origins.values():
        if group in names and origins.get(group) != group:
            raise ValueError(f"mapping has a group {group!r}, which is the name of a feature outside it.")
    return [origins.get(name, name) for name in names]


def _listed(names: list[str], most: int = 10) -> str:
    more = ", ..." if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def _correlated_groups(correlated: Groups, members: list[list[int]]) -> Groups:
    """Return which groups are correlated, given which features were; sets that overlap are joined."""
    group_of = {feature: group for group, features in enumerate(members) for feature in features}
    joined: list[set[int]] = []
    for features in correlated:
        found = {group_of[feature] for feature in features}
        separate = [other for other in joined if not other & found]
        joined = [*separate, found.union(*(other for other in joined if other & found))]
    return tuple(sorted(tuple(sorted(group)) for group in joined if len(group) > 1))
