import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lann.plot import EmbeddingDisplay


@pytest.fixture
def panels_of():
    """Panels with captions."""

    def make(n_panels, n_classes):
        rng = np.random.default_rng(0)
        labels = np.arange(20 * n_classes) % n_classes
        return EmbeddingDisplay(
            [rng.normal(size=(len(labels), 2)) for _ in range(n_panels)],
            [labels] * n_panels,
            names=[f"method {place}" for place in range(n_panels)],
            notes=["re-classified .98, held out .96"] * n_panels,
            title="Some data",
        )

    return make


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize(("n_panels", "n_classes"), [(2, 3), (6, 7), (7, 7), (6, 40)])
def test_nothing_lies_over_a_caption_where_axes_are_given(panels_of, layout, n_panels, n_classes):
    figure, ax = plt.subplots(layout=layout)  # of the usual size
    display = panels_of(n_panels, n_classes).plot(ax)
    figure.canvas.draw()
    panels = [panel.get_window_extent() for panel in display.axes_]
    lines = [text.get_window_extent() for panel in display.axes_ for text in panel.texts]
    (key,) = [own.get_legend().get_window_extent() for own in figure.axes if own.get_legend()]
    assert len(lines) >= 2 * n_panels
    assert not any(line.overlaps(panel) for line in lines for panel in panels)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(lines, 2))
    assert not any(key.overlaps(other) for other in [*panels, *lines])
    for box in [*lines, key]:
        assert figure.bbox.contains(*box.p0)
        assert figure.bbox.contains(*box.p1)
    assert min(panel.height for panel in panels) > 40


def test_panels_stay_within_the_axes_given(panels_of):
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
    place = right.get_window_extent()
    display = panels_of(6, 7).plot(right)
    figure.canvas.draw()
    for panel in display.axes_:
        box = panel.get_window_extent()
        assert place.x0 - 1 <= box.x0 < box.x1 <= place.x1 + 1
        assert place.y0 - 1 <= box.y0 < box.y1 <= place.y1 + 1
    assert left.get_window_extent().x1 < place.x0


def test_axes_without_room_for_captions_are_refused(panels_of):
    figure, ax = plt.subplots(figsize=(3, 2.5))
    said = r"room for 2 × 3 panels .* at least 2\.\d × \d\.\d inches; got 2\.3 × 1\.9"
    with pytest.raises(ValueError, match=said):
        panels_of(6, 7).plot(ax)
    assert figure.axes == [ax]  # nothing was drawn
