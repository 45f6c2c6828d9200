import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lann.plot._style import (
    AGAINST,
    FOR,
    OKABE_ITO,
    class_colors,
    largest_first,
    low_to_high,
    panels,
    short,
    short_apart,
    value_with_name,
)

# How colors look to people without one kind of cone (Machado, Oliveira, Fernandes 2009), on linear RGB.
BLIND = {
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


def seen(color, kind):
    linear = np.array(to_rgb(color)) ** 2.2
    return np.clip(np.array(BLIND[kind]) @ linear, 0, 1) ** (1 / 2.2)


@pytest.mark.parametrize("kind", BLIND)
def test_classes_are_told_apart_without_red_and_green(kind):
    for one, other in itertools.combinations(OKABE_ITO, 2):
        assert np.linalg.norm(seen(one, kind) - seen(other, kind)) > 0.15
    assert np.linalg.norm(seen(FOR, kind) - seen(AGAINST, kind)) > 0.4
    low, high = low_to_high()(0.0)[:3], low_to_high()(1.0)[:3]
    assert np.linalg.norm(seen(low, kind) - seen(high, kind)) > 0.4


@pytest.mark.parametrize("n_classes", [1, 2, 7, 8, 26])
def test_every_class_has_its_own_color(n_classes):
    assert len({to_rgb(color) for color in class_colors(n_classes)}) == n_classes


def test_long_names_keep_both_ends():
    names = [short(f"a long name that ends in a number {place}", 20) for place in range(100)]
    assert len(set(names)) == 100
    assert max(map(len, names)) == 20
    assert short("ash", 20) == "ash"


def test_only_names_that_would_look_alike_are_longer():
    names = [f"a name with its number {place} in the middle of it" for place in range(12)]
    cut = short_apart([*names, "another long name, unlike all the others"], 16)
    assert len(set(cut)) == 13
    assert len(cut[-1]) == 16
    assert max(map(len, cut)) < len(names[-1])
    assert short_apart(["the very same name"] * 2, 9) == ["the …name"] * 2


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("petal width (cm)", 0.2, "petal width = 0.2 cm"),
        ("mass [kg]", 70.0, "mass = 70 kg"),
        ("proline", 1480.0, "proline = 1480"),
        ("tiny", 1.25e-7, "tiny = 1.25e-07"),
        ("f(x) of y", -3.0, "f(x) of y = -3"),
    ],
)
def test_values_carry_their_unit(name, value, text):
    assert value_with_name(name, value) == text


def test_largest_first_keeps_equals_in_order():
    assert largest_first(np.array([1.0, 3.0, 1.0, 2.0]), None).tolist() == [1, 3, 0, 2]
    assert largest_first(np.array([1.0, 3.0, 1.0, 2.0]), 2).tolist() == [1, 3]


def test_panels_need_axes_in_a_grid():
    ax = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(ValueError, match=r"ax must be one of plt\.subplots"):
        panels(ax, (1, 2), (4, 3), title="two")
