"""How well an embedding keeps the classes apart, class by class and pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lann.cli.embedded import PICTURE_NEIGHBORS

if TYPE_CHECKING:
    from lann.cli.embedded import Embedded

MOST_PAIRS = 5
FLATTERS = (
    "Rows that the metrics were learned from flatter the picture, even where each is judged without itself; "
    "what it is worth, unseen rows tell."
)
HOW = (
    "By vote: the label that the nearest training rows vote for, as they measure. In picture: the label of "
    f"most of the {PICTURE_NEIGHBORS} nearest training rows in it. No row is asked about itself."
)


@dataclass(frozen=True)
class Score:
    """Of some points: how many, and which part of them is recognized; NaN where there are none."""

    n: int
    by_vote: float
    in_picture: float


@dataclass(frozen=True)
class ClassLine:
    """A class (None is all of them) in numbers; `unseen` is None where no unseen point has a label."""

    place: int | None
    training: Score
    unseen: Score | None


@dataclass(frozen=True)
class MixedPair:
    """Two classes, and how many of their points the picture takes for the other."""

    one: int
    other: int
    n_mistaken: int
    n_points: int


@dataclass(frozen=True)
class Summary:
    """What to say about an embedding in a few numbers.

    Attributes
    ----------
    lines : of every class, and of all together last
    pairs : that mix most, most mistaken points first; of the unseen points where there are, else of the
        training, each without itself
    pairs_unseen : which of these it is
    """

    lines: list[ClassLine]
    pairs: list[MixedPair]
    pairs_unseen: bool

    @property
    def whole(self) -> ClassLine:
        return self.lines[-1]


def summarize(embedded: Embedded) -> Summary:
    judged, training = embedded.judged, np.arange(len(embedded)) < embedded.n_train

    def line(place: int | None) -> ClassLine:
        own = np.ones(len(embedded), bool) if place is None else embedded.labels == place
        unseen = _score(embedded, own & judged) if judged.any() else None
        return ClassLine(place, _score(embedded, own & training), unseen)

    unseen = bool(judged.any())
    return Summary(
        [line(place) for place in (*range(len(embedded.classes)), None)],
        mixed_pairs(embedded, judged if unseen else training),
        unseen,
    )


def mixed_pairs(embedded: Embedded, points: NDArray[np.bool_]) -> list[MixedPair]:
    """Pairs of classes whose points the picture mistakes for one another, the worst first."""
    n_classes = len(embedded.classes)
    labels, found = embedded.labels[points], embedded.in_picture[points]
    sizes = np.bincount(labels, minlength=n_classes)
    wrong = labels != found
    keys = np.minimum(labels, found)[wrong] * n_classes + np.maximum(labels, found)[wrong]
    pairs, counts = np.unique(keys, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_PAIRS]
    ones, others = np.divmod(pairs[order], n_classes)
    return [
        MixedPair(int(one), int(other), int(count), int(sizes[one] + sizes[other]))
        for one, other, count in zip(ones, others, counts[order], strict=True)
    ]


def _score(embedded: Embedded, points: NDArray[np.bool_]) -> Score:
    labels = embedded.labels[points]
    if len(labels) == 0:
        return Score(0, float("nan"), float("nan"))
    return Score(
        len(labels),
        float(np.mean(embedded.predictions[points] == labels)),
        float(np.mean(embedded.in_picture[points] == labels)),
    )
