"""The initial linear map where there are fewer axes than coordinates.

A square map has n_coordinates² numbers. Tables with many coordinates therefore get few axes, at a cost that
is linear in the number of coordinates. Of thousands of features few tell the classes apart, and the others
would hide them in every distance: the curves start steeper where class means differ by more than chance.
"""

from __future__ import annotations

import math

import numpy as np

from lann._inputs import weighted_means, weighted_moments
from lann._sampling import stratified_rows
from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann.metrics import Levels

# How much of the identity is mixed with the covariance within classes before it is inverted.
SHRINKAGE = 0.3
# With more coordinates than this, the linear map starts with few axes, so many by default.
MOST_SQUARE, N_WIDE_AXES = 200, 32
# How many coordinates of a wide table in which classes do not differ are expected among the first axes.
N_BY_CHANCE = 5
# Eigenvalues are computed of matrices of this size, at most; directions of smaller relative variance than
# this are rounding errors.
LARGEST_MATRIX, SMALLEST_VARIANCE = 1_000, 1e-10


def default_n_components(n_coordinates: int) -> int:
    """Return 16, or twice the square root of the number of coordinates where that is more."""
    return min(n_coordinates, max(16, round(2.0 * math.sqrt(n_coordinates))))


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
        return min(n_components or default_n_components(n_coordinates), n_coordinates)
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
        How much each row counts; None is 1 for all.

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
        How much each row counts; None is 1 for all.
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
        How much each row counts; None is 1 for all.

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
        factors = initial_slopes(coordinates, known.labels, known.row_weights)
    return levels.with_curves(curves.with_slopes(curves.slopes * factors[:, None], curves.jumps))


def initial_slopes(coordinates: Floats, labels: Labels, row_weights: Floats | None = None) -> Floats:
    """Return factors of the slopes of many numbers with which training starts: (n_numbers,).

    Their squares are those of `chance_shrinkage`, and the mean of these in addition, so that no number is
    left out: classes may differ in it together with others.
    """
    squares = np.square(chance_shrinkage(coordinates, labels, row_weights))
    return np.sqrt(squares + squares.mean())


def _span(rows: Floats) -> Floats:
    """Return an orthonormal basis of the differences between rows: (n_dimensions, n_columns)."""
    centered = rows - rows.mean(axis=0)
    variances, vectors = np.linalg.eigh(centered @ centered.T)
    used = variances > SMALLEST_VARIANCE * variances[-1]
    if not used.any():  # all rows are the same
        return np.eye(1, rows.shape[1])
    return (vectors[:, used] / np.sqrt(variances[used])).T @ centered
