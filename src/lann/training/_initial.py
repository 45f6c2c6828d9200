"""What is determined before training: standardization, thresholds, initial map and matrices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lann._support.inputs import weighted_means, weighted_moments
from lann._support.rows import stratified_rows
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.metric import Encoding, FeatureCurves, Levels, gap_moments
from lann.training._candidates import stratified_sample
from lann.training._loss import Settings


class Standardization:
    """The standardization of the numbers of training rows, and back to the user's units.

    Parameters
    ----------
    X : (n_rows, n_features)
    row_weights : (n_rows,) or None
        Sample weights; None is 1 for all.
    encoding : Encoding or None
        Which features are numbers; None is all of them, without gaps.

    Attributes
    ----------
    center, scale : (n_numbers,)
        Mean and standard deviation; for constant features, the latter is their absolute value, at least 1.
    constant : (n_numbers,)
        Which features are constant, up to rounding.
    """

    def __init__(
        self, X: Floats, row_weights: Floats | None = None, *, encoding: Encoding | None = None
    ) -> None:
        encoding = Encoding.identity(X.shape[1]) if encoding is None else encoding
        self._X = X
        self._encoding = encoding
        numbers = encoding.numbers_of(X)
        self.center, variance = gap_moments(numbers, row_weights)
        deviation = np.sqrt(variance)
        size = np.abs(self.center)
        self.constant = deviation <= len(X) * np.finfo(np.float64).eps * size
        self.scale = np.where(self.constant, np.maximum(size, 1.0), deviation)

    def transform(self, X: Floats) -> Floats:
        """Return rows with standardized numbers; categories are unchanged."""
        standardized = (self._encoding.numbers_of(X) - self.center) / self.scale
        if not self._encoding.positions:
            return standardized
        rows = X.copy()
        rows[:, self._encoding.number_features] = standardized
        return rows

    def apply(self, levels: Levels, n_bins: int) -> Levels:
        """Return the same levels of standardized rows, with curves of positive slopes."""
        X, encoding = self.transform(levels.X), levels.encoding
        encoding = encoding.rescaled(-self.center / self.scale, 1.0 / self.scale)
        if levels.curves.is_identity:
            # The heights of gaps are relative to the deviations of the numbers.
            gaps = replace(encoding.gaps, heights=encoding.gaps.heights / self.scale)
            encoding = encoding.replace(
                curves=FeatureCurves.straight(encoding.numbers_of(X), n_bins), gaps=gaps
            )
        else:
            slopes = encoding.curves.slopes
            curves = encoding.curves.with_slopes(np.where(slopes > 0, slopes, 1.0))
            encoding = encoding.replace(curves=curves)
        return levels.replace(X=X, encoding=encoding)

    def undo(self, levels: Levels) -> Levels:
        """Return the same levels in the user's units; constant features get the weight 0."""
        encoding = levels.encoding.rescaled(self.center, self.scale)
        curves = encoding.curves
        curves = curves.with_slopes(np.where(self.constant[:, None], 0.0, curves.slopes))
        encoding = encoding.replace(curves=curves.without_flat_steps())
        return levels.replace(X=self._X, encoding=encoding)


# With fewer rows per class, it is not certain where a threshold is.
FEWEST_ROWS_PER_CLASS = 100
# The forest needs no more rows than this.
MOST_FOREST_ROWS = 1_500
N_TREES, MAX_DEPTH = 6, 8
# Splits within this share of the rows count as one threshold.
WINDOW = 0.01
# A threshold has at least this share of the total gain of the forest.
SMALLEST_SHARE = 0.004


