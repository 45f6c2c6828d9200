"""Counterfactuals: the smallest change along few features that gives a query another label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from lann._inputs import check_columns, feature_names
from lann._types import Floats
from lann._validation import Integer, validate
from lann.explain.counterfactual_search import Goal, shrink, walk
from lann.explain.counterfactual_setup import (
    asking,
    find_limits,
    nearest_by_voters,
    nearest_in_data,
    predicted_places,
    target_places,
    ways,
)
from lann.explain.sensitivity import usual_values
from lann.explain.voters import Voters, voters_of

if TYPE_CHECKING:
    import pandas as pd

# Numbers in the changed rows of a block of queries: 32 MB.
CHANGED_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Counterfactuals:
    """Rows that differ little from some queries, and have another label.

    Attributes
    ----------
    queries : (n_queries, n_features)
    predictions : (n_queries,) their predicted labels
    rows : (n_queries, n_features) the changed queries; where none was found, the query as it is
    labels : (n_queries,) the predicted labels of `rows`
    found : (n_queries,) whether the label is now the one that was wanted
    changed : (n_queries, n_features) which features differ
    distances : (n_queries,) how large the changes are in all, in standard deviations of the features
    feature_names : (n_features,)
    """

    queries: Floats
    predictions: NDArray[Any]
    rows: Floats
    labels: NDArray[Any]
    found: NDArray[np.bool_]
    distances: Floats
    feature_names: NDArray[Any]

    @property
    def changed(self) -> NDArray[np.bool_]:
        return self.rows != self.queries

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        queries = "1 query" if len(self) == 1 else f"{len(self)} queries"
        return f"<Counterfactuals of {queries}: {self.found.sum()} found>"

    def to_frame(self) -> pd.DataFrame:
        """One row per feature that is changed; queries that need or have no change are missing."""
        import pandas as pd

        query, feature = np.nonzero(self.changed)
        return pd.DataFrame(
            {
                "query": query,
                "prediction": self.predictions[query],
                "becomes": self.labels[query],
                "feature": self.feature_names[feature],
                "from": self.queries[query, feature],
                "to": self.rows[query, feature],
            }
        )


def counterfactuals(
    clf: Any,
    X: ArrayLike,
    *,
    target: Any = None,
    frozen: Iterable[Any] = (),
    max_features: int = 3,
    integers: str | Iterable[Any] = "auto",
    n_candidates: int = 5,
    data: ArrayLike | None = None,
) -> Counterfactuals:
    """For each query the smallest change along few features after which its label is another.

    Queries walk toward the nearest training points of other labels, and toward usual values of the
    features (extreme ones only if that fails), taking over one feature after the other until the label
    changes; then every change is made as small as possible. Fewer features come first, then smaller changes.
    Each result is checked by predicting again. A smaller change than the one found may exist; `found` is
    False where none was found.

    Parameters
    ----------
    clf
        A fitted classifier: LANNClassifier, a baseline, or any other with `predict` and `classes_` that takes
        numbers, together with `data`. A Pipeline changes the features it is given, before its steps.
    X : (n_queries, n_features)
    target
        The label that is wanted: one for all, or one per query; by default any other than the predicted one.
        A query that has it already stays as it is.
    frozen
        Names or places of features that must not change.
    max_features
        The most features that change together.
    integers
        Names or places of features that stay integer; "auto" are those with nothing else in the data.
    n_candidates
        Toward how many points each query walks, and how many of the changes found are made small.
    data : (n_rows, n_features)
        Rows that say which values there are: what changes stays within their range. By default the training
        points, if `clf` keeps them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import counterfactuals
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> changes = counterfactuals(clf, X[60:62], target=2, frozen=["sepal length (cm)"])
    >>> changes.found.all(), changes.labels
    (np.True_, array([2, 2]))
    """
    check_is_fitted(clf)
    validate("max_features", max_features, Integer(1))
    validate("n_candidates", n_candidates, Integer(1))
    voters = _voters_or_none(clf)
    known, queries = _check_rows(clf, voters, X, data)
    names = feature_names(clf)
    limits = find_limits(known, names, frozen, integers)
    ask = asking(clf, voters)
    if voters is not None and data is None:
        nearest = nearest_by_voters(voters)
    else:
        nearest = nearest_in_data(known, limits.scale, ask)
    origins = predicted_places(clf, queries)
    goal = Goal(origins, target_places(target, clf.classes_, len(queries)))
    # Extreme values only where usual ones do not lead to the goal.
    values = [limits.settle(usual_values(known)), limits.settle(np.stack([limits.low, limits.high]))]

    def changed_rows(queries: Floats, goal: Goal, usual: Floats) -> Floats:
        toward, pulls = ways(
            queries, goal, nearest, usual, limits, n_classes=len(clf.classes_), k=n_candidates
        )
        ends, starts = walk(
            ask, queries, toward, pulls, limits, goal, max_features=max_features, n_kept=n_candidates
        )
        before = queries[starts]
        ends = shrink(ask, before, ends, limits, goal[starts])
        order = np.lexsort((limits.sizes(ends, before), (ends != before).sum(axis=1), starts))
        found, first = np.unique(starts[order], return_index=True)
        rows = queries.copy()
        rows[found] = ends[order[first]]
        return rows

    rows, labels = queries.copy(), origins
    for usual in values:
        todo = np.flatnonzero(~goal.reached(labels))
        block = max(CHANGED_AT_ONCE // ((n_candidates + len(usual)) * queries.shape[1] ** 2), 1)
        for start in range(0, len(todo), block):
            part = todo[start : start + block]
            rows[part] = changed_rows(queries[part], goal[part], usual)
        labels = predicted_places(clf, rows)
        missed = ~goal.reached(labels)
        rows[missed], labels[missed] = queries[missed], origins[missed]
    return Counterfactuals(
        queries=queries,
        predictions=clf.classes_[origins],
        rows=rows,
        labels=clf.classes_[labels],
        found=goal.reached(labels),
        distances=limits.sizes(rows, queries),
        feature_names=names,
    )


def _voters_or_none(clf: Any) -> Voters | None:
    try:
        return voters_of(clf)
    except ValueError:
        return None


def _check_rows(
    clf: Any, voters: Voters | None, X: ArrayLike, data: ArrayLike | None
) -> tuple[Floats, Floats]:
    """The rows that say which values there are, and the queries."""
    if voters is None and data is None:
        raise ValueError(f"{type(clf).__name__} keeps no training points; give rows of data as `data`.")
    known = voters.X if data is None and voters is not None else check_array(data, dtype=np.float64)
    check_columns(clf, X)
    check_columns(clf, data)
    queries = check_array(X, dtype=np.float64)
    for name, rows in (("X", queries), ("data", known)):
        if rows.shape[1] != clf.n_features_in_:
            raise ValueError(f"{name} has {rows.shape[1]} features; the model has {clf.n_features_in_}.")
    return known, queries
