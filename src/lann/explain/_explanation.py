"""The explanation of predictions, and its builder for every model.

The neighbors that voted, and the features that each prediction depends on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.format import is_missing, percent, value_text
from lann._support.types import Floats, Indices
from lann.columns.schema import TableSchema, TableValues
from lann.explain import _exports, _feature_groups, _page, _summaries, _view
from lann.explain._decision import DECISIONS, FAR, Decision
from lann.explain._landmarks import find_far, landmarks_of, nearest_distances
from lann.explain._supports import reference_rows, split_distances, walk_supports
from lann.explain._training_rows import Queries, ValueDistribution, check_label, distribution_of
from lann.model import NeighborModel, Votes
from lann.vote import class_shares

# Fields that do not have an entry per query.
_SHARED = (
    "feature_names", "classes", "floor", "_training_values", "_references", "_distribution",
    "_correlated", "_columns", "_parts",
)  # fmt: skip
# Parts that are computed when they are read.
COMPUTED = ("contributions", "feature_weights", "supports", "support_errors")
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
    >>> explanation = LANNClassifier(7, random_state=0).fit(X, y).explain(X[:2])
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
    # What is computed when it is read, and kept by its name: see `COMPUTED`; and from what. The rows of the
    # model that voted, (n_queries, k), and the reference rows, (n_walks, n_features).
    _parts: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    _asked: Queries | None = field(default=None, repr=False)
    _voters: Indices | None = field(default=None, repr=False)
    _references: Floats | None = field(default=None, repr=False)
    _wide_votes: Floats | None = field(default=None, repr=False)  # (n_queries, n_classes) around each query
    _correlated: _feature_groups.Groups = field(default=(), repr=False)
    # How the training rows are distributed, and the column of these of each feature, -1 for a group of
    # several (None is their order): (n_features,).
    _distribution: ValueDistribution | None = field(default=None, repr=False)
    _columns: Indices | None = field(default=None, repr=False)

    group_features = _feature_groups.group_features
    summarize = _summaries.summarize
    to_dict = _exports.to_dict
    to_frame = _exports.to_frame
    to_long_frame = _exports.to_long_frame
    relevance_frame = _exports.relevance_frame
    to_shap = _exports.to_shap
    in_words = _view.in_words
    overview = _summaries.overview
    row = _view.row
    rows = _view.rows
    to_html = _page.to_html
    save_html = _page.save_html
    _repr_html_ = _page.notebook_view

    def __len__(self) -> int:
        return len(self.predictions)

    def __getitem__(self, rows: int | slice | Indices | NDArray[np.bool_]) -> Explanation:
        """Return the explanation of some queries."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        names = [f.name for f in fields(self) if f.name not in _SHARED]
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
        return self._computed("contributions", split_distances)

    @property
    def feature_weights(self) -> Floats:
        """Feature weights of the neighbors' metrics, averaged by vote share: (n_queries, n_features).

        The explanation of the LANN paper.
        """
        return self._computed(
            "feature_weights",
            lambda asked, voters: asked.model.neighbor_feature_weights(
                asked.rows, voters, self.vote_shares, n_jobs=asked.n_jobs
            ),
        )

    @property
    def has_supports(self) -> bool:
        """Whether supports are known; otherwise `supports`, `support` and `separation` raise ValueError."""
        return "supports" in self._parts or self._asked is not None

    @property
    def supports(self) -> Floats:
        """What each feature adds to the probability of each class: (n_queries, n_classes, n_features).

        How much of the vote changes, on average, on the way from the query to reference rows, as the features
        take the values of these one after another. Positive values are for the class, negative ones against
        it. With `base_values` they add up to `probabilities`.
        """
        return self._walked("supports")

    @property
    def support_errors(self) -> Floats:
        """Standard errors of the supports: (n_queries, n_classes, n_features).

        How far the supports may be from those of many more reference rows.
        """
        return self._walked("support_errors")

    def _walked(self, name: str) -> Floats:
        """Return supports or their errors, which are computed together."""

        def compute(asked: Queries, _: Indices) -> Floats:
            references = reference_rows(asked.model) if self._references is None else self._references
            found = walk_supports(asked, references, self.relevances)
            self._parts.update(supports=found.supports, support_errors=found.errors)
            return self._parts[name]

        return self._computed(name, compute)

    @cached_property
    def base_values(self) -> Floats | None:
        """The probabilities where nothing is known of the row: (n_queries, n_classes).

        The mean at the reference rows: the probabilities of the query minus its supports; None if these are
        unknown.
        """
        return self.probabilities - self.supports.sum(axis=2) if self.has_supports else None

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
        values = self._training_values
        return None if values is None else self._of_features(values[self.neighbors])

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
        known = self._distribution
        return None if known is None else known.percentiles(self.queries, self._feature_columns)

    @cached_property
    def category_shares(self) -> Floats | None:
        """Share of the training rows that have each category, or bool: (n_queries, n_features).

        NaN for gaps and numbers. None if the model keeps no training rows.
        """
        known = self._distribution
        return None if known is None else known.category_shares(self.queries, self._feature_columns)

    @property
    def typical_ranges(self) -> Floats | None:
        """Typical range of each number in each class: (n_classes, n_features, 2).

        Of the middle 80% of the training rows of the class, without those that have a gap; NaN for
        categories and bools. None if the model keeps no training rows. `typical_texts` has categories, too.
        """
        known = self._distribution
        return None if known is None else np.moveaxis(self._of_features(known.ranges), 0, 2).copy()

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
        check_label(label, self.classes, "label")
        if label in self._typical:
            return self._typical[label]
        columns, known, training = self._feature_columns, self._distribution, self._training_values
        texts = np.full(len(columns), "", dtype=object)
        if known is None or training is None:
            return texts
        rows, shares = (part[self.classes == label][0] for part in known.typical)  # (3, n_columns)
        if isinstance(training, TableValues):
            values = training.cells(rows)
        else:
            values = np.take_along_axis(training, rows, axis=0)
        for feature in np.flatnonzero(columns >= 0):
            used = rows[:, columns[feature]] >= 0
            cells, parts = values[used, columns[feature]], shares[used, columns[feature]]
            shown = [value_text(value) for value in cells]
            if any(is_missing(value) for value in cells):
                continue
            if np.isnan(parts).any():
                texts[feature] = " to ".join(dict.fromkeys(shown))  # a single value is written once
            else:
                pairs = zip(shown, parts.tolist(), strict=True)
                texts[feature] = ", ".join(f"{text} {percent(part)}" for text, part in pairs)
        self._typical[label] = texts
        return texts

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
        if len(decisions) != len(self):
            raise ValueError(
                f"There must be a decision for each of the {len(self)} queries; got {len(decisions)}."
            )
        for decision in decisions:
            if not isinstance(decision, Decision) or decision.decision not in DECISIONS:
                raise ValueError(
                    f"A decision must be a Decision of {', '.join(DECISIONS)}; got {decision!r}."
                )
        checked = np.empty(len(self), dtype=object)
        checked[:] = decisions
        far = np.array([decision.decision == FAR for decision in checked], dtype=bool)
        has_measured = np.array([not math.isnan(decision.novelty_threshold) for decision in checked])
        is_far = far if has_measured.any() else None
        if self.is_far is not None:
            is_far = np.where(has_measured | far, far, self.is_far)
        return replace(self, decisions=checked, is_far=is_far)

    @cached_property
    def _typical(self) -> dict[Any, NDArray[Any]]:
        return {}

    @property
    def _feature_columns(self) -> Indices:
        """The column of the training rows of each feature, -1 for a group of several: (n_features,)."""
        return np.arange(len(self.feature_names)) if self._columns is None else self._columns

    def _of_features(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of training columns by feature, NaN for groups: (..., n_features)."""
        columns = self._feature_columns
        return values if self._columns is None else np.where(columns >= 0, values[..., columns], np.nan)

    def _computed(self, name: str, compute: Callable[[Queries, Indices], NDArray[Any]]) -> NDArray[Any]:
        """Return a part that is computed once."""
        if name not in self._parts:
            if self._asked is None or self._voters is None:
                what = name.replace("_", " ")
                raise ValueError(f"The {what} of this explanation are unknown; explain with a fitted model.")
            self._parts[name] = compute(self._asked, self._voters)
        return self._parts[name]

    def __getstate__(self) -> dict[str, Any]:
        # Without the model.
        if self._asked is not None:
            for name in COMPUTED:
                getattr(self, name)
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"_asked": None}


def build_explanation(
    model: NeighborModel,
    queries: Floats,
    *,
    classes: NDArray[Any],
    feature_names: NDArray[Any],
    ids: NDArray[Any] | None = None,
    schema: TableSchema | None = None,
    exclude: Indices | None = None,
    n_jobs: int | None = None,
) -> Explanation:
    """Explain the predictions of a model.

    Parameters
    ----------
    model : NeighborModel
        The fitted model.
    queries : ndarray of shape (n_queries, n_features)
    classes : ndarray of shape (n_classes,)
        Labels of the classes.
    feature_names : ndarray of shape (n_features,)
    ids : ndarray of shape (n_rows,) or None, default=None
        Names of the rows of the model.
    schema : TableSchema or None, default=None
        What the numbers in the rows mean; None is numbers.
    exclude : ndarray of shape (n_queries,) or None, default=None
        For each query the training row that it is, which does not vote on it; -1 for none.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    explanation : Explanation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import build_explanation
    >>> iris = load_iris()
    >>> clf = LANNClassifier(random_state=0).fit(iris.data, iris.target)
    >>> build_explanation(
    ...     clf.model_, iris.data[:3], classes=clf.classes_, feature_names=iris.feature_names
    ... ).predictions
    array([0, 0, 0])
    """
    rows = np.array(queries)  # parts are computed later, when the array may have changed
    if exclude is not None and not (exclude >= 0).any():
        exclude = None
    asked, unmeasured = Queries(model, rows, exclude, n_jobs), model.unmeasured(rows)
    neighbors, distances, votes = _neighbors_and_votes(asked)
    of_training_rows: dict[str, Any] = {}
    if model.has_training_rows:
        distribution, landmarks = distribution_of(model, schema), landmarks_of(model, n_jobs=n_jobs)
        near = landmarks.near(asked)
        relevances, wide_votes = landmarks.readings.means(near)
        of_training_rows = {
            "is_far": find_far(asked, nearest_distances(distances, votes.shares), distribution.extremes),
            "outside": distribution.is_outside(rows),
            "_references": landmarks.references,
            "_correlated": landmarks.correlated,
            "_distribution": distribution,
        }
    else:
        from lann.explain._readings import read_prototypes

        readings = read_prototypes(asked)
        relevances, wide_votes = readings.relevances, readings.votes
    return Explanation(
        queries=rows,
        predictions=classes[votes.probabilities.argmax(axis=1)],
        probabilities=votes.probabilities,
        neighbors=neighbors,
        neighbor_ids=None if ids is None else ids[neighbors],
        neighbor_labels=classes[model.labels[neighbors]],
        distances=distances,
        vote_shares=votes.shares,
        relevances=np.where(unmeasured, 0.0, relevances),
        feature_names=feature_names,
        classes=classes,
        floor=model.vote_rule.floor,
        unmeasured=unmeasured,
        unseen=np.zeros(rows.shape, bool) if schema is None else schema.unseen(rows),
        left_out=np.full(len(rows), -1) if exclude is None else exclude,
        _query_values=None if schema is None else schema.values(rows),
        _training_values=model.X if schema is None else TableValues(schema, model.X),
        _asked=asked,
        _voters=neighbors,
        _wide_votes=wide_votes,
        **of_training_rows,
    )


def _neighbors_and_votes(queries: Queries) -> tuple[Indices, Floats, Votes]:
    """Return the rows that vote on each query, their lengths, (n_queries, k) each, and their votes.

    Queries without an excluded row have the vote of `predict_proba`, to the bit.
    """
    model, exclude = queries.model, queries.exclude
    if exclude is None or (exclude >= 0).all():
        neighbors, squared = queries.voters()
        return neighbors, np.sqrt(squared), model.vote(neighbors, squared)
    is_left_out = exclude >= 0
    voters, own_voters = replace(queries, exclude=None).voters(), queries[is_left_out].voters()
    votes, own_votes = model.vote(*voters), model.vote(*own_voters)
    # Their numbers of columns can differ; the row that is left out has the last columns then, and no vote.
    k = max(voters[0].shape[1], own_voters[0].shape[1])
    neighbors = np.repeat(np.where(is_left_out, exclude, voters[0][:, 0])[:, None], k, axis=1)
    shares, probabilities = np.zeros(neighbors.shape), votes.probabilities.copy()
    probabilities[is_left_out] = own_votes.probabilities
    others = voters[0][~is_left_out], votes.shares[~is_left_out]
    for rows, (found, own) in ((~is_left_out, others), (is_left_out, (own_voters[0], own_votes.shares))):
        neighbors[rows, : found.shape[1]], shares[rows, : found.shape[1]] = found, own
    distances = np.sqrt(model.distances(queries.rows, neighbors, n_jobs=queries.n_jobs))
    return neighbors, distances, Votes(shares, probabilities)
