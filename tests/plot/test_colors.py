import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lann.plot._colors import AGAINST, FOR, OKABE_ITO, class_colors, low_to_high

# Simulation of color vision deficiencies on linear RGB (Machado, Oliveira, Fernandes 2009).
DEFICIENCIES = {
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


def distance(first, second, deficiency):
    """Return the distance between two colors as seen with a color vision deficiency."""
    linear = np.array([to_rgb(first), to_rgb(second)]) ** 2.2
    seen = np.clip(linear @ np.array(DEFICIENCIES[deficiency]).T, 0, 1) ** (1 / 2.2)
    return np.linalg.norm(seen[0] - seen[1])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colors_are_distinct_with_color_vision_deficiencies(deficiency):
    for first, second in itertools.combinations(OKABE_ITO, 2):
        assert distance(first, second, deficiency) > 0.15
    assert distance(FOR, AGAINST, deficiency) > 0.4
    assert distance(low_to_high()(0.0)[:3], low_to_high()(1.0)[:3], deficiency) > 0.4


@pytest.mark.parametrize("n_classes", [1, 7, 8, 26])
def test_class_colors_are_distinct(n_classes):
    assert len({to_rgb(color) for color in class_colors(n_classes)}) == n_classes
