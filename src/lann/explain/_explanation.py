"""The explanation of predictions, and its builder for every model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.format import is_missing, percent, value_text
from lann._support.types import Floats, Indices
from lann.columns.schema import TableSchema, TableValues
from lann.explain import _exports, _feature_groups, _page, _view
from lann.explain._decision import DECISIONS, FAR, Decision
from lann.explain._landmarks import find_far, landmarks_of, nearest_distances
from lann.explain._supports import explained_supports, reference_rows
from lann.explain._training_rows import Queries, ValueDistribution, distribution_of
from lann.model import NeighborModel, Votes

# Fields that do not have an entry per query.
_SHARED = (
    "feature_names", "classes", "_training_values", "_references", "_distribution", "_correlated", "_columns",
    "_parts", "target_name", "_scale",
)  # fmt: skip
# A difference of the two largest probabilities below which a prediction is doubtful.
CLOSE = 0.2


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model predicts what it does for some rows: similar cases, reasons, and what matters.

    `LANNClassifier.explain` and the `explain` methods of the baselines return it. Indexing selects queries.
    The training rows that voted are the *similar cases*; the supports are the *reasons*, what each feature
    adds to a probability; the relevances are *what matters* around a row.

    Attributes
    ----------
    predictions : ndarray of shape (n_queries,)
        Predicted labels.
    probabilities : ndarray of shape (n_queries, n_classes)
        As `predict_proba` returns them.
    classes : ndarray of shape (n_classes,)
    feature_names : ndarray of shape (n_features,)
    neighbors : ndarray of shape (n_queries, k)
        Positions of the training rows that voted (of `prototypes_` where the model has prototypes), nearest
        first. With sample weights fewer rows can vote on one query than on another; the others then have a
        share of 0.
    neighbor_labels : ndarray of shape (n_queries, k)
    distances : ndarray of shape (n_queries, k)
        Lengths, as `kneighbors` returns them.
    vote_shares : ndarray of shape (n_queries, k)
        Share of the vote of each neighbor; rows add up to 1.
    relevances : ndarray of shape (n_queries, n_features)
        How much the vote depends on each feature around the query: the mean of the share of the vote that
        changes when its value alone is replaced, and of the share that it changes on walks to reference rows.
    left_out : ndarray of shape (n_queries,)
        The training row that did not vote on each query, because it is the query itself; -1 for none. Where
        one was left out, everything is explained without it.
    neighbor_ids : ndarray of shape (n_queries, k) or None
        Names of the neighbors.
    query_ids : ndarray of shape (n_queries,) or None
        Names of the queries.
    true_labels : ndarray of shape (n_queries,) or None
        Labels of the queries, None in place of an unknown one; None if they are not known.
    is_far : ndarray of shape (n_queries,) or None
        Whether nothing similar to a query was seen in training; None if that is unknown.
    decisions : ndarray of shape (n_queries,) or None
        Of a reject option: a `Decision` for each query, which says whether its prediction was accepted, and
        why not. None if there is none.

    See Also
    --------
    lann.explain.counterfactuals : A small change that leads to another prediction.
    lann.explain.summarize : Means over many rows.
    lann.explain.group_features : Add up features that belong together.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(7, random_state=0).fit(X, y).explain(X[:2])
    >>> explanation.neighbors.shape, explanation.supports.shape
    ((2, 7), (2, 3, 4))
    >>> total = explanation.base_values + explanation.supports.sum(axis=2)
    >>> bool(np.allclose(total, explanation.probabilities))
    True
    """

    predictions: NDArray[Any]
    probabilities: Floats
    classes: NDArray[Any]
    feature_names: NDArray[Any]
    neighbors: Indices
    neighbor_labels: NDArray[Any]
    distances: Floats
    vote_shares: Floats
    relevances: Floats
    left_out: Indices
    # The rows as numbers, and what is particular about their values: (n_queries, n_features). Where a query
    # has a gap that no training row has, its distances are measured without the feature; the position of a
    # category that no training row has is the mean of all; numbers can be outside the range of the rows.
    _queries: Floats = field(repr=False)
    _unmeasured: NDArray[np.bool_] = field(repr=False)
    _unseen: NDArray[np.bool_] = field(repr=False)
    _outside: NDArray[np.bool_] | None = field(default=None, repr=False)
    neighbor_ids: NDArray[Any] | None = None
    query_ids: NDArray[Any] | None = None
    true_labels: NDArray[Any] | None = None
    is_far: NDArray[np.bool_] | None = None
    decisions: NDArray[Any] | None = None
    # Row numbers of the queries in the table they come from; None numbers them from 0.
    _query_rows: Indices | None = field(default=None, repr=False)
    # Values as they are shown to the user: (n_queries, n_features) and (n_train, n_features).
    _query_values: NDArray[Any] | None = field(default=None, repr=False)
    _training_values: NDArray[Any] | TableValues | None = field(default=None, repr=False)
    # Supports and their errors, which are computed when they are read, and from what: the queries and the
    # reference rows, (n_walks, n_features).
    _parts: dict[str, Floats] = field(default_factory=dict, repr=False)
    _asked: Queries | None = field(default=None, repr=False)
    _references: Floats | None = field(default=None, repr=False)
    _voters: Indices | None = field(default=None, repr=False)  # positions of the neighbors in the model
    _wide_votes: Floats | None = field(default=None, repr=False)  # (n_queries, n_classes) around each query
    _correlated: _feature_groups.Groups = field(default=(), repr=False)
    # How the training rows are distributed, and the column of these of each feature, -1 for a group of
    # several (None is their order): (n_features,).
    _distribution: ValueDistribution | None = field(default=None, repr=False)
    _columns: Indices | None = field(default=None, repr=False)

    # What is shown of a row, and how far apart outputs usually are.
    _row_view: ClassVar[Any] = _view.ExplainedRow
    _unit: ClassVar[float] = 1.0

    row = _view.row
    in_words = _view.in_words
    to_frame = _exports.to_frame
    to_dict = _exports.to_dict
    to_html = _page.to_html
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

    @property
    def values(self) -> NDArray[Any]:
        """Values of the queries as they are shown: (n_queries, n_features)."""
        return self._queries if self._query_values is None else self._query_values

    @property
    def supports(self) -> Floats:
        """What each feature adds to the probability of each class: (n_queries, n_classes, n_features).

        How much the probability changes, on average, on the way from the query to reference rows, as the
        features take the values of these one after another. Positive values are for the class, negative ones
        against it. With `base_values` they add up to `probabilities`.
        """
        return self._walked("supports")

    @property
    def support_errors(self) -> Floats:
        """Standard errors of the supports: (n_queries, n_classes, n_features).

        How far the supports may be from those of many more reference rows.
        """
        return self._walked("errors")

    @cached_property
    def base_values(self) -> Floats:
        """The probabilities where nothing is known of the row: (n_queries, n_classes).

        The mean at the reference rows, from which the supports lead to `probabilities`.
        """
        return self.probabilities - self.supports.sum(axis=2)

    @cached_property
    def runner_up(self) -> NDArray[Any]:
        """Labels with the second largest probability: (n_queries,).

        Where all neighbors agree, that with the most votes in a wider neighborhood.
        """
        return self.classes[self._runner_up]

    def _walked(self, name: str) -> Floats:
        """Return supports or their errors, which are computed together."""
        if name not in self._parts:
            if self._asked is None:
                raise ValueError("The supports of this explanation are unknown; explain with a fitted model.")
            model = self._asked.model
            references = reference_rows(model) if self._references is None else self._references
            found = explained_supports(self._asked, references, self.relevances)
            self._parts.update(supports=found.supports, errors=found.errors)
        return self._parts[name]

    @cached_property
    def _predicted(self) -> Indices:
        """Class indices of the predictions: (n_queries,)."""
        return np.searchsorted(self.classes, self.predictions)

    @cached_property
    def _runner_up(self) -> Indices:
        """Class indices of the runners-up: (n_queries,)."""
        rest = self.probabilities.copy()
        if self._wide_votes is not None:
            # So small that it decides only between classes without a vote.
            rest += 1e-9 * self._wide_votes
        rest[np.arange(len(self)), self._predicted] = -1.0
        return rest.argmax(axis=1)

    @cached_property
    def _support(self) -> Floats:
        """Supports of the predicted class: (n_queries, n_features)."""
        return self.supports[np.arange(len(self)), self._predicted]

    @cached_property
    def _support_error(self) -> Floats:
        """Standard errors of the supports of the predicted class: (n_queries, n_features)."""
        return self.support_errors[np.arange(len(self)), self._predicted]

    @cached_property
    def _is_doubtful(self) -> NDArray[np.bool_]:
        """Whether each prediction leads the runner-up by less than 20 points: (n_queries,)."""
        every = np.arange(len(self))
        lead = self.probabilities[every, self._predicted] - self.probabilities[every, self._runner_up]
        return lead < CLOSE

    @cached_property
    def _percentiles(self) -> Floats | None:
        """Percentile of each number among the training rows, NaN for others: (n_queries, n_features)."""
        known = self._distribution
        return None if known is None else known.percentiles(self._queries, self._feature_columns)

    @cached_property
    def _category_shares(self) -> Floats | None:
        """Share of the training rows with each category, NaN for numbers: (n_queries, n_features)."""
        known = self._distribution
        return None if known is None else known.category_shares(self._queries, self._feature_columns)

    def _typical_texts(self, label: Any) -> NDArray[Any]:
        """Return what is typical of a class as text, "" where nothing is known: (n_features,).

        Of a number or a date, it is the range of the middle 80% of the training rows of the class; of a
        category the most frequent ones, with the shares of the rows of the class that have them: those that
        have 80% together, three at most.
        """
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
            shown = [value_text(value) for value in self._plain(cells, feature)]
            if any(is_missing(value) for value in cells):
                continue
            if np.isnan(parts).any():
                texts[feature] = " to ".join(dict.fromkeys(shown))  # a single value is written once
            else:
                pairs = zip(shown, parts.tolist(), strict=True)
                texts[feature] = ", ".join(f"{text} {percent(part)}" for text, part in pairs)
        self._typical[label] = texts
        return texts

    @cached_property
    def _typical(self) -> dict[Any, NDArray[Any]]:
        return {}

    def _plain(self, values: NDArray[Any], feature: Any) -> NDArray[Any]:
        """Return values of a feature as people write them: yes and no in place of bools, 1 and 0."""
        column, known = self._feature_columns[feature], self._distribution
        is_binary = known is not None and column >= 0 and bool(known.is_binary[column])
        words: dict[Any, Any] = {1.0: "yes", 0.0: "no"}
        plain = np.empty(len(values), dtype=object)
        plain[:] = [
            words.get(value, value)
            if isinstance(value, bool | np.bool_) or (is_binary and isinstance(value, float))
            else value
            for value in values.tolist()
        ]
        return plain

    @property
    def _feature_columns(self) -> Indices:
        """The column of the training rows of each feature, -1 for a group of several: (n_features,)."""
        return np.arange(len(self.feature_names)) if self._columns is None else self._columns

    def _of_features(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of training columns by feature, NaN for groups: (..., n_features)."""
        columns = self._feature_columns
        return values if self._columns is None else np.where(columns >= 0, values[..., columns], np.nan)

    def __getstate__(self) -> dict[str, Any]:
        if self._asked is not None:  # without the model
            self._walked("supports")
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"_asked": None}


class ExplainedQueries(NamedTuple):
    """The rows of an explanation.

    Attributes
    ----------
    numbers : ndarray of shape (n_queries, n_features) or None
        Their values as numbers; None where features are groups of several.
    rows : ndarray of shape (n_queries,) or None
        Their row numbers in the table they come from; None numbers them from 0.
    ids : ndarray of shape (n_queries,) or None
        Their names.
    values : ndarray of shape (n_queries, n_features)
        Their values as they are shown.
    """

    numbers: Floats | None
    rows: Indices | None
    ids: NDArray[Any] | None
    values: NDArray[Any]


def queries_of(explanation: Explanation) -> ExplainedQueries:
    """Return the rows of an explanation.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    queries : ExplainedQueries

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import queries_of
    >>> X, y = load_iris(return_X_y=True)
    >>> queries_of(LANNClassifier(random_state=0).fit(X, y).explain(X[:2])).numbers[:, 0].tolist()
    [5.1, 4.9]
    """
    e = explanation
    numbers = None if (e._feature_columns < 0).any() else e._queries
    return ExplainedQueries(numbers, e._query_rows, e.query_ids, e.values)


def with_decisions(explanation: Explanation, decisions: Sequence[Decision]) -> Explanation:
    """Return an explanation with the decisions of a reject option.

    Rows are then far where these say so, if they have measured it.

    Parameters
    ----------
    explanation : Explanation
    decisions : sequence of Decision of length n_queries

    Returns
    -------
    explanation : Explanation

    Raises
    ------
    ValueError
        If there is not one decision for each query.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import Decision, with_decisions
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:1])
    >>> with_decisions(explanation, [Decision("ambiguous", 0.54, 0.71)]).in_words()[0][:20]
    'Rejected: ambiguous.'
    """
    e = explanation
    if len(decisions) != len(e):
        raise ValueError(f"There must be a decision for each of the {len(e)} queries; got {len(decisions)}.")
    for decision in decisions:
        if not isinstance(decision, Decision) or decision.decision not in DECISIONS:
            raise ValueError(f"A decision must be a Decision of {', '.join(DECISIONS)}; got {decision!r}.")
    checked = np.empty(len(e), dtype=object)
    checked[:] = decisions
    far = np.array([decision.decision == FAR for decision in checked], dtype=bool)
    has_measured = np.array([not math.isnan(decision.novelty_threshold) for decision in checked])
    is_far = far if has_measured.any() else None
    if e.is_far is not None:
        is_far = np.where(has_measured | far, far, e.is_far)
    return replace(e, decisions=checked, is_far=is_far)


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
            "_outside": distribution.is_outside(rows),
            "_references": landmarks.references,
            "_correlated": landmarks.correlated,
            "_distribution": distribution,
        }
    else:
        from lann.explain._readings import read_prototypes

        readings = read_prototypes(asked)
        relevances, wide_votes = readings.relevances, readings.votes
    return Explanation(
        _queries=rows,
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
        _unmeasured=unmeasured,
        _unseen=np.zeros(rows.shape, bool) if schema is None else schema.unseen(rows),
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
