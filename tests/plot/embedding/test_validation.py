from types import SimpleNamespace

import numpy as np
import pytest

from lann.plot import EmbeddingDisplay

PLACES = np.arange(12.0).reshape(6, 2)
LABELS = np.array([0, 1, 0, 1, 0, 1])
TWO = [PLACES, PLACES]
LINES = np.zeros((3, 2, 2))


@pytest.mark.parametrize(
    ("places", "labels", "more", "said"),
    [
        ([], None, {}, "places must have at least one point; got none"),
        (np.empty((0, 2)), None, {}, "places must have at least one point; got none"),
        ([PLACES, np.empty((0, 2))], None, {}, "places must have at least one point; got none"),
        (PLACES * np.nan, None, {}, "places must be finite; got nan"),
        ([["a", "b"]], None, {}, r"places must be two numbers for each point; got \[\['a', 'b'\]\]"),
        ([[1.0, 2.0], [3.0]], None, {}, "places must be two numbers for each point"),
        (PLACES[:, :1], None, {}, r"drawn in 2 dimensions; got places of shape \(6, 1\)"),
        (PLACES, None, {"new_places": [[0.0, np.inf]]}, "new_places must be finite; got inf"),
        (PLACES, None, {"new_places": np.empty((0, 2))}, "new_places must have at least one point"),
        (PLACES, list("ababab"), {}, "labels must be places in class_names, integers from 0 on; got 'a'"),
        (PLACES, LABELS + 0.5, {}, "labels must be places in class_names, integers from 0 on; got 0.5"),
        (PLACES, LABELS == 1, {}, "labels must be places in class_names, integers from 0 on; got False"),
        (PLACES, LABELS - 1, {}, "labels must be places in class_names, integers from 0 on; got -1"),
        (PLACES, LABELS[:5], {}, r"labels must be one for each of 6 points; got \(5,\)"),
        (PLACES, None, {"new_labels": LABELS}, r"new_labels must be one for each of 0 points; got \(6,\)"),
        (TWO, LABELS, {}, "labels must be a list with one for each of 2 panels; got one ndarray"),
        (TWO, [LABELS], {}, "labels must be a list with one for each of 2 panels; got a list of 1"),
        (TWO, None, {"new_places": TWO * 2}, "new_places must be a list with one for each of 2 panels"),
        (TWO, None, {"names": ["PCA"]}, "names must be a list with one text for each of 2 panels; got 1"),
        (PLACES, None, {"names": "PCA"}, "names must be a list with one text .* got 'PCA'"),
        (
            PLACES,
            None,
            {"notes": ["a", "b"]},
            "notes must be a list with one text for each of 1 panels; got 2",
        ),
        (PLACES, None, {"lines": LINES}, "must be given together; got line_shares=None"),
        (PLACES, None, {"line_shares": [1.0]}, "must be given together; got lines=None"),
        (PLACES, None, {"lines": LINES, "line_shares": [1.0]}, r"got \(3, 2, 2\) and \(1,\)"),
        (PLACES, None, {"lines": LINES, "line_shares": [1.0, np.nan, 0.0]}, "must be finite"),
        (
            PLACES,
            None,
            {"values": list("ababab")},
            "values without value_names must be finite numbers; got 'a'",
        ),
        (PLACES, None, {"values": LABELS * np.nan}, "must be finite numbers; got nan"),
        (PLACES, None, {"values": LABELS, "value_names": ["a"]}, "places in the 1 value_names; got 1"),
        (PLACES, None, {"values": LABELS / 2, "value_names": ["a"]}, "values must be places in value_names"),
        (PLACES, None, {"value_names": ["a"]}, "value_names need values"),
        (PLACES, None, {"wrong": [True]}, r"wrong must be one for each of 6 points; got \(1,\)"),
        (PLACES, None, {"wrong": LABELS == 1, "values": LABELS}, "values and wrong cannot both be shown"),
        (TWO, None, {"values": LABELS}, "values can be shown in one panel only; got 2 panels"),
        (TWO, None, {"wrong": LABELS == 1}, "wrong can be shown in one panel only; got 2 panels"),
        (TWO, None, {"lines": LINES, "line_shares": np.ones(3)}, "lines can be shown in one panel only"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(places, labels, more, said):
    with pytest.raises(ValueError, match=said):
        EmbeddingDisplay(places, labels, **more)


def test_a_comparison_has_panels():
    with pytest.raises(ValueError, match="comparison must have at least one panel; got none"):
        EmbeddingDisplay.from_comparison(SimpleNamespace(panels=[]))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
def test_labels_of_any_integers_and_lists_are_fine(kind):
    display = EmbeddingDisplay(PLACES.tolist(), LABELS.astype(kind), names=("mine",)).plot()
    np.testing.assert_array_equal(display.labels[0], LABELS)
    (points,) = display.ax_.collections
    assert len(points.get_offsets()) == 6


def test_a_panel_may_lack_labels():
    display = EmbeddingDisplay(TWO, [None, LABELS], new_places=[PLACES + 1, None]).plot()
    assert display.labels[0] is None
    assert [len(ax.collections) for ax in display.axes_] == [2, 1]
