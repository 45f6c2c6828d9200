"""Licorice sticks: cylinders across whose axis the class changes, and along which it does not."""

from __future__ import annotations

import math
from itertools import count
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np


class Cylinders(NamedTuple):
    """
    The sticks behind a licorice data set.

    Parameters
    ----------
    membership
        For each sample, the number of its cylinder, (n_samples,).
    axes
        Unit vectors along the cylinders, (n_cylinders, 3). Their sign has no meaning.
    centers
        Midpoints of the cylinders, (n_cylinders, 3).
    """

    membership: np.ndarray
    axes: np.ndarray
    centers: np.ndarray


def make_licorice(
    n_samples: int = 1000,
    *,
    n_cylinders: int = 5,
    radius: float = 0.5,
    length: float = 10.0,
    shell_width: float = 0.5,
    noise: float = 0.0,
    axis_aligned: bool = False,
    random_state: int | np.random.RandomState | None = None,
    return_axes: bool = False,
) -> tuple[Any, ...]:
    """
    Generate cylinders in three dimensions, told apart from the shells around their sides.

    Each cylinder has an axis of its own. Points of class 1 fill the cylinder, points of class 0 the shell
    around its side, ``radius`` to ``radius + shell_width`` from the axis; both spread evenly over the whole
    length, and nothing lies beyond the ends. So near a cylinder with the unit axis ``a`` only the distance
    *across* the axis decides, and the ideal local metric is a multiple of ``I - a a'``: no metric shared
    by all cylinders does as well.

    Cylinders are the centers of distinct cells of a cubic lattice, one diagonal of a cylinder with its shell
    apart. Whatever their axes, they cannot meet, and without noise each label is right for all of them.

    Parameters
    ----------
    n_samples
        Number of points, at least two for each cylinder. Each cylinder gets the same number, half of them
        inside, to within one.
    n_cylinders
        Number of cylinders.
    radius
        Radius of the cylinders.
    length
        Length of the cylinders.
    shell_width
        Width of the shell around the side.
    noise
        Standard deviation of Gaussian noise added to every coordinate, after labeling.
    axis_aligned
        Whether the axes are the coordinate axes x, y, z, in turn, rather than uniform random directions. Then
        the ideal metrics are diagonal.
    random_state
        Seed or generator, for the same data on every call.
    return_axes
        Whether to return the cylinders too.

    Returns
    -------
    X
        Points, (n_samples, 3), in random order.
    y
        1 inside, 0 outside, (n_samples,).
    cylinders
        Which cylinder each point belongs to, axes and centers, as :class:`Cylinders`. Only if
        ``return_axes``.

    Examples
    --------
    >>> from lann.datasets import make_licorice
    >>> X, y, cylinders = make_licorice(60, n_cylinders=3, random_state=0, return_axes=True)
    >>> X.shape, float(y.mean())
    ((60, 3), 0.5)
    >>> cylinders.axes.shape
    (3, 3)
    """
    from sklearn.utils import check_random_state, check_scalar

    check_scalar(n_cylinders, "n_cylinders", Integral, min_val=1)
    # Fewer could leave a cylinder without one of the classes.
    check_scalar(n_samples, "n_samples", Integral, min_val=2 * n_cylinders)
    _check_length("radius", radius)
    _check_length("length", length)
    _check_length("shell_width", shell_width)
    _check_length("noise", noise, allow_zero=True)

    rng = check_random_state(random_state)
    outer_radius = radius + shell_width
    axes = _coordinate_axes(n_cylinders) if axis_aligned else _random_directions(n_cylinders, rng)
    centers = _apart(n_cylinders, math.hypot(length, 2 * outer_radius), rng)

    dealt = rng.permutation(n_samples)
    membership = dealt % n_cylinders
    y = dealt // n_cylinders % 2

    along = rng.uniform(-length / 2, length / 2, n_samples)
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    inner = np.where(y == 1, 0.0, radius)
    outer = np.where(y == 1, radius, outer_radius)
    # Uniform in the square of the distance is even over the cross-section.
    across = np.sqrt(rng.uniform(inner**2, outer**2))

    first, second = _perpendiculars(axes)  # (n_cylinders, 3) each
    sideways = np.cos(angle)[:, None] * first[membership] + np.sin(angle)[:, None] * second[membership]
    X = centers[membership] + along[:, None] * axes[membership] + across[:, None] * sideways
    X += noise * rng.standard_normal(X.shape)
    return (X, y, Cylinders(membership, axes, centers)) if return_axes else (X, y)


def _check_length(name: str, value: float, allow_zero: bool = False) -> None:
    from sklearn.utils import check_scalar

    check_scalar(value, name, Real, min_val=0, include_boundaries="left" if allow_zero else "neither")
    if not math.isfinite(value):
        raise ValueError(f"{name} == {value}, must be finite.")


def _coordinate_axes(n_cylinders: int) -> np.ndarray:
    return np.eye(3)[np.arange(n_cylinders) % 3]


def _random_directions(n_cylinders: int, rng: np.random.RandomState) -> np.ndarray:
    vectors = rng.standard_normal((n_cylinders, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _apart(n_points: int, spacing: float, rng: np.random.RandomState) -> np.ndarray:
    """Place points (n_points, 3) in random cells of the smallest cubic lattice that has enough."""
    side = next(side for side in count(1) if side**3 >= n_points)
    cells = rng.choice(side**3, n_points, replace=False)
    corner = np.column_stack(np.unravel_index(cells, (side, side, side)))
    return spacing * (corner - (side - 1) / 2)


def _perpendiculars(axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Complete each unit vector to an orthonormal basis."""
    # The coordinate axis least parallel to it: their cross product is far from zero.
    helpers = np.eye(3)[np.abs(axes).argmin(axis=1)]
    first = np.cross(axes, helpers)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(axes, first)
