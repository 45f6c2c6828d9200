"""The explanation of one prediction in a stream: the rows behind it, their age and memory, the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.format import percent, printable, to_plain, value_text
from lann._support.inputs import get_feature_names
from lann._support.types import Floats, Indices, Labels
from lann.streams._memory import AXES, N_BEFORE, START, STOP, WEIGHTS

if TYPE_CHECKING:
    import pandas as pd

    from lann.streams._sam import MemoryReset

# Memories by number; the newest rows come after the votes of `Memories`.
MEMORY_NAMES = ("short-term", "long-term", "combined", "recent")
MEMORY_WORDS = ("the short-term memory", "the long-term memory", "both memories together", "the newest rows")
SHORT, LONG, RECENT = 0, 1, 3
HUGE = 1e300
# Neighbors that are listed.
N_LISTED = 10
# Features that are named, and the least change of a share that is worth mentioning.
N_NAMED, LEAST_CHANGE = 3, 0.05
# Rows that are compared with each other for the dependence, and neighbors of each class that count.
MAX_ROWS, N_NEIGHBORS = 200, 5


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
        The same for rows that the last reset removed from the short-term memory; None before the first one.
    last_reset : MemoryReset or None
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
    last_reset: MemoryReset | None
    n_seen: int
    age_contributions: Floats | None = None
    vote_accuracy: float | None = None

    @property
    def sentence(self) -> str:
        """The explanation in words: the vote, the rows behind it, and what the last memory reset changed."""
        texts = (self._vote_text(), self._rows_text(), self._reset_text())
        return printable(" ".join(filter(None, texts)))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, such as JSON has; what is not a finite number is None.

        Returns
        -------
        document : dict
            With all attributes, `last_reset` as a dict, and the sentence.
        """
        return to_plain(vars(self) | {"sentence": self.sentence})

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
        same = int((self.neighbor_labels == self.prediction).sum())
        first, last = f"{self.ages.min():.0f}", f"{self.ages.max():.0f}"
        ages = f"{first} rows ago" if first == last else f"{first} to {last} rows ago"
        if n_rows == 1:
            return f"One row has voted; it was learned {ages}."
        return f"{same} of the {n_rows} nearest rows have this label; they were learned {ages}."

    def _reset_text(self) -> str:
        now = self._named(self.dependence_now)
        if self.last_reset is None:
            return f"Classes differ most in {now}; the short-term memory was never reset." if now else ""
        row = self.last_reset.row
        text = f"The short-term memory was last reset at row {row}, {self.n_seen - row} rows ago"
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


def explain(clf: Any, x: Floats, probabilities: Floats) -> StreamExplanation:
    """Explain the prediction of a classifier with self-adjusting memories.

    Parameters
    ----------
    clf : SAMKNN or SAMLANN
    x : (n_features,)
    probabilities : (n_classes,)
    """
    memories = clf.memories_
    size = max(clf.limits_.n_neighbors, 50)
    columns, shares, ages = np.empty(size, np.int64), np.empty(size), np.empty(size)
    memory, vote, n_found = clf._stream.explain(x, columns, shares, ages)
    columns, shares = columns[:n_found], shares[:n_found]
    weights: Any = 1.0
    age_contributions, accuracy = None, None
    if vote < 2:
        steps = _columns_of(memories.short_X, memories.long_X, columns) - x
    else:
        extras = _columns_of(memories.short_extras, memories.long_extras, columns)
        axes = np.empty((1, len(x)))
        clf._stream.transform(x[None], axes)
        steps, weights = extras[:, AXES] - axes, extras[:, WEIGHTS]
        age_contributions, accuracy = ages[:n_found], float(clf.metric_.vote_hits[vote])
    n_seen, is_long = clf.n_seen_, columns < 0
    short, long = np.where(is_long, 0, columns), np.where(is_long, -1 - columns, 0)
    labels = np.where(is_long, memories.long_labels[long], memories.short_labels[short])
    # Of the newest rows, some have left the short-term memory.
    memory_numbers = np.where(is_long, LONG, np.where(columns < memories.counters[START], RECENT, SHORT))
    # A row without a common feature has no finite step.
    n_common = np.isfinite(steps).sum(axis=1)
    scales = np.where(n_common > 0, len(x) / np.maximum(n_common, 1), 0.0)
    contributions = np.nan_to_num(weights * np.square(steps), nan=0.0) * scales[:, None]
    squared = contributions.sum(axis=1) + (0.0 if age_contributions is None else age_contributions)
    now, before = _dependence(clf)
    return StreamExplanation(
        prediction=clf.classes_[int(probabilities.argmax())],
        classes=clf.classes_,
        probabilities=probabilities,
        memory=MEMORY_NAMES[memory],
        memory_weights=clf.memory_weights_,
        n_recent=clf.short_term_size_,
        feature_names=get_feature_names(clf),
        query=x,
        neighbors=_columns_of(memories.short_X, memories.long_X, columns),
        neighbor_labels=clf.classes_[labels],
        neighbor_memories=np.array(MEMORY_NAMES)[memory_numbers],
        ages=n_seen - np.where(is_long, memories.long_arrivals[long], memories.short_arrivals[short]),
        sizes=np.where(is_long, memories.long_sizes[long], 1.0),
        distances=np.where(n_common > 0, np.sqrt(squared), np.inf),
        vote_shares=shares,
        contributions=contributions,
        dependence_now=now,
        dependence_before=before,
        last_reset=clf.resets_[-1] if clf.n_resets_ else None,
        n_seen=n_seen,
        age_contributions=age_contributions,
        vote_accuracy=accuracy,
    )


