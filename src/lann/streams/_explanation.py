"""The explanation of one prediction in a stream: the rows behind it, their age and their memory."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.format import percent, printable, value_text
from lann._support.types import Floats

if TYPE_CHECKING:
    import pandas as pd

    from lann.streams._sam import Drift

MEMORY_NAMES = ("short-term", "long-term", "combined", "recent")
MEMORY_WORDS = ("the short-term memory", "the long-term memory", "both memories together", "the newest rows")
RECENT = 3
# Neighbors that are listed.
N_LISTED = 10
# Features that are named, and the least change of a share that is worth mentioning.
N_NAMED, LEAST_CHANGE = 3, 0.05


@dataclass(frozen=True, eq=False, repr=False)
class StreamExplanation:
    """Why a classifier with self-adjusting memories predicts a label for one row.

    Attributes
    ----------
    prediction : object
        The label with the largest probability.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_classes,)
        As `predict_proba` returns them.
    memory : {"short-term", "long-term", "combined", "recent"}
        The memory whose neighbors decided. "recent" are the newest rows of `SAMLANN`: the short-term memory
        and rows that were in it before.
    memory_weights : ndarray of shape (3,)
        Recent accuracy of the votes of the short-term memory, of the long-term memory and of both.
    n_recent : int
        Number of rows on which this accuracy was measured.
    feature_names : ndarray of shape (n_features,)
    query : ndarray of shape (n_features,)
        Values of the row that is explained.
    neighbors : ndarray of shape (n_neighbors, n_features)
        Values of the rows that voted, nearest first.
    neighbor_labels : ndarray of shape (n_neighbors,)
    neighbor_memories : ndarray of shape (n_neighbors,)
        The memory that each is in: "short-term", "long-term", or "recent" for a row that has left the
        short-term memory.
    ages : ndarray of shape (n_neighbors,)
        How many rows ago each was learned, 1 for the newest row; of a row that stands for several, the mean.
    sizes : ndarray of shape (n_neighbors,)
        Number of rows that each stands for; above 1 after a compression.
    distances : ndarray of shape (n_neighbors,)
        Lengths; infinite for a row that has no feature in common with the query.
    vote_shares : ndarray of shape (n_neighbors,)
        Share of the vote of each; they add up to 1.
    contributions : ndarray of shape (n_neighbors, n_features)
        Parts of the squared distance that are due to each feature, as the deciding vote measures.
    dependence_now : ndarray of shape (n_features,)
        How much each feature separates the classes in the short-term memory: its share in what makes the
        nearest rows of other classes farther than those of the same class.
    dependence_before : ndarray of shape (n_features,) or None
        The same for rows that the last drift removed from the short-term memory; None before the first drift.
    last_drift : Drift or None
    n_seen : int
        Number of rows that were learned before this prediction.
    age_contributions : ndarray of shape (n_neighbors,) or None
        Parts of the squared distance that are due to the age of the neighbors; None for plain distances.
    vote_accuracy : float or None
        Recent accuracy of the deciding vote, if it is one under a learned metric.
    """

    prediction: Any
    classes: NDArray[Any]
    probabilities: Floats
    memory: str
    memory_weights: Floats
    n_recent: int
    feature_names: NDArray[Any]
    query: Floats
    neighbors: Floats
    neighbor_labels: NDArray[Any]
    neighbor_memories: NDArray[Any]
    ages: Floats
    sizes: Floats
    distances: Floats
    vote_shares: Floats
    contributions: Floats
    dependence_now: Floats
    dependence_before: Floats | None
    last_drift: Drift | None
    n_seen: int
    age_contributions: Floats | None = None
    vote_accuracy: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.flags.writeable = False
                object.__setattr__(self, field.name, value)

    @property
    def sentence(self) -> str:
        """The explanation in words: the vote, the rows behind it, and what changed with the last drift."""
        texts = (self._vote_text(), self._rows_text(), self._drift_text())
        return printable(" ".join(filter(None, texts)))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, such as JSON has; what is not a finite number is None.

        Returns
        -------
        document : dict
            With all attributes, `last_drift` as a dict, and the sentence.
        """
        document = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        document["last_drift"] = None if self.last_drift is None else self.last_drift._asdict()
        return document | {"sentence": self.sentence}

    def to_frame(self) -> pd.DataFrame:
        """Return the rows that voted, nearest first.

        Returns
        -------
        table : pandas.DataFrame
            With the columns label, memory, age, rows (that it stands for), distance and vote_share, and the
            value of every feature.
        """
        import pandas as pd

        table = pd.DataFrame(
            {
                "label": self.neighbor_labels,
                "memory": self.neighbor_memories,
                "age": self.ages,
                "rows": self.sizes.astype(np.int64),
                "distance": self.distances,
                "vote_share": self.vote_shares,
            }
        )
        values = pd.DataFrame(self.neighbors, columns=[str(name) for name in self.feature_names])
        return pd.concat([table, values], axis=1)

    def __repr__(self) -> str:
        words = MEMORY_WORDS[MEMORY_NAMES.index(self.memory)]
        return printable(f"<StreamExplanation: {self.prediction} by {words}>")

    def __str__(self) -> str:
        lines = [self.sentence, "  vote   age  memory      label"]
        for i, label in enumerate(self.neighbor_labels[:N_LISTED]):
            stands_for = f", stands for {self.sizes[i]:.0f} rows" if self.sizes[i] > 1 else ""
            shown = [
                f"{self.feature_names[f]} {value_text(float(self.neighbors[i, f]))}"
                for f in np.argsort(-self.contributions[i], kind="stable")[:N_NAMED]
                if self.contributions[i, f] > 0
            ]
            differs = f"; differs in {', '.join(shown)}" if shown else ""
            if self.age_contributions is not None and self.age_contributions[i] > 0:
                share = percent(self.age_contributions[i] / self.distances[i] ** 2)
                differs += f"; {share} of its squared distance is due to its age"
            lines.append(
                f"  {percent(self.vote_shares[i]):>4} {self.ages[i]:>5.0f}  {self.neighbor_memories[i]:<11} "
                f"{label}{stands_for}{differs}"
            )
        if len(self.neighbor_labels) > N_LISTED:
            lines.append(f"  and {len(self.neighbor_labels) - N_LISTED} more")
        return "\n".join(map(printable, lines))

    def _vote_text(self) -> str:
        probability = percent(self.probabilities[self.classes.tolist().index(self.prediction)])
        words = MEMORY_WORDS[MEMORY_NAMES.index(self.memory)]
        text = f"Predicted {self.prediction} ({probability}) by {words}"
        if self.vote_accuracy is not None:
            accuracy = percent(self.vote_accuracy)
            return f"{text} under the learned metric, which was right about {accuracy} of the rows of late."
        if not self.n_recent:
            return text + "."
        accuracies = [
            f"{name} {percent(weight)}"
            for name, weight in zip(MEMORY_NAMES[:3], self.memory_weights, strict=True)
        ]
        return f"{text}. Votes were right about the last {self.n_recent} rows: {', '.join(accuracies)}."

    def _rows_text(self) -> str:
        n_rows = len(self.neighbor_labels)
        if n_rows == 0:
            return "No row has voted."
        same = int((self.neighbor_labels == self.prediction).sum())
        first, last = f"{self.ages.min():.0f}", f"{self.ages.max():.0f}"
        ages = f"{first} rows ago" if first == last else f"{first} to {last} rows ago"
        if n_rows == 1:
            return f"One row has voted; it was learned {ages}."
        return f"{same} of the {n_rows} nearest rows have this label; they were learned {ages}."

    def _drift_text(self) -> str:
        now = self._named(self.dependence_now)
        if self.last_drift is None:
            return f"Classes differ most in {now}; there was no drift so far." if now else ""
        row = self.last_drift.row
        text = f"The last drift was seen at row {row}, {self.n_seen - row} rows ago"
        if self.dependence_before is None or not now:
            return text + "."
        change = self.dependence_now - self.dependence_before
        order = np.argsort(-np.abs(change), kind="stable")[:N_NAMED]
        changed = [
            f"{self.feature_names[f]} from {percent(self.dependence_before[f])} to "
            f"{percent(self.dependence_now[f])}"
            for f in order
            if abs(change[f]) >= LEAST_CHANGE
        ]
        if not changed:
            return f"{text}; classes differ most in {now}, as before."
        return f"{text}; classes now differ most in {now}. Shares changed: {', '.join(changed)}."

    def _named(self, shares: Floats) -> str:
        order = np.argsort(-shares, kind="stable")[:N_NAMED]
        return ", ".join(f"{self.feature_names[f]} ({percent(shares[f])})" for f in order if shares[f] > 0.01)


def _plain(value: Any) -> Any:
    """Return arrays as lists and numbers that are not finite as None."""
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
