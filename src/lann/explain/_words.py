"""Predictions in words: a sentence about each, and why a reject option has rejected it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.format import class_text, is_missing, percent, printable, to_plain, value_text
from lann._support.types import Floats
from lann._support.validation import Integer, validate
from lann.columns.schema import UNSEEN_TEXT

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

# Supports that are mentioned: a hundredth of the vote, and a tenth of the largest support, at least.
LEAST_SUPPORT = 0.01
LEAST_SHARE = 0.1
# Features that are missing, or outside the range of the training rows, that are named, at most.
MOST_NAMED = 5
ACCEPTED, AMBIGUOUS, FAR = DECISIONS = ("accepted", "ambiguous", "far")
# What a certainty is, in a sentence about a row.
MEASURES = {
    "probability": "probability",
    "margin": "lead over the runner-up",
    "novelty": "closeness to the training rows",
    "combined": "certainty",
}
# Measures that are shares, which are shown in percent.
SHARES = ("probability", "margin", "combined")
MOST_DIGITS = 6
# Larger novelties are not told apart.
LARGEST_NOVELTY = 1000.0


class Decision(NamedTuple):
    """Whether a prediction was accepted, and the figures that decided.

    `lann.reject.RejectOption.reasons` returns it for every row.

    Attributes
    ----------
    decision : {"accepted", "ambiguous", "far"}
        "ambiguous" if the certainty is below its threshold; "far" if the novelty is above its own.
    certainty : float
    threshold : float
        The least certainty of an accepted row; -inf if no row is rejected as ambiguous.
    novelty : float, default=nan
        How far the row is from the training rows; NaN if it is not measured.
    novelty_threshold : float, default=nan
        The largest novelty of an accepted row.
    region : object, default=None
        The class or the number of the region that the threshold is of; None if it is that of all rows.
    measure : {"probability", "margin", "novelty", "combined"}, default="probability"
        What the certainty is.
    by : {"global", "class", "local"}, default="global"
        Whether there is one threshold, one for each class, or one for each region.

    Examples
    --------
    >>> from lann.explain import Decision
    >>> decision = Decision("ambiguous", 0.54, 0.71)
    >>> decision.is_rejected, decision.reason
    (True, 'Its probability of 54% is below the 71% required.')
    """

    decision: str
    certainty: float
    threshold: float
    novelty: float = math.nan
    novelty_threshold: float = math.nan
    region: Any = None
    measure: str = "probability"
    by: str = "global"

    @property
    def is_rejected(self) -> bool:
        """Whether the prediction was rejected."""
        return self.decision != ACCEPTED

    @property
    def reason(self) -> str:
        """Why the prediction was rejected, as a sentence; "" if it was accepted."""
        if self.decision == ACCEPTED:
            return ""
        if self.decision == AMBIGUOUS:
            own, required = _two_figures(self.certainty, self.threshold, as_share=self.measure in SHARES)
            where = {"class": f" of {class_text(self.region)}", "local": " in its region"}.get(self.by, "")
            return f"Its {MEASURES[self.measure]} of {own} is below the {required} required{where}."
        if not math.isfinite(self.novelty):
            return "Its distance to the training rows is too large to be measured."
        own, allowed = _two_figures(self.novelty, self.novelty_threshold, as_share=False)
        if self.novelty > LARGEST_NOVELTY > self.novelty_threshold:
            own = f"more than {LARGEST_NOVELTY:.0f}"
        return (
            f"Its nearest rows are {own} times as far away as is usual for training rows; up to {allowed} "
            "times is accepted."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures that decided, as JSON has them: what is not finite is None.

        Returns
        -------
        values : dict
            With ``measure``, ``certainty``, ``threshold``, ``novelty``, ``novelty_threshold``, ``by`` and
            ``region``.
        """
        names = ("measure", "certainty", "threshold", "novelty", "novelty_threshold", "by", "region")
        plain: dict[str, Any] = to_plain({name: getattr(self, name) for name in names})
        return plain


