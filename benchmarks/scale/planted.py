"""Planted rows in any number: blocks of rows, each with a seed of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.arrays import Labels

BLOCK = 50_000
N_CLASSES = 3
LABEL_NOISE = 0.05
CEILING = 1 - LABEL_NOISE
"""The accuracy of the rule by which labels are planted: the best possible one."""

N_GATES, PARTS_OF_GATE = 2, 3
N_REGIONS = PARTS_OF_GATE**N_GATES
N_INFORMATIVE, N_RELEVANT = 6, 3
N_REDUNDANT = 4
N_FOR_THRESHOLDS = 20_000
TEST = 1
"""First number of the seed of test blocks; training blocks have 0."""

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Planted:
    """
    A planted task. Two features, the gates, divide the rows into nine regions.

    In each region, the label depends on three of six informative features: by their weighted sum, by the
    product of two of them plus the third, or by their distance from the origin, cut at the terciles. Four
    features are noisy mixtures of informative ones, all others are noise. All have the variance 1; their
    order is random.

    Parameters
    ----------
    n_features
        At least 12.
    seed
        Seed of the rule and of all rows.
    """

    n_features: int
    seed: int = 0

    @cached_property
    def _rule(self) -> _Rule:
        return _Rule(self.n_features, np.random.default_rng([self.seed, self.n_features]))

    def training_rows(self, n_rows: int) -> tuple[Rows, Labels]:
        """Return the first rows of the task, float32; fewer rows are the first ones of more."""
        return self._rows(n_rows, 0)

    def test_rows(self, n_rows: int) -> tuple[Rows, Labels]:
        """Return rows that are no training rows."""
        return self._rows(n_rows, TEST)

    def block(self, number: int, kind: int = 0) -> tuple[Rows, Labels]:
        """Return one block of rows."""
        rng = np.random.default_rng([self.seed, self.n_features, kind, number])
        return self._rule.sample(BLOCK, rng)

    def _rows(self, n_rows: int, kind: int) -> tuple[Rows, Labels]:
        X, y = np.empty((n_rows, self.n_features), np.float32), np.empty(n_rows, np.int64)
        for number, part in enumerate(block_slices(n_rows)):
            rows, labels = self.block(number, kind)
            X[part], y[part] = rows[: part.stop - part.start], labels[: part.stop - part.start]
        return X, y


def block_slices(n_rows: int) -> Iterator[slice]:
    """Yield the rows of each block."""
    for start in range(0, n_rows, BLOCK):
        yield slice(start, min(start + BLOCK, n_rows))


class _Rule:
    """Which features decide in each region, and how."""

    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        self.order = rng.permutation(n_features)
        self.n_noise = n_features - N_GATES - N_INFORMATIVE - N_REDUNDANT
        self.mixtures = rng.normal(size=(N_INFORMATIVE, N_REDUNDANT))
        self.mixtures /= np.linalg.norm(self.mixtures, axis=0) * np.sqrt(1.25)
        self.relevant = np.stack(
            [rng.permutation(N_INFORMATIVE)[:N_RELEVANT] for _ in range(N_REGIONS)]
        )  # (n_regions, n_relevant)
        self.weights = rng.choice([-1.0, 1.0], (N_REGIONS, N_RELEVANT)) * rng.uniform(
            0.5, 1.0, (N_REGIONS, N_RELEVANT)
        )
        scores = [
            self._score(r, rng.normal(size=(N_FOR_THRESHOLDS, N_INFORMATIVE))) for r in range(N_REGIONS)
        ]
        self.thresholds = np.quantile(scores, [1 / 3, 2 / 3], axis=1).T  # (n_regions, 2)

    def _score(self, region: int, informative: NDArray[np.float64]) -> NDArray[np.float64]:
        z = informative[:, self.relevant[region]]
        if region % 3 == 0:
            return z @ self.weights[region]
        if region % 3 == 1:
            return z[:, 0] * z[:, 1] + self.weights[region, 2] * z[:, 2]
        return (z**2).sum(axis=1)

    def sample(self, n_rows: int, rng: np.random.Generator) -> tuple[Rows, Labels]:
        gates = rng.uniform(-np.sqrt(3), np.sqrt(3), (n_rows, N_GATES))
        informative = rng.normal(size=(n_rows, N_INFORMATIVE))
        redundant = informative @ self.mixtures + np.sqrt(0.2) * rng.normal(size=(n_rows, N_REDUNDANT))
        X = np.empty((n_rows, len(self.order)), np.float32)
        n_known = N_GATES + N_INFORMATIVE + N_REDUNDANT
        X[:, self.order[:n_known]] = np.concatenate([gates, informative, redundant], axis=1)
        X[:, self.order[n_known:]] = rng.standard_normal((n_rows, self.n_noise), np.float32)
        parts = np.minimum((gates + np.sqrt(3)) / (2 * np.sqrt(3)) * PARTS_OF_GATE, PARTS_OF_GATE - 1)
        region = parts.astype(np.int64) @ PARTS_OF_GATE ** np.arange(N_GATES)
        y = np.empty(n_rows, np.int64)
        for r in range(N_REGIONS):
            inside = region == r
            y[inside] = np.searchsorted(self.thresholds[r], self._score(r, informative[inside]))
        noisy = rng.random(n_rows) < LABEL_NOISE
        y[noisy] = (y[noisy] + rng.integers(1, N_CLASSES, noisy.sum())) % N_CLASSES
        return X, y
