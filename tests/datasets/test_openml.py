from dataclasses import replace
from http.client import IncompleteRead

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from lann.datasets.file_sets import FILE_SETS
from lann.datasets.openml import download, label_names


def test_the_delivery_gets_the_names_of_the_files(openml, tiny_set, tiny_frame):
    openml.data = tiny_frame[["height", "width"]].rename(columns={"height": "a01", "width": "a02"})
    openml.target = tiny_frame["target"].str.upper().astype("category")
    frame = download(tiny_set)
    assert list(frame.columns) == ["height", "width", "target"]
    assert frame["target"].tolist() == tiny_frame["target"].tolist()
    np.testing.assert_array_equal(frame["height"], tiny_frame["height"])
    assert [call["data_id"] for call in openml.calls] == [59]


@pytest.mark.parametrize("dtype", ["category", "float64", "int64"])
def test_numbered_classes_are_recognized_by_their_size(openml, tiny_set, tiny_frame, dtype):
    openml.data = tiny_frame[["height", "width"]]
    numbers = tiny_frame["target"].map({"good": "1", "Bad": "2"})
    openml.target = numbers.astype(dtype)
    assert download(tiny_set)["target"].tolist() == tiny_frame["target"].tolist()


def test_a_column_that_numbers_the_rows_is_left_out(openml, tiny_set, tiny_frame):
    openml.data = tiny_frame[["height", "width"]].assign(ID=range(5))[["ID", "height", "width"]]
    openml.target = tiny_frame["target"]
    assert list(download(tiny_set).columns) == ["height", "width", "target"]


def test_labels_of_one_size_need_their_names(tiny_set):
    even = replace(tiny_set, class_sizes={"Bad": 2, "good": 2})
    assert label_names({"bad": 2, "GOOD": 2}, even, "OpenML") == {"bad": "Bad", "GOOD": "good"}
    with pytest.raises(ValueError, match="expected the class sizes"):
        label_names({"1": 2, "2": 2}, even, "OpenML")


def test_right_names_with_wrong_sizes_are_refused(tiny_set):
    with pytest.raises(ValueError, match=r"found \{'Bad': 1, 'good': 4\}"):
        label_names({"Bad": 1, "good": 4}, tiny_set, "OpenML")


def test_the_wrong_number_of_features_is_refused(openml, tiny_set, tiny_frame):
    openml.data, openml.target = tiny_frame[["height"]], tiny_frame["target"]
    with pytest.raises(
        ValueError, match=r"OpenML data set 59 does not hold 'ionosphere': expected 2 .* found 1"
    ):
        download(tiny_set)


def test_missing_values_are_refused(openml, tiny_set, tiny_frame):
    openml.data = tiny_frame[["height", "width"]].mask(tiny_frame[["height", "width"]] == 4.0)
    openml.target = tiny_frame["target"]
    with pytest.raises(ValueError, match="missing values"):
        download(tiny_set)


def test_text_among_the_features_is_refused(openml, tiny_set, tiny_frame):
    openml.data = tiny_frame[["height"]].assign(width=list("abcde"))
    openml.target = tiny_frame["target"]
    with pytest.raises(ValueError, match="does not hold 'ionosphere'"):
        download(tiny_set)


@pytest.mark.parametrize(
    "failure", [TimeoutError("too slow"), IncompleteRead(b"half"), ValueError("md5 checksum does not match")]
)
def test_whatever_goes_wrong_on_the_way_is_one_kind_of_error(monkeypatch, tiny_set, failure):
    def fail(**kwargs):
        raise failure

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    with pytest.raises(OSError, match=f"OpenML data set 59: {type(failure).__name__}") as error:
        download(tiny_set)
    assert error.value.__cause__ is failure


@pytest.mark.parametrize(
    ("name", "spell"),
    [
        ("gamma-telescope", str),
        ("image-segmentation", str.lower),
        ("ionosphere", str),
        ("letter-recognition", str),
        ("pen-digits", str),
        # Numbered from 1, in an order of OpenML's own.
        (
            "robot-navigation",
            lambda label: str(1 + sorted(FILE_SETS["robot-navigation"].class_sizes).index(label)),
        ),
        ("usps", lambda label: str(1 + int(label))),
    ],
)
def test_each_set_is_recognized_by_its_classes(deliver, name, spell):
    file_set = replace(FILE_SETS[name], columns=("a", "b"))
    service = deliver(file_set, spell)
    frame = download(file_set)
    assert frame["target"].value_counts().to_dict() == dict(file_set.class_sizes)
    expected = [label for label, size in file_set.class_sizes.items() for _ in range(size)]
    assert frame["target"].tolist() == expected
    pd.testing.assert_frame_equal(frame[["a", "b"]], service.data.set_axis(["a", "b"], axis=1))
