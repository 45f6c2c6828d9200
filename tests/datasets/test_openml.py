from dataclasses import replace
from http.client import IncompleteRead

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from lann.datasets._openml import download, match_labels
from lann.datasets._specs import SPECS


def test_columns_and_labels_are_named_as_in_the_files(openml, tiny_spec, tiny_frame):
    openml.data = tiny_frame[["height", "width"]].rename(columns={"height": "a01", "width": "a02"})
    openml.target = tiny_frame["target"].str.upper().astype("category")
    frame = download(tiny_spec)
    assert list(frame.columns) == ["height", "width", "target"]
    assert frame["target"].tolist() == tiny_frame["target"].tolist()
    np.testing.assert_array_equal(frame["height"], tiny_frame["height"])
    assert [call["data_id"] for call in openml.calls] == [59]


@pytest.mark.parametrize("dtype", ["category", "float64", "int64"])
def test_numbered_classes_are_matched_by_their_size(openml, tiny_spec, tiny_frame, dtype):
    openml.data = tiny_frame[["height", "width"]]
    numbers = tiny_frame["target"].map({"good": "1", "Bad": "2"})
    openml.target = numbers.astype(dtype)
    assert download(tiny_spec)["target"].tolist() == tiny_frame["target"].tolist()


def test_column_of_row_numbers_is_dropped(openml, tiny_spec, tiny_frame):
    openml.data = tiny_frame[["height", "width"]].assign(ID=range(5))[["ID", "height", "width"]]
    openml.target = tiny_frame["target"]
    assert list(download(tiny_spec).columns) == ["height", "width", "target"]


def test_classes_of_equal_size_are_matched_by_name_only(tiny_spec):
    even = replace(tiny_spec, class_sizes={"Bad": 2, "good": 2})
    assert match_labels({"bad": 2, "GOOD": 2}, even, "OpenML") == {"bad": "Bad", "GOOD": "good"}
    with pytest.raises(ValueError, match="expected the class sizes"):
        match_labels({"1": 2, "2": 2}, even, "OpenML")


def test_unexpected_class_sizes_raise(tiny_spec):
    with pytest.raises(ValueError, match=r"found \{'Bad': 1, 'good': 4\}"):
        match_labels({"Bad": 1, "good": 4}, tiny_spec, "OpenML")


def test_unexpected_number_of_features_raises(openml, tiny_spec, tiny_frame):
    openml.data, openml.target = tiny_frame[["height"]], tiny_frame["target"]
    with pytest.raises(
        ValueError, match=r"OpenML data set 59 does not contain 'ionosphere': expected 2 .* found 1"
    ):
        download(tiny_spec)


def test_missing_values_raise(openml, tiny_spec, tiny_frame):
    openml.data = tiny_frame[["height", "width"]].mask(tiny_frame[["height", "width"]] == 4.0)
    openml.target = tiny_frame["target"]
    with pytest.raises(ValueError, match="missing values"):
        download(tiny_spec)


def test_text_in_the_features_raises(openml, tiny_spec, tiny_frame):
    openml.data = tiny_frame[["height"]].assign(width=list("abcde"))
    openml.target = tiny_frame["target"]
    with pytest.raises(ValueError, match="does not contain 'ionosphere'"):
        download(tiny_spec)


@pytest.mark.parametrize(
    "failure", [TimeoutError("too slow"), IncompleteRead(b"half"), ValueError("md5 checksum does not match")]
)
def test_every_failure_of_the_download_raises_oserror(monkeypatch, tiny_spec, failure):
    def fail(**kwargs):
        raise failure

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    with pytest.raises(OSError, match=f"OpenML data set 59: {type(failure).__name__}") as error:
        download(tiny_spec)
    assert error.value.__cause__ is failure


@pytest.mark.parametrize(
    ("name", "rename"),
    [
        ("gamma-telescope", str),
        ("image-segmentation", str.lower),
        ("ionosphere", str),
        ("letter-recognition", str),
        ("pen-digits", str),
        # Numbered from 1 by OpenML.
        (
            "robot-navigation",
            lambda label: str(1 + sorted(SPECS["robot-navigation"].class_sizes).index(label)),
        ),
        ("usps", lambda label: str(1 + int(label))),
    ],
)
def test_classes_of_every_data_set_are_matched(serve, name, rename):
    spec = replace(SPECS[name], columns=("a", "b"))
    service = serve(spec, rename)
    frame = download(spec)
    assert frame["target"].value_counts().to_dict() == dict(spec.class_sizes)
    expected = [label for label, size in spec.class_sizes.items() for _ in range(size)]
    assert frame["target"].tolist() == expected
    pd.testing.assert_frame_equal(frame[["a", "b"]], service.data.set_axis(["a", "b"], axis=1))
