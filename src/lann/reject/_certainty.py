"""How certain predictions are, and how novel rows are, from what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._types import Floats
from lann.reject._reading import Reading

CERTAINTIES = ("probability", "margin", "novelty", "combined")
# Weight of the separation in the combined certainty: it orders rows of equal probability, and hardly others.
SEPARATION_WEIGHT = 0.01
# The quantile of held-out rows by which parts of the novelty are brought to the same scale.
USUAL, LARGE = 0.5, 0.95
# The least difference between these two quantiles, of distances and of the distance to the range.
LEAST_SPREAD, LEAST_RANGE_SPREAD = 0.05, float(np.log(2.0))
# The largest logarithm of a novelty, and of one of its parts.
MOST_NOVEL, LARGEST_PART = 100.0, 1e6


@dataclass(frozen=True)
class NoveltyScale:
    """What the parts of the novelty are for held-out rows.

    Attributes
    ----------
    usual : (n_parts,)
        Medians of held-out rows; 0 for the range.
    spread : (n_parts,)
        By how much larger the 95 % quantiles are.
    """

    usual: Floats
    spread: Floats

    @classmethod
    def fit(cls, parts: Floats) -> NoveltyScale:
        """Return the scale of the parts of held-out rows.

        Parameters
        ----------
        parts : ndarray of shape (n_rows, n_parts)
            The last one is the range.

        Returns
        -------
        scale : NoveltyScale
        """
        usual, large = np.quantile(_finite(parts), [USUAL, LARGE], axis=0)
        usual[-1] = 0.0
        least = np.full(parts.shape[1], LEAST_SPREAD)
        least[-1] = LEAST_RANGE_SPREAD
        return cls(usual, np.maximum(large - usual, least))

    def novelties(self, parts: Floats) -> Floats:
        """Return how many times as far from its nearest rows each row is as held-out rows usually are.

        It is the largest of all parts, each on the scale of the first one.

        Parameters
        ----------
        parts : ndarray of shape (n_rows, n_parts)

        Returns
        -------
        novelties : ndarray of shape (n_rows,)
        """
        largest = ((_finite(parts) - self.usual) / self.spread).max(axis=1) * self.spread[0]
        return np.exp(np.minimum(largest, MOST_NOVEL))


def _finite(parts: Floats) -> Floats:
    """Return logarithms with those of distances that overflow as large numbers."""
    return np.where(np.isnan(parts), np.inf, parts).clip(-LARGEST_PART, LARGEST_PART)


def novelty_threshold(novelties: Floats, share: float) -> float:
    """Return the threshold above which at most this share of rows like the held-out ones is expected.

    Parameters
    ----------
    novelties : (n_rows,)
        Of held-out rows.
    share : float
        0 is none.

    Returns
    -------
    threshold : float
        With few rows, the largest novelty.
    """
    if share == 0:
        return np.inf
    n_rows = len(novelties)
    position = int(np.ceil((n_rows + 1) * (1.0 - share)))
    return float(np.sort(novelties)[min(position, n_rows) - 1])


def compute_certainties(reading: Reading, novelties: Floats, kind: str) -> Floats:
    """Return how certain each prediction is: (n_queries,).

    Parameters
    ----------
    reading : Reading
    novelties : (n_queries,)
        NaN where they are not needed.
    kind : {"probability", "margin", "novelty", "combined"}
    """
    if kind == "novelty":
        return -novelties
    ordered = np.sort(reading.probabilities, axis=1)
    if kind == "margin":
        return ordered[:, -1] - ordered[:, -2]
    if kind == "probability" or reading.separation is None:
        return ordered[:, -1]
    # Rounded, so that the separation decides between probabilities that are equal but for their last bits.
    probability = np.round(ordered[:, -1], 9)
    w = SEPARATION_WEIGHT
    return (1.0 - w) * probability + w * (1.0 + reading.separation) / 2.0