def find_thresholds(levels: Levels, rows: Indices, settings: Settings, rng: np.random.Generator) -> Floats:
    """Return the strongest thresholds of each feature.

    They are those of a forest that predicts the labels, or the values. Only features with more values than
    two per bin can have some: the slopes of bins with one or two values are as good as jumps.

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
    if settings.n_steps == 0 or len(X) < FEWEST_ROWS_PER_CLASS * len(np.unique(labels)):
        return none
    sample = stratified_sample(labels, MOST_FOREST_ROWS, rng)
    X, labels = X[sample], labels[sample]
    n_values = [len(np.unique(X[~np.isnan(X[:, f]), f])) for f in numbers]
    features = numbers[np.array(n_values, np.int64) > 2 * settings.n_bins]
    if len(features) == 0:
        return none
    weights = np.ones(len(X)) if levels.row_weights is None else levels.row_weights[rows[sample]]
    if settings.class_weight is not None:
        weights = weights * settings.class_weight[labels]
    targets = labels if levels.values is None else levels.values[rows[sample]]
    split_features, splits, gains = _forest_splits(X, targets, weights, settings.n_jobs, rng)
    thresholds = np.full((len(numbers), settings.n_steps), np.inf)
    for number, feature in enumerate(numbers):
        if feature not in features:
            continue
        here = split_features == feature
        values = X[~np.isnan(X[:, feature]), feature]
        strongest = strongest_thresholds(values, splits[here], gains[here], settings.n_steps)
        thresholds[number, : len(strongest)] = strongest
    return thresholds


def _forest_splits(
    X: Floats, targets: Labels | Floats, weights: Floats, n_jobs: int | None, rng: np.random.Generator
) -> tuple[Indices, Floats, Floats]:
    """Return feature, threshold and gain (as a share of that of all splits) of each split of a forest."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # takes long to import

    is_of_classes = targets.dtype.kind == "i"
    forest = (RandomForestClassifier if is_of_classes else RandomForestRegressor)(
        N_TREES, max_depth=MAX_DEPTH, random_state=int(rng.integers(2**31)), n_jobs=n_jobs
    )
    forest.fit(X, targets, sample_weight=weights)
    parts = []
    for tree in (estimator.tree_ for estimator in forest.estimators_):
        impurity = tree.impurity * tree.weighted_n_node_samples
        inner = np.flatnonzero(tree.children_left >= 0)
        children = impurity[tree.children_left[inner]] + impurity[tree.children_right[inner]]
        parts.append((tree.feature[inner], tree.threshold[inner], impurity[inner] - children))
    features, thresholds, gains = (np.concatenate(part) for part in zip(*parts, strict=True))
    return features, thresholds, gains / max(gains.sum(), np.finfo(np.float64).tiny)


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


# How much of the identity is mixed with the covariance within classes before it is inverted.
SHRINKAGE = 0.3
# With more coordinates than this, the linear map starts with few axes, 32 by default.
MOST_SQUARE, N_WIDE_AXES = 200, 32
# How many coordinates of a wide table in which classes do not differ are expected among the first axes.
N_BY_CHANCE = 5
# Eigenvalues are computed of matrices of this size, at most; directions of smaller relative variance than
# this are rounding errors.
LARGEST_MATRIX, SMALLEST_VARIANCE = 1_000, 1e-10


def n_axes_of(form: str, n_components: int | None, n_coordinates: int, *, linear_map: bool = False) -> int:
    """Return the number of axes for a form of point metrics, at most.

    Parameters
    ----------
    form : {"diagonal", "low_rank", "full"}
    n_components : int or None
        Number of axes where there are fewer than coordinates; None is the default.
    n_coordinates : int
    linear_map : bool, default=False
        Whether a linear map is learned, which has few axes where there are many coordinates.
    """
    if form == "low_rank":
        default = max(16, round(2.0 * math.sqrt(n_coordinates)))
        return min(n_components or default, n_coordinates)
    if form == "diagonal" and linear_map and n_coordinates > MOST_SQUARE:
        return min(n_components or N_WIDE_AXES, n_coordinates)
    return n_coordinates


def with_initial_map(levels: Levels, n_axes: int, *, shrink: bool = True) -> Levels:
    """Return the levels with an initial map, if they have none and there are fewer axes than coordinates.

    With many coordinates, the map can have fewer than `n_axes` axes: see `wide_axes`.
    """
    n_points, n_coordinates = len(levels.X), levels.encoding.n_coordinates
    if levels.components is not None or n_axes == n_coordinates:
        return levels
    coordinates, labels, weights = levels.encoding.transform(levels.X), levels.labels, levels.row_weights
    if n_coordinates <= MOST_SQUARE:
        components = discriminant_axes(coordinates, labels, n_axes, weights)
    else:
        components = wide_axes(coordinates, labels, n_axes, weights, shrink=shrink)
    n_axes = len(components)
    return levels.replace(
        components=components,
        class_log_weights=np.zeros((len(levels.class_log_weights), n_axes)),
        point_log_weights=np.zeros((n_points, n_axes)),
    )


