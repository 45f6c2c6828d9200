import matplotlib.pyplot as plt
import pytest

from lann.plot._axes import PanelGrid, panel_axes


def test_panels_replace_the_given_axes():
    figure, (left, right) = plt.subplots(1, 2)
    box = right.get_window_extent()
    owner, panels = panel_axes(right, PanelGrid((2, 3), (4, 3), spacing=(0.1, 0.1)), "six panels")
    figure.canvas.draw()
    assert owner is figure
    assert panels.shape == (2, 3)
    assert not right.axison
    assert left.axison
    for panel in panels.ravel():
        assert box.x0 - 1 <= panel.get_window_extent().x0 < panel.get_window_extent().x1 <= box.x1 + 1


def test_panels_need_axes_of_a_subplot_grid():
    ax = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(ValueError, match=r"ax must be created by plt\.subplots"):
        panel_axes(ax, PanelGrid((1, 2), (4, 3)), "two panels")
