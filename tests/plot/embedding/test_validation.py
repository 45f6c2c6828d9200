import numpy as np
import pytest

from lann.plot import EmbeddingDisplay

XY = np.arange(12.0).reshape(6, 2)
LABELS = np.array([0, 1, 0, 1, 0, 1])
TWO = [XY, XY]
LINES = np.zeros((3, 2, 2))


@pytest.mark.parametrize(
    ("coordinates", "labels", "options", "message"),
    [
        ([], None, {}, "coordinates must have at least one row; got none"),
        ([XY, np.empty((0, 2))], None, {}, "coordinates must have at least one row; got none"),
        (XY * np.nan, None, {}, "coordinates must be finite; got nan"),
        ([["a", "b"]], None, {}, r"coordinates must have two numbers for each row; got \[\['a', 'b'\]\]"),
        ([[1.0, 2.0], [3.0]], None, {}, "coordinates must have two numbers for each row"),
        (XY[:, :1], None, {}, r"must have 2 dimensions to be drawn; got shape \(6, 1\)"),
        (XY, None, {"new_coordinates": [[0.0, np.inf]]}, "new_coordinates must be finite; got inf"),
        (XY, None, {"new_coordinates": np.empty((0, 2))}, "new_coordinates must have at least one row"),
        (XY, list("ababab"), {}, "labels must be indices into class_names, integers from 0; got 'a'"),
        (XY, LABELS + 0.5, {}, "labels must be indices into class_names, integers from 0; got 0.5"),
        (XY, LABELS == 1, {}, "labels must be indices into class_names, integers from 0; got False"),
        (XY, LABELS - 1, {}, "labels must be indices into class_names, integers from 0; got -1"),
        (XY, LABELS[:5], {}, r"labels must have shape \(6,\), one value per row; got \(5,\)"),
        (XY, LABELS, {"class_names": ["a"]}, "class_names must have 2 names, one per class; got 1"),
        (XY, None, {"new_labels": LABELS}, r"new_labels must have shape \(0,\), one value per row"),
        (TWO, LABELS, {}, "labels must be a list with one item for each of 2 panels; got one ndarray"),
        (TWO, [LABELS], {}, "labels must be a list with one item for each of 2 panels; got a list of 1"),
        (TWO, None, {"new_coordinates": TWO * 2}, "new_coordinates must be a list with one item for each"),
        (TWO, None, {"names": ["PCA"]}, "names must be a list with one text for each of 2 panels; got 1"),
        (XY, None, {"names": "PCA"}, "names must be a list with one text .* got 'PCA'"),
        (XY, None, {"lines": LINES}, "must be given together; got line_shares=None"),
        (XY, None, {"line_shares": [1.0]}, "must be given together; got lines=None"),
        (XY, None, {"lines": LINES, "line_shares": [1.0]}, r"got \(3, 2, 2\) and \(1,\)"),
        (
            XY,
            None,
            {"lines": LINES, "line_shares": [1.0, np.nan, 0.0]},
            "line_shares must be finite; got nan",
        ),
        (XY, None, {"values": list("ababab")}, "values without value_names must be finite numbers; got 'a'"),
        (XY, None, {"values": LABELS * np.nan}, "must be finite numbers; got nan"),
        (XY, None, {"values": LABELS, "value_names": ["a"]}, "indices into the 1 value_names; got 1"),
        (XY, None, {"values": LABELS / 2, "value_names": ["a"]}, "values must be indices into value_names"),
        (XY, None, {"value_names": ["a"]}, "value_names needs values"),
        (XY, None, {"misclassified": [True]}, r"misclassified must have shape \(6,\), one value per row"),
        (XY, None, {"misclassified": LABELS == 1, "values": LABELS}, "cannot both be shown"),
        (TWO, None, {"values": LABELS}, "values can be shown in one panel only; got 2 panels"),
        (TWO, None, {"misclassified": LABELS == 1}, "misclassified can be shown in one panel only"),
        (TWO, None, {"lines": LINES, "line_shares": np.ones(3)}, "lines can be shown in one panel only"),
    ],
)
def test_invalid_parameters_raise(coordinates, labels, options, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingDisplay(coordinates, labels, **options)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_lists_and_all_integer_types_are_accepted(dtype):
    display = EmbeddingDisplay(XY.tolist(), LABELS.astype(dtype), names=("mine",)).plot()
    np.testing.assert_array_equal(display.labels[0], LABELS)
    (markers,) = display.ax_.collections
    assert len(markers.get_offsets()) == 6


def test_single_panels_can_have_no_labels_or_new_rows():
    display = EmbeddingDisplay(TWO, [None, LABELS], new_coordinates=[XY + 1, None]).plot()
    assert display.labels[0] is None
    assert [len(ax.collections) for ax in display.axes_] == [2, 1]
