"""An embedding in the user's rows and columns: where each point is, what the others say of it, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices, Labels

if TYPE_CHECKING:
    import pandas as pd

    from lann.cli.trained import Trained
    from lann.embedding import LANNEmbedding

# Neighbors in the picture that are asked for a point's class.
PICTURE_NEIGHBORS = 5
NO_LABEL, NO_VOTER = -1, -1
# Relevances below this are nothing but rounding.
NO_RELEVANCE = 1e-9


@dataclass(frozen=True)
class NewRows:
    """Rows to place among those of the training.

    Attributes
    ----------
    rows : (n_rows, …) prepared for the model
    numbers : (n_rows,) where they stand in their file
    ids : (n_rows,) what they are called, or None
    labels : (n_rows,) as text, None for one that is unknown; or None altogether
    source : the name of their file
    same : (n_rows,) the training point that each is known to be, or -1
    """

    rows: pd.DataFrame | NDArray[Any]
    numbers: Indices
    ids: NDArray[Any] | None
    labels: list[str | None] | None
    source: str
    same: Indices


@dataclass(frozen=True, eq=False)
class Embedded:
    """The points of an embedding: those of the training first, then new ones.

    Attributes
    ----------
    n_train : how many are of the training
    held_out : (n_points,) those that nothing was learned from
    numbers : (n_points,) where each stands in its file
    ids : (n_points,) what they are called, or None
    places : (n_points, 2)
    classes : (n_classes,) as text; labels that no training point has come last
    labels : (n_points,) places in `classes`, or NO_LABEL
    predictions : (n_points,) by the neighbors, of which a point is none itself
    confidences : (n_points,) the prediction's part of their votes
    in_picture : (n_points,) the class of most of the nearest training points in the picture but itself
    neighbors, vote_shares : (n_points, k) the training points that voted, and their parts; where fewer than
        others have, NO_VOTER and 0 last
    columns : (n_columns,)
    relevances : (n_points, n_columns) the share of the vote that hangs on each
    values : (n_points, n_columns), or None where they are unknown
    """

    n_train: int
    held_out: NDArray[np.bool_]
    numbers: Indices
    ids: NDArray[Any] | None
    places: Floats
    classes: list[str]
    labels: Labels
    predictions: Labels
    confidences: Floats
    in_picture: Labels
    neighbors: Indices
    vote_shares: Floats
    columns: list[str]
    relevances: Floats
    values: pd.DataFrame | None

    def __len__(self) -> int:
        return len(self.places)

    @property
    def n_new(self) -> int:
        return len(self) - self.n_train

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Unseen points of which the label is known: those that say how good the embedding is."""
        return self.held_out & (self.labels != NO_LABEL)

    def top_columns(self, n_wanted: int) -> Indices:
        """The most relevant columns of every point, the most relevant first: (n_points, n_wanted)."""
        return np.argsort(-self.relevances, axis=1, kind="stable")[:, :n_wanted]

    def to_frame(self, n_columns: int) -> pd.DataFrame:
        """One row per point."""
        import pandas as pd

        names = np.array([*self.classes, None], dtype=object)  # NO_LABEL is the last
        table: dict[str, Any] = {"row": self.numbers}
        if self.ids is not None:
            table["id"] = self.ids
        table |= {
            "x": self.places[:, 0],
            "y": self.places[:, 1],
            "label": names[self.labels],
            "prediction": names[self.predictions],
            "confidence": self.confidences,
            "held_out": self.held_out,
        }
        columns = np.array(self.columns, dtype=object)
        top = self.top_columns(n_columns)
        for place, column in enumerate(top.T, start=1):
            relevances = self.relevances[np.arange(len(self)), column]
            counts = relevances >= NO_RELEVANCE
            table[f"feature_{place}"] = np.where(counts, columns[column], None)
            table[f"relevance_{place}"] = np.where(counts, relevances, np.nan)
        return pd.DataFrame(table)


