import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lann.plot import EmbeddingDisplay


@pytest.fixture
def make_display():
    """Return a function that makes a display of several panels with captions."""

    def make(n_panels, n_classes):
        rng = np.random.default_rng(0)
        labels = np.arange(20 * n_classes) % n_classes
        return EmbeddingDisplay(
            [rng.normal(size=(len(labels), 2)) for _ in range(n_panels)],
            [labels] * n_panels,
            names=[f"method {k}" for k in range(n_panels)],
            notes=["leave-one-out .98, held-out .96"] * n_panels,
            title="Some data",
        )

    return make


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize(("n_panels", "n_classes"), [(2, 3), (6, 7), (7, 7), (6, 40)])
def test_panels_captions_and_legend_do_not_overlap_in_given_axes(make_display, layout, n_panels, n_classes):
    figure, ax = plt.subplots(layout=layout)
    display = make_display(n_panels, n_classes).plot(ax)
    figure.canvas.draw()
    panels = [panel.get_window_extent() for panel in display.axes_]
    lines = [text.get_window_extent() for panel in display.axes_ for text in panel.texts]
    (legend,) = [own.get_legend().get_window_extent() for own in figure.axes if own.get_legend()]
    assert len(lines) >= 2 * n_panels
    assert not any(line.overlaps(panel) for line in lines for panel in panels)
    assert not any(first.overlaps(second) for first, second in itertools.combinations(lines, 2))
    assert not any(legend.overlaps(other) for other in [*panels, *lines])
    for box in [*lines, legend]:
        assert figure.bbox.contains(*box.p0)
        assert figure.bbox.contains(*box.p1)
    assert min(panel.height for panel in panels) > 40


def test_panels_are_within_the_given_axes(make_display):
    figure, (_, right) = plt.subplots(1, 2, figsize=(12, 5))
    outer = right.get_window_extent()
    display = make_display(6, 7).plot(right)
    figure.canvas.draw()
    for panel in display.axes_:
        box = panel.get_window_extent()
        assert outer.x0 - 1 <= box.x0 < box.x1 <= outer.x1 + 1
        assert outer.y0 - 1 <= box.y0 < box.y1 <= outer.y1 + 1


def test_axes_that_are_too_small_raise(make_display):
    figure, ax = plt.subplots(figsize=(3, 2.5))
    message = r"at least 2\.\d × \d\.\d inches for 2 × 3 panels .* got 2\.3 × 1\.9"
    with pytest.raises(ValueError, match=message):
        make_display(6, 7).plot(ax)
    assert figure.axes == [ax]  # nothing was drawn
