"""The points of a fitted embedding, and what its classifier says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._inputs import as_fitted, check_columns
from lann._types import Floats, Indices, Labels
from lann._validation import Integer, validate
from lann.explain.voters import Votes, voters_of
from lann.plot._embedding.legend import OTHER_FEATURES
from lann.plot._embedding.validation import check_plane
from lann.plot._rows import Rows, last_step, rows_of
from lann.plot._style import largest_first, short

COLORS = ("class", "confidence", "error", "dominant")
# Features that are named where points are colored by the one they hang on most; the rest are "other".
N_NAMED = 6


@dataclass(frozen=True)
class Embedded:
    """Points with their places.

    Attributes
    ----------
    training_places : (n_train, 2)
    training_labels : (n_train,) places among the classes, or None where they are not known
    new_places : (n_new, 2), or None where the training points themselves are meant
    new_labels : (n_new,) or None
    classes : (n_classes,) or None
    rows : what was asked about, as the classifier sees it, or None without a classifier
    known : whether the labels were given, not predicted
    """

    training_places: Floats
    training_labels: Labels | None
    new_places: Floats | None
    new_labels: Labels | None
    classes: NDArray[Any] | None
    rows: Rows | None
    known: bool

    @property
    def n_asked(self) -> int:
        return len(self.training_places if self.new_places is None else self.new_places)

    def rows_for(self, parameter: str) -> Rows:
        """The rows, for what only a classifier knows."""
        if self.rows is None:
            raise ValueError(f"{parameter} needs the classifier of a LANNEmbedding; this embedding has none.")
        return self.rows

    def votes(self, parameter: str) -> Votes:
        """The vote on every point, of training points without themselves."""
        rows = self.rows_for(parameter)
        return voters_of(rows.model).vote(None if self.new_places is None else rows.X)

    def wrong(self) -> NDArray[np.bool_]:
        """Which points the vote gets wrong: (n_points,)."""
        votes = self.votes("color='error'")
        if not self.known:
            raise ValueError("color='error' needs the labels of X; got y=None.")
        return votes.probabilities.argmax(axis=1) != self.rows_for("color='error'").labels

    def dominant(self) -> tuple[Indices, list[str]]:
        """The feature each point hangs on most, (n_points,), as a place in the names of the most frequent.

        Those that are not among them share the last name.
        """
        rows = self.rows_for("color='dominant'")
        feature = rows.explain().relevances.argmax(axis=1)
        counts = np.bincount(feature, minlength=len(rows.feature_names))
        n_there = int((counts > 0).sum())
        named = largest_first(counts.astype(np.float64), min(N_NAMED, n_there))
        names = [str(rows.feature_names[place]) for place in named]
        places = np.full(len(counts), len(named))
        places[named] = np.arange(len(named))
        return places[feature], [*names, *([OTHER_FEATURES] if n_there > len(named) else [])]

    def relevance_of(self, color: Any) -> tuple[Floats, str]:
        """How much hangs on one feature, for each point, and what the feature is called."""
        rows = self.rows_for(f"color={color!r}")
        place = _feature(color, rows.feature_names)
        return rows.explain().relevances[:, place], short(rows.feature_names[place], 24)

    def said_by(self, color: Any) -> dict[str, Any]:
        """What colors say, as an EmbeddingDisplay takes it, and a title for that."""
        n_fit = len(self.training_places)
        what = f"{n_fit} points of the fit"
        if self.new_places is not None:
            what = f"{self.n_asked} new points among {n_fit}"
        if color == "class":
            return {"title": what}
        if color == "confidence":
            return {
                "values": self.votes("color='confidence'").probabilities.max(axis=1),
                "unit": "share of the vote for the winning class",
                "low_stands_out": True,
                "title": f"How sure the vote is\n{what}",
            }
        if color == "error":
            wrong = self.wrong()
            return {"wrong": wrong, "title": f"Voted for another class\n{wrong.sum()} of {what}"}
        if color == "dominant":
            features, names = self.dominant()
            title = f"Which feature the vote hangs on most\n{what}"
            return {"values": features, "value_names": names, "title": title}
        values, name = self.relevance_of(color)
        unit = f"share of the vote that hangs on {name}"
        return {"values": values, "unit": unit, "title": f"How much hangs on {name}\n{what}"}

    def lines_from(self, wanted: ArrayLike) -> tuple[Floats, Floats]:
        """From some points to the neighbors that decided about them: (n_lines, 2, 2), and shares (n_lines,).

        wanted : (n_wanted,) rows of what was asked about
        """
        votes = self.votes("lines_from")
        for row in np.atleast_1d(np.asarray(wanted)).tolist():
            validate("lines_from", row, Integer(0, self.n_asked - 1))
        chosen = np.atleast_1d(np.asarray(wanted, dtype=np.int64))
        starts = (self.training_places if self.new_places is None else self.new_places)[chosen]
        ends = self.training_places[votes.neighbors[chosen]]  # (n_wanted, k, 2)
        lines = np.stack([np.broadcast_to(starts[:, None], ends.shape), ends], axis=2)
        return lines.reshape(-1, 2, 2), votes.shares[chosen].ravel()


def embedded_by(estimator: Any, X: ArrayLike | None, y: ArrayLike | None) -> Embedded:
    """The points of an embedding, and those that are placed among them.

    estimator
        A fitted LANNEmbedding or NeighborEmbedding, or a pipeline that ends in one.
    """
    embedding = last_step(estimator)
    if not hasattr(embedding, "embedding_"):
        raise ValueError(
            f"{type(embedding).__name__} is no embedding; LANNEmbedding and NeighborEmbedding are."
        )
    training = embedding.embedding_
    check_plane(training)
    if hasattr(embedding, "classifier_"):
        _check_same_points(embedding)
        rows = rows_of(_with_classifier(estimator, embedding), X, y, at_most=None)
        known = rows if X is None else rows_of(embedding.classifier_, None, None, at_most=None)
        new = None if X is None else embedding.transform(as_fitted(embedding, rows.X))
        return Embedded(
            training_places=training,
            training_labels=known.labels,
            new_places=new,
            new_labels=None if X is None else rows.labels,
            classes=rows.model.classes_,
            rows=rows,
            known=X is None or y is not None,
        )
    n_asked, new = len(training), None
    if X is not None:
        check_columns(estimator, X)
        new = np.asarray(estimator.transform(X))
        n_asked = len(new)
    classes, labels = (None, None) if y is None else np.unique(y, return_inverse=True)
    if labels is not None and len(labels) != n_asked:
        raise ValueError(f"y must have a label for each of the {n_asked} points; got {len(labels)}.")
    return Embedded(
        training_places=training,
        training_labels=labels if X is None else None,
        new_places=new,
        new_labels=None if X is None else labels,
        classes=classes,
        rows=None,
        known=y is not None,
    )


def _check_same_points(embedding: Any) -> None:
    """Refuse a classifier that has learned other points since: it has no places for them."""
    placed, known = embedding._model.levels.X, embedding.classifier_._model.levels.X
    if not np.array_equal(placed, known):
        raise ValueError(
            f"The classifier of the embedding has learned other points since ({len(known)}, where "
            f"{len(placed)} were placed); fit the embedding again."
        )


def _with_classifier(estimator: Any, embedding: Any) -> Any:
    """The classifier in the place of the embedding that owns it, behind the same steps of a pipeline."""
    if embedding is estimator:
        return embedding.classifier_
    from sklearn.pipeline import Pipeline

    return Pipeline([*estimator.steps[:-1], ("classifier", embedding.classifier_)])


def _feature(color: Any, names: NDArray[Any]) -> int:
    if isinstance(color, str) and color in list(names):
        return list(names).index(color)
    whole = isinstance(color, int | np.integer) and not isinstance(color, bool)
    if whole and 0 <= color < len(names):
        return int(color)
    raise ValueError(
        f"color must be one of {', '.join(map(repr, COLORS))}, the name of a feature, or its number from 0 "
        f"to {len(names) - 1}; got {color!r}."
    )
