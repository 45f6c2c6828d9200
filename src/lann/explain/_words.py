"""Explanations in plain sentences, one for each prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._format import class_text, is_missing, printable, value_text
from lann._types import Floats
from lann._validation import Integer, validate
from lann.encoding import UNSEEN_TEXT
from lann.explain._decision import FAR

if TYPE_CHECKING:
    from lann.explain._decision import Decision
    from lann.explain._explanation import Explanation

# A difference of the two largest shares of the vote below which a prediction is close.
CLOSE = 0.2
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
    known = explanation.has_supports
    predicted, runner_up = explanation.predicted_class_indices, explanation.runner_up_class_indices
    every, class_votes = np.arange(len(explanation)), explanation.class_votes
    writer = _Writer(
        explanation,
        names=[f"{mark}{name}{mark}" for name in explanation.feature_names],
        reasons=explanation.support if known else explanation.relevances,
        separations=explanation.separation if known else None,
        runners_up=explanation.classes[runner_up],
        votes=np.stack([class_votes[every, indices] for indices in (predicted, runner_up)], 1),
        n_features=n_features,
        n_neighbors=n_neighbors,
    )
    return [writer.sentences(row) for row in range(len(explanation))]


@dataclass(frozen=True)
class _Writer:
    """The parts of the sentences about the rows of an explanation.

    names : (n_features,) as they are printed
    reasons : (n_queries, n_features) supports of the predictions, or relevances where supports are unknown
    separations : (n_queries, n_features) from the runner-up; None where supports are unknown
    runners_up : (n_queries,)
    votes : (n_queries, 2) shares of the vote of the prediction and of the runner-up
    """

    explanation: Explanation
    names: list[str]
    reasons: Floats
    separations: Floats | None
    runners_up: NDArray[Any]
    votes: Floats
    n_features: int
    n_neighbors: int

    def sentences(self, row: int) -> str:
        return printable(self._all_sentences(row))

    def _all_sentences(self, row: int) -> str:
        decision = self._decision(row)
        if decision is None or not decision.is_rejected:
            return self.sentence(row)
        rejected = f"Rejected: {decision.decision}. {decision.reason}"
        return f"{rejected} Prediction without the reject option: {self.sentence(row)}"

    def _decision(self, row: int) -> Decision | None:
        decisions = self.explanation.decisions
        return None if decisions is None else decisions[row]

    def sentence(self, row: int) -> str:
        label, other = self.explanation.predictions[row], self.runners_up[row]
        votes, votes_next = self.votes[row]
        close = votes - votes_next < CLOSE
        unseen = self.explanation.unseen
        # A row cannot be similar to others in a category that these do not have.
        seen = 1.0 if unseen is None else ~unseen[row]
        supporting = self._largest(self.reasons[row] * seen)
        head = class_text(label)
        if close:
            head = f"narrowly {head} ({votes:.0%} of the votes, {class_text(other)} {votes_next:.0%})"
        rivals = self._voters(row, other) if close else []
        if self.explanation.is_far is not None and self.explanation.is_far[row]:
            return "; ".join(self._about_far_row(row, head, rivals)) + "."
        where = f"in {_joined(supporting)}" if supporting else "overall"
        clauses = [f"{head}, because it is similar to {self._rows(self._voters(row, label))} {where}"]
        if rivals:
            clauses[0] += f", but {self._rows(rivals)} {_verb(rivals, 'is', 'are')} {class_text(other)}"
        separating: list[str] = []
        if self.separations is not None:
            opposing = self._largest(-self.reasons[row])
            if opposing:
                clauses.append(f"{_joined(opposing)} {_verb(opposing, 'opposes', 'oppose')} it")
            separating = self._largest(self.separations[row] * seen)
        clauses += _next(other, votes_next, close, [] if set(separating) == set(supporting) else separating)
        return "; ".join([*clauses, *self._notes(row)]) + "."

    def _about_far_row(self, row: int, head: str, rivals: list[str]) -> list[str]:
        """Return the clauses about a row to which nothing similar was seen."""
        explanation = self.explanation
        label, other = explanation.predictions[row], self.runners_up[row]
        voters = self._voters(row, label)
        nearest = f"{head}, by the nearest {_verb(voters, 'row', 'rows')} {_joined(voters)}"
        if rivals:
            nearest += f" ({self._rows(rivals)} {_verb(rivals, 'is', 'are')} {class_text(other)})"
        names: list[str] = []
        if explanation.outside is not None:
            names = _shortened([self.names[feature] for feature in np.flatnonzero(explanation.outside[row])])
        outside = f"{_joined(names)} {_verb(names, 'is', 'are')} outside the range of the training rows"
        decision = self._decision(row)
        if decision is not None and decision.decision == FAR:
            clauses = [nearest, outside] if names else [nearest]  # how far it is was said before
        else:
            why = "it is farther from them than 99% of the training rows are from their neighbors"
            clauses = [f"{nearest}, but nothing similar was seen: {outside if names else why}"]
        clauses += _next(other, self.votes[row, 1], bool(rivals), [])
        return [*clauses, *self._notes(row), "treat with care"]

    def _notes(self, row: int) -> list[str]:
        """Return clauses about unseen categories, features that are not measured, and the row's own vote."""
        left_out = self.explanation.left_out
        is_training_row = left_out is not None and left_out[row] >= 0
        own = ["it is a training row, which did not vote on itself"] if is_training_row else []
        return [*self._unseen(row), *self._unmeasured(row), *own]

    def _largest(self, reasons: Floats) -> list[str]:
        """Return the names of the features with the largest values, if they are large enough to mention."""
        least = LEAST_SHARE * np.abs(reasons).max()
        if self.separations is not None:
            least = max(least, LEAST_SUPPORT)
        order = np.argsort(-reasons, kind="stable")[: self.n_features]
        return [
            self.names[feature] for feature in order if reasons[feature] > 0 and reasons[feature] >= least
        ]

    def _voters(self, row: int, label: Any) -> list[str]:
        """Return the names of the neighbors with a label, those with the most votes first."""
        explanation = self.explanation
        shares = explanation.vote_shares[row]
        order = np.argsort(-shares, kind="stable")
        voted = (explanation.neighbor_labels[row, order] == label) & (shares[order] > 0)
        voters = order[voted][: self.n_neighbors]
        names = explanation.neighbors if explanation.neighbor_ids is None else explanation.neighbor_ids
        return [str(name) for name in names[row, voters]]

    def _unseen(self, row: int) -> list[str]:
        """Return a clause for each category that no training row has."""
        unseen = self.explanation.unseen
        if unseen is None or not unseen[row].any():
            return []
        clauses, values = [], self.explanation.query_values[row]
        for feature in np.flatnonzero(unseen[row]):
            value = values[feature]
            is_known = not is_missing(value) and value != UNSEEN_TEXT
            what = f"is {value_text(value)!r}, which" if is_known else "has a category that"
            clauses.append(f"{self.names[feature]} {what} no training row has")
        return clauses

    def _unmeasured(self, row: int) -> list[str]:
        """Return a clause about the features without which distances are measured."""
        unmeasured = self.explanation.unmeasured
        if unmeasured is None or not unmeasured[row].any():
            return []
        names = [self.names[feature] for feature in np.flatnonzero(unmeasured[row])]
        if len(names) == 1:
            return [
                f"{names[0]} is missing, which it is in no training row, so distances are measured without it"
            ]
        return [
            f"{_joined(_shortened(names))} are missing, which they are in no training row, so distances are "
            "measured without them"
        ]

    def _rows(self, voters: list[str]) -> str:
        names, ids = _joined(voters), self.explanation.neighbor_ids
        if ids is not None and ids.dtype.kind not in "iu":
            return names
        return f"{_verb(voters, 'row', 'rows')} {names}"


def _next(other: Any, votes: float, close: bool, separating: list[str]) -> list[str]:
    """Return the clause about the runner-up, if there is something to say."""
    if close or votes == 0:
        return [f"it differs from {class_text(other)} in {_joined(separating)}"] if separating else []
    share = f"{votes:.0%}" if votes >= 0.005 else "under 1%"
    text = f"{class_text(other)} is next with {share} of the votes"
    return [f"{text}, from which it differs in {_joined(separating)}" if separating else text]


def _shortened(names: list[str]) -> list[str]:
    """Return the first names, and how many others there are."""
    n_more = len(names) - MOST_NAMED
    return names if n_more <= 1 else [*names[:MOST_NAMED], f"{n_more} other features"]


def _joined(names: list[str]) -> str:
    """Return "a", "a and b", or "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(subjects: list[str], one: str, several: str) -> str:
    return one if len(subjects) == 1 else several
