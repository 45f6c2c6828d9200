import itertools

import numpy as np

from lann.plot import EmbeddingDisplay


def test_names_of_many_classes_are_next_to_their_rows(make_clusters):
    coordinates, labels = make_clusters(40)
    names = [f"object {k}" for k in range(40)]
    display = EmbeddingDisplay(coordinates, labels, class_names=names).plot()
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert sorted(text.get_text() for text in display.ax_.texts) == sorted(names)
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))


def test_long_names_are_within_the_panel(make_clusters, long_class_names):
    coordinates, labels = make_clusters(30)
    display = EmbeddingDisplay(coordinates, labels, class_names=long_class_names).plot()
    display.figure_.canvas.draw()
    panel = display.ax_.get_window_extent()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert len(boxes) > 15
    assert all(panel.x0 <= box.x0 and box.x1 <= panel.x1 for box in boxes)
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))


def test_names_that_would_overlap_are_omitted(legend_texts):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(100), 10)
    names = [f"object {k}" for k in range(100)]
    display = EmbeddingDisplay(rng.normal(size=(1000, 2)), labels, class_names=names).plot()
    display.figure_.canvas.draw()
    written = [text for text in display.ax_.texts if "outside" not in text.get_text()]
    boxes = [text.get_window_extent() for text in written]
    assert not any(first.overlaps(second) for first, second in itertools.combinations(boxes, 2))
    assert 20 < len(written) < 100
    assert len(legend_texts(display.figure_)[0]) == 100
