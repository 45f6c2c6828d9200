"""Licorice: cylinders, each surrounded by a shell of the other class, with different axes."""

from __future__ import annotations

import math
from itertools import count
from typing import Any, NamedTuple

import numpy as np


class Cylinders(NamedTuple):
    """
    The cylinders of a licorice data set.

    Attributes
    ----------
    membership : ndarray of shape (n_samples,)
        The index of the cylinder of each sample.
    axes : ndarray of shape (n_cylinders, 3)
        Unit vectors along the axes of the cylinders, with arbitrary sign.
    centers : ndarray of shape (n_cylinders, 3)
        The midpoints of the cylinders.

    See Also
    --------
    make_licorice : Generate data, and return its cylinders.

    Examples
    --------
    >>> from lann.datasets import make_licorice
    >>> _, _, cylinders = make_licorice(60, n_cylinders=3, axis_aligned=True, return_axes=True)
    >>> cylinders.axes[1]
    array([0., 1., 0.])
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
    Generate cylinders in three dimensions, with a shell of the other class around each.

    Every cylinder has its own axis. Samples of class 1 fill the cylinder; samples of class 0 fill the shell
    around its side, at distances from ``radius`` to ``radius + shell_width`` from the axis. Both are
    distributed uniformly, and there are no samples beyond the ends. Near a cylinder with the unit axis ``a``
    the class therefore depends only on the distance *perpendicular* to the axis, and the ideal local metric
    is a multiple of ``I - a a'``. No metric that is shared by all cylinders is as good.

    The cylinders are centered in different cells of a cubic lattice whose spacing is the diagonal of a
    cylinder with its shell. They cannot overlap, whatever their axes, so that without noise the classes do
    not overlap either.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of samples, at least two per cylinder. They are divided equally among the cylinders, and
        among the two classes in each cylinder, up to a difference of one.
    n_cylinders : int, default=5
        The number of cylinders.
    radius : float, default=0.5
        The radius of the cylinders.
    length : float, default=10.0
        The length of the cylinders.
    shell_width : float, default=0.5
        The thickness of the shells.
    noise : float, default=0.0
        The standard deviation of the Gaussian noise that is added to every coordinate. It does not change
        the labels.
    axis_aligned : bool, default=False
        If True, the axes are parallel to the coordinate axes x, y and z, in turn, and the ideal metrics are
        diagonal. If False, they have random directions.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same data on every call.
    return_axes : bool, default=False
        Whether to return the cylinders as well.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        The samples, in random order.
    y : ndarray of shape (n_samples,)
        The labels: 1 in a cylinder, 0 in a shell.
    cylinders : Cylinders
        The cylinder of each sample, the axes and the centers. Only returned if ``return_axes`` is True.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    See Also
    --------
    make_local_relevance : Data whose relevant features depend on the region.

    Examples
    --------
    >>> from lann.datasets import make_licorice
    >>> X, y, cylinders = make_licorice(60, n_cylinders=3, random_state=0, return_axes=True)
    >>> X.shape, float(y.mean())
    ((60, 3), 0.5)
    >>> cylinders.axes.shape
    (3, 3)
    """
    from sklearn.utils import check_random_state

    from lann._validation import Integer, Number, validate

    validate("n_cylinders", n_cylinders, Integer(1))
    # Fewer could leave a cylinder without one of the classes.
    validate("n_samples", n_samples, Integer(2 * n_cylinders))
    validate("radius", radius, Number(0, closed="right"))
    validate("length", length, Number(0, closed="right"))
    validate("shell_width", shell_width, Number(0, closed="right"))
    validate("noise", noise, Number(0))

    rng = check_random_state(random_state)
    outer_radius = radius + shell_width
    axes = _coordinate_axes(n_cylinders) if axis_aligned else _random_directions(n_cylinders, rng)
    centers = _random_cells(n_cylinders, math.hypot(length, 2 * outer_radius), rng)

    order = rng.permutation(n_samples)
    membership = order % n_cylinders
    y = order // n_cylinders % 2

    along = rng.uniform(-length / 2, length / 2, n_samples)
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    inner = np.where(y == 1, 0.0, radius)
    outer = np.where(y == 1, radius, outer_radius)
    # A uniform squared distance from the axis is a uniform distribution over the cross-section.
    across = np.sqrt(rng.uniform(inner**2, outer**2))

    first, second = _perpendiculars(axes)  # (n_cylinders, 3) each
    directions = np.cos(angle)[:, None] * first[membership] + np.sin(angle)[:, None] * second[membership]
    X = centers[membership] + along[:, None] * axes[membership] + across[:, None] * directions
    X += noise * rng.standard_normal(X.shape)
    return (X, y, Cylinders(membership, axes, centers)) if return_axes else (X, y)


def _coordinate_axes(n_cylinders: int) -> np.ndarray:
    return np.eye(3)[np.arange(n_cylinders) % 3]


def _random_directions(n_cylinders: int, rng: np.random.RandomState) -> np.ndarray:
    vectors = rng.standard_normal((n_cylinders, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _random_cells(n_cells: int, spacing: float, rng: np.random.RandomState) -> np.ndarray:
    """Return the centers, (n_cells, 3), of random cells of the smallest cubic lattice with enough cells."""
    side = next(side for side in count(1) if side**3 >= n_cells)
    cells = rng.choice(side**3, n_cells, replace=False)
    corners = np.column_stack(np.unravel_index(cells, (side, side, side)))
    return spacing * (corners - (side - 1) / 2)


def _perpendiculars(axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit vectors that complete each axis to an orthonormal basis."""
    # The cross product with the least parallel coordinate axis is far from zero.
    helpers = np.eye(3)[np.abs(axes).argmin(axis=1)]
    first = np.cross(axes, helpers)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(axes, first)
