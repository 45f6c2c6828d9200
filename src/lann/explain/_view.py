"""What is shown of explained predictions: in full, and in a sentence.

Pages, notebooks and the terminal print these views; what is shown of a row is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.format import class_text, counted, is_missing, percent, printable, value_text
from lann._support.types import Floats
from lann._support.validation import Integer, validate
from lann.columns.schema import UNSEEN_TEXT
from lann.explain._decision import FAR
from lann.explain._exports import to_long_frame
from lann.explain._training_rows import scaled

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._explanation import Explanation

# The least relevance of a feature that is worth mentioning, and the least support: a hundredth of the vote.
LEAST_RELEVANCE = LEAST_SUPPORT = 0.01
# A reason that is mentioned has at least this share of the largest one.
LEAST_SHARE = 0.1
# Features that are missing, or outside the range of the training rows, that are named, at most.
MOST_NAMED = 5
# Labels that are named of the neighbors that are not listed.
MOST_LABELS = 3


# What an explained row has of the explanation: an entry of the query, one for each of its neighbors, or one
# for each feature, in the order of relevance. Other names there are given.
BY_QUERY = (
    "prediction", "runner_up", "probabilities", "class_votes", "base_values", "n_listed", "true_label",
    "decision",
)  # fmt: skip
BY_NEIGHBOR = ("neighbors", "neighbor_ids", "neighbor_labels", "distances", "vote_shares")
BY_FEATURE = (
    "values", "relevances", "support", "separation", "supports", "unseen", "unmeasured", "outside",
    "percentiles", "category_shares",
)  # fmt: skip
SOURCES = {
    "prediction": "predictions", "true_label": "true_labels", "decision": "decisions",
    "values": "query_values",
}  # fmt: skip


class Others(NamedTuple):
    """The neighbors of a row that are not listed.

    Attributes
    ----------
    n_rows : int
    vote_share : float
        Their share of the vote.
    labels : tuple of (label, int)
        How many of them have each label, the most frequent first.
    """

    n_rows: int
    vote_share: float
    labels: tuple[tuple[Any, int], ...]

    @property
    def title(self) -> str:
        """Their number as text, such as "25 others"."""
        return counted(self.n_rows, "other")

    @property
    def label_text(self) -> str:
        """How many of them have each label, as text; the three most frequent ones."""
        text = ", ".join(f"{count} {label}" for label, count in self.labels[:MOST_LABELS])
        return text if len(self.labels) <= MOST_LABELS else f"{text}, …"


class ExplainedRow:
    """A view of one explained prediction: the votes, the neighbors, and the features, most relevant first.

    `Explanation.row` and `Explanation.rows` return it.

    Parameters
    ----------
    explanation : Explanation
    i : int
        Position of the query in the explanation.
    position : int or None, default=None
        The row number where the queries have none; None is `i`.

    Attributes
    ----------
    row : int
        Row number of the query.
    id : str or None
        Its name.
    prediction, runner_up : object
        The labels with the largest and the second largest probability.
    sentence : str
        The explanation in a sentence, as `Explanation.in_words` returns it.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_classes,)
    probability, runner_up_probability : float
        Probabilities of the prediction and of the runner-up.
    class_votes : ndarray of shape (n_classes,)
        Share of the vote of each class; the probabilities are these with the floor of the model.
    neighbors : ndarray of shape (k,)
        Row numbers of the training rows that voted, nearest first; k is their number.
    neighbor_ids : ndarray of shape (k,) or None
        Their names.
    neighbor_labels : ndarray of shape (k,)
    distances : ndarray of shape (k,)
    vote_shares : ndarray of shape (k,)
    n_listed : int
        How many of the neighbors are listed where there is little space: the nearest that hold 90% of the
        vote, five at least and ten at most.
    feature_names : ndarray of shape (n_features,)
        The most relevant feature first; this is the order of all arrays by feature.
    values : ndarray of shape (n_features,)
        Values of the query.
    neighbor_values : ndarray of shape (k, n_features) or None
        Values of the neighbors; None if they are unknown.
    relevances : ndarray of shape (n_features,)
    support, separation : ndarray of shape (n_features,) or None
        Support of the prediction, and how much more that is than the support of the runner-up; None if
        supports are unknown.
    supports : ndarray of shape (n_classes, n_features) or None
        Supports of all classes.
    base_values : ndarray of shape (n_classes,) or None
        The mean vote at the contrast rows: with the supports, it adds up to the probabilities.
    contributions : ndarray of shape (k, n_features)
        What each feature adds to each squared distance.
    unseen, unmeasured : ndarray of shape (n_features,)
        Whether the value is a category that no training row has, or a gap without which distances are
        measured.
    percentiles : ndarray of shape (n_features,) or None
        Percentiles of the numbers among the training rows, 0 to 100; NaN for other values.
    category_shares : ndarray of shape (n_features,) or None
        Shares of the training rows that have the categories; NaN for other values.
    typical, typical_of_runner_up : ndarray of shape (n_features,) or None
        What is typical of the prediction, and of the runner-up, as text: a range, or the most frequent
        categories.
    is_far : bool
        Whether nothing similar was seen in training.
    outside : ndarray of shape (n_features,) or None
        Whether a number is smaller than that of every training row, or larger.
    left_out : int or None
        Row number of the training row that is this row, and did not vote on itself; None if there is none.
    has_row_numbers : bool
        Whether `row` is the number of a row in the user's table, beside ids that it may have. Otherwise rows
        with integer ids, such as the index of a DataFrame, are named by these alone.
    true_label : object
        Label of the query; None if it is not known.
    decision : Decision or None
        Whether a reject option has accepted the prediction, and why not; None if there is none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> row = LANNClassifier(7, random_state=0).fit(X, y).explain(X[:3]).row(0)
    >>> print(row.prediction, row.runner_up, row.neighbor_labels)
    0 1 [0 0 0 0 0 0 0]
    >>> row.feature_names[0], float(row.values[0])
    ('petal length (cm)', 1.4)
    """

    def __init__(self, explanation: Explanation, i: int, *, position: int | None = None) -> None:
        e = self._explanation = explanation
        self._i = i
        self._voted = e.vote_shares[i] > 0  # with sample weights, more rows vote on some queries
        self._order = np.argsort(-e.relevances[i], kind="stable")
        self.classes, self.feature_names = e.classes, e.feature_names[self._order]
        self.has_row_numbers = e.query_rows is not None
        self.row = (i if position is None else position) if e.query_rows is None else int(e.query_rows[i])
        self.id = None if e.query_ids is None else str(e.query_ids[i])
        self.probability = float(e.probabilities[i, e.predicted_class_indices[i]])
        self.runner_up_probability = float(e.probabilities[i, e.runner_up_class_indices[i]])
        self.is_far = e.is_far is not None and bool(e.is_far[i])
        self.left_out = None if e.left_out[i] < 0 else int(e.left_out[i])

    def __getattr__(self, name: str) -> Any:
        if name not in (*BY_QUERY, *BY_NEIGHBOR, *BY_FEATURE):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        is_known = self._explanation.has_supports or name not in ("support", "separation", "supports")
        values = getattr(self._explanation, SOURCES.get(name, name)) if is_known else None
        if values is None or name in BY_QUERY:
            return None if values is None else values[self._i]
        return values[self._i, self._voted] if name in BY_NEIGHBOR else values[self._i][..., self._order]

    @cached_property
    def sentence(self) -> str:
        return _sentence(self._explanation, self._i)

    @property
    def contributions(self) -> Floats:
        return self._explanation.contributions[self._i, self._voted][:, self._order]

    @property
    def neighbor_values(self) -> NDArray[Any] | None:
        e, values = self._explanation, self._explanation._training_values
        return None if values is None else e._of_features(values[self.neighbors])[:, self._order]

    @cached_property
    def typical(self) -> NDArray[Any] | None:
        e = self._explanation
        return None if e._distribution is None else e.typical_texts(self.prediction)[self._order]

    @cached_property
    def typical_of_runner_up(self) -> NDArray[Any] | None:
        e = self._explanation
        return None if e._distribution is None else e.typical_texts(self.runner_up)[self._order]

    @property
    def title(self) -> str:
        """How the row is named, such as "Row 3" or "Row 3: Jane"."""
        return f"Row {self.name}: {self.id}" if self.has_id_beside_name else f"Row {self.name}"

    @property
    def name(self) -> str:
        """How the row is named in a column of rows: its number, or its integer id."""
        is_number = self.id is not None and self.id.removeprefix("-").isdecimal()
        return str(self.id) if is_number and not self.has_row_numbers else str(self.row)

    @property
    def has_id_beside_name(self) -> bool:
        """Whether the row has an id beside its number."""
        return self.id is not None and (self.has_row_numbers or self.name != self.id)

    @property
    def neighbors_by_id(self) -> bool:
        """Whether the neighbors are named by integer ids alone."""
        ids = self.neighbor_ids
        return ids is not None and ids.dtype.kind in "iu" and not self.has_row_numbers

    @property
    def is_accepted(self) -> bool:
        """Whether a reject option has accepted the prediction."""
        return self.decision is not None and not self.decision.is_rejected

    @property
    def is_rejected(self) -> bool:
        """Whether a reject option has rejected the prediction."""
        return self.decision is not None and self.decision.is_rejected

    @property
    def reasons(self) -> Floats:
        """Support of the prediction by feature, relevances where supports are unknown: (n_features,)."""
        return self.relevances if self.support is None else self.support

    def value_note(self, feature: int) -> str:
        """Return what there is to say about the value of a feature, or "".

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        note : str
        """
        if self.unseen[feature]:
            return "in no training row"
        return "not measured" if self.unmeasured[feature] else ""

    def percentile_text(self, feature: int) -> str:
        """Return where the value is among the training rows, such as "96th" or "34% of rows", or "".

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        text : str
            The percentile of a number; the share of the training rows that have a category.
        """
        if self.category_shares is not None and not np.isnan(self.category_shares[feature]):
            return f"{percent(self.category_shares[feature])} of rows"
        return "" if self.percentiles is None else _rank_text(self.percentiles[feature])

    def value_in_context(self, feature: int) -> str:
        """Return the value with its percentile and what is typical of the prediction.

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        text : str
            Such as "25.4 (96th percentile; malignant rows: 16.2 to 27.7)".
        """
        value, among = value_text(self.values[feature]), self.percentile_text(feature)
        if self.percentiles is not None and 0 < self.percentiles[feature] < 100:
            among += " percentile"
        typical = "" if self.typical is None else self.typical[feature]
        typical = f"{class_text(self.prediction)} rows: {typical}" if typical else ""
        text = "; ".join(note for note in (self.value_note(feature), among, typical) if note)
        return f"{value} ({text})" if text else value

    def supported_class(self, feature: int) -> int | None:
        """Return the class index of the class that the value of a feature supports most.

        It is that of the prediction where the value supports it.

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        class_index : int or None
            None if supports are unknown.
        """
        if self.supports is None:
            return None
        by_class, predicted = self.supports[:, feature], self.class_index(self.prediction)
        return predicted if by_class[predicted] >= 0 else int(by_class.argmax())

    @property
    def others(self) -> Others | None:
        """The neighbors that voted and are not listed; None if all are."""
        shares = self.vote_shares[self.n_listed :]
        if not len(shares):
            return None
        labels, counts = np.unique(self.neighbor_labels[self.n_listed :], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        by_label = tuple((labels[i], int(counts[i])) for i in order)
        return Others(len(shares), float(shares.sum()), by_label)

    @property
    def distance_shares(self) -> Floats:
        """Share of the squared distances that is due to each feature, averaged by vote: (n_features,)."""
        return self.vote_shares @ scaled(self.contributions)

    @property
    def has_relevant_feature(self) -> bool:
        """Whether some single feature changes at least 1% of the vote."""
        return bool(self.relevances.max() >= LEAST_RELEVANCE)

    def class_index(self, label: Any) -> int:
        """Return the position of a label in `classes`.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        index : int
        """
        return int(np.flatnonzero(self.classes == label)[0])

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per neighbor and feature.

        Returns
        -------
        frame : DataFrame
            With the columns of `Explanation.to_long_frame`.
        """
        return to_long_frame(replace(self._explanation[self._i], query_rows=np.array([self.row])))