def _two_figures(value: float, limit: float, *, as_share: bool) -> tuple[str, str]:
    """Return two numbers with as many digits as distinguish them, two at least.

    >>> _two_figures(0.54, 0.71, as_share=True), _two_figures(4.2, 1.8333, as_share=False)
    (('54%', '71%'), ('4.2', '1.8'))
    >>> _two_figures(0.7096, 0.71, as_share=True)
    ('70.96%', '71.00%')
    """
    for digits in range(MOST_DIGITS):
        if as_share:
            texts = percent(value, digits), percent(limit, digits)
        else:
            texts = _plain_figure(value, digits + 2), _plain_figure(limit, digits + 2)
        if texts[0] != texts[1]:
            break
    return texts


def _plain_figure(value: float, n_digits: int) -> str:
    """Return a number with some significant digits, without an exponent if it is between 1 and 10^6."""
    return f"{value:.0f}" if 10.0 ** (n_digits - 1) <= abs(value) < 1e6 else f"{value:.{n_digits}g}"


def check_decisions(decisions: Sequence[Decision], n_queries: int) -> NDArray[Any]:
    """Return decisions as an array: (n_queries,); raise ValueError unless there is one for every query."""
    if len(decisions) != n_queries:
        raise ValueError(
            f"There must be a decision for each of the {n_queries} queries; got {len(decisions)}."
        )
    for decision in decisions:
        if not isinstance(decision, Decision) or decision.decision not in DECISIONS:
            raise ValueError(f"A decision must be a Decision of {', '.join(DECISIONS)}; got {decision!r}.")
    array = np.empty(n_queries, dtype=object)
    array[:] = decisions
    return array


