import pytest

from lann.plot import EmbeddingDisplay


@pytest.mark.parametrize(("n_classes", "n_panels"), [(2, 1), (7, 6), (7, 7), (40, 1), (40, 6)])
def test_every_class_has_its_own_marker_in_the_legend(make_clusters, n_classes, n_panels):
    coordinates, labels = make_clusters(n_classes)
    names = [f"object {k}" for k in range(n_classes)]
    display = EmbeddingDisplay([coordinates] * n_panels, [labels] * n_panels, class_names=names).plot()
    (legend,) = [ax.get_legend() for ax in display.figure_.axes if ax.get_legend()]
    markers = {(handle.get_marker(), handle.get_markerfacecolor()) for handle in legend.legend_handles}
    assert len(markers) == n_classes
    if n_classes <= 7:
        assert len({shape for shape, _ in markers}) == len({color for _, color in markers}) == n_classes
    display.figure_.canvas.draw()
    assert display.figure_.bbox.contains(*legend.get_window_extent().p0 + 1)
    assert display.figure_.bbox.contains(*legend.get_window_extent().p1 - 1)


def test_legend_is_in_the_empty_corner_of_the_panels(make_clusters):
    coordinates, labels = make_clusters(2)
    display = EmbeddingDisplay([coordinates] * 7, [labels] * 7).plot()
    display.figure_.canvas.draw()
    (corner,) = [ax for ax in display.figure_.axes if ax.get_legend()]
    assert corner.get_window_extent().y0 == pytest.approx(display.axes_[-1].get_window_extent().y0, abs=3)


@pytest.mark.parametrize("n_panels", [1, 2])
def test_similar_class_names_remain_different(make_clusters, legend_texts, n_panels):
    names = [f"class number {number} long name" for number in (10, 20, 30)]
    coordinates, labels = make_clusters(3)
    display = EmbeddingDisplay([coordinates] * n_panels, [labels] * n_panels, class_names=names).plot()
    (texts,) = legend_texts(display.figure_)
    assert [text.split("0")[0][-1] for text in texts] == ["1", "2", "3"]
