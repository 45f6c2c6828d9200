"""What LANN's embedding costs beside UMAP of the same data, both in turns in one process."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any

from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from lann._types import Floats, Labels
from lann.bench.embeddings.task import SEGMENTATION_SET, Sizes
from lann.bench.paper import load_sets
from lann.bench.timing import Duel, duel
from lann.classifier import LANNClassifier
from lann.embedding import LANNEmbedding

N_NEIGHBORS = 15
# The classifier is there, or is fitted, too; and new points placed among those of a fit.
FITTED, WITH_FIT, PLACING = "prefit", "with fit", "placing"
N_PLACED = 500


@dataclass(frozen=True)
class Cost:
    """Both sides on one data set.

    Parameters
    ----------
    data_set
    what
        "prefit" or "with fit": whether the classifier was there already; "placing": of new points.
    seconds, umap_seconds
        Medians over the turns.
    ratio, std
        How many times as long as UMAP: the median of the turns' ratios, and their deviation.
    n_turns
    """

    data_set: str
    what: str
    seconds: float
    umap_seconds: float
    ratio: float
    std: float
    n_turns: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def timed_sets(sizes: Sizes) -> dict[str, int]:
    """The data sets by which cost is measured, and the turns on each."""
    return {
        SEGMENTATION_SET: sizes.timed_turns,
        made_name(sizes.timed_rows, sizes): sizes.timed_turns,
        made_name(sizes.large_rows, sizes): 1,
    }


def made_name(n_rows: int, sizes: Sizes) -> str:
    """What a made data set of so many points is called."""
    return f"made, {n_rows} × {sizes.timed_features}"


def measure_costs(data_set: str, sizes: Sizes) -> list[Cost]:
    """Time both sides, by one thread; with the classifier fitted beforehand, and with its fit.

    UMAP has the same number of neighbors, and a seed, as LANN's embedding has: without, it would use all
    cores and give another picture every time. Of less than 4096 points it would measure all pairs, one by
    one in Python, which takes longer than all the rest: here it searches as it does for more.
    """
    from umap import UMAP

    X, y = _load(data_set, sizes)
    n_turns = timed_sets(sizes)[data_set]
    classifier = LANNClassifier(random_state=0)
    fitted = clone(classifier).fit(X, y)
    sides = {
        FITTED: lambda: LANNEmbedding(fitted, prefit=True, n_neighbors=N_NEIGHBORS, random_state=0).fit(X),
        WITH_FIT: lambda: LANNEmbedding(classifier, n_neighbors=N_NEIGHBORS, random_state=0).fit(X, y),
    }
    plain = UMAP(n_neighbors=N_NEIGHBORS, force_approximation_algorithm=True, random_state=0)
    found = [
        cost_of(data_set, what, duel(ours, lambda: plain.fit(X), repeats=n_turns, warm_up=n_turns > 1))
        for what, ours in sides.items()
    ]
    # Points beside those of the fit: half a step toward another.
    new = (X[:N_PLACED] + X[-N_PLACED:]) / 2
    ours = LANNEmbedding(fitted, prefit=True, n_neighbors=N_NEIGHBORS, random_state=0).fit(X)
    placing = duel(lambda: ours.transform(new), lambda: plain.transform(new), repeats=n_turns)
    return [*found, cost_of(data_set, PLACING, placing)]


def cost_of(data_set: str, what: str, turns: Duel) -> Cost:
    """The medians of some turns."""
    ratios = [ours / other for ours, other in zip(turns.ours, turns.other, strict=True)]
    return Cost(
        data_set, what, statistics.median(turns.ours), statistics.median(turns.other),
        statistics.median(ratios), statistics.stdev(ratios) if len(ratios) > 1 else 0.0, len(ratios),
    )  # fmt: skip


def _load(data_set: str, sizes: Sizes) -> tuple[Floats, Labels]:
    if data_set == SEGMENTATION_SET:
        found, skipped = load_sets([data_set])
        if not found:
            raise ValueError(skipped[data_set])
        X, y = found[0].X, found[0].y
    else:
        n_rows = sizes.large_rows if data_set == made_name(sizes.large_rows, sizes) else sizes.timed_rows
        X, y = make_classification(
            n_rows, sizes.timed_features, n_informative=sizes.timed_features // 2, n_classes=5,
            n_clusters_per_class=2, random_state=0,
        )  # fmt: skip
    return StandardScaler().fit_transform(X), y