def rows(explanation: Explanation) -> Iterator[ExplainedRow]:
    """Iterate over the explained predictions, one at a time.

    Parameters
    ----------
    explanation : Explanation

    Yields
    ------
    row : ExplainedRow

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[::50])
    >>> for row in explanation.rows():
    ...     print(row.prediction, f"{row.probability:.0%}")
    0 100%
    1 96%
    2 100%
    """
    for i in range(len(explanation)):
        yield ExplainedRow(explanation, i)


def row(explanation: Explanation, i: int) -> ExplainedRow:
    """Return one explained prediction.

    Parameters
    ----------
    explanation : Explanation
    i : int
        Position of the query in the explanation.

    Returns
    -------
    row : ExplainedRow

    Raises
    ------
    IndexError
        If there is no such query.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X[3:], y[3:]).explain(X[:3])
    >>> explanation.row(0).sentence
    'class 0, because it is similar to rows 24, 14 and 25 in x2 and x3.'
    """
    return ExplainedRow(explanation[i], 0, position=int(i) % max(len(explanation), 1))


def in_words(explanation: Explanation, *, n_features: int = 2, n_neighbors: int = 3) -> list[str]:
    """Describe each prediction in a sentence.

    It names the features whose values support the prediction most and oppose it most, the neighbors with the
    most votes for it (by their ids, or as rows of the training data), and the runner-up, with the features
    that distinguish the prediction from it if these are others. Where no feature supports the
    prediction, the row is similar to its neighbors "overall". Where the prediction has less than 20% of the
    votes more than the runner-up, the sentence says "narrowly", and which neighbors voted for the runner-up.
    It ends with categories that no training row has, with features without which distances are measured, and
    with a note where the row is a training row, which did not vote on itself. Where nothing similar was seen
    in training, the sentence says so, and why, in place of what the row has in common with its neighbors.
    Where a reject option has rejected the prediction, two sentences come first: "Rejected", and why. Control
    characters of names and values are escaped, such as ``\\x1b`` and ``\\n``.

    Parameters
    ----------
    explanation : Explanation
    n_features : int, default=2
        Number of features to name for each reason, at most.
    n_neighbors : int, default=3
        Number of neighbors to name, at most.

    Returns
    -------
    sentences : list of str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> clf = LANNClassifier(random_state=0).fit(X[1:], y[1:])
    >>> print(clf.explain(X[:1]).in_words()[0])
    setosa, because it is similar to rows 27, 39 and 28 in petal length (cm) and petal width (cm).
    """
    validate("n_features", n_features, Integer(1))
    validate("n_neighbors", n_neighbors, Integer(1))
    each = range(len(explanation))
    return [_sentence(explanation, i, n_features=n_features, n_neighbors=n_neighbors) for i in each]


