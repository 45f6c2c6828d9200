"""What a run of the noisy sets measures."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.common.methods import Method

PART = "splits"
OURS, KNN = "lann", "knn-cv"
COMPARED = (KNN, "forest", "boosting", "catboost", "lightgbm", "ebm", OURS)


@dataclass(frozen=True)
class Plan:
    """
    What a run measures.

    Parameters
    ----------
    seed, n_splits
        How data sets are split.
    methods
        In the order of the tables.
    data_sets
        Those that could be loaded.
    """

    seed: int
    n_splits: int
    methods: list[Method]
    data_sets: list[str]

    @property
    def method_names(self) -> list[str]:
        return [method.name for method in self.methods]