def far_by_decision(explanation: Explanation, decisions: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return which rows are far: as the decisions say, where they have measured it."""
    measured = np.array([not math.isnan(decision.novelty_threshold) for decision in decisions], dtype=bool)
    far = np.array([decision.decision == FAR for decision in decisions], dtype=bool)
    if explanation.is_far is None:
        return far if measured.any() else None
    return np.where(measured | far, far, explanation.is_far)


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
    writer = _Writer(explanation, n_features, n_neighbors)
    return [printable(writer.sentences(row)) for row in range(len(explanation))]


class _Writer:
    """The parts of the sentences about the rows of an explanation."""

    def __init__(self, explanation: Explanation, n_features: int, n_neighbors: int) -> None:
        e = self.explanation = explanation
        self.n_features, self.n_neighbors = n_features, n_neighbors
        self.names = [str(name) for name in e.feature_names]
        self.reasons = e.support if e.has_supports else e.relevances
        every = np.arange(len(e))
        self.votes = e.class_votes[every, e.predicted_class_indices]
        self.votes_next = e.class_votes[every, e.runner_up_class_indices]

    def sentences(self, row: int) -> str:
        e = self.explanation
        head, other, rivals = class_text(e.predictions[row]), class_text(e.runner_up[row]), ""
        if e.is_doubtful[row]:
            head = f"narrowly {head} ({self.votes[row]:.0%} of the votes, {other} {self.votes_next[row]:.0%})"
            if named := self._voters(row, e.runner_up[row]):
                rivals = f"{self._rows(named)} {_verb(named, 'is', 'are')} {other}"
        decision = None if e.decisions is None else e.decisions[row]
        if e.is_far is not None and e.is_far[row]:
            was_told = decision is not None and decision.decision == FAR
            clauses = self._about_far_row(row, head, rivals, was_told=was_told)
        else:
            clauses = self._about_row(row, head, rivals)
        sentence = "; ".join(clauses) + "."
        if decision is None or not decision.is_rejected:
            return sentence
        rejected = f"Rejected: {decision.decision}. {decision.reason}"
        return f"{rejected} Prediction without the reject option: {sentence}"

    def _about_row(self, row: int, head: str, rivals: str) -> list[str]:
        """Return the clauses about a row that is similar to its neighbors."""
        e = self.explanation
        # A row cannot be similar to others in a category that these do not have.
        seen = ~e.unseen[row]
        supporting, separating = self._largest(self.reasons[row] * seen), []
        where = f"in {_joined(supporting)}" if supporting else "overall"
        voters = self._rows(self._voters(row, e.predictions[row]))
        clauses = [f"{head}, because it is similar to {voters} {where}"]
        if rivals:
            clauses[0] += f", but {rivals}"
        if e.has_supports:
            if opposing := self._largest(-self.reasons[row]):
                clauses.append(f"{_joined(opposing)} {_verb(opposing, 'opposes', 'oppose')} it")
            separating = self._largest(e.separation[row] * seen)
        if set(separating) == set(supporting):
            separating = []
        return [*clauses, *self._next(row, separating), *self._notes(row)]

    def _about_far_row(self, row: int, head: str, rivals: str, *, was_told: bool) -> list[str]:
        """Return the clauses about a row to which nothing similar was seen."""
        e = self.explanation
        voters = self._voters(row, e.predictions[row])
        clauses = [f"{head}, by the nearest {_verb(voters, 'row', 'rows')} {_joined(voters)}"]
        if rivals:
            clauses[0] += f" ({rivals})"
        names = [] if e.outside is None else self._named(e.outside[row])
        why = "it is farther from them than 99% of the training rows are from their neighbors"
        if names:
            why = f"{_joined(names)} {_verb(names, 'is', 'are')} outside the range of the training rows"
        if not was_told:
            clauses[0] += f", but nothing similar was seen: {why}"
        elif names:
            clauses.append(why)
        return [*clauses, *self._next(row, []), *self._notes(row), "treat with care"]

    def _next(self, row: int, separating: list[str]) -> list[str]:
        """Return the clause about the runner-up, if there is something to say."""
        other, votes = class_text(self.explanation.runner_up[row]), self.votes_next[row]
        if self.explanation.is_doubtful[row] or votes == 0:
            return [f"it differs from {other} in {_joined(separating)}"] if separating else []
        text = f"{other} is next with {f'{votes:.0%}' if votes >= 0.005 else 'under 1%'} of the votes"
        return [f"{text}, from which it differs in {_joined(separating)}" if separating else text]

    def _notes(self, row: int) -> list[str]:
        """Return clauses about unseen categories, features that are not measured, and the row's own vote."""
        e, clauses = self.explanation, []
        for feature in np.flatnonzero(e.unseen[row]):
            value = e.query_values[row, feature]
            is_known = not is_missing(value) and value != UNSEEN_TEXT
            what = f"is {value_text(value)!r}, which" if is_known else "has a category that"
            clauses.append(f"{self.names[feature]} {what} no training row has")
        if names := self._named(e.unmeasured[row]):
            are, they, them = ("is", "it is", "it") if len(names) == 1 else ("are", "they are", "them")
            clauses.append(
                f"{_joined(names)} {are} missing, which {they} in no training row, so distances are measured "
                f"without {them}"
            )
        if e.left_out[row] >= 0:
            clauses.append("it is a training row, which did not vote on itself")
        return clauses

    def _largest(self, reasons: Floats) -> list[str]:
        """Return the names of the features with the largest values, if they are large enough to mention."""
        least = max(LEAST_SHARE * np.abs(reasons).max(), LEAST_SUPPORT * self.explanation.has_supports)
        order = np.argsort(-reasons, kind="stable")[: self.n_features]
        return [self.names[j] for j in order if reasons[j] > 0 and reasons[j] >= least]

    def _voters(self, row: int, label: Any) -> list[str]:
        """Return the names of the neighbors with a label, those with the most votes first."""
        e = self.explanation
        order = np.argsort(-e.vote_shares[row], kind="stable")
        voted = (e.neighbor_labels[row, order] == label) & (e.vote_shares[row, order] > 0)
        names = e.neighbors if e.neighbor_ids is None else e.neighbor_ids
        return [str(name) for name in names[row, order[voted][: self.n_neighbors]]]

    def _rows(self, voters: list[str]) -> str:
        ids = self.explanation.neighbor_ids
        is_named = ids is not None and ids.dtype.kind not in "iu"
        return _joined(voters) if is_named else f"{_verb(voters, 'row', 'rows')} {_joined(voters)}"

    def _named(self, marks: NDArray[np.bool_]) -> list[str]:
        """Return the names of the first features that are marked, and how many others there are."""
        names = [self.names[feature] for feature in np.flatnonzero(marks)]
        n_more = len(names) - MOST_NAMED
        return names if n_more <= 1 else [*names[:MOST_NAMED], f"{n_more} other features"]


def _joined(names: list[str]) -> str:
    """Return "a", "a and b", or "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(subjects: list[str], one: str, several: str) -> str:
    return one if len(subjects) == 1 else several