def _sentence(e: Explanation, i: int, *, n_features: int = 2, n_neighbors: int = 3) -> str:
    """Return the sentence about a prediction: see `in_words`."""
    names = [str(name) for name in e.feature_names]
    reasons = e.support[i] if e.has_supports else e.relevances[i]
    votes = e.class_votes[i, e.predicted_class_indices[i]]
    votes_next = e.class_votes[i, e.runner_up_class_indices[i]]
    head, other = class_text(e.predictions[i]), class_text(e.runner_up[i])
    decision = None if e.decisions is None else e.decisions[i]
    # A row cannot be similar to others in a category that these do not have.
    seen = ~e.unseen[i]

    def largest(values: Floats) -> list[str]:
        least = max(LEAST_SHARE * np.abs(values).max(), LEAST_SUPPORT * e.has_supports)
        return [names[j] for j in strongest(values, n_features, least)]

    def voters(label: Any) -> list[str]:
        """Return the names of the neighbors with a label, those with the most votes first."""
        order = np.argsort(-e.vote_shares[i], kind="stable")
        voted = (e.neighbor_labels[i, order] == label) & (e.vote_shares[i, order] > 0)
        ids = e.neighbors if e.neighbor_ids is None else e.neighbor_ids
        return [str(name) for name in ids[i, order[voted][:n_neighbors]]]

    def rows(voters: list[str]) -> str:
        is_named = e.neighbor_ids is not None and e.neighbor_ids.dtype.kind not in "iu"
        return _joined(voters) if is_named else f"{_verb(voters, 'row', 'rows')} {_joined(voters)}"

    rivals, own = "", voters(e.predictions[i])
    if e.is_doubtful[i]:
        head = f"narrowly {head} ({votes:.0%} of the votes, {other} {votes_next:.0%})"
        if others := voters(e.runner_up[i]):
            rivals = f"{rows(others)} {_verb(others, 'is', 'are')} {other}"
    supporting, separating, clauses = largest(reasons * seen), [], []
    is_far = e.is_far is not None and bool(e.is_far[i])
    if is_far:
        nearest = f"{_verb(own, 'row', 'rows')} {_joined(own)}"
        head += f", by the nearest {nearest}{f' ({rivals})' if rivals else ''}"
        beyond = [] if e.outside is None else _marked(names, e.outside[i])
        why = "it is farther from them than 99% of the training rows are from their neighbors"
        if beyond:
            why = f"{_joined(beyond)} {_verb(beyond, 'is', 'are')} outside the range of the training rows"
        if decision is None or decision.decision != FAR:  # which has not said it yet
            head += f", but nothing similar was seen: {why}"
        elif beyond:
            clauses.append(why)
    else:
        where = f"in {_joined(supporting)}" if supporting else "overall"
        head += f", because it is similar to {rows(own)} {where}"
        head += f", but {rivals}" if rivals else ""
        if e.has_supports:
            if opposing := largest(-reasons):
                clauses.append(f"{_joined(opposing)} {_verb(opposing, 'opposes', 'oppose')} it")
            separating = largest(e.separation[i] * seen)
        if set(separating) == set(supporting):
            separating = []
    if votes_next > 0 and not e.is_doubtful[i]:
        share = f"{votes_next:.0%}" if votes_next >= 0.005 else "under 1%"
        differs = f", from which it differs in {_joined(separating)}" if separating else ""
        clauses.append(f"{other} is next with {share} of the votes{differs}")
    elif separating:
        clauses.append(f"it differs from {other} in {_joined(separating)}")
    clauses += _about_values(e, i, names)
    sentence = "; ".join([head, *clauses, *["treat with care"] * is_far]) + "."
    if decision is not None and decision.is_rejected:
        rejected = f"Rejected: {decision.decision}. {decision.reason}"
        sentence = f"{rejected} Prediction without the reject option: {sentence}"
    return printable(sentence)