def discriminant_axes(
    curved: Floats, labels: Labels, n_axes: int, row_weights: Floats | None = None
) -> Floats:
    """Return the directions in which classes differ most, then those in which rows do.

    These are the leading eigenvectors of the total covariance after a transform that makes the covariance
    within classes, shrunk toward the identity, the identity: linear discriminants first, principal components
    after them.

    Parameters
    ----------
    curved : (n_rows, n_features)
        Rows on the curves.
    labels : (n_rows,)
    n_axes : int
    row_weights : (n_rows,) or None
        Sample weights; None is 1 for all.

    Returns
    -------
    components : (n_axes, n_features)
        Of mean squared length 1.
    """
    centered = curved - weighted_means(curved, row_weights)
    scale = max(float(weighted_moments(centered, row_weights)[1].mean()), np.finfo(np.float64).tiny)
    residuals = curved.copy()
    for label in np.unique(labels):
        members = labels == label
        own = None if row_weights is None else row_weights[members]
        residuals[members] -= weighted_means(curved[members], own)
    if row_weights is not None:
        roots = np.sqrt(row_weights / row_weights.mean())[:, None]
        centered, residuals = roots * centered, roots * residuals
    within = residuals.T @ residuals / (len(curved) * scale)
    total = centered.T @ centered / (len(curved) * scale)
    values, vectors = np.linalg.eigh((1.0 - SHRINKAGE) * within + SHRINKAGE * np.eye(len(within)))
    whitening = vectors / np.sqrt(values)  # (n_features, n_features): columns
    spread, directions = np.linalg.eigh(whitening.T @ total @ whitening)
    leading = np.argsort(-spread, kind="stable")[:n_axes]
    axes = (whitening @ directions[:, leading]).T
    # Eigenvectors are unique up to their signs.
    signs = np.sign(axes[np.arange(n_axes), np.abs(axes).argmax(axis=1)])
    return axes * signs[:, None] / np.sqrt(np.square(axes).sum() / n_axes)


def wide_axes(
    coordinates: Floats,
    labels: Labels,
    n_axes: int,
    row_weights: Floats | None = None,
    *,
    shrink: bool = True,
) -> Floats:
    """Return discriminant axes of many coordinates, at linear cost.

    Where more than 1000 coordinates are used, these are axes in the span of at most 1000 rows.

    Parameters
    ----------
    coordinates : (n_rows, n_coordinates)
    labels : (n_rows,)
    n_axes : int
    row_weights : (n_rows,) or None
        Sample weights; None is 1 for all.
    shrink : bool, default=True
        Whether to multiply the coordinates by `chance_shrinkage` first.

    Returns
    -------
    components : (n_found, n_coordinates)
        Of mean squared length 1. There are at most `n_axes`, and fewer where fewer features tell the classes
        apart.
    """
    n_coordinates = coordinates.shape[1]
    factors = chance_shrinkage(coordinates, labels, row_weights) if shrink else np.ones(n_coordinates)
    used = np.flatnonzero(factors)
    weighted = coordinates[:, used] * factors[used]
    if len(used) > LARGEST_MATRIX:
        basis = _span(weighted[stratified_rows(labels, min(len(labels), LARGEST_MATRIX))])
        weighted = weighted @ basis.T
    axes = discriminant_axes(weighted, labels, min(n_axes, weighted.shape[1]), row_weights)
    if len(used) > LARGEST_MATRIX:
        axes = axes @ basis
    components = np.zeros((len(axes), n_coordinates))
    components[:, used] = axes * factors[used]
    return components / np.sqrt(np.square(components).sum() / len(components))


