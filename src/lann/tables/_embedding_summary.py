"""How well an embedding separates the classes, by class and by pair of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lann.tables._embedded_table import EmbeddedTable

MOST_PAIRS = 5


@dataclass(frozen=True)
class Accuracy:
    """Share of some rows whose class is predicted correctly; NaN if there are none.

    Attributes
    ----------
    n_rows : int
    by_vote : float
        By the vote of the model.
    in_embedding : float
        By the nearest training rows in the embedding.

    Examples
    --------
    >>> from lann.tables import Accuracy
    >>> Accuracy(n_rows=40, by_vote=0.95, in_embedding=0.9)
    Accuracy(n_rows=40, by_vote=0.95, in_embedding=0.9)
    """

    n_rows: int
    by_vote: float
    in_embedding: float


@dataclass(frozen=True)
class ClassAccuracy:
    """Accuracies on the rows of a class.

    Attributes
    ----------
    class_index : int or None
        None is all classes.
    training : Accuracy
        On training rows, each without itself.
    held_out : Accuracy or None
        On held-out rows; None if no held-out row has a label.

    Examples
    --------
    >>> from lann.tables import Accuracy, ClassAccuracy
    >>> line = ClassAccuracy(class_index=0, training=Accuracy(40, 0.95, 0.9), held_out=None)
    >>> line.training.by_vote
    0.95
    """

    class_index: int | None
    training: Accuracy
    held_out: Accuracy | None


@dataclass(frozen=True)
class ConfusedPair:
    """Two classes that are confused in the embedding.

    Attributes
    ----------
    first, second : int
        Class indices.
    n_confused : int
        Number of their rows for which the embedding predicts the other class.
    n_rows : int
        Number of their rows.

    Examples
    --------
    >>> from lann.tables import ConfusedPair
    >>> pair = ConfusedPair(first=0, second=2, n_confused=3, n_rows=60)
    >>> pair.n_confused / pair.n_rows
    0.05
    """

    first: int
    second: int
    n_confused: int
    n_rows: int


@dataclass(frozen=True)
class EmbeddingSummary:
    """How well an embedding separates the classes; `EmbeddedTable.summarize` returns it.

    Attributes
    ----------
    by_class : list of ClassAccuracy
    overall : ClassAccuracy
        On all rows.
    pairs : list of ConfusedPair
        Up to 5 pairs of classes, the most confused first; on held-out rows if some have labels, otherwise on
        training rows, each without itself.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNEmbedding
    >>> from lann.tables import embed_table
    >>> frame = load_wine(as_frame=True).frame
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> summary = embed_table(frame, "target", held_out=0.3, embedding=layout).summarize()
    >>> summary.overall.training.n_rows, summary.overall.held_out.n_rows, summary.has_held_out
    (125, 53, True)
    """

    by_class: list[ClassAccuracy]
    overall: ClassAccuracy
    pairs: list[ConfusedPair]

    @property
    def has_held_out(self) -> bool:
        """Whether there are held-out rows with labels."""
        return self.overall.held_out is not None


def summarize(embedded: EmbeddedTable) -> EmbeddingSummary:
    """Return how well the classes of an embedding are separated."""
    training = np.arange(len(embedded)) < embedded.n_train
    held_out = embedded.is_held_out & embedded.has_label

    def accuracies(class_index: int | None) -> ClassAccuracy:
        own = np.full(len(embedded), True) if class_index is None else embedded.labels == class_index
        return ClassAccuracy(
            class_index,
            _accuracy(embedded, own & training),
            _accuracy(embedded, own & held_out) if held_out.any() else None,
        )

    return EmbeddingSummary(
        by_class=[accuracies(class_index) for class_index in range(len(embedded.classes))],
        overall=accuracies(None),
        pairs=_confused_pairs(embedded, held_out if held_out.any() else training),
    )


def _confused_pairs(embedded: EmbeddedTable, rows: NDArray[np.bool_]) -> list[ConfusedPair]:
    """Return the pairs of classes that are confused most often among some rows."""
    n_classes = len(embedded.classes)
    labels, predictions = embedded.labels[rows], embedded.embedding_predictions[rows]
    sizes = np.bincount(labels, minlength=n_classes)
    wrong = labels != predictions
    pairs = np.minimum(labels, predictions)[wrong] * n_classes + np.maximum(labels, predictions)[wrong]
    pairs, counts = np.unique(pairs, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_PAIRS]
    first, second = np.divmod(pairs[order], n_classes)
    return [
        ConfusedPair(int(i), int(j), int(count), int(sizes[i] + sizes[j]))
        for i, j, count in zip(first, second, counts[order], strict=True)
    ]


def _accuracy(embedded: EmbeddedTable, rows: NDArray[np.bool_]) -> Accuracy:
    labels = embedded.labels[rows]
    if len(labels) == 0:
        return Accuracy(0, float("nan"), float("nan"))
    return Accuracy(
        len(labels),
        float(np.mean(embedded.predictions[rows] == labels)),
        float(np.mean(embedded.embedding_predictions[rows] == labels)),
    )
