"""What is shown of explained predictions: in full, and in words.

Pages, notebooks and the terminal print these views; what is shown of a row is decided here. The story has
three steps: *similar cases*, the training rows that voted; *reasons*, what the value of each column adds to
the probability; and, for analysts, *what matters here*, the relevances.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.format import (
    class_text,
    counted,
    is_missing,
    percent,
    printable,
    signed_percent,
    value_text,
)
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate
from lann.columns.schema import UNSEEN_TEXT
from lann.explain._decision import FAR

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

# The least relevance of a feature that is worth mentioning, and the least support: a hundredth.
LEAST_RELEVANCE = LEAST_SUPPORT = 0.01
# A reason that is mentioned has at least this share of the largest one, and as many standard errors.
LEAST_SHARE, LEAST_ERRORS = 0.1, 2.0
# The nearest neighbors that hold this share of the vote are listed, five at least and ten at most.
LISTED_SHARE, FEWEST_LISTED, MOST_LISTED = 0.9, 5, 10
# Numbers differ if more than this percentage of the training rows are between them.
LEAST_DIFFERENCE = 20.0
# Features that are missing, or outside the range of the training rows, that are named, at most.
MOST_NAMED = 5
# Labels of similar cases that are counted in words.
MOST_LABELS = 3


class Others(NamedTuple):
    """The neighbors of a row that are not listed.

    Attributes
    ----------
    n_rows : int
    vote_share : float
        Their share of the vote.
    labels : list of (label, int)
        How many of them have each label, the most frequent first.
    """

    n_rows: int
    vote_share: float
    labels: list[tuple[Any, int]]

    @property
    def title(self) -> str:
        """Their number as text, such as "25 others"."""
        return counted(self.n_rows, "other")


class ExplainedRow:
    """A view of one explained prediction; features with the largest support for or against it come first.

    `Explanation.row` returns it.

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
    probability, runner_up_probability : float
        Their probabilities.
    probabilities : ndarray of shape (n_classes,)
    classes : ndarray of shape (n_classes,)
    neighbors : ndarray of shape (k,)
        Row numbers of the training rows that voted, nearest first; k is their number.
    neighbor_ids : ndarray of shape (k,) or None
        Their names.
    neighbor_labels, distances, vote_shares : ndarray of shape (k,)
    feature_names : ndarray of shape (n_features,)
        This is the order of all arrays by feature.
    values : ndarray of shape (n_features,)
        Values of the query, those of bools and of numbers that are 0 or 1 as yes and no.
    support, support_errors : ndarray of shape (n_features,)
        Support of the prediction, and its standard errors.
    supports : ndarray of shape (n_classes, n_features)
        Supports of all classes.
    base_values : ndarray of shape (n_classes,)
        With the supports, they add up to the probabilities.
    relevances : ndarray of shape (n_features,)
    unseen, unmeasured : ndarray of shape (n_features,)
        Whether the value is a category that no training row has, or a gap without which distances are
        measured.
    outside : ndarray of shape (n_features,) or None
        Whether a number is smaller than that of every training row, or larger.
    percentiles : ndarray of shape (n_features,) or None
        Percentiles of the numbers among the training rows, 0 to 100; NaN for other values.
    category_shares : ndarray of shape (n_features,) or None
        Shares of the training rows that have the categories; NaN for other values.
    is_far : bool
        Whether nothing similar was seen in training.
    is_doubtful : bool
        Whether the prediction leads the runner-up by less than 20 points.
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

    is_value = False

    def __init__(self, explanation: Explanation, i: int, *, position: int | None = None) -> None:
        e = self._explanation = explanation
        self._i = i
        voted = self._voted = np.flatnonzero(e.vote_shares[i] > 0)
        self.classes, self.prediction = e.classes, e.predictions[i]
        self.probabilities = e.probabilities[i]
        self.neighbors, self.neighbor_labels = e.neighbors[i, voted], e.neighbor_labels[i, voted]
        self.distances, self.vote_shares = e.distances[i, voted], e.vote_shares[i, voted]
        self.neighbor_ids = None if e.neighbor_ids is None else e.neighbor_ids[i, voted]
        self.has_row_numbers = e._query_rows is not None
        self.row = (i if position is None else position) if e._query_rows is None else int(e._query_rows[i])
        self.id = None if e.query_ids is None else str(e.query_ids[i])
        self.true_label = None if e.true_labels is None else e.true_labels[i]
        self.decision = None if e.decisions is None else e.decisions[i]
        self.is_far = e.is_far is not None and bool(e.is_far[i])
        self.left_out = None if e.left_out[i] < 0 else int(e.left_out[i])
        self._set_labels(e, i)

    def _set_labels(self, e: Explanation, i: int) -> None:
        """Set what there is to say about the label that is predicted."""
        self.runner_up = e.runner_up[i]
        self.probability = float(self.probabilities[e._predicted[i]])
        self.runner_up_probability = float(self.probabilities[e._runner_up[i]])
        self.is_doubtful = bool(e._is_doubtful[i])

    @cached_property
    def _order(self) -> Indices:
        return np.argsort(-np.abs(self._explanation._support[self._i]), kind="stable")

    def _by_feature(self, values: NDArray[Any] | None) -> Any:
        """Return the entry of the query in values by feature, in the order of the view; None for None."""
        return None if values is None else values[self._i][..., self._order]

    @property
    def feature_names(self) -> NDArray[Any]:
        return self._explanation.feature_names[self._order]

    @cached_property
    def values(self) -> NDArray[Any]:
        values = self._explanation.values[self._i]
        plain = [self._explanation._plain(values[j : j + 1], j)[0] for j in self._order]
        return _as_objects(plain)

    @cached_property
    def support(self) -> Floats:
        return self._by_feature(self._explanation._support)

    @cached_property
    def support_errors(self) -> Floats:
        return self._by_feature(self._explanation._support_error)

    @property
    def supports(self) -> Floats:
        return self._by_feature(self._explanation.supports)

    @property
    def base_values(self) -> Floats:
        return self._explanation.base_values[self._i]

    @property
    def base_value(self) -> float:
        """The probability of the prediction where nothing is known of the row."""
        return float(self.base_values[self.class_index(self.prediction)])

    @property
    def relevances(self) -> Floats:
        return self._by_feature(self._explanation.relevances)

    @property
    def unseen(self) -> NDArray[np.bool_]:
        return self._by_feature(self._explanation._unseen)

    @property
    def unmeasured(self) -> NDArray[np.bool_]:
        return self._by_feature(self._explanation._unmeasured)

    @property
    def outside(self) -> NDArray[np.bool_] | None:
        return self._by_feature(self._explanation._outside)

    @property
    def percentiles(self) -> Floats | None:
        return self._by_feature(self._explanation._percentiles)

    @property
    def category_shares(self) -> Floats | None:
        return self._by_feature(self._explanation._category_shares)

    @property
    def sentence(self) -> str:
        """The explanation in words, as `Explanation.in_words` returns it."""
        return self.in_words()

    def in_words(self, n_features: int = 3, n_neighbors: int = 3) -> str:
        """Return the explanation in words.

        Parameters
        ----------
        n_features, n_neighbors : int, default=3
            Number of features for and against, and of neighbors, to name at most.

        Returns
        -------
        text : str
        """
        return _sentence(self, n_features, n_neighbors)

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

    @cached_property
    def is_reason(self) -> NDArray[np.bool_]:
        """Which supports are told: at least 1%, a tenth of the largest, and two standard errors."""
        size, errors = np.abs(self.support), self.support_errors
        least = max(LEAST_SHARE * size.max(), LEAST_SUPPORT * self._explanation._unit)
        return (size >= least) & (size > LEAST_ERRORS * errors) & ~(self.unseen & (self.support > 0))

    def reasons(self, sign: int, most: int) -> list[int]:
        """Return the features that are reasons for the prediction (1) or against it (-1), the largest first.

        Parameters
        ----------
        sign : {1, -1}
        most : int
            Number of features, at most.

        Returns
        -------
        features : list of int
            Positions in the arrays by feature.
        """
        return np.flatnonzero(self.is_reason & (sign * self.support > 0))[:most].tolist()

    def strongest(self, most: int) -> list[int]:
        """Return the features that are named in a line: of a label, the reasons for it.

        Parameters
        ----------
        most : int
            Number of features, at most.

        Returns
        -------
        features : list of int
            Positions in the arrays by feature.
        """
        return self.reasons(1, most)

    def reason_text(self, feature: int) -> str:
        """Return the name, the value and the support of a feature, such as "age 17 (+17%)".

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        text : str
        """
        is_single = self._explanation._feature_columns[self._order[feature]] >= 0
        value = f" {value_text(self.values[feature])}" if is_single else ""
        return f"{self.feature_names[feature]}{value} ({self.signed_text(self.support[feature], 0)})"

    def amount_text(self, amount: float, digits: int = 0) -> str:
        """Return a probability as text, or a value.

        Parameters
        ----------
        amount : float
        digits : int, default=0
            Digits behind the point of a percentage.

        Returns
        -------
        text : str
        """
        return percent(amount, digits)

    def signed_text(self, amount: float, digits: int = 1) -> str:
        """Return a support as text, such as "+17.0%", or "+7.2" of a value.

        Parameters
        ----------
        amount : float
        digits : int, default=1
            Digits behind the point of a percentage.

        Returns
        -------
        text : str
        """
        return signed_percent(amount, digits)

    def error_text(self, feature: int) -> str:
        """Return two standard errors of the support of a feature as text.

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        text : str
        """
        return f"{2 * self.support_errors[feature]:.1%}"

    @property
    def output(self) -> float:
        """What the base value and the supports add up to."""
        return self.probability

    @property
    def output_name(self) -> str:
        """What supports add to: the predicted label."""
        return class_text(self.prediction)

    @property
    def output_interval(self) -> str:
        """The interval of a predicted number as text, such as "28.1 to 44.0"; "" for labels."""
        return ""

    @cached_property
    def label_counts(self) -> list[tuple[Any, int]]:
        """How many of the similar cases have each label: that of the prediction comes first."""
        counts = _label_counts(self.neighbor_labels)
        return sorted(counts, key=lambda pair: pair[0] != self.prediction)

    @property
    def similar_text(self) -> str:
        """How many of the similar cases have each label, such as "43 of 75 malignant, 32 benign"."""
        counts = self.label_counts
        if counts[0][0] != self.prediction:
            counts = [(self.prediction, 0), *counts]
        texts = [f"{count} {class_text(label)}" for label, count in counts[1:MOST_LABELS]]
        more = [f"{sum(n for _, n in counts[MOST_LABELS:])} others"] if len(counts) > MOST_LABELS else []
        first = f"{counts[0][1]} of {len(self.neighbors)} {class_text(self.prediction)}"
        return ", ".join([first, *texts, *more])

    @cached_property
    def n_listed(self) -> int:
        """How many of the neighbors are listed: the nearest that hold 90% of the vote, five to ten.

        A single other one is listed, too.
        """
        n_voters = len(self.neighbors)
        enough = int((np.cumsum(self.vote_shares) < LISTED_SHARE).sum()) + 1
        enough = min(max(enough, FEWEST_LISTED), MOST_LISTED)
        return n_voters if enough >= n_voters - 1 else enough

    @property
    def others(self) -> Others | None:
        """The neighbors that voted and are not listed; None if all are."""
        shares = self.vote_shares[self.n_listed :]
        if not len(shares):
            return None
        return Others(len(shares), float(shares.sum()), _label_counts(self.neighbor_labels[self.n_listed :]))

    @property
    def disagreeing(self) -> Indices:
        """The listed neighbors with other labels than the prediction: positions in `neighbors`."""
        return np.flatnonzero(self.neighbor_labels[: self.n_listed] != self.prediction)

    def neighbor_names(self, which: Indices) -> list[str]:
        """Return the ids of some neighbors, or their row numbers.

        Parameters
        ----------
        which : ndarray of int
            Positions in `neighbors`.

        Returns
        -------
        names : list of str
        """
        return [
            str(name) for name in (self.neighbors if self.neighbor_ids is None else self.neighbor_ids)[which]
        ]

    @cached_property
    def neighbor_values(self) -> NDArray[Any] | None:
        """Values of the listed neighbors, as those of the row: (n_listed, n_features); None if unknown."""
        e = self._explanation
        if e._training_values is None:
            return None
        values = e._of_features(np.asarray(e._training_values[self.neighbors[: self.n_listed]]))
        return np.stack([e._plain(values[:, j], j) for j in self._order], axis=1)

    @cached_property
    def is_different(self) -> NDArray[np.bool_]:
        """Where listed neighbors differ from the row: (n_listed, n_features).

        In another category, or in a number with more than 20% of the training rows between both.
        """
        e, shape = self._explanation, (self.n_listed, len(self.feature_names))
        known, own = e._distribution, self._voted[: self.n_listed]
        if known is None or e._voters is None or self.neighbor_values is None:
            return np.zeros(shape, bool)
        columns = e._feature_columns
        rows = e._of_features(known.X[e._voters[self._i, own]].astype(np.float64))
        gaps = np.abs(known.percentiles(rows, columns) - known.percentiles(e._queries[[self._i]], columns))
        own_texts = [value_text(value) for value in self.values]
        texts = [[value_text(value) for value in row] for row in self.neighbor_values]
        other = np.array(texts, dtype=object) != np.array(own_texts, dtype=object)
        by_rank = gaps[:, self._order]
        return np.where(np.isnan(by_rank), other, by_rank > LEAST_DIFFERENCE)

    @property
    def typical(self) -> NDArray[Any] | None:
        """What is typical of the prediction: a range, or the most frequent categories; None if unknown."""
        e = self._explanation
        return None if e._distribution is None else e._typical_texts(self.prediction)[self._order]

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

    def supported_class(self, feature: int) -> int:
        """Return the class index of the class that the value of a feature supports most.

        It is that of the prediction where the value supports it.

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        class_index : int
        """
        by_class, predicted = self.supports[:, feature], self.class_index(self.prediction)
        return predicted if by_class[predicted] >= 0 else int(by_class.argmax())

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


