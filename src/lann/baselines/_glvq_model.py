"""Prototypes that measure with learned metrics: how far is a query, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices, Labels
from lann.baselines._glvq_metrics import Form
from lann.baselines._maps import parts_by_group
from lann.metrics.diagonal import overflow_is_far

# Numbers in the mapped queries of one block: 1 MB.
MAPPED = 2**17


@dataclass(frozen=True, eq=False)
class Prototypes:
    """What a fit has learned.

    Parameters
    ----------
    places : (n_prototypes, n_features)
    labels : (n_prototypes,) places among the classes, ascending
    owners : (n_prototypes,) each one's metric
    maps : (n_metrics, …) of trace 1
    form : the maps' form
    """

    places: Floats
    labels: Labels
    owners: Indices
    maps: Floats
    form: Form

    def distances(self, queries: Floats, *, n_jobs: int | None = None) -> Floats:
        """(n_queries, n_prototypes) squared; what is too large to be measured is infinitely far."""
        block = max(MAPPED // queries.shape[1], 64)
        parts = map_blocks(lambda part: self._measure(queries[part]), len(queries), block, n_jobs=n_jobs)
        return np.concatenate(parts)

    @overflow_is_far
    def _measure(self, queries: Floats) -> Floats:
        found = np.empty((len(queries), len(self.places)))
        for metric, own in enumerate(self.maps):
            turned = self.form.turn(queries, own)
            for place in np.flatnonzero(self.owners == metric):
                steps = turned - self.form.turn(self.places[place], own)
                found[:, place] = np.einsum("ir,ir->i", steps, steps)
        return np.where(np.isnan(found), np.inf, found)

    def nearest_of_classes(self, distances: Floats) -> tuple[Indices, Floats]:
        """Of every class the nearest prototype, and its distance: (n_queries, n_classes) each."""
        firsts = np.flatnonzero(np.diff(self.labels, prepend=-1))
        lasts = [*firsts[1:], len(self.labels)]
        nearest = np.stack(
            [a + distances[:, a:b].argmin(axis=1) for a, b in zip(firsts, lasts, strict=True)], axis=1
        )
        return nearest, np.take_along_axis(distances, nearest, axis=1)

    @overflow_is_far
    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        """What each feature adds to the distances of some prototypes: (n_queries, k, n_features)."""
        steps = queries[:, None, :] - self.places[indices]
        return parts_by_group(steps, self.owners[indices], self.maps, self.form.parts)

    def relevances(self) -> Floats:
        """The diagonal of each prototype's metric: (n_prototypes, n_features)."""
        return self.form.relevances(self.maps)[self.owners]


def inverse_shares(distances: Floats) -> Floats:
    """1 / d as shares of 1; who is at distance zero has all.

    distances : (n_queries, k), not all infinite for a query, or all alike
    """
    least = distances.min(axis=1, keepdims=True)
    # Relative to the nearest: neither tiny nor huge distances leave the range of a float.
    support = np.ones(distances.shape)
    np.divide(least, distances, out=support, where=distances > least)
    return support / support.sum(axis=1, keepdims=True)
