"""Thresholds at which feature curves can jump, from the splits of a small random forest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics import Levels
from lann.training._sampling import stratified_sample
from lann.training._settings import Settings

# With fewer rows per class, it is not certain where a threshold is.
FEWEST_ROWS = 100
# The forest needs no more rows than this.
MOST_ROWS = 1_500
N_TREES, MAX_DEPTH = 6, 8
# Splits within this share of the rows count as one threshold.
WINDOW = 0.01
# A threshold has at least this share of the total gain of the forest.
SMALLEST_SHARE = 0.004


class Splits(NamedTuple):
    """The splits of all trees of a forest.

    Attributes
    ----------
    features : (n_splits,)
    thresholds : (n_splits,)
    gains : (n_splits,)
        Decrease of the impurity, as a share of that of all splits.
    """

    features: Indices
    thresholds: Floats
    gains: Floats


def find_thresholds(levels: Levels, rows: Indices, settings: Settings, rng: np.random.Generator) -> Floats:
    """Return the strongest thresholds of each feature.

    Only features with more values than two per bin can have some: the slopes of bins with one or two values
    are as good as jumps.

    Parameters
    ----------
    levels : Levels
        Training rows, with their weights.
    rows : (n_rows,)
        The rows to find thresholds in.
    settings : Settings
    rng : Generator

    Returns
    -------
    thresholds : (n_numbers, n_steps)
        Ascending, padded with inf; `n_steps` is 0 if there are no thresholds to look for.
    """
    X, labels = levels.X[rows], levels.labels[rows]
    numbers = levels.encoding.number_features
    none = np.empty((len(numbers), 0))
    if settings.n_steps == 0 or len(X) < FEWEST_ROWS * len(np.unique(labels)):
        return none
    sample = stratified_sample(labels, MOST_ROWS, rng)
    X, labels = X[sample], labels[sample]
    features = [f for f in numbers if _n_values(X[:, f]) > 2 * settings.n_bins]
    if not features:
        return none
    weights = np.ones(len(X)) if levels.row_weights is None else levels.row_weights[rows[sample]]
    if settings.class_weight is not None:
        weights = weights * settings.class_weight[labels]
    splits = _forest_splits(X, labels, weights, settings.n_jobs, rng)
    thresholds = np.full((len(numbers), settings.n_steps), np.inf)
    for number, feature in enumerate(numbers):
        if feature not in features:
            continue
        here = splits.features == feature
        strongest = strongest_thresholds(
            X[~np.isnan(X[:, feature]), feature],
            splits.thresholds[here],
            splits.gains[here],
            settings.n_steps,
        )
        thresholds[number, : len(strongest)] = strongest
    return thresholds


def _n_values(values: Floats) -> int:
    return len(np.unique(values[~np.isnan(values)]))


def _forest_splits(
    X: Floats, labels: Labels, weights: Floats, n_jobs: int | None, rng: np.random.Generator
) -> Splits:
    from sklearn.ensemble import RandomForestClassifier  # takes long to import

    forest = RandomForestClassifier(
        N_TREES, max_depth=MAX_DEPTH, random_state=int(rng.integers(2**31)), n_jobs=n_jobs
    )
    forest.fit(X, labels, sample_weight=weights)
    parts = []
    for tree in (estimator.tree_ for estimator in forest.estimators_):
        impurity = tree.impurity * tree.weighted_n_node_samples
        inner = np.flatnonzero(tree.children_left >= 0)
        children = impurity[tree.children_left[inner]] + impurity[tree.children_right[inner]]
        parts.append((tree.feature[inner], tree.threshold[inner], impurity[inner] - children))
    features, thresholds, gains = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Splits(features, thresholds, gains / max(gains.sum(), np.finfo(np.float64).tiny))


def strongest_thresholds(values: Floats, thresholds: Floats, gains: Floats, n_strongest: int) -> Floats:
    """Return the thresholds of one feature that have the largest gain, halfway between two of its values.

    Splits that divide the rows in nearly the same way count together, where most of their gain is.

    Parameters
    ----------
    values : (n_rows,)
        Of the feature, at least two of them distinct.
    thresholds, gains : (n_splits,)
    n_strongest : int

    Returns
    -------
    strongest : (n_found,)
        Ascending.
    """
    distinct, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts)[:-1] / len(values)  # share of the rows to the left of each gap between values
    gap = np.clip(np.searchsorted(distinct, thresholds, side="right") - 1, 0, len(distinct) - 2)
    by_gap = np.bincount(gap, gains, minlength=len(below))
    strongest: list[float] = []
    while len(strongest) < n_strongest and by_gap.max() > 0:
        best = by_gap.argmax()
        near = np.abs(below - below[best]) <= WINDOW
        if by_gap[near].sum() >= SMALLEST_SHARE:
            strongest.append(0.5 * (distinct[best] + distinct[best + 1]))
        by_gap[near] = 0.0
    return np.sort(strongest)
