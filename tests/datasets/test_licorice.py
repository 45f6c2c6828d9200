import itertools

import numpy as np
import pytest

from lann.datasets import make_licorice


def distance_to_axis(point, center, axis):
    """Return the distances of a point perpendicular to an axis and along it, coordinate by coordinate."""
    along = sum(a * (p - c) for a, p, c in zip(axis, point, center, strict=True))
    nearest = [c + along * a for c, a in zip(center, axis, strict=True)]
    return float(np.sqrt(sum((p - n) ** 2 for p, n in zip(point, nearest, strict=True)))), along


def neighbor_accuracy(X, y, k=5):
    """Return the leave-one-out accuracy of k nearest neighbors."""
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    votes = y[np.argsort(distances, axis=1)[:, :k]].mean(axis=1)
    return ((votes > 0.5) == y).mean()


@pytest.mark.parametrize("axis_aligned", [False, True])
def test_labels_depend_on_the_distance_to_the_axis(axis_aligned):
    X, y, cylinders = make_licorice(
        120,
        n_cylinders=4,
        radius=0.3,
        length=6,
        shell_width=0.2,
        axis_aligned=axis_aligned,
        random_state=0,
        return_axes=True,
    )
    for point, label, own in zip(X, y, cylinders.membership, strict=True):
        across, along = distance_to_axis(point, cylinders.centers[own], cylinders.axes[own])
        assert abs(along) <= 3 + 1e-9
        low, high = (0, 0.3) if label == 1 else (0.3, 0.5)
        assert low - 1e-9 <= across <= high + 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_no_sample_is_in_the_cylinder_or_shell_of_another(seed):
    X, _, cylinders = make_licorice(300, n_cylinders=9, random_state=seed, return_axes=True)
    checked = 0
    for point, own in zip(X, cylinders.membership, strict=True):
        for other in set(range(9)) - {own}:
            across, along = distance_to_axis(point, cylinders.centers[other], cylinders.axes[other])
            assert across > 1.0 or abs(along) > 5.0
            checked += 1
    assert checked == 300 * 8


def test_samples_are_uniform_in_cylinder_and_shell():
    X, y, cylinders = make_licorice(
        20000, n_cylinders=1, radius=1, shell_width=1, length=8, random_state=0, return_axes=True
    )
    offset = X - cylinders.centers[0]
    along = offset @ cylinders.axes[0]
    across = np.linalg.norm(offset - along[:, None] * cylinders.axes[0], axis=1)
    # For a uniform distribution on an annulus from a to b, the mean squared distance is (a² + b²) / 2.
    assert (across[y == 1] ** 2).mean() == pytest.approx(0.5, abs=0.02)
    assert (across[y == 0] ** 2).mean() == pytest.approx(2.5, abs=0.05)
    for label in (0, 1):
        assert along[y == label].mean() == pytest.approx(0, abs=0.1)
        assert along[y == label].std() == pytest.approx(8 / np.sqrt(12), abs=0.05)


def test_shapes_and_types():
    X, y, cylinders = make_licorice(50, n_cylinders=3, random_state=0, return_axes=True)
    assert X.shape == (50, 3)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert set(y) == {0, 1}
    assert cylinders.membership.shape == (50,)
    assert cylinders.axes.shape == cylinders.centers.shape == (3, 3)
    np.testing.assert_allclose(np.linalg.norm(cylinders.axes, axis=1), 1)


@pytest.mark.parametrize(("n_samples", "n_cylinders"), [(2, 1), (7, 3), (100, 7), (1000, 5)])
def test_cylinders_and_classes_are_balanced(n_samples, n_cylinders):
    _, y, cylinders = make_licorice(n_samples, n_cylinders=n_cylinders, random_state=0, return_axes=True)
    sizes = np.bincount(cylinders.membership, minlength=n_cylinders)
    inside = np.bincount(cylinders.membership, weights=y, minlength=n_cylinders)
    assert sizes.max() - sizes.min() <= 1
    assert (np.abs(2 * inside - sizes) <= 1).all()


def test_aligned_axes_are_the_coordinate_axes_in_turn():
    axes = make_licorice(axis_aligned=True, random_state=0, return_axes=True)[2].axes
    np.testing.assert_array_equal(axes, np.eye(3)[[0, 1, 2, 0, 1]])


def test_random_axes_are_different():
    axes = make_licorice(random_state=0, return_axes=True)[2].axes
    assert all(abs(first @ second) < 0.999 for first, second in itertools.combinations(axes, 2))


def test_random_state_determines_the_data():
    first, again, other = (make_licorice(40, random_state=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_noise_changes_coordinates_and_not_labels():
    X, y = make_licorice(4000, random_state=0)
    noisy_X, noisy_y = make_licorice(4000, noise=0.2, random_state=0)
    np.testing.assert_array_equal(noisy_y, y)
    assert (noisy_X - X).std() == pytest.approx(0.2, rel=0.05)


def test_class_depends_on_the_direction_across_the_axis_only():
    X, y, cylinders = make_licorice(600, n_cylinders=3, random_state=0, return_axes=True)
    plain, across, along = [], [], []
    for own in range(3):
        members = cylinders.membership == own
        axis = cylinders.axes[own]
        points, labels = X[members] - cylinders.centers[own], y[members]
        plain.append(neighbor_accuracy(points, labels))
        across.append(neighbor_accuracy(points - np.outer(points @ axis, axis), labels))
        along.append(neighbor_accuracy((points @ axis)[:, None], labels))
    assert np.mean(across) > 0.93
    assert np.mean(plain) < np.mean(across) - 0.1
    assert np.mean(along) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_cylinders": 0}, "n_cylinders must be an integer of at least 1; got 0"),
        ({"n_samples": 9, "n_cylinders": 5}, "n_samples must be an integer of at least 10; got 9"),
        ({"radius": 0}, "radius must be a number above 0; got 0"),
        ({"length": -1.0}, "length must be a number above 0; got -1.0"),
        ({"shell_width": 0.0}, "shell_width must be a number above 0; got 0.0"),
        ({"noise": -0.1}, "noise must be a number of at least 0; got -0.1"),
        ({"radius": float("nan")}, "radius must be a number above 0; got nan"),
        ({"length": float("inf")}, "length must be a number above 0; got inf"),
        ({"n_cylinders": "3"}, "n_cylinders must be an integer of at least 1; got '3'"),
    ],
)
def test_invalid_parameters_raise(options, message):
    with pytest.raises(ValueError, match=message):
        make_licorice(**options)
