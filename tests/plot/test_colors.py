import itertools
import re
from importlib.resources import files

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lann._class_colors import CLASS_COLORS
from lann.plot import class_colors
from lann.plot._colors import AGAINST, FOR, low_to_high

# Simulation of color vision deficiencies on linear RGB (Machado, Oliveira, Fernandes 2009).
DEFICIENCIES = {
    "none": np.eye(3),
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
    for first, second in itertools.combinations(CLASS_COLORS, 2):
        assert distance(first, second, deficiency) > 0.17
    assert distance(FOR, AGAINST, deficiency) > 0.4
    assert distance(low_to_high()(0.0)[:3], low_to_high()(1.0)[:3], deficiency) > 0.4


def test_class_colors_have_a_contrast_of_3_to_white():
    rgb = np.array([to_rgb(color) for color in CLASS_COLORS])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    assert np.all(1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 3)


def test_the_color_of_a_class_does_not_depend_on_the_number_of_classes():
    assert class_colors(40)[:10] == class_colors(10) == list(CLASS_COLORS)
    assert class_colors(12)[10:] == class_colors(2)
    with pytest.raises(ValueError, match="n_classes must be"):
        class_colors(-1)


def test_pages_use_the_same_colors():
    css = files("lann._markup").joinpath("page.css").read_text()
    light, dark = css.split("prefers-color-scheme: dark", 1)
    assert re.findall(r"--c\d: (#\w+)", light) == [color.lower() for color in CLASS_COLORS]
    assert len(re.findall(r"--c\d: #\w+", dark)) == len(CLASS_COLORS)
