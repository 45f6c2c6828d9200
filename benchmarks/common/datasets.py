"""The data sets of the paper, in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.engine import data_digest
from lann.datasets import PAPER_SETS, canonical_name, load

# Small data sets of different kinds: few and many classes, easy and hard, generated and measured.
QUICK_SETS = (
    "artificial-classification",
    "breast-cancer",
    "image-segmentation",
    "ionosphere",
    "iris",
    "wine",
)

SHORT_NAMES = {
    "adrenal": "adren",
    "artificial-classification": "artif",
    "breast-cancer": "breast",
    "gamma-telescope": "gamma",
    "image-segmentation": "segm",
    "ionosphere": "ionos",
    "letter-recognition": "letter",
    "outdoor-objects": "outdoor",
    "pen-digits": "pen",
    "robot-navigation": "robot",
}
"""Names for the columns of wide tables."""


@dataclass(frozen=True)
class DataSet:
    """A data set: X (n_samples, n_features), and y (n_samples,) with class indices."""

    name: str
    X: Floats
    y: Labels
    digest: str


def choose_sets(names: Iterable[str] = (), *, quick: bool = False) -> list[str]:
    """Return the data sets with these names; by default all, or with `quick` the small ones."""
    chosen = {canonical_name(name) for name in names or (QUICK_SETS if quick else PAPER_SETS)}
    return [name for name in PAPER_SETS if name in chosen]


def load_sets(names: Iterable[str]) -> tuple[list[DataSet], dict[str, str]]:
    """Return the data sets that can be loaded, and the reasons why the others cannot."""
    found, skipped = [], {}
    for name in names:
        try:
            X, labels = load(name, return_X_y=True)
        except (OSError, ValueError) as error:
            skipped[name] = _first_sentence(error)
            continue
        y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        X = np.ascontiguousarray(X, dtype=np.float64)
        found.append(DataSet(name, X, y, data_digest(X, y)))
    return found, skipped


def load_set(name: str) -> DataSet:
    """Return one data set; raise ValueError if it cannot be loaded."""
    found, skipped = load_sets([name])
    if not found:
        raise ValueError(skipped[name])
    return found[0]


def _first_sentence(error: Exception) -> str:
    # The rest names folders of this machine, which do not belong in a document.
    text = str(error).partition("\n")[0].partition(". ")[0]
    return f"{text.rstrip('.:') or type(error).__name__}."
