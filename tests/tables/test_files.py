import gzip
import os
import sys

import numpy as np
import pandas as pd
import pytest

from lann.tables import check_table_path, read_table, write_table

FORMATS = (".csv", ".csv.gz", ".parquet")


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_read(format, frame, tmp_path):
    path = tmp_path / f"table{format}"
    write_table(frame, path)
    found = read_table(path)
    assert list(found.columns) == list(frame.columns)
    np.testing.assert_allclose(found["size [cm]"].astype(float), frame["size [cm]"])
    assert found["color"].fillna("").tolist() == frame["color"].fillna("").tolist()


def test_cells_of_csv_files_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n007,None\n?,NA\n")
    frame = read_table(tmp_path / "t.csv")
    assert frame.iloc[0].tolist() == ["007", "None"]
    assert frame.iloc[1].isna().all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,y\n", "has no rows"),
        ("a,a,y\n1,2,x\n", "more than one column 'a'"),
        ("a, a,y\n1,2,x\n", "more than one column 'a'"),
        ("a,y\n1,u\n2,v,5,6\n", r"Line 3 of .*data\.csv has 4 cells, but the header has 2\."),
        ('a,y\n"1\n\n",u\n2\n', r"Line 5 of .* has 1 cell, but the header has 2\."),
        ("a,y\n1,u,3\n2,v,3\n", r"Line 2 of .* has 3 cells, but the header has 2\."),
        ('a,y\n"1",u\n"2,v\n3,w\n', "Line 3 of .* has a quote that is not closed"),
        ('a,y\n"1"x,u\n"2",v\n', "Line 2 of .* has text after a closing quote"),
        ("a,y\n1,u\n2,\0\n", "NUL character in line 3"),
        ("a,y\n\xff\x01,u\n", "is not text"),
        ("\x89PNG\r\n\x1a\n", "it is an image"),
        ("PK\x03\x04abc", "it is an Excel or zip file"),
    ],
    ids=range(14),
)
def test_invalid_csv_files(content, message, tmp_path):
    (tmp_path / "data.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "data.csv")


def test_an_invalid_byte_in_utf8(tmp_path):
    (tmp_path / "data.csv").write_bytes("a,y\näö,ü\né,ß\n".encode() + b"\xff,1\n")
    with pytest.raises(ValueError, match="text in UTF-8, but line 4 has an invalid byte"):
        read_table(tmp_path / "data.csv")
    assert len(read_table(tmp_path / "data.csv", encoding="latin-1")) == 3


def test_other_invalid_files(tmp_path):
    for name in ("data.xls", "data.xlsx", "data.parquet", "data.csv.gz", "data.jsonl.gz"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match=r"unknown format; .* ends in \.csv, \.csv\.gz, .* or \.ndjson"):
        read_table(tmp_path / "data.xls")
    with pytest.raises(ValueError, match="not a complete Excel file"):
        read_table(tmp_path / "data.xlsx")
    with pytest.raises(ValueError, match="not a complete Parquet file"):
        read_table(tmp_path / "data.parquet")
    for name in ("data.csv.gz", "data.jsonl.gz"):
        with pytest.raises(ValueError, match="is damaged: it is not compressed with gzip"):
            read_table(tmp_path / name)
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(b"a,y\n1,2\n" * 100)[:-20])
    with pytest.raises(ValueError, match="is damaged"):
        read_table(tmp_path / "data.csv.gz")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path / "folder.csv")


def test_paths_are_checked_before_the_work(tmp_path, monkeypatch):
    check_table_path(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="unknown format"):
        check_table_path(tmp_path / "t.xlsx")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        check_table_path(tmp_path / "none" / "t.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"needs pyarrow, .*: pip install 'lann\[parquet\]'"):
        check_table_path(tmp_path / "t.parquet")


@pytest.mark.parametrize("format", FORMATS)
def test_a_failed_write_leaves_nothing(format, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device", "out")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / f"out{format}")
    assert os.listdir(tmp_path) == []