def make_embedded(trained: Trained, embedding: LANNEmbedding, new: NewRows | None) -> Embedded:
    """Everything about the points of an embedding, which was fitted with the model's classifier."""
    from lann.explain.voters import voters_of

    classifier = trained.classifier
    model = classifier._model
    n_train = len(model.levels.X)
    everyone = np.arange(n_train)
    voters = voters_of(classifier)
    polls, relevances = [voters.vote()], [_relevances(trained, model.levels.points)]
    places, values = [embedding.embedding_], trained.training_values(everyone)
    numbers, ids = trained.row_numbers(everyone), trained.ids(everyone)
    classes = [label_text(label) for label in classifier.classes_]
    labels: Labels = model.levels.labels
    asked = everyone  # whose answers each point has: its own, or those of the point that it is
    if new is not None:
        queries = classifier._check_queries(trained.features(new.rows))
        polls.append(voters.vote(queries))
        relevances.append(_relevances(trained, model.place(queries)))
        places.append(embedding.transform(np.asarray(queries)))
        if values is not None:
            values = _with_new(values, new.rows)
        ids = _ids_together(ids, new.ids, len(new.numbers), n_train)
        numbers = np.concatenate([numbers, new.numbers])
        own = n_train + np.arange(len(new.numbers))
        asked = np.concatenate([everyone, np.where(new.same >= 0, new.same, own)])
        labels = np.concatenate([labels, _encoded(new.labels, len(new.numbers), classes)])
    votes = np.concatenate([poll.probabilities for poll in polls])[asked]
    return Embedded(
        n_train=n_train,
        held_out=asked >= n_train,
        numbers=numbers,
        ids=ids,
        places=np.concatenate(places),
        classes=classes,
        labels=labels,
        predictions=votes.argmax(axis=1),
        confidences=np.minimum(votes.max(axis=1), 1.0),  # shares may add up to a rounding more
        in_picture=_in_picture(places, model.levels.labels)[asked],
        neighbors=_stacked([poll.neighbors for poll in polls], NO_VOTER)[asked],
        vote_shares=_stacked([poll.shares for poll in polls], 0)[asked],
        columns=list(dict.fromkeys(trained.origins())),
        relevances=np.concatenate(relevances)[asked],
        values=values,
    )


def _relevances(trained: Trained, placed: Floats) -> Floats:
    """The share of the vote that hangs on each of the user's columns: (n_points, n_columns).

    placed : (n_points, n_axes) as the metric sees them
    """
    classifier = trained.classifier
    landmarks = classifier._model.landmarks(classifier.n_jobs)
    near = landmarks.near(placed, n_jobs=classifier.n_jobs)
    return _by_column(landmarks.readings.relevances_near(near), trained.origins())


def _stacked(parts: list[NDArray[Any]], nothing: int) -> NDArray[Any]:
    """One below the other; of very few points each has one voter less, and `nothing` in its place."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=nothing) for part in parts]
    )


def _by_column(relevances: Floats, origins: list[str]) -> Floats:
    """Summed over the features of each of the user's columns: (n_points, n_columns)."""
    places = {name: place for place, name in enumerate(dict.fromkeys(origins))}
    member = np.zeros((len(origins), len(places)))
    member[np.arange(len(origins)), [places[name] for name in origins]] = 1.0
    return relevances @ member


def _in_picture(places: list[Floats], labels: Labels) -> Labels:
    """What the nearest training points in the picture take each point for: (n_points,)."""
    from lann.embedding import held_out_predictions, leave_one_out_predictions

    k = min(PICTURE_NEIGHBORS, len(labels) - 1)
    parts = [leave_one_out_predictions(places[0], labels, n_neighbors=k)]
    parts += [held_out_predictions(places[0], labels, new, n_neighbors=k) for new in places[1:]]
    return np.concatenate(parts)


def _with_new(values: pd.DataFrame, rows: Any) -> pd.DataFrame:
    import pandas as pd

    asked = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=values.columns)
    return pd.concat([values.astype(object), asked[list(values.columns)].astype(object)], ignore_index=True)


def _ids_together(
    ids: NDArray[Any] | None, new_ids: NDArray[Any] | None, n_new: int, n_train: int
) -> NDArray[Any] | None:
    if ids is None and new_ids is None:
        return None
    parts = [
        np.full(n, "") if given is None else np.asarray(given, dtype=str)
        for n, given in ((n_train, ids), (n_new, new_ids))
    ]
    return np.concatenate(parts)


def _encoded(labels: list[str | None] | None, n_rows: int, classes: list[str]) -> Labels:
    """Places in `classes`, which grows by labels that it has not."""
    if labels is None:
        return np.full(n_rows, NO_LABEL)
    known = set(classes)
    classes += sorted({label for label in labels if label is not None and label not in known})
    places: dict[str | None, int] = {label: place for place, label in enumerate(classes)}
    places[None] = NO_LABEL
    return np.array([places[label] for label in labels], dtype=np.int64)


def label_text(label: Any) -> str:
    """A label as it would stand in a CSV file: 1.0 is "1"."""
    if isinstance(label, float | np.floating) and label.is_integer():
        return str(int(label))
    return str(label)
