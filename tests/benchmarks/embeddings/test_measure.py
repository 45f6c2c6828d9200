import numpy as np
import pytest

from benchmarks.embeddings.measure import outside_around


def slow_around(center, inside, outside):
    farther = [(np.linalg.norm(o - center) > np.linalg.norm(i - center)) for o in outside for i in inside]
    return np.mean(farther)


def test_the_score_is_the_share_of_pairs_with_the_outside_row_farther_away():
    rng = np.random.default_rng(0)
    cylinders, inside = np.arange(80) % 2, np.arange(80) // 2 % 2
    # The outside of the first cylinder is all around, that of the second anywhere.
    positions = rng.normal(size=(80, 2)) + 10 * cylinders[:, None]
    ring = (cylinders == 0) & (inside == 0)
    positions[ring] *= 20 / np.linalg.norm(positions[ring], axis=1, keepdims=True)
    fit, held_out = slice(0, 40), slice(40, 80)
    found = outside_around(*((positions[rows], inside[rows], cylinders[rows]) for rows in (fit, held_out)))
    for cylinder in range(2):
        center = np.median(positions[fit][(cylinders[fit] == cylinder) & (inside[fit] == 1)], axis=0)
        own = positions[held_out][cylinders[held_out] == cylinder]
        within = inside[held_out][cylinders[held_out] == cylinder] == 1
        assert found[cylinder] == pytest.approx(slow_around(center, own[within], own[~within]))
    assert found[0] == 1
    assert found[1] < 0.9
