"""Landmarks: training rows at which relevances are known.

The readings at a single row are noisy, as few neighbors vote. Those of a query are therefore the mean over
the landmarks near it, as these measure, which costs a search among a few hundred rows and no further vote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._inputs import mean_by_class
from lann._sampling import positions_in, stratified_rows
from lann._threads import map_blocks
from lann._types import Floats, Indices, Labels
from lann.explain._contrast_rows import (
    N_CONTRASTS,
    nearest_contrasts,
    nearest_representatives,
    representative_rows,
)
from lann.explain._correlation import Groups, correlated_features
from lann.explain._reading_kernels import vote_on_changes
from lann.explain._readings import Readings, read_alone
from lann.explain._row_sample import RowSample
from lann.explain._walks import MOST_ALONE, WalkVote, walk_supports
from lann.model import N_TYPICAL, NeighborModel, NeighborSearch, Slopes
from lann.vote import VoteRule

# The names under which they are kept in a model: all of them, or some that have been read.
LANDMARKS, SOME_LANDMARKS = "landmarks", "some_landmarks"
MOST_LANDMARKS = 500
# With more training rows than this, landmarks are those of a sample of so many rows.
MOST_ROWS, N_SAMPLED = 50_000, 20_000
# Up to this many queries at once, the landmarks of such a model are read where they are near.
FEW_QUERIES = 16
# Training rows among which the neighbors of changed rows are searched.
MOST_VOTERS = 1000
# Multiplications of all readings of one kind, of which matrix products do SPEEDUP times as many: a second.
WORK, SPEEDUP = 8e8, 8
# Number of neighbors that vote at a landmark: more than for a prediction, so that none decides alone.
N_NEIGHBORS = 20
# Contrast rows of a landmark to which walks lead.
FEWEST_WALKS, MOST_WALKS = 2, 4
# Number of landmarks over which the readings of a query are averaged.
N_NEAR = 10
# Number of values that represent the categories of a feature, if there is time; otherwise as many as of a
# number.
MOST_CATEGORIES = 24
# Features among which correlated ones are searched: all pairs of them are compared.
MOST_CORRELATED = 1000


@dataclass
class Landmarks(RowSample):
    """Training rows with readings.

    Attributes
    ----------
    rows : ndarray of shape (n_landmarks,)
        Positions of the training rows, ascending.
    readings : Readings
    contrast_rows : ndarray of shape (n_landmarks, n_contrasts)
        The nearest typical rows of other classes; -1 where there are fewer.
    representatives : ndarray of shape (n_classes, n_representatives)
        Training rows that represent each class; -1 where there are fewer.
    correlated : tuple of tuple of int
        Groups of features that are correlated in the training data; of more than 1000 features, among the
        1000 with the largest weights.
    """

    rows: Indices
    readings: Readings
    contrast_rows: Indices
    representatives: Indices
    correlated: Groups

    def near(self, model: NeighborModel, queries: Floats, *, n_jobs: int | None = None) -> Indices:
        """Return the landmarks nearest to each query.

        Parameters
        ----------
        model : NeighborModel
        queries : ndarray of shape (n_queries, n_features)
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        near : ndarray of shape (n_queries, n_near)
            Positions in `rows`.
        """
        n_near = min(len(self.rows), max(3, min(N_NEAR, len(self.rows) // 50)))
        return self.nearest(model, queries, n_near, n_jobs=n_jobs)

    def pool(self, near: Indices) -> Indices:
        """Return landmarks near queries and their contrast rows: (n_queries, n_pool), -1 for none.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions in `rows`.

        Returns
        -------
        pool : ndarray of shape (n_queries, n_pool)
            Positions of training rows.
        """
        return np.concatenate([self.rows[near], self.contrast_rows[near].reshape(len(near), -1)], axis=1)

    def of_sample(self, rows: Indices) -> Landmarks:
        """Return the landmarks of a model from those of a sample of its rows.

        Parameters
        ----------
        rows : ndarray of shape (n_sampled,)
            The rows of the sample, ascending.

        Returns
        -------
        landmarks : Landmarks
        """
        ends, others = (
            np.where(found < 0, -1, rows[found]) for found in (self.contrast_rows, self.representatives)
        )
        return Landmarks(rows[self.rows], self.readings, ends, others, self.correlated)

    def class_relevances(self, labels: Labels, n_classes: int) -> Floats:
        """Return the mean relevances of the landmarks of each class.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            Class indices of all training rows.
        n_classes : int

        Returns
        -------
        relevances : ndarray of shape (n_classes, n_features)
        """
        return mean_by_class(self.readings.relevances, labels[self.rows], n_classes)


def landmarks_of(model: NeighborModel, *, n_jobs: int | None = None) -> Landmarks:
    """Return the landmarks of a model; they are computed on first use, and kept and saved with it."""
    landmarks: Landmarks | None = model.derived.get(LANDMARKS)
    if landmarks is None:
        landmarks = model.derived[LANDMARKS] = compute_landmarks(model, n_jobs=n_jobs)
    return landmarks


def landmarks_near(
    model: NeighborModel, queries: Floats, *, n_jobs: int | None = None
) -> tuple[Landmarks, Indices]:
    """Return landmarks and which of them are near each query: see `Landmarks.near`.

    For few queries of a model with many rows, only the near landmarks are read; those that have been read are
    kept. The readings are the same as those of `landmarks_of`.
    """
    few = model.n_rows > MOST_ROWS and len(queries) <= FEW_QUERIES
    if LANDMARKS in model.derived or not few:
        landmarks = landmarks_of(model, n_jobs=n_jobs)
        return landmarks, landmarks.near(model, queries, n_jobs=n_jobs)
    some: SomeLandmarks | None = model.derived.get(SOME_LANDMARKS)
    if some is None:
        some = model.derived[SOME_LANDMARKS] = SomeLandmarks.without_readings(model, n_jobs=n_jobs)
    near = some.landmarks.near(model, queries, n_jobs=n_jobs)
    some.read(model, np.unique(near), n_jobs=n_jobs)
    if some.known.all():
        model.derived[LANDMARKS] = some.landmarks
        model.derived.pop(SOME_LANDMARKS, None)
    return some.landmarks, near


def compute_landmarks(model: NeighborModel, *, n_jobs: int | None = None) -> Landmarks:
    """Compute the readings of up to 500 training rows; fewer where the work would take too long.

    Of a model with many rows, a sample of the rows is read, of every class in proportion to its size.
    """
    sampled = sampled_rows(model)
    if sampled is not None:
        sample = model.subset(sampled, n_jobs=n_jobs)
        if sample is not None:
            return compute_landmarks(sample, n_jobs=n_jobs).of_sample(sampled)
    reader = LandmarkReader(model, n_jobs=n_jobs)
    readings, ends = reader.read(np.arange(len(reader.rows)), n_jobs=n_jobs)
    return Landmarks(reader.rows, readings, ends, reader.representatives, reader.correlated)


def sampled_rows(model: NeighborModel) -> Indices | None:
    """Return the rows among which the landmarks of a model with many rows are read; None is all."""
    return stratified_rows(model.labels, N_SAMPLED) if model.n_rows > MOST_ROWS else None


@dataclass
class SomeLandmarks:
    """Landmarks of a model with many rows, of which some have been read.

    Attributes
    ----------
    landmarks : Landmarks
        The readings and contrast rows of the others are NaN and -1.
    known : ndarray of shape (n_landmarks,)
        Which have been read.
    """

    landmarks: Landmarks
    known: NDArray[np.bool_]

    @classmethod
    def without_readings(cls, model: NeighborModel, *, n_jobs: int | None = None) -> SomeLandmarks:
        """Return the landmarks of a model, of which none has been read."""
        sampled, reader = _reader_of_sample(model, n_jobs)
        n, n_features = len(reader.rows), model.X.shape[1]
        readings = Readings(
            np.full((n, model.n_classes), np.nan),
            np.full((n, n_features), np.nan),
            np.full((n, n_features), np.nan),
        )
        ends = np.full((n, N_CONTRASTS), -1)
        landmarks = Landmarks(reader.rows, readings, ends, reader.representatives, reader.correlated)
        some = cls(landmarks.of_sample(sampled), np.zeros(n, bool))
        some.__dict__["_reader"] = sampled, reader
        return some

    def read(self, model: NeighborModel, positions: Indices, *, n_jobs: int | None = None) -> None:
        """Read some of the landmarks, unless they have been read.

        Parameters
        ----------
        model : NeighborModel
        positions : ndarray of shape (n,)
        n_jobs : int or None, default=None
            Number of threads.
        """
        new = positions[~self.known[positions]]
        if len(new) == 0:
            return
        if "_reader" not in self.__dict__:
            self.__dict__["_reader"] = _reader_of_sample(model, n_jobs)
        sampled, reader = self.__dict__["_reader"]
        readings, ends = reader.read(new, n_jobs=n_jobs)
        for name in ("votes", "alone", "contrast"):
            getattr(self.landmarks.readings, name)[new] = getattr(readings, name)
        self.landmarks.contrast_rows[new] = np.where(ends < 0, -1, sampled[ends])
        self.known[new] = True

    # The reader, with its sample of the rows, is neither copied nor saved.
    def __getstate__(self) -> dict[str, Any]:
        return {"landmarks": self.landmarks, "known": self.known}


def _reader_of_sample(model: NeighborModel, n_jobs: int | None) -> tuple[Indices, LandmarkReader]:
    """Return the rows that are sampled, and a reader of the model of these; of all where there is none."""
    sampled = sampled_rows(model)
    sample = None if sampled is None else model.subset(sampled, n_jobs=n_jobs)
    if sampled is None or sample is None:
        return np.arange(model.n_rows), LandmarkReader(model, n_jobs=n_jobs)
    return sampled, LandmarkReader(sample, n_jobs=n_jobs)


class LandmarkReader:
    """Reads landmarks, each for itself.

    Parameters
    ----------
    model : NeighborModel
    n_jobs : int or None, default=None
        Number of threads.

    Attributes
    ----------
    rows : ndarray of shape (n_landmarks,)
        Training rows that are landmarks, ascending.
    representatives, correlated
        As for `Landmarks`.
    """

    def __init__(self, model: NeighborModel, *, n_jobs: int | None = None) -> None:
        n_rows = model.n_rows
        self._model, self._work = model, _Work(model)
        self._voters = stratified_rows(model.labels, min(n_rows, self._work.n_voters))
        self.rows = stratified_rows(model.labels, min(n_rows, self._work.n_landmarks))
        self.representatives = representative_rows(model, self.rows, n_jobs=n_jobs)
        self.correlated = _correlated(model, self._work.categories)

    def read(self, positions: Indices, *, n_jobs: int | None = None) -> tuple[Readings, Indices]:
        """Read some of the landmarks.

        Parameters
        ----------
        positions : ndarray of shape (n,)
            Positions in `rows`.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        readings : Readings
        contrast_rows : ndarray of shape (n, n_contrasts)
        """
        model, work, rows = self._model, self._work, self.rows[positions]
        votes, alone = self._read_alone(rows, n_jobs)
        queries, labels = model.X[rows], model.labels[rows]
        ends = nearest_contrasts(model, queries, labels, exclude=rows, n_jobs=n_jobs)
        others = nearest_representatives(model, queries, labels, self.representatives)
        both = np.stack([ends[:, : others.shape[1]], others], axis=2).reshape(len(rows), -1)  # in turns
        k = min(N_NEIGHBORS, model.n_rows - 1)
        vote = WalkVote(_even_rule(model), model.mean_weight * k, wider=1)
        walks = walk_supports(
            model, queries, both[:, : work.n_contrasts], exclude=rows, vote=vote, n_jobs=n_jobs
        )
        return Readings(votes, alone, walks.changes), ends

    @cached_property
    def _search(self) -> NeighborSearch:
        return self._model.search_among(self._voters)

    @cached_property
    def _slopes(self) -> Slopes:
        return self._model.slopes_among(self._voters)

    def _read_alone(self, rows: Indices, n_jobs: int | None) -> tuple[Floats, Floats]:
        """Return the votes at some rows, and how much of them changes with each feature alone."""
        model, work, voters = self._model, self._work, self._voters
        k = min(N_NEIGHBORS, len(voters) - 1)
        if k < 1:  # no other row votes
            return np.full((len(rows), model.n_classes), 1.0 / model.n_classes), np.zeros(model.X[rows].shape)
        search, rule = self._search, _even_rule(model)
        own = positions_in(voters, rows)

        def votes(changed: Floats, origins: Indices) -> Floats:
            # A landmark does not vote on itself: it would decide alone.
            indices, distances = search.kneighbors(changed, k, exclude=own[origins], n_jobs=n_jobs)
            return model.count_votes(voters[indices], distances, model.mean_weight * k, rule).probabilities

        before = votes(model.X[rows], np.arange(len(rows)))
        alone = np.zeros((len(rows), model.X.shape[1]))
        if len(work.slow):
            alone = read_alone(votes, model.X[rows], model.typical_values, work.slow, work.categories)
        if len(work.fast) == 0:
            return before, alone
        labels = model.labels[voters]
        row_weights = np.ones(len(voters)) if model.row_weights is None else model.row_weights[voters]
        class_weight = np.ones(model.n_classes) if rule.class_weight is None else rule.class_weight
        measured = self._slopes

        def read(part: slice) -> None:
            for i in range(part.start, part.stop):
                changes = vote_on_changes(
                    *measured.at(model.X[rows[i]]), labels, row_weights, class_weight, own[i], k,
                    model.mean_weight * k, rule.epsilon,
                )  # fmt: skip
                lost = np.abs(changes - before[i]).sum(axis=2).mean(axis=1)
                alone[i, work.fast] = 0.5 * lost

        map_blocks(read, len(rows), 16, n_jobs=n_jobs)
        return before, alone


def _correlated(model: NeighborModel, categories: Iterable[int]) -> Groups:
    """Return groups of correlated features; of many features, among those with the largest weights."""
    n_features = model.X.shape[1]
    is_category = np.isin(np.arange(n_features), list(categories))
    if n_features <= MOST_CORRELATED:
        return correlated_features(model.X, is_category=is_category)
    weights = model.feature_weights().mean(axis=0)
    used = np.sort(np.argsort(-weights, kind="stable")[:MOST_CORRELATED])
    groups = correlated_features(model.X[:, used], is_category=is_category[used])
    return tuple(tuple(used[list(group)].tolist()) for group in groups)


class _Work:
    """How many landmarks and voters there are, so that the readings take some seconds.

    Attributes
    ----------
    n_landmarks, n_voters, n_contrasts : int
    categories : dict of int to CategoryValues
    fast, slow : (n_fast,), (n_slow,)
        Features for which the effect of a change is a formula, and those for which changed rows are searched.
    """

    def __init__(self, model: NeighborModel) -> None:
        n_features, n_axes = model.X.shape[1], model.n_axes
        width = max(n_features, n_axes)
        self.fast = model.features_with_slopes
        self.slow = np.setdiff1d(np.arange(n_features), self.fast)
        # Each changed row is transformed, and compared with all voters; a category has several axes.
        per_change = (width * n_axes + MOST_VOTERS * (2 * width + 1)) / SPEEDUP
        per_slope = MOST_VOTERS * (n_axes / SPEEDUP + 6 * N_TYPICAL)
        for n_categories in (MOST_CATEGORIES, N_TYPICAL):
            self.categories = model.category_values(n_categories)
            n_changes = self._n_changes()
            total = MOST_LANDMARKS * (n_changes * per_change + len(self.fast) * per_slope)
            if total <= WORK:
                break
        # Of many features, walks and the rest take as long as the readings.
        available = WORK if n_features <= MOST_CORRELATED else 0.5 * WORK
        shrink = min(1.0, (available / total) ** 0.5)
        self.n_voters, n_landmarks = int(MOST_VOTERS * shrink), int(MOST_LANDMARKS * shrink)
        if n_changes and n_axes > n_features:  # fewer voters do not make the transform cheaper
            n_landmarks = min(n_landmarks, int(SPEEDUP * WORK / (n_changes * width * n_axes)))
        if model.work_per_query > 0:
            n_landmarks = min(n_landmarks, int(SPEEDUP * WORK / (n_changes * model.work_per_query)))
        self.n_landmarks = max(n_landmarks, 1)
        n_stops = 2 * min(n_features, MOST_ALONE)
        per_walk = n_stops * (model.wide_neighborhood * 2 * n_axes + model.work_per_query)
        self.n_contrasts = int(np.clip(0.5 * WORK / (self.n_landmarks * per_walk), FEWEST_WALKS, MOST_WALKS))

    def _n_changes(self) -> int:
        """Return the number of changed rows per landmark that are searched."""
        values = (self.categories.get(int(feature)) for feature in self.slow)
        return sum(N_TYPICAL if value is None else len(value.codes) for value in values)


def _even_rule(model: NeighborModel) -> VoteRule:
    """Return the rule by which the neighbors of landmarks vote: with 1/d."""
    return VoteRule(1.0, model.vote_rule.epsilon, model.vote_rule.class_weight)
