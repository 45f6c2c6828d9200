import gzip
import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lann.datasets._csv_file import parse, read_verified, serialize

FILE = Path("table.csv")


def test_round_trip_is_exact(tiny_frame):
    pd.testing.assert_frame_equal(parse(serialize(tiny_frame), FILE), tiny_frame, check_dtype=False)
    np.testing.assert_array_equal(parse(serialize(tiny_frame), FILE)["height"], tiny_frame["height"])


def test_equal_tables_give_equal_bytes(tiny_frame):
    content = serialize(tiny_frame)
    assert content == serialize(tiny_frame.copy())
    # Bytes 4 to 7 of a gzip file are the time of writing.
    assert content[4:8] == bytes(4)


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


def test_byte_order_mark_is_ignored():
    assert list(parse("\ufeffa,kind\n1,x\n".encode(), FILE).columns) == ["a", "target"]


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


def test_gzip_with_a_flipped_bit_raises(tiny_frame):
    content = bytearray(serialize(tiny_frame))
    content[len(content) // 2] ^= 1
    with pytest.raises(ValueError, match="is damaged"):
        parse(bytes(content), FILE)


def test_verified_content_is_returned_unchanged(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    right = hashlib.sha256(b"content").hexdigest()
    assert read_verified(path, ["0" * 64, right]) == b"content"


def test_unexpected_hash_raises_with_advice(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    with pytest.raises(ValueError, match="delete it") as error:
        read_verified(path, ["0" * 64])
    for part in (str(path), "0" * 64, hashlib.sha256(b"content").hexdigest()):
        assert part in str(error.value)