def chance_shrinkage(coordinates: Floats, labels: Labels, row_weights: Floats | None = None) -> Floats:
    """Return the share of the differences between class means, in each coordinate, that is not by chance.

    With the ratio F of the variance between classes to that within them, it is max(1 − τ / F, 0). Where
    classes do not differ, F exceeds τ in few coordinates: in `N_BY_CHANCE` of all, on average.

    Parameters
    ----------
    coordinates : (n_rows, n_coordinates)
    labels : (n_rows,)
    row_weights : (n_rows,) or None
        Sample weights; None is 1 for all.

    Returns
    -------
    shares : (n_coordinates,)
        All 1 if no coordinate exceeds τ, or there are no more rows than classes.
    """
    from scipy.special import fdtri

    n_rows, n_coordinates = coordinates.shape
    present, position = np.unique(labels, return_inverse=True)
    n_within, n_between = n_rows - len(present), len(present) - 1
    if n_within < 1 or n_between < 1:
        return np.ones(n_coordinates)
    weights = np.ones(n_rows) if row_weights is None else row_weights / row_weights.mean()
    members = np.zeros((len(present), n_rows))
    members[position, np.arange(n_rows)] = weights
    centered = coordinates - weighted_means(coordinates, row_weights)
    totals = weights @ np.square(centered)
    between = (np.square(members @ centered) / members.sum(axis=1)[:, None]).sum(axis=0)
    between = np.minimum(between, totals)
    limit = fdtri(n_between, n_within, 1.0 - min(N_BY_CHANCE / n_coordinates, 0.5))
    # τ / F, without a division by 0 where classes do not differ.
    by_chance = limit * n_between * (totals - between) / n_within
    differ = between > by_chance
    shares = np.where(differ, 1.0 - by_chance / np.where(differ, between, 1.0), 0.0)
    return shares if differ.any() else np.ones(n_coordinates)


def with_initial_slopes(levels: Levels, rows: Indices) -> Levels:
    """Return the levels with slopes that depend on the labels of some rows, if there are many coordinates."""
    encoding, curves = levels.encoding, levels.curves
    if encoding.n_coordinates <= MOST_SQUARE or curves.n_features == 0:
        return levels
    known = levels.subset(rows)
    coordinates = encoding.transform(known.X)
    if not encoding.is_numeric:
        coordinates = coordinates[:, encoding.first_coordinates[encoding.number_features]]
    with single_threaded_blas():  # the same bits for any number of BLAS threads
        squares = np.square(chance_shrinkage(coordinates, known.labels, known.row_weights))
    # The mean in addition, so that no number is left out: classes may differ in it together with others.
    factors = np.sqrt(squares + squares.mean())
    return levels.with_curves(curves.with_slopes(curves.slopes * factors[:, None], curves.jumps))


def _span(rows: Floats) -> Floats:
    """Return an orthonormal basis of the differences between rows: (n_dimensions, n_columns)."""
    centered = rows - rows.mean(axis=0)
    variances, vectors = np.linalg.eigh(centered @ centered.T)
    used = variances > SMALLEST_VARIANCE * variances[-1]
    if not used.any():  # all rows are the same
        return np.eye(1, rows.shape[1])
    return (vectors[:, used] / np.sqrt(variances[used])).T @ centered


# From this many numbers on, matrices are float32.
SINGLE_FROM = 2**24
# With more numbers than this in all matrices, training would take more than ten gigabytes.
MOST_NUMBERS = 2**29
# How many copies of the matrices training needs, at most.
COPIES = 5


def initial_matrices(levels: Levels) -> NDArray:
    """Return a new array of the point matrices, or of identities where there are none.

    (n_points, n_axes, rank).
    """
    if levels.point_matrices is not None:
        return levels.point_matrices.copy()
    n_points, n_axes = levels.point_log_weights.shape
    return np.tile(np.eye(n_axes, dtype=matrix_dtype(n_points, n_axes)), (n_points, 1, 1))


def matrix_dtype(n_points: int, n_axes: int) -> type:
    """Return the type of the numbers in the matrices of `n_points` rows."""
    return np.float32 if n_points * n_axes**2 > SINGLE_FROM else np.float64


def check_matrix_memory(n_rows: int, n_axes: int) -> None:
    """Raise ValueError if a matrix per row would take too much memory."""
    if n_rows * n_axes**2 > MOST_NUMBERS:
        size = COPIES * 4 * n_rows * n_axes**2 / 2**30
        raise ValueError(
            f"Matrices over {n_axes} axes for {n_rows} rows take about {size:.0f} GB to learn; use "
            "metric='low_rank' with a smaller n_components, or fewer rows."
        )
