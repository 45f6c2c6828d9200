"""Explanations in plain sentences, one for each prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats
from lann._validation import Integer, validate

if TYPE_CHECKING:
    from lann.explain.explanation import Explanation

# A lead in votes below which a prediction was a narrow one.
CLOSE = 0.2
# Supports worth a word: a hundredth of the vote, and a tenth of what the most telling feature has.
WORTH_SAYING = 0.01
OF_THE_LARGEST = 0.1


def in_words(
    explanation: Explanation, *, n_features: int = 2, n_neighbors: int = 3, mark: str = ""
) -> list[str]:
    """
    Say in a sentence what made each prediction.

    Named are the features whose values speak most for the prediction and against it, the neighbors with the
    most votes for it (by their ids, or as rows of the training data), and the class that comes next, with
    what sets it apart if that is something else. Where no feature by itself speaks for it, the row is
    like its neighbors "as a whole". Where the lead is less than a fifth of the votes, the sentence says
    "narrowly", and who voted otherwise.

    Parameters
    ----------
    explanation
        Of any number of rows.
    n_features
        How many features to name at most for each reason.
    n_neighbors
        How many neighbors to name at most.
    mark
        Put before and after the name of each feature, such as "*" for Markdown.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"}))
    >>> print(clf.explain(X[:1]).in_words()[0])
    setosa, because in petal length (cm) and petal width (cm) it is like rows 0, 27 and 17.
    """
    validate("n_features", n_features, Integer(1))
    validate("n_neighbors", n_neighbors, Integer(1))
    tells = explanation.tells_supports
    speaker = _Speaker(
        explanation,
        names=[f"{mark}{name}{mark}" for name in explanation.feature_names],
        reasons=explanation.support if tells else explanation.relevances,
        separations=explanation.separation if tells else None,
        runners_up=explanation.runner_up,
        leads=np.stack(
            [explanation.probabilities[np.arange(len(explanation)), places]
             for places in (explanation.predicted_places, explanation.runner_up_places)], axis=1,
        ),
        n_features=n_features,
        n_neighbors=n_neighbors,
    )  # fmt: skip
    return [speaker.sentence(row) for row in range(len(explanation))]


@dataclass(frozen=True)
class _Speaker:
    """What sentences about the rows of an explanation are made of.

    names : (n_features,) as they are printed
    reasons : (n_queries, n_features) what speaks for the predictions, or only what counts
    separations : (n_queries, n_features) from the runner-up; None where the model does not tell
    runners_up : (n_queries,)
    leads : (n_queries, 2) the votes for the prediction, and for the runner-up
    """

    explanation: Explanation
    names: list[str]
    reasons: Floats
    separations: Floats | None
    runners_up: NDArray[Any]
    leads: Floats
    n_features: int
    n_neighbors: int

    def sentence(self, row: int) -> str:
        label, other = self.explanation.predictions[row], self.runners_up[row]
        votes, votes_next = self.leads[row]
        close = votes - votes_next < CLOSE
        spoken = self._telling(self.reasons[row])
        head = _class(label)
        if close:
            head = f"narrowly {head} ({votes:.0%} of the votes, {_class(other)} {votes_next:.0%})"
        like = f"it is like {self._who(self._voters(row, label))}"
        clauses = [f"{head}, because {f'in {_joined(spoken)}' if spoken else 'as a whole'} {like}"]
        rivals = self._voters(row, other) if close else []
        if rivals:
            clauses[0] += f", but {self._who(rivals)} {_verb(rivals, 'is', 'are')} {_class(other)}"
        if self.separations is None:
            apart: list[str] = []
        else:
            against = self._telling(-self.reasons[row])
            if against:
                clauses.append(f"{_joined(against)} {_verb(against, 'speaks', 'speak')} against it")
            apart = self._telling(self.separations[row])
        clauses += _next(other, votes_next, close, [] if set(apart) == set(spoken) else apart)
        return "; ".join(clauses) + "."

    def _telling(self, reasons: Floats) -> list[str]:
        """The names of the features that have most to say, if it is worth a word."""
        floor = OF_THE_LARGEST * np.abs(reasons).max()
        if self.separations is not None:
            floor = max(floor, WORTH_SAYING)
        order = np.argsort(-reasons, kind="stable")[: self.n_features]
        return [self.names[place] for place in order if reasons[place] > 0 and reasons[place] >= floor]

    def _voters(self, row: int, label: Any) -> list[str]:
        """What the neighbors with a label are called, those with the most votes first."""
        explanation = self.explanation
        order = np.argsort(-explanation.vote_shares[row], kind="stable")
        voters = order[explanation.neighbor_labels[row, order] == label][: self.n_neighbors]
        called = explanation.neighbors if explanation.neighbor_ids is None else explanation.neighbor_ids
        return [str(name) for name in called[row, voters]]

    def _who(self, voters: list[str]) -> str:
        said = _joined(voters)
        if self.explanation.neighbor_ids is not None:
            return said
        return f"{_verb(voters, 'row', 'rows')} {said}"


def _next(other: Any, votes: float, close: bool, apart: list[str]) -> list[str]:
    """The runner-up, as far as something is left to say about it."""
    if close or votes == 0:
        keeps = _verb(apart, "keeps", "keep")
        return [f"{_joined(apart)} {keeps} it from being {_class(other)}"] if apart else []
    part = f"{votes:.0%}" if votes >= 0.005 else "under 1%"
    said = f"{_class(other)} comes next with {part} of the votes"
    return [f"{said}, set apart by {_joined(apart)}" if apart else said]


def _class(label: Any) -> str:
    return label if isinstance(label, str) else f"class {label}"


def _joined(names: list[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _verb(subjects: list[str], one: str, several: str) -> str:
    return one if len(subjects) == 1 else several
