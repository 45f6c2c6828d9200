"""The fitted model of training rows that each own a metric and a value."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from lann._support.inputs import weighted_means, weighted_moments
from lann._support.threads import map_blocks, single_threaded_blas
from lann._support.types import Floats, Indices
from lann.metric import Levels
from lann.model._local_model import LocalModel
from lann.model._row_memory import RowMemory
from lann.vote import ValueReading, ValueRule, VoteRule, read_values

# Number of neighbors from which slopes are estimated, and the power by which they count.
SLOPE_NEIGHBORS, SLOPE_POWER = 100, 0.5
# What is added to the variances of the axes for that, as a share of their mean.
RIDGE = 0.1
# Numbers of neighbors that are held at once: 32 MB.
HELD = 2**22


class ValueModel(LocalModel):
    """Training rows that each own a metric, and predict a value.

    The classes of the metric are groups of rows with similar values.

    Parameters
    ----------
    levels : Levels or RowMemory
    value_rule : ValueRule
        How the values of neighbors become a prediction.
    **options
        Those of `LocalModel`.
    """

    def __init__(self, levels: Levels | RowMemory, *, value_rule: ValueRule, **options: Any) -> None:
        super().__init__(levels, **options)
        self.value_rule = value_rule

    def subset(self, rows: Indices, *, n_jobs: int | None = None) -> ValueModel:
        return ValueModel(
            self.memory.levels_of(rows),
            value_rule=self.value_rule,
            n_candidates=self.n_candidates,
            n_neighbors=self.n_neighbors,
            **vars(self.vote_rule),
            n_jobs=n_jobs,
        )

    @cached_property
    def values(self) -> Floats:
        """What the rows predict: (n_rows,)."""
        return self.memory.values("values")

    @cached_property
    def output_scale(self) -> float:
        """The standard deviation of the values."""
        return float(np.sqrt(weighted_moments(self.values[:, None], self.row_weights)[1][0]))

    @property
    def n_outputs(self) -> int:
        return 1

    def outputs(
        self, queries: Floats, indices: Indices, distances: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        return self.read(queries, indices, distances, n_jobs=n_jobs).predictions[:, None]

    def read(
        self, queries: Floats, indices: Indices, distances: Floats, *, n_jobs: int | None = None
    ) -> ValueReading:
        """Return what rows at given squared distances predict for each query: (n_queries, k) each."""
        slope_share = self.value_rule.slope_share
        offsets = np.zeros(indices.shape)
        if slope_share > 0.0:
            offsets = self.offsets(queries, indices, distances, n_jobs=n_jobs)
        shares = self.vote(indices, distances).shares
        return read_values(self.values[indices], offsets, shares, slope_share)

    def offsets(
        self, queries: Floats, indices: Indices, distances: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Return what local slopes add to the value of each neighbor on the way to the query.

        Slopes are those of a ridge regression on the axes, as the mean metric scales them, over the given
        neighbors: (n_queries, k).
        """
        return self._by_gaps(ValueModel._offsets, queries, indices, distances, n_jobs=n_jobs)

    def _offsets(self, queries: Floats, indices: Indices, distances: Floats, n_jobs: int | None) -> Floats:
        points, scales, found = self.transform(queries), self._axis_scales, np.empty(indices.shape)
        counts = self.weights_of(indices)
        weights = VoteRule(SLOPE_POWER, self.vote_rule.epsilon).shares(
            distances, indices, counts, self.n_neighbors
        )

        def compute(part: slice) -> None:
            steps = scales * (points[part, None] - self.metric.points[indices[part]])
            found[part] = slope_offsets(steps, self.values[indices[part]], weights[part])

        with single_threaded_blas():  # the same bits for any number of threads
            block = max(HELD // max(indices.shape[1] * points.shape[1], 1), 1)
            map_blocks(compute, len(points), min(block, 256), n_jobs=n_jobs)
        return found

    @cached_property
    def _axis_scales(self) -> Floats:
        """The roots of the geometric mean of the weights of all rows: (n_axes,)."""
        levels = self.levels
        log_weights = weighted_means(levels.point_log_weights, levels.row_weights)
        log_weights += weighted_means(levels.class_log_weights[levels.labels], levels.row_weights)
        return np.exp(0.5 * log_weights)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"value_rule": self.value_rule}


def slope_offsets(steps: Floats, values: Floats, weights: Floats) -> Floats:
    """Return b·(x − x_j) for the slopes b of the values of neighbors: (n_queries, k).

    Parameters
    ----------
    steps : (n_queries, k, n_axes)
        x − x_j, from each neighbor to the query.
    values, weights : (n_queries, k)
        The weights add up to 1.
    """
    roots, (k, n_axes) = np.sqrt(weights), steps.shape[1:]
    rest = roots * (values - (weights * values).sum(axis=1, keepdims=True))
    centered = roots[:, :, None] * (np.einsum("qk,qka->qa", weights, steps)[:, None] - steps)
    across = centered.swapaxes(1, 2)
    # The smaller of both systems of equations, whose solutions are the same.
    products = across @ centered if n_axes <= k else centered @ across
    size = products.shape[1]
    ridge = RIDGE * np.einsum("qaa->q", products) / n_axes
    products[:, np.arange(size), np.arange(size)] += np.where(ridge > 0.0, ridge, 1.0)[:, None]
    if n_axes <= k:
        slopes = np.linalg.solve(products, across @ rest[:, :, None])
    else:
        slopes = across @ np.linalg.solve(products, rest[:, :, None])
    return (steps @ slopes)[:, :, 0]