def _columns_of(short: Floats, long: Floats, columns: Indices) -> Floats:
    """Return stored rows by column, −1 − column for long-term rows: (n_rows, ...)."""
    rows = [short[..., c] if c >= 0 else long[..., -1 - c] for c in columns]
    return np.array(rows).reshape(len(columns), *short.shape[:-1])


def _dependence(clf: Any) -> tuple[Floats, Floats | None]:
    """Return the dependence on each feature now, and before the last memory reset if there was one."""
    memories = clf.memories_
    counters = memories.counters
    start, n_before = int(counters[START]), int(counters[N_BEFORE])
    n_rows = int(counters[STOP]) - start
    n_compared = min(n_rows, MAX_ROWS)  # evenly spaced, with the newest row
    columns = start + (np.arange(1, n_compared + 1) * n_rows) // max(n_compared, 1) - 1
    now, before = memories.short_X[:, columns].T, memories.before_X[:, :n_before].T
    if hasattr(clf, "metric_"):
        extras = memories.short_extras[:, :, columns]
        scale = np.sqrt(extras[WEIGHTS].mean(axis=1))
        now = extras[AXES].T * scale
        transformed = np.empty(before.shape)
        clf._stream.transform(np.ascontiguousarray(before), transformed)
        before = transformed * scale
    return (
        feature_dependence(now, memories.short_labels[columns]),
        feature_dependence(before, memories.before_labels[:n_before]) if n_before else None,
    )


def feature_dependence(X: Floats, labels: Labels) -> Floats:
    """Return the share of each feature in what separates the nearest rows of other classes from the same.

    For every row, a feature's part of the squared distance to its nearest rows of other classes, minus its
    part of that to its nearest rows of the same class, is divided by the former distance. The means over all
    rows, those below 0 set to 0, are scaled to the sum 1.

    Parameters
    ----------
    X : (n_rows, n_features)
        In the coordinates in which distances are measured; NaN is a missing value.
    labels : (n_rows,)

    Returns
    -------
    shares : (n_features,)
        All 0 if the rows are of one class, or if no feature separates the classes.
    """
    n_rows, n_features = X.shape
    steps = np.square(X[:, None, :] - X[None, :, :])  # (n_rows, n_rows, n_features)
    common = np.isfinite(steps).sum(axis=2)
    steps = np.nan_to_num(steps, nan=0.0) * (n_features / np.maximum(common, 1))[:, :, None]
    distances = np.where(common > 0, steps.sum(axis=2), HUGE)
    np.fill_diagonal(distances, np.inf)
    same = labels[:, None] == labels
    to_same = _mean_parts(steps, np.where(same, distances, np.inf))
    to_others = _mean_parts(steps, np.where(same, np.inf, distances))
    total = to_others.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.where(total > 0, (to_others - to_same) / total, 0.0)
    parts[np.isnan(parts)] = 0.0  # of rows without others of the same class
    shares = np.maximum(parts.mean(axis=0), 0.0) if n_rows else np.zeros(n_features)
    total = shares.sum()
    return shares / total if total > 0 else np.zeros(n_features)


def _mean_parts(steps: Floats, distances: Floats) -> Floats:
    """Return the mean parts of the features in the squared distances of rows to the nearest, NaN if none is.

    Parameters
    ----------
    steps : (n_rows, n_rows, n_features)
    distances : (n_rows, n_rows)
        Rows as far as HUGE do not count.
    """
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :N_NEIGHBORS]
    counted = np.take_along_axis(distances, nearest, axis=1) < HUGE
    parts = np.take_along_axis(steps, nearest[:, :, None], axis=1) * counted[:, :, None]
    with np.errstate(invalid="ignore"):
        return parts.sum(axis=1) / counted.sum(axis=1, keepdims=True)
