"""The cost of LANN's embedding compared with UMAP, both in turns in one process."""

from __future__ import annotations

import statistics

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.datasets import load_set
from benchmarks.embeddings.tasks import SEGMENTATION_SET, Sizes
from benchmarks.engine import Found, PairedTimes, Values, time_in_turns
from lann import LANNClassifier, LANNEmbedding
from lann.embedding import NeighborEmbedding

N_NEIGHBORS = 15
# With a fitted classifier, with the fit of the classifier, and the transform of new rows.
PREFIT, WITH_FIT, TRANSFORM = "prefit", "with fit", "transform"
N_NEW = 500


def timed_sets(sizes: Sizes) -> dict[str, int]:
    """Return the names of the data sets on which the cost is measured, and the turns on each."""
    return {
        SEGMENTATION_SET: sizes.timed_turns,
        generated_name(sizes.timed_rows, sizes): sizes.timed_turns,
        generated_name(sizes.large_rows, sizes): 1,
    }


def generated_name(n_rows: int, sizes: Sizes) -> str:
    """Return the name of a generated data set with so many rows."""
    return f"generated, {n_rows} × {sizes.timed_features}"


def measure_costs(data_set: str, sizes: Sizes) -> Found:
    """
    Time both sides with one thread.

    UMAP has the same number of neighbors and a seed, as LANN's embedding has: without a seed it would use all
    cores, and its result would change from run to run. For fewer than 4096 rows it would compute all pairs of
    distances in Python, which takes longer than all the rest: here it searches as it does for more rows.
    """
    from umap import UMAP

    X, y = _load(data_set, sizes)
    n_turns = timed_sets(sizes)[data_set]
    parameters = {"n_neighbors": N_NEIGHBORS, "random_state": 0}
    classifier = LANNClassifier(random_state=0)
    fitted = clone(classifier).fit(X, y)
    plain = UMAP(force_approximation_algorithm=True, **parameters)
    sides = {
        PREFIT: lambda: LANNEmbedding(FrozenEstimator(fitted), **parameters).fit(X),
        WITH_FIT: lambda: LANNEmbedding(classifier, **parameters).fit(X, y),
    }
    found = {
        name: summarize(time_in_turns(ours, lambda: plain.fit(X), repeats=n_turns, warm_up=n_turns > 1))
        for name, ours in sides.items()
    }
    # New rows near those of the fit: half-way between two of them.
    new = (X[:N_NEW] + X[-N_NEW:]) / 2
    embedding = LANNEmbedding(FrozenEstimator(fitted), **parameters).fit(X)
    times = time_in_turns(lambda: embedding.transform(new), lambda: plain.transform(new), repeats=n_turns)
    return {**found, TRANSFORM: summarize(times)}


def summarize(times: PairedTimes) -> Values:
    """Return medians over the turns: seconds, and how many times as long as UMAP."""
    return {
        "seconds": statistics.median(times.ours),
        "umap_seconds": statistics.median(times.other),
        "ratio": statistics.median(times.ratios),
        "ratio_std": times.ratio_std,
        "n_turns": len(times.ratios),
    }


def _load(data_set: str, sizes: Sizes) -> tuple[Floats, Labels]:
    if data_set == SEGMENTATION_SET:
        data = load_set(data_set)
        X, y = data.X, data.y
    else:
        n_rows = sizes.large_rows if data_set == generated_name(sizes.large_rows, sizes) else sizes.timed_rows
        X, y = make_classification(
            n_rows, sizes.timed_features, n_informative=sizes.timed_features // 2, n_classes=5,
            n_clusters_per_class=2, random_state=0,
        )  # fmt: skip
    return StandardScaler().fit_transform(X), y


def compile_umap() -> None:
    """Let UMAP compile itself, so that no timing includes it; raise ImportError without umap-learn."""
    NeighborEmbedding(max_iter=11, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 3)))
