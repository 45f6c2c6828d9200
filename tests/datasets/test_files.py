"""Data sets in files: reading, verification, download and cache."""

from __future__ import annotations

import gzip
import hashlib
import os
from dataclasses import replace
from http.client import IncompleteRead
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from lann.datasets._files import (
    download,
    match_labels,
    parse,
    read_adrenal,
    read_paper_file,
    read_verified,
    serialize,
)
from lann.datasets._specs import SPECS

FILE = Path("table.csv")


def test_round_trip_is_exact(tiny_frame):
    pd.testing.assert_frame_equal(parse(serialize(tiny_frame), FILE), tiny_frame, check_dtype=False)
    np.testing.assert_array_equal(parse(serialize(tiny_frame), FILE)["height"], tiny_frame["height"])


def test_plain_text_and_gzip_give_the_same_table():
    text = b"a,b,kind\n1,2,x\n3,4,y\n"
    pd.testing.assert_frame_equal(parse(text, FILE), parse(gzip.compress(text), FILE))


def test_features_are_numbers_and_labels_are_text():
    frame = parse(b"a,b,kind\n1,2,01\n3,4,NA\n", FILE)
    assert frame["target"].tolist() == ["01", "NA"]
    assert list(frame.columns) == ["a", "b", "target"]
    assert (frame.dtypes.iloc[:2] == np.float64).all()


def test_missing_cells_are_nan():
    np.testing.assert_array_equal(parse(b"a,kind\n1,x\n,x\nNA,x\nnan,y\n", FILE)["a"], [1.0, *[np.nan] * 3])


def test_quotes_line_ends_and_blank_lines():
    frame = parse(b'"width, cm",kind\r\n1,"x, y"\r\n\r\n2,z\r\n', FILE)
    assert list(frame.columns) == ["width, cm", "target"]
    assert frame["target"].tolist() == ["x, y", "z"]


def test_numbers_are_parsed_exactly():
    number = "0.30000000000000004"
    assert parse(f"a,kind\n{number},x\n".encode(), FILE)["a"].iloc[0] == float(number)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"needs a header row.*0 column"),
        (b"a;kind\n1;x\n", r"separated by commas.*1 column"),
        (b"1.5,2,x\n3,4,y\n", "no header row"),
        (b"target,kind\n1,x\n", "must be unique and not 'target'"),
        (b"a,a,kind\n1,2,x\n", "must be unique.*found a, a, kind"),
        (b"a,kind\n", "a header row and no other rows"),
        (b"a,kind\n1,x\n2, \n", "line 3: the last cell, the class, is empty"),
        (b"a,b,kind\n1,2,x\n1,2\n", "line 3: expected 3 cells.*found 2"),
        (b"a,kind\n1,x,extra\n2,y,extra\n", "line 2: expected 2 cells.*found 3"),
        (b"a,b,kind\n1,tall,x\n", "line 2: features must be numbers.*tall"),
        (b'a,kind\n1,"' + b"x" * 200_000, "not comma-separated text"),
        (b"\xff\xfea,kind\n", "is damaged"),
    ],
)
def test_invalid_content_raises_with_the_name_of_the_file(content, message):
    with pytest.raises(ValueError, match=message) as error:
        parse(content, FILE)
    assert "table.csv" in str(error.value)


@pytest.mark.parametrize("keep", [5, 30, -1])
def test_truncated_gzip_raises(tiny_frame, keep):
    with pytest.raises(ValueError, match=r"table\.csv is damaged.*complete copy"):
        parse(serialize(tiny_frame)[:keep], FILE)


