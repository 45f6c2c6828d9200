"""From the values of neighbors to a prediction and its distribution.

The prediction is Σ_j s_j (v_j + g·o_j): the mean of the neighbors' values v_j by their shares s_j of the
vote, after each has been adjusted by a share g of its offset o_j, which is what local slopes add on the way
from the neighbor to the query. The *spread* is the standard deviation of the adjusted values. The errors of
held-out rows, divided by a power of their spread, have a distribution that is taken for that of all rows. It
is estimated in windows of the spread: errors of rows with a small spread can be distributed in another way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lann._support.types import Floats

# Levels at which the distribution is known.
QUANTILE_LEVELS = np.arange(1, 200) / 200
# Powers of the spread that are compared, and what is added to it, as a share of the typical error.
EXPONENTS, FLOOR_SHARE = (0.0, 0.25, 0.5, 0.75, 1.0), 0.1
# Windows of the spread, and the share of the held-out rows in each, with so many rows at least.
N_WINDOWS, WINDOW_SHARE, FEWEST_IN_WINDOW = 5, 0.3, 100


def ends_of(coverage: float) -> Floats:
    """Return the levels of the ends of an interval: (2,)."""
    return np.array([0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage])


class ValueReading(NamedTuple):
    """What the neighbors of queries predict.

    Attributes
    ----------
    shares : (n_queries, k)
        Share of the vote of each neighbor.
    adjusted : (n_queries, k)
        Their values, adjusted to the query.
    predictions, spreads : (n_queries,)
        Mean and standard deviation of the adjusted values, by the shares.
    """

    shares: Floats
    adjusted: Floats
    predictions: Floats
    spreads: Floats


def read_values(values: Floats, offsets: Floats, shares: Floats, slope_share: float) -> ValueReading:
    """Return the mean and the spread of the values of neighbors, adjusted by a share of their offsets.

    The prediction stays within the range of the neighbors' values: local slopes hold nearby only.

    Parameters
    ----------
    values, offsets, shares : (n_queries, k)
    slope_share : float
    """
    means = (shares * values).sum(axis=1)
    changes = slope_share * (shares * offsets).sum(axis=1)
    wanted = np.clip(means + changes, values.min(axis=1, initial=np.inf), values.max(axis=1, initial=-np.inf))
    parts = np.divide(wanted - means, changes, out=np.zeros_like(means), where=changes != 0.0)
    adjusted = values + (slope_share * parts)[:, None] * offsets
    predictions = (shares * adjusted).sum(axis=1)
    spreads = np.sqrt((shares * np.square(adjusted - predictions[:, None])).sum(axis=1))
    return ValueReading(shares, adjusted, predictions, spreads)


@dataclass(frozen=True, eq=False)
class ValueRule:
    """How the values of neighbors become a prediction and its distribution.

    Attributes
    ----------
    slope_share : float
        g, the share of the offsets that is used; 0 is the plain mean.
    floor, exponent : float
        Errors are divided by (spread + floor)^exponent.
    spreads : (n_windows,)
        Spread + floor in the middle of each window, ascending.
    residuals : (n_windows, n_levels)
        Quantiles of the divided errors in each window, at `QUANTILE_LEVELS`.
    deviations : (n_windows,)
        Their root mean square.
    """

    slope_share: float
    floor: float
    exponent: float
    spreads: Floats
    residuals: Floats
    deviations: Floats

    @classmethod
    def of_normal(cls, deviation: float = 1.0, slope_share: float = 0.0) -> ValueRule:
        """Return a rule with normal errors, where there are too few rows to learn from."""
        from scipy.stats import norm

        residuals = deviation * norm.ppf(QUANTILE_LEVELS)[None]
        return cls(slope_share, 1.0, 0.0, np.ones(1), residuals, np.array([deviation]))

    @classmethod
    def of(cls, errors: Floats, spreads: Floats, weights: Floats, slope_share: float) -> ValueRule:
        """Return the rule whose distribution is that of the errors of held-out rows.

        The power of the spread is that with the lowest CRPS.

        Parameters
        ----------
        errors, spreads, weights : (n_rows,)
            Value minus prediction, spread, and weight of each row.
        slope_share : float
        """
        typical = float(np.sqrt(weights @ np.square(errors) / weights.sum()))
        floor = FLOOR_SHARE * typical or 1.0
        widths = spreads + floor

        def crps(exponent: float) -> float:
            scales, levels = widths**exponent, QUANTILE_LEVELS[9::10]
            above = errors[:, None] - scales[:, None] * _quantiles(errors / scales, weights, levels)
            return float(weights @ np.maximum(levels * above, (levels - 1.0) * above).sum(axis=1))

        exponent = min(EXPONENTS, key=crps)
        residuals, windows = errors / widths**exponent, []
        for rows in _windows(widths, weights):
            own, counts = residuals[rows], weights[rows]
            deviation = np.sqrt(counts @ np.square(own) / counts.sum())
            windows.append((np.median(widths[rows]), _quantiles(own, counts, QUANTILE_LEVELS), deviation))
        centers, tables, deviations = (np.array(parts) for parts in zip(*windows, strict=True))
        centers, first = np.unique(centers, return_index=True)
        return cls(slope_share, floor, exponent, centers, tables[first], deviations[first])

    def in_units(self, scale: float) -> ValueRule:
        """Return the rule for values that are `scale` times as large."""
        factor = scale ** (1.0 - self.exponent)
        return replace(
            self,
            floor=scale * self.floor,
            spreads=scale * self.spreads,
            residuals=factor * self.residuals,
            deviations=factor * self.deviations,
        )

    def quantiles(self, predictions: Floats, spreads: Floats, levels: Floats) -> Floats:
        """Return the quantiles of the values of queries: (n_queries, n_levels)."""
        table = np.array([np.interp(levels, QUANTILE_LEVELS, residuals) for residuals in self.residuals])
        return predictions[:, None] + self._at(spreads, table)

    def standard_deviations(self, spreads: Floats) -> Floats:
        """Return the standard deviation of the values of queries: (n_queries,)."""
        return self._at(spreads, self.deviations[:, None])[:, 0]

    def _at(self, spreads: Floats, table: Floats) -> Floats:
        """Return a table by window, (n_windows, n_columns), at the spreads of queries, and times these."""
        widths = spreads + self.floor
        position = np.interp(np.log(widths), np.log(self.spreads), np.arange(len(table), dtype=np.float64))
        low = np.minimum(position.astype(np.int64), len(table) - 1)
        part = (position - low)[:, None]
        mixed = (1.0 - part) * table[low] + part * table[np.minimum(low + 1, len(table) - 1)]
        return (widths**self.exponent)[:, None] * mixed


def _quantiles(values: Floats, weights: Floats, levels: Floats) -> Floats:
    """Return quantiles of values of a sample, of which a further one is as likely between any two."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return np.interp(levels, total / (total[-1] + weights.mean()), values[order])


def _windows(widths: Floats, weights: Floats) -> list[Floats]:
    """Return the rows of each window of the spread."""
    order = np.argsort(widths, kind="stable")
    middles = (np.cumsum(weights[order]) - 0.5 * weights[order]) / weights.sum()
    size = min(max(WINDOW_SHARE, FEWEST_IN_WINDOW / len(widths)), 1.0)
    starts = np.clip((np.arange(N_WINDOWS) + 0.5) / N_WINDOWS - 0.5 * size, 0.0, 1.0 - size)
    return [order[(start <= middles) & (middles <= start + size)] for start in starts]