def rows(explanation: Explanation) -> Iterator[ExplainedRow]:
    """Iterate over the explained predictions, one at a time."""
    for i in range(len(explanation)):
        yield explanation._row_view(explanation, i)


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
    >>> explanation.row(0).similar_text
    '40 of 40 class 0'
    """
    return explanation._row_view(explanation[i], 0, position=int(i) % max(len(explanation), 1))


def in_words(explanation: Explanation, *, n_features: int = 3, n_neighbors: int = 3) -> list[str]:
    """Describe each prediction in some sentences.

    The first has the prediction and its probability; where this leads the runner-up by less than 20 points,
    it is "narrowly" predicted. *Similar cases* counts the training rows that voted by their labels, and names
    the nearest ones and, of the listed neighbors, those with other labels. *Reasons* names the features whose
    values add most to the probability and take most away, and how much; only those above two standard errors.
    Further sentences say which categories no training row has, which gaps distances are measured without, and
    that a training row did not vote on itself. Where nothing similar was seen in training, they say so, and
    why. Where a reject option has rejected the prediction, two sentences come first: "Rejected", and why.
    Control characters of names and values are escaped, such as ``\\x1b`` and ``\\n``.

    Parameters
    ----------
    explanation : Explanation
    n_features : int, default=3
        Number of features to name for the prediction and against it, at most.
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
    >>> for sentence in clf.explain(X[:1]).in_words()[0].split(". "):
    ...     print(sentence)
    setosa, with probability >99%
    Similar cases: 40 of 40 setosa, such as rows 27, 39 and 28
    Reasons: petal length (cm) 1.4 (+51%), petal width (cm) 0.2 (+23%) and sepal width (cm) 3.5 (+8%).
    """
    validate("n_features", n_features, Integer(1))
    validate("n_neighbors", n_neighbors, Integer(1))
    return [row.in_words(n_features, n_neighbors) for row in rows(explanation)]


def _sentence(row: ExplainedRow, n_features: int, n_neighbors: int) -> str:
    """Return the sentences about a prediction: see `in_words`."""
    head, other = class_text(row.prediction), class_text(row.runner_up)
    first = f"{head}, with probability {percent(row.probability)}"
    if row.is_doubtful or (len(row.classes) > 2 and row.runner_up_probability >= 0.5 * LEAST_SUPPORT):
        first += f" ({other} {percent(row.runner_up_probability)})"
    sentences = [f"narrowly {first}" if row.is_doubtful else first, *about_distance(row)]
    sentences.append(_similar_sentence(row, n_neighbors))
    reasons = [joined([row.reason_text(j) for j in row.reasons(sign, n_features)]) for sign in (1, -1)]
    against = f"against it {reasons[1]}" if reasons[1] else ""
    sentences.append(f"Reasons: {'; '.join(filter(None, [reasons[0], against])) or 'no single column'}")
    return finished(row, sentences)


def about_distance(row: ExplainedRow) -> list[str]:
    """Return a sentence about a row to which nothing similar was seen."""
    if row.is_far and (row.decision is None or row.decision.decision != FAR):  # which has not said it yet
        return [f"Nothing similar was seen: {_why_far(row)}; treat with care"]
    return [_why_far(row)] if row.is_far and row.outside is not None and row.outside.any() else []


def finished(row: ExplainedRow, sentences: list[str]) -> str:
    """Return sentences about a prediction, with those about its values and a reject option."""
    text, decision = ". ".join([*sentences, *_about_values(row)]) + ".", row.decision
    if decision is not None and decision.is_rejected:
        rejected = f"Rejected: {decision.decision}. {decision.reason}"
        text = f"{rejected} Prediction without the reject option: {text}"
    return printable(text)


def _similar_sentence(row: ExplainedRow, n_neighbors: int) -> str:
    """Return how many similar cases have which label, the nearest ones, and nearer ones that disagree."""
    what = "Nearest cases" if row.is_far else "Similar cases"
    agreeing = np.flatnonzero(row.neighbor_labels == row.prediction)[:n_neighbors]
    text = f"{what}: {row.similar_text}"
    if len(agreeing):
        text += f", such as {rows_text(row, agreeing, n_neighbors)}"
    disagreeing = row.disagreeing
    if len(disagreeing):
        named = rows_text(row, disagreeing, n_neighbors)
        verb = "disagrees" if len(disagreeing) == 1 else "disagree"
        text += f"; of the nearest {row.n_listed}, {named} {verb}"
    return text


def rows_text(row: ExplainedRow, which: Indices, most: int) -> str:
    """Return the names of some neighbors, such as "rows 3 and 7" or "Ann, Bob and 2 others"."""
    names, n_more = row.neighbor_names(which[:most]), len(which) - most
    is_named = row.neighbor_ids is not None and row.neighbor_ids.dtype.kind not in "iu"
    noun = "" if is_named else "row " if len(names) == 1 else "rows "
    return noun + joined([*names, counted(n_more, "other")] if n_more > 0 else names)


def _why_far(row: ExplainedRow) -> str:
    e, i = row._explanation, row._i
    beyond = [] if e._outside is None else _marked(list(map(str, e.feature_names)), e._outside[i])
    if not beyond:
        return "it is farther from its neighbors than 99% of the training rows are"
    return f"{joined(beyond)} {'is' if len(beyond) == 1 else 'are'} outside the range of the training rows"


def _about_values(row: ExplainedRow) -> list[str]:
    """Return sentences about new categories, gaps without distances, and a row that did not vote."""
    e, i, sentences = row._explanation, row._i, []
    names = [str(name) for name in e.feature_names]
    for feature in np.flatnonzero(e._unseen[i]):
        value = e.values[i, feature]
        is_known = not is_missing(value) and value != UNSEEN_TEXT
        what = f"is {value_text(value)!r}, which" if is_known else "has a category that"
        sentences.append(f"{names[feature]} {what} no training row has")
    if missing := _marked(names, e._unmeasured[i]):
        are, they, them = ("is", "it is", "it") if len(missing) == 1 else ("are", "they are", "them")
        sentences.append(
            f"{joined(missing)} {are} missing, which {they} in no training row, so distances are measured "
            f"without {them}"
        )
    if row.left_out is not None:
        sentences.append("It is a training row, which did not vote on itself")
    return sentences


def _label_counts(labels: NDArray[Any]) -> list[tuple[Any, int]]:
    """Return each label and how often it occurs, the most frequent first."""
    found, counts = np.unique(labels, return_counts=True)
    return [(found[j], int(counts[j])) for j in np.argsort(-counts, kind="stable")]


def _as_objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _marked(names: list[str], marks: NDArray[np.bool_]) -> list[str]:
    """Return the names of the first features that are marked, and how many others there are."""
    found = [names[feature] for feature in np.flatnonzero(marks)]
    n_more = len(found) - MOST_NAMED
    return found if n_more <= 1 else [*found[:MOST_NAMED], f"{n_more} other features"]


def joined(names: list[str]) -> str:
    """Return "a", "a and b", or "a, b and c"; "" for no names."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


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
