"""Explanations in plain sentences, one for each prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.format import class_text, is_missing, printable, value_text
from lann._support.types import Floats
from lann._support.validation import Integer, validate
from lann.columns.schema import UNSEEN_TEXT
from lann.explain._decision import FAR, Decision

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

# Supports that are mentioned: a hundredth of the vote, and a tenth of the largest support, at least.
LEAST_SUPPORT = 0.01
LEAST_SHARE = 0.1
# Features that are missing, or outside the range of the training rows, that are named, at most.
MOST_NAMED = 5


def in_words(
    explanation: Explanation, *, n_features: int = 2, n_neighbors: int = 3, mark: str = ""
) -> list[str]:
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
    mark : str, default=""
        Text before and after the name of each feature, such as "*" for Markdown.

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
    writer = _Writer(explanation, n_features, n_neighbors, mark)
    return [printable(writer.sentences(row)) for row in range(len(explanation))]


class _Writer:
    """The parts of the sentences about the rows of an explanation."""

    def __init__(self, explanation: Explanation, n_features: int, n_neighbors: int, mark: str) -> None:
        self.explanation, self.n_features, self.n_neighbors = explanation, n_features, n_neighbors
        self.names = [f"{mark}{name}{mark}" for name in explanation.feature_names]
        self.has_supports = explanation.has_supports
        self.reasons = explanation.support if self.has_supports else explanation.relevances
        self.runner_up = explanation.runner_up
        every = np.arange(len(explanation))
        self.votes = explanation.class_votes[every, explanation.predicted_class_indices]
        self.votes_next = explanation.class_votes[every, explanation.runner_up_class_indices]

    def sentences(self, row: int) -> str:
        decision = None if self.explanation.decisions is None else self.explanation.decisions[row]
        is_far = self.explanation.is_far is not None and self.explanation.is_far[row]
        label, other = self.explanation.predictions[row], class_text(self.runner_up[row])
        head, rivals = class_text(label), []
        if self.explanation.is_doubtful[row]:
            head = f"narrowly {head} ({self.votes[row]:.0%} of the votes, {other} {self.votes_next[row]:.0%})"
            rivals = self._voters(row, self.runner_up[row])
        others = f"{self._rows(rivals)} {_verb(rivals, 'is', 'are')} {other}" if rivals else ""
        voters = self._voters(row, label)
        if is_far:
            clauses = self._about_far_row(row, head, voters, others, decision)
        else:
            clauses = self._about_row(row, head, voters, others)
        sentence = "; ".join(clauses) + "."
        if decision is None or not decision.is_rejected:
            return sentence
        rejected = f"Rejected: {decision.decision}. {decision.reason}"
        return f"{rejected} Prediction without the reject option: {sentence}"

    def _about_row(self, row: int, head: str, voters: list[str], others: str) -> list[str]:
        """Return the clauses about a row that is similar to its neighbors."""
        e = self.explanation
        # A row cannot be similar to others in a category that these do not have.
        seen = 1.0 if e.unseen is None else ~e.unseen[row]
        supporting, separating = self._largest(self.reasons[row] * seen), []
        where = f"in {_joined(supporting)}" if supporting else "overall"
        clauses = [f"{head}, because it is similar to {self._rows(voters)} {where}"]
        if others:
            clauses[0] += f", but {others}"
        if self.has_supports:
            if opposing := self._largest(-self.reasons[row]):
                clauses.append(f"{_joined(opposing)} {_verb(opposing, 'opposes', 'oppose')} it")
            separating = self._largest(e.separation[row] * seen)
        if set(separating) == set(supporting):
            separating = []
        return [*clauses, *self._next(row, separating), *self._notes(row)]

    def _about_far_row(
        self, row: int, head: str, voters: list[str], others: str, decision: Decision | None
    ) -> list[str]:
        """Return the clauses about a row to which nothing similar was seen."""
        outside = self.explanation.outside
        nearest = f"{head}, by the nearest {_verb(voters, 'row', 'rows')} {_joined(voters)}"
        if others:
            nearest += f" ({others})"
        names = [] if outside is None else self._named(outside[row])
        why = "it is farther from them than 99% of the training rows are from their neighbors"
        if names:
            why = f"{_joined(names)} {_verb(names, 'is', 'are')} outside the range of the training rows"
        if decision is not None and decision.decision == FAR:  # how far it is was said before
            clauses = [nearest, why] if names else [nearest]
        else:
            clauses = [f"{nearest}, but nothing similar was seen: {why}"]
        return [*clauses, *self._next(row, []), *self._notes(row), "treat with care"]

    def _next(self, row: int, separating: list[str]) -> list[str]:
        """Return the clause about the runner-up, if there is something to say."""
        other, votes = class_text(self.runner_up[row]), self.votes_next[row]
        if self.explanation.is_doubtful[row] or votes == 0:
            return [f"it differs from {other} in {_joined(separating)}"] if separating else []
        text = f"{other} is next with {f'{votes:.0%}' if votes >= 0.005 else 'under 1%'} of the votes"
        return [f"{text}, from which it differs in {_joined(separating)}" if separating else text]

    def _notes(self, row: int) -> list[str]:
        """Return clauses about unseen categories, features that are not measured, and the row's own vote."""
        e, clauses = self.explanation, []
        for feature in [] if e.unseen is None else np.flatnonzero(e.unseen[row]):
            value = e.query_values[row, feature]
            is_known = not is_missing(value) and value != UNSEEN_TEXT
            what = f"is {value_text(value)!r}, which" if is_known else "has a category that"
            clauses.append(f"{self.names[feature]} {what} no training row has")
        if e.unmeasured is not None and e.unmeasured[row].any():
            names = self._named(e.unmeasured[row])
            are, they, them = ("is", "it is", "it") if len(names) == 1 else ("are", "they are", "them")
            clauses.append(
                f"{_joined(names)} {are} missing, which {they} in no training row, so distances are measured "
                f"without {them}"
            )
        if e.left_out is not None and e.left_out[row] >= 0:
            clauses.append("it is a training row, which did not vote on itself")
        return clauses

    def _largest(self, reasons: Floats) -> list[str]:
        """Return the names of the features with the largest values, if they are large enough to mention."""
        least = max(LEAST_SHARE * np.abs(reasons).max(), LEAST_SUPPORT if self.has_supports else 0.0)
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