def test_unexpected_hash_raises_with_advice(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    with pytest.raises(ValueError, match="delete it") as error:
        read_verified(path, ["0" * 64])
    for part in (str(path), "0" * 64, hashlib.sha256(b"content").hexdigest()):
        assert part in str(error.value)


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


def test_classes_of_equal_size_are_matched_by_name_only(tiny_spec):
    even = replace(tiny_spec, class_sizes={"Bad": 2, "good": 2})
    assert match_labels({"bad": 2, "GOOD": 2}, even, "OpenML") == {"bad": "Bad", "GOOD": "good"}
    with pytest.raises(ValueError, match="expected the class sizes"):
        match_labels({"1": 2, "2": 2}, even, "OpenML")


def test_unexpected_class_sizes_raise(tiny_spec):
    with pytest.raises(ValueError, match=r"found \{'Bad': 1, 'good': 4\}"):
        match_labels({"Bad": 1, "good": 4}, tiny_spec, "OpenML")


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


CLASS_ROWS = {
    "gamma-telescope": (6688, 12332),
    "image-segmentation": (330, 330),
    "ionosphere": (126, 225),
    "letter-recognition": (734, 813),
    "outdoor-objects": (100, 100),
    "pen-digits": (1055, 1144),
    "robot-navigation": (328, 2205),
    "usps": (708, 1553),
}


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "home" / "lann"


@pytest.fixture
def on_openml(openml, tiny_frame):
    openml.data, openml.target = tiny_frame[["height", "width"]], tiny_frame["target"]
    return openml


@pytest.fixture
def distributed(tiny_spec, tiny_frame):
    """The tiny data set with the hash of its file, and the content of that file."""
    content = serialize(tiny_frame)
    return replace(tiny_spec, sha256=hashlib.sha256(content).hexdigest()), content


@pytest.mark.parametrize("folder", ["tables/paper", "tables", "home/lann"])
def test_file_is_found_in_every_folder(distributed, tiny_frame, tmp_path, monkeypatch, folder):
    spec, content = distributed
    folder = tmp_path / folder
    folder.mkdir(parents=True)
    (folder / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "tables"))
    table = read_paper_file(spec)
    np.testing.assert_array_equal(table.data, tiny_frame[["height", "width"]])
    assert table.target.tolist() == tiny_frame["target"].tolist()
    assert table.target.dtype.kind == "U"
    assert table.target_names.tolist() == ["Bad", "good"]
    assert table.feature_names == ["height", "width"]


def test_user_folder_comes_before_the_cache(distributed, tmp_path, monkeypatch, cache):
    spec, content = distributed
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(b"never read")
    (tmp_path / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    assert read_paper_file(spec).data.shape == (5, 2)


@pytest.mark.parametrize("alter", [lambda content: content[:-9], lambda content: content + b" "])
def test_altered_file_in_the_user_folder_raises(distributed, tmp_path, monkeypatch, on_openml, alter):
    spec, content = distributed
    path = tmp_path / "ionosphere.csv.gz"
    path.write_bytes(alter(content))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"Replace it with an unaltered copy") as error:
        read_paper_file(spec)
    for part in (str(path), spec.sha256, hashlib.sha256(alter(content)).hexdigest()):
        assert part in str(error.value)
    assert on_openml.calls == []


def test_download_is_cached_and_used_again(tiny_spec, on_openml, cache):
    first = read_paper_file(tiny_spec)
    assert sorted(os.listdir(cache)) == ["ionosphere.csv.gz", "ionosphere.csv.gz.sha256"]
    recorded = (cache / "ionosphere.csv.gz.sha256").read_text().split()
    content = (cache / "ionosphere.csv.gz").read_bytes()
    assert recorded == [hashlib.sha256(content).hexdigest(), "ionosphere.csv.gz"]
    second = read_paper_file(tiny_spec, download_if_missing=False)
    assert len(on_openml.calls) == 1
    np.testing.assert_array_equal(second.data, first.data)
    np.testing.assert_array_equal(second.target, first.target)


def test_damaged_cache_raises_until_it_is_deleted(tiny_spec, on_openml, cache):
    read_paper_file(tiny_spec)
    path = cache / "ionosphere.csv.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="delete it") as error:
        read_paper_file(tiny_spec)
    assert str(path) in str(error.value)
    path.unlink()
    assert read_paper_file(tiny_spec).data.shape == (5, 2)
    assert len(on_openml.calls) == 2


@pytest.mark.parametrize("recorded", [None, "", "f" * 64])
def test_cached_file_without_a_matching_hash_raises(tiny_spec, distributed, cache, recorded):
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(distributed[1])
    if recorded is not None:
        (cache / "ionosphere.csv.gz.sha256").write_text(recorded)
    with pytest.raises(ValueError, match=f"expected {tiny_spec.sha256}"):
        read_paper_file(tiny_spec)


