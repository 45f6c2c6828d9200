from types import SimpleNamespace

import numpy as np
import pytest

from lann.plot import EmbeddingDisplay


@pytest.mark.parametrize("subset", ["training", "held_out"])
def test_panels_have_names_and_accuracies_below(comparison, subset, legend_texts):
    display = EmbeddingDisplay.from_comparison(comparison, subset=subset, title="Iris")
    assert display.names == ["PCA", "LDA", "GMLVQ"]
    for panel, ax, note in zip(comparison.panels, display.axes_, display.notes, strict=True):
        leave_one_out, held_out = (f"{a:.2f}"[1:] for a in (panel.accuracy, panel.held_out_accuracy))
        assert note == f"leave-one-out {leave_one_out}, held-out {held_out}"
        assert [text.get_text() for text in ax.texts] == [panel.name, note]
    (entries,) = legend_texts(display.figure_)  # one for all panels
    assert sorted(entries) == ["0", "1", "2"] + ["training row (pale)"] * (subset == "held_out")
    if subset == "held_out":
        np.testing.assert_array_equal(display.new_coordinates[2], comparison["GMLVQ"].held_out_coordinates)
    else:
        assert display.new_coordinates == [None] * 3


def test_captions_are_between_the_panels_and_the_legend(comparison):
    display = EmbeddingDisplay.from_comparison(comparison)
    display.figure_.canvas.draw()
    assert len({tuple(np.round(ax.get_window_extent().size)) for ax in display.axes_}) == 1
    bottom = display.axes_[0].get_window_extent().y0
    name, note = (text.get_window_extent() for text in display.axes_[0].texts)
    legend = next(ax for ax in display.figure_.axes if ax.get_legend()).get_legend().get_window_extent()
    assert bottom >= name.y1 > name.y0 >= note.y1 - 1 > note.y0 >= legend.y1 - 1 > legend.y0 >= -1


def test_labels_of_panels_become_class_indices(make_clusters):
    coordinates, labels = make_clusters(2)
    panel = SimpleNamespace(
        name="mine", coordinates=coordinates, labels=np.array(["b", "a"])[labels], held_out_coordinates=None,
        held_out_labels=None, accuracy=None, held_out_accuracy=None,
    )  # fmt: skip
    display = EmbeddingDisplay.from_comparison(SimpleNamespace(panels=[panel] * 7))
    assert display.notes == [""] * 7
    assert display.class_names == ["a", "b"]
    np.testing.assert_array_equal(display.labels[0], 1 - labels)
    with pytest.raises(ValueError, match="needs held-out rows in every panel"):
        EmbeddingDisplay.from_comparison(SimpleNamespace(panels=[panel]), subset="held_out")


def test_comparison_without_panels_raises():
    with pytest.raises(ValueError, match="comparison must have at least one panel; got none"):
        EmbeddingDisplay.from_comparison(SimpleNamespace(panels=[]))
