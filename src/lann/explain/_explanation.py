"""The explanation of predictions.

The neighbors that voted, and the features that each prediction depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.types import Floats, Indices
from lann.columns.schema import TableValues
from lann.explain import _distribution, _explained_row, _exports, _feature_groups, _page, _words
from lann.explain._fitted import frame_of
from lann.explain._words import Decision, check_decisions, far_by_decision

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._build import Details
    from lann.explain._distribution import ValueDistribution

# Fields that do not have an entry per query.
_SHARED = (
    "feature_names",
    "classes",
    "floor",
    "_training_values",
    "_distribution",
    "_correlated",
    "_columns",
)
# Parts that are computed when they are read.
COMPUTED = ("contributions", "feature_weights", "contrast_rows", "supports")
# The nearest neighbors that hold this share of the vote are listed, five at least and ten at most.
LISTED_SHARE, FEWEST_LISTED, MOST_LISTED = 0.9, 5, 10
# A difference of the two largest shares of the vote below which a prediction is doubtful.
CLOSE = 0.2


@dataclass(frozen=True, eq=False)
class Explanation:
    """The neighbors behind some predictions, and the features that each prediction depends on.

    `LANNClassifier.explain` and the `explain` methods of the baselines return it. Indexing selects queries.

    Attributes
    ----------
    queries : ndarray of shape (n_queries, n_features)
        The explained rows.
    predictions : ndarray of shape (n_queries,)
        Predicted labels.
    probabilities : ndarray of shape (n_queries, n_classes)
        As `predict_proba` returns them: (share of the vote of the class + floor / n_classes) / (1 + floor).
    neighbors : ndarray of shape (n_queries, k)
        Positions of the training rows that voted (of `prototypes_` where the model has prototypes), nearest
        first. With sample weights fewer rows can vote on one query than on another; the others then have a
        vote share of 0.
    neighbor_ids : ndarray of shape (n_queries, k) or None
        Names of these rows.
    neighbor_labels : ndarray of shape (n_queries, k)
    distances : ndarray of shape (n_queries, k)
        Lengths, as `kneighbors` returns them.
    vote_shares : ndarray of shape (n_queries, k)
        Share of the vote of each neighbor; rows add up to 1.
    relevances : ndarray of shape (n_queries, n_features)
        How much the vote depends on each feature around the query: the mean of the share of the vote that
        changes when its value alone is replaced, and of the share that it changes on the way to rows of other
        classes.
    feature_names : ndarray of shape (n_features,)
    classes : ndarray of shape (n_classes,)
    floor : float
        Floor of the probabilities, which keeps them above 0 for a class without votes.
    query_rows : ndarray of shape (n_queries,) or None
        Row numbers of the queries in the table they come from; None numbers them from 0.
    query_ids : ndarray of shape (n_queries,) or None
        Names of the queries.
    true_labels : ndarray of shape (n_queries,) or None
        Labels of the queries, None in place of an unknown one; None if they are not known.
    unmeasured : ndarray of shape (n_queries, n_features)
        Where a query has a gap that no training row has: its distances are measured without the feature,
        which has no relevance.
    unseen : ndarray of shape (n_queries, n_features)
        Where a query has a category that no training row has: its position is the mean of all.
    left_out : ndarray of shape (n_queries,)
        The training row that did not vote on each query, because it is the query itself; -1 for none. Where
        one was left out, everything is explained without it.
    is_far : ndarray of shape (n_queries,) or None
        Whether nothing similar to a query was seen in training; None if that is unknown.
    outside : ndarray of shape (n_queries, n_features) or None
        Where a number is smaller than that of every training row, or larger.
    decisions : ndarray of shape (n_queries,) or None
        Of a reject option: a `Decision` for each query, which says whether its prediction was accepted, and
        why not. None if there is none.

    See Also
    --------
    lann.explain.counterfactuals : The smallest change that leads to another prediction.
    lann.explain.nearest_other_class : The nearest training row of another class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:2])
    >>> explanation.neighbors.shape, explanation.contributions.shape
    ((2, 7), (2, 7, 4))
    >>> bool(np.allclose(np.sqrt(explanation.contributions.sum(axis=2)), explanation.distances))
    True
    >>> total = explanation.base_values + explanation.supports.sum(axis=2)
    >>> bool(np.allclose(total, explanation.probabilities))
    True
    """

    queries: Floats
    predictions: NDArray[Any]
    probabilities: Floats
    neighbors: Indices
    neighbor_labels: NDArray[Any]
    distances: Floats
    vote_shares: Floats
    relevances: Floats
    feature_names: NDArray[Any]
    classes: NDArray[Any]
    unmeasured: NDArray[np.bool_]
    unseen: NDArray[np.bool_]
    left_out: Indices
    floor: float = 0.0
    neighbor_ids: NDArray[Any] | None = None
    query_rows: Indices | None = None
    query_ids: NDArray[Any] | None = None
    true_labels: NDArray[Any] | None = None
    is_far: NDArray[np.bool_] | None = None
    outside: NDArray[np.bool_] | None = None
    decisions: NDArray[Any] | None = None
    # Values as they are shown to the user: (n_queries, n_features) and (n_train, n_features).
    _query_values: NDArray[Any] | None = field(default=None, repr=False)
    _training_values: NDArray[Any] | TableValues | None = field(default=None, repr=False)
    # What is computed when it is read, from the details, and kept by its name: see `COMPUTED`.
    _parts: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    _details: Details | None = field(default=None, repr=False)
    _wide_votes: Floats | None = field(default=None, repr=False)  # (n_queries, n_classes) around each query
    _correlated: _feature_groups.Groups = field(default=(), repr=False)
    # How the training rows are distributed, and the column of these of each feature, -1 for a group of
    # several (None is their order): (n_features,).
    _distribution: ValueDistribution | None = field(default=None, repr=False)
    _columns: Indices | None = field(default=None, repr=False)

    group_features = _feature_groups.group_features
    summarize = _exports.summarize
    to_dict = _exports.to_dict
    to_shap = _exports.to_shap
    in_words = _words.in_words
    overview = _explained_row.overview
    row = _explained_row.row
    rows = _explained_row.rows
    to_long_frame = _explained_row.to_long_frame
    to_html = _page.to_html
    save_html = _page.save_html
    _repr_html_ = _page.notebook_view

    def __len__(self) -> int:
        return len(self.predictions)

    def __getitem__(self, rows: int | slice | Indices | NDArray[np.bool_]) -> Explanation:
        """Return the explanation of some queries."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        names = [f.name for f in fields(self) if f.name not in ("_parts", *_SHARED)]
        values = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        parts = {name: part[chosen] for name, part in self._parts.items()}
        return replace(self, **{name: value[chosen] for name, value in values.items()}, _parts=parts)

    def __repr__(self) -> str:
        (n_queries, k), n_features = self.neighbors.shape, len(self.feature_names)
        predictions = "1 prediction" if n_queries == 1 else f"{n_queries} predictions"
        return f"<Explanation of {predictions} by {k} neighbors over {n_features} features>"

    @cached_property
    def n_listed(self) -> Indices:
        """Number of neighbors that are listed for each query: (n_queries,).

        The nearest that hold 90% of the vote, five at least and ten at most; a single other one is listed,
        too.
        """
        n_voters = (self.vote_shares > 0).sum(axis=1)
        held = np.cumsum(self.vote_shares, axis=1)
        enough = np.clip((held < LISTED_SHARE).sum(axis=1) + 1, FEWEST_LISTED, MOST_LISTED)
        return np.where(enough >= n_voters - 1, n_voters, enough)

    @cached_property
    def class_votes(self) -> Floats:
        """Share of the vote of each class: (n_queries, n_classes)."""
        from lann.vote import class_shares

        labels = np.searchsorted(self.classes, self.neighbor_labels)
        return class_shares(self.vote_shares, labels, len(self.classes))

    @property
    def has_groups(self) -> bool:
        """Whether some features are groups of several, as `group_features` makes them."""
        return bool((self._feature_columns < 0).any())

    @property
    def contributions(self) -> Floats:
        """What each feature adds to each squared distance: (n_queries, k, n_features).

        They add up to it. With matrix metrics a contribution can be negative: the feature then compensates
        the difference in another one.
        """
        return self._computed("contributions")

    @property
    def feature_weights(self) -> Floats:
        """Feature weights of the neighbors' metrics, averaged by vote share: (n_queries, n_features).

        The explanation of the LANN paper.
        """
        return self._computed("feature_weights")

    @property
    def contrast_rows(self) -> Indices:
        """Training rows of other classes with which each query is contrasted: (n_queries, n_contrasts).

        The nearest one first, then others in different directions; -1 where there are fewer.
        """
        return self._computed("contrast_rows")

    @property
    def has_supports(self) -> bool:
        """Whether supports are known; otherwise `supports`, `support` and `separation` raise ValueError."""
        return "supports" in self._parts or self._details is not None

    @property
    def supports(self) -> Floats:
        """What each feature adds to the probability of each class: (n_queries, n_classes, n_features).

        How much of the vote changes on the way from the query to the contrast rows, as the features take the
        values of these one after another. Positive values are for the class, negative ones against it. With
        `base_values` they add up to `probabilities`.
        """
        return self._computed("supports")

    @cached_property
    def base_values(self) -> Floats | None:
        """The probabilities at the contrast rows, on average: (n_queries, n_classes).

        The probabilities of the query minus its supports; None if these are unknown.
        """
        if not self.has_supports:
            return None
        return self.probabilities - self.supports.sum(axis=2)

    @cached_property
    def support(self) -> Floats:
        """Supports of the predicted class: (n_queries, n_features)."""
        return self.supports[np.arange(len(self)), self.predicted_class_indices]

    @cached_property
    def separation(self) -> Floats:
        """Supports of the predicted class minus those of the runner-up: (n_queries, n_features)."""
        return self.support - self.supports[np.arange(len(self)), self.runner_up_class_indices]

    @cached_property
    def predicted_class_indices(self) -> Indices:
        """Class indices of the predictions: (n_queries,)."""
        return np.searchsorted(self.classes, self.predictions)

    @cached_property
    def runner_up_class_indices(self) -> Indices:
        """Class indices of the runners-up: (n_queries,).

        The class with the second largest probability; where all neighbors agree, that with the most votes in
        a wider neighborhood.
        """
        rest = self.probabilities.copy()
        if self._wide_votes is not None:
            # So small that it decides only between classes without a vote.
            rest += 1e-9 * self._wide_votes
        rest[np.arange(len(self)), self.predicted_class_indices] = -1.0
        return rest.argmax(axis=1)

    @cached_property
    def runner_up(self) -> NDArray[Any]:
        """Labels of the runners-up: (n_queries,)."""
        return self.classes[self.runner_up_class_indices]

    @property
    def query_values(self) -> NDArray[Any]:
        """Values of the queries as they are shown: (n_queries, n_features)."""
        return self.queries if self._query_values is None else self._query_values

    @property
    def neighbor_values(self) -> NDArray[Any] | None:
        """Values of the neighbors as they are shown, (n_queries, k, n_features); None if they are unknown."""
        if self._training_values is None:
            return None
        return self._of_features(self._training_values[self.neighbors])

    @cached_property
    def is_doubtful(self) -> NDArray[np.bool_]:
        """Whether each prediction leads the runner-up by less than 20% of the vote: (n_queries,)."""
        every = np.arange(len(self))
        lead = self.class_votes[every, self.predicted_class_indices]
        return lead - self.class_votes[every, self.runner_up_class_indices] < CLOSE

    @cached_property
    def percentiles(self) -> Floats | None:
        """Percentile of each number among the training rows: (n_queries, n_features), from 0 to 100.

        The share of the training rows that are smaller, plus half of those that are equal, in percent; NaN
        for gaps, categories and bools. None if the model keeps no training rows.
        """
        return self._by_feature("percentiles")

    @cached_property
    def category_shares(self) -> Floats | None:
        """Share of the training rows that have each category, or bool: (n_queries, n_features).

        NaN for gaps and numbers. None if the model keeps no training rows.
        """
        return self._by_feature("category_shares")

    @property
    def typical_ranges(self) -> Floats | None:
        """Typical range of each number in each class: (n_classes, n_features, 2).

        Of the middle 80% of the training rows of the class, without those that have a gap; NaN for
        categories and bools. None if the model keeps no training rows. `typical_texts` has categories, too.
        """
        if self._distribution is None:
            return None
        ranges = self._of_features(self._distribution.ranges.swapaxes(1, 2))
        return ranges.swapaxes(1, 2).copy()

    def typical_texts(self, label: Any) -> NDArray[Any]:
        """Return what is typical of a class as text, in the user's values.

        Of a number or a date, it is the range of the middle 80% of the training rows of the class; of a
        category the most frequent ones, with the shares of the rows of the class that have them: those that
        have 80% together, three at most.

        Parameters
        ----------
        label : object
            One of the classes.

        Returns
        -------
        texts : ndarray of shape (n_features,)
            "" for a feature of which nothing is known, such as a group of several.

        Raises
        ------
        ValueError
            If the label is not one of the classes.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann import LANNClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:1])
        >>> explanation.typical_texts(0).tolist()
        ['4.5 to 5.5', '3 to 3.9', '1.3 to 1.7', '0.1 to 0.4']
        """
        if label not in self._typical:
            self._typical[label] = _distribution.typical_texts(self, label)
        return self._typical[label]

    @property
    def correlated(self) -> dict[str, list[str]]:
        """Groups of features that are correlated in the training data, for `group_features`."""
        return _feature_groups.named_groups(self._correlated, self.feature_names)

    def with_values(self, queries: ArrayLike, training: ArrayLike | TableValues | None) -> Explanation:
        """Return the explanation with other values to show, such as text in place of codes.

        Parameters
        ----------
        queries : array-like of shape (n_queries, n_features)
        training : array-like of shape (n_train, n_features), TableValues or None
            None if they are unknown.

        Returns
        -------
        explanation : Explanation
        """
        if training is not None and not isinstance(training, TableValues):
            training = np.asarray(training)
        return replace(self, _query_values=np.asarray(queries), _training_values=training)

    def with_decisions(self, decisions: Sequence[Decision]) -> Explanation:
        """Return the explanation with the decisions of a reject option.

        Rows are then far where these say so, if they have measured it.

        Parameters
        ----------
        decisions : sequence of Decision of length n_queries

        Returns
        -------
        explanation : Explanation

        Raises
        ------
        ValueError
            If there is not one decision for each query.
        """
        checked = check_decisions(decisions, len(self))
        return replace(self, decisions=checked, is_far=far_by_decision(self, checked))

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per query and neighbor.

        Returns
        -------
        frame : DataFrame
            With the columns ``query``, ``query_id`` (if the queries have ids), ``prediction``, ``neighbor``,
            ``neighbor_id`` (if there are ids), ``label``, ``distance``, ``vote_share`` and
            ``contribution of ...`` for every feature.
        """
        n_queries, k = self.neighbors.shape
        ids = None if self.query_ids is None else np.repeat(self.query_ids, k)
        table: dict[str, Any] = {
            "query": np.repeat(np.arange(n_queries), k),
            "query_id": ids,
            "prediction": np.repeat(self.predictions, k),
            "neighbor": self.neighbors.ravel(),
            "neighbor_id": None if self.neighbor_ids is None else self.neighbor_ids.ravel(),
            "label": self.neighbor_labels.ravel(),
            "distance": self.distances.ravel(),
            "vote_share": self.vote_shares.ravel(),
        }
        for feature, name in enumerate(self.feature_names):
            table[f"contribution of {name}"] = self.contributions[:, :, feature].ravel()
        return frame_of(table)

    def relevance_frame(self) -> pd.DataFrame:
        """Return the relevances as a table with a row per query and a column per feature.

        Returns
        -------
        frame : DataFrame
            Rows are scaled to add up to 1. The index is that of the queries, if they have one.
        """
        import pandas as pd

        total = self.relevances.sum(axis=1, keepdims=True)
        shares = np.divide(self.relevances, total, out=np.zeros_like(self.relevances), where=total > 0)
        return pd.DataFrame(shares, index=self.query_ids, columns=list(self.feature_names))

    @cached_property
    def _typical(self) -> dict[Any, NDArray[Any]]:
        return {}

    @cached_property
    def _sentences(self) -> list[str]:
        return self.in_words()

    @property
    def _feature_columns(self) -> Indices:
        """The column of the training rows of each feature, -1 for a group of several: (n_features,)."""
        return np.arange(len(self.feature_names)) if self._columns is None else self._columns

    def _by_feature(self, name: str) -> Floats | None:
        """Return what the distribution knows of the values; NaN for groups of several features."""
        if self._distribution is None:
            return None
        columns = self._feature_columns
        rows = np.full((len(self), self._distribution.X.shape[1]), np.nan)
        rows[:, columns[columns >= 0]] = self.queries[:, columns >= 0]
        return self._of_features(getattr(self._distribution, name)(rows))

    def _of_features(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of training columns by feature, NaN for groups: (..., n_features)."""
        columns = self._feature_columns
        return values if self._columns is None else np.where(columns >= 0, values[..., columns], np.nan)

    def _computed(self, name: str) -> Any:
        """Return a part of the details, which is computed once."""
        if name not in self._parts:
            if self._details is None:
                what = name.replace("_", " ")
                raise ValueError(f"The {what} of this explanation are unknown; explain with a fitted model.")
            self._parts[name] = getattr(self._details, name)
        return self._parts[name]

    def __getstate__(self) -> dict[str, Any]:
        # Without the model.
        if self._details is not None:
            for name in COMPUTED:
                self._computed(name)
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"_details": None}