def test_user_file_in_the_cache_is_accepted_with_its_hash(tiny_spec, distributed, cache):
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(distributed[1])
    (cache / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(distributed[1]).hexdigest())
    assert read_paper_file(tiny_spec).data.shape == (5, 2)


def test_user_file_in_the_cache_must_contain_the_data_set(tiny_spec, tiny_frame, cache):
    content = serialize(tiny_frame.head(4))
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(content)
    (cache / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(content).hexdigest())
    with pytest.raises(ValueError, match="does not contain 'ionosphere'"):
        read_paper_file(tiny_spec)


def test_error_lists_every_source_that_was_searched(tiny_spec, cache):
    with pytest.raises(FileNotFoundError, match="'ionosphere' was not found") as error:
        read_paper_file(tiny_spec)
    for part in ("LANN_DATA: not set", f"{cache}: no ionosphere.csv.gz", "59", "no network", "a test"):
        assert part in str(error.value)


def test_download_if_missing_false_raises(tiny_spec, on_openml):
    with pytest.raises(FileNotFoundError, match="download_if_missing=False"):
        read_paper_file(tiny_spec, download_if_missing=False)
    assert on_openml.calls == []


def test_error_for_outdoor_objects_names_its_source(openml, monkeypatch, tmp_path):
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"vlosing/driftDatasets \(realWorld/outdoor") as error:
        read_paper_file(SPECS["outdoor-objects"])
    assert str(tmp_path / "nowhere" / "paper") in str(error.value)
    assert openml.calls == []


def test_image_segmentation_drops_columns_after_reading(serve, cache):
    spec = SPECS["image-segmentation"]
    service = serve(spec, str.lower)
    for table in (read_paper_file(spec), read_paper_file(spec)):
        np.testing.assert_array_equal(table.data, service.data.drop(columns=["V3", "V4", "V5"]))
        assert table.feature_names[:3] == ["region-centroid-col", "region-centroid-row", "vedge-mean"]
        assert set(table.target) == set(spec.class_sizes)
    assert len(service.calls) == 1
    assert "region-pixel-count" in table.description


@pytest.mark.data
@pytest.mark.parametrize("name", SPECS)
def test_real_files_have_the_sizes_of_the_paper(paper_files, name):
    spec = SPECS[name]
    table = read_paper_file(spec, download_if_missing=False)
    assert table.data.shape == (spec.n_samples, len(spec.kept))
    assert np.isfinite(table.data).all()
    labels, rows = np.unique(table.target, return_counts=True)
    assert (rows.min(), rows.max()) == CLASS_ROWS[name]
    np.testing.assert_array_equal(labels, table.target_names)


CONTENT = b"cortisol,dhea,diagnosis\n1.5,2,ACA\n2.5,,ACC\n3.5,4,ACA\n"


def test_reads_the_given_file(tmp_path):
    path = tmp_path / "steroids.csv"
    path.write_bytes(CONTENT)
    table = read_adrenal(path=path)
    np.testing.assert_array_equal(table.data, [[1.5, 2], [2.5, np.nan], [3.5, 4]])
    assert table.target.tolist() == ["ACA", "ACC", "ACA"]
    assert table.target_names.tolist() == ["ACA", "ACC"]
    assert table.feature_names == ["cortisol", "dhea"]
    assert "3 rows, 2 features, 2 classes" in table.description


@pytest.mark.parametrize(
    ("file_name", "content"),
    [
        ("tables/adrenal.csv", CONTENT),
        ("tables/paper/adrenal.csv.gz", gzip.compress(CONTENT, mtime=0)),
        ("home/lann/adrenal.csv", CONTENT),
    ],
)
def test_finds_the_file_in_the_folders(tmp_path, monkeypatch, file_name, content):
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "tables"))
    path = tmp_path / file_name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert read_adrenal().data.shape == (3, 2)


def test_error_without_a_file_says_that_the_data_are_not_public(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"patient data that is not public.*pass path=") as error:
        read_adrenal()
    assert "LANN_DATA: not set" in str(error.value)
    assert str(tmp_path / "home" / "lann") in str(error.value)


def test_error_names_the_given_file_if_it_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        read_adrenal(path=tmp_path / "nowhere.csv")