def _about_values(e: Explanation, i: int, names: list[str]) -> list[str]:
    """Return clauses about new categories, gaps without distances, and a row that did not vote."""
    clauses = []
    for feature in np.flatnonzero(e.unseen[i]):
        value = e.query_values[i, feature]
        is_known = not is_missing(value) and value != UNSEEN_TEXT
        what = f"is {value_text(value)!r}, which" if is_known else "has a category that"
        clauses.append(f"{names[feature]} {what} no training row has")
    if missing := _marked(names, e.unmeasured[i]):
        are, they, them = ("is", "it is", "it") if len(missing) == 1 else ("are", "they are", "them")
        clauses.append(
            f"{_joined(missing)} {are} missing, which {they} in no training row, so distances are measured "
            f"without {them}"
        )
    if e.left_out[i] >= 0:
        clauses.append("it is a training row, which did not vote on itself")
    return clauses


def _marked(names: list[str], marks: NDArray[np.bool_]) -> list[str]:
    """Return the names of the first features that are marked, and how many others there are."""
    found = [names[feature] for feature in np.flatnonzero(marks)]
    n_more = len(found) - MOST_NAMED
    return found if n_more <= 1 else [*found[:MOST_NAMED], f"{n_more} other features"]


def strongest(values: Floats, most: int, least: float) -> list[int]:
    """Return the positions of the largest values above 0, if they are large enough to mention."""
    order = np.argsort(-values, kind="stable")[:most].tolist()
    return [j for j in order if values[j] > 0 and values[j] >= least]


def _joined(names: list[str]) -> str:
    """Return "a", "a and b", or "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(subjects: list[str], one: str, several: str) -> str:
    return one if len(subjects) == 1 else several


def _rank_text(percentile: float) -> str:
    """Return a percentile as a rank; "" for NaN.

    >>> _rank_text(96.2), _rank_text(0.4), _rank_text(0.0), _rank_text(100.0)
    ('96th', '1st', 'below all', 'above all')
    """
    if np.isnan(percentile):
        return ""
    if percentile in (0.0, 100.0):
        return "above all" if percentile else "below all"
    number = min(max(round(float(percentile)), 1), 99)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number <= 20 else ending}"
