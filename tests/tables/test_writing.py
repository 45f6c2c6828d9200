"""Files that are written: read by every program as they were written, and computed by none."""

import csv
import io
import os
import sys

import numpy as np
import pandas as pd
import pytest

from lann.tables import check_table_path, read_table, write_table

FORMATS = (".csv", ".csv.gz", ".parquet")
# Characters at which some program ends a line, or a cell.
BREAKS = ["\r", "\n", "\r\n", "\u2028", "\x85", "\x0b", ",", '"', ";"]
TEXTS = [text for mark in BREAKS for text in (f"a{mark}b", f"{mark}b", f"a{mark}", f"x{mark}{mark}'y'")]
FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-1+cmd", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-", "="]
HARMLESS = ["a=b", "-1.5", "+3", "-1,5", "-1e-05", "-20%", "x", "", "a@b", "'=1", " a"]


def read_by_csv(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_every_program_reads_the_rows_that_were_written(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "n\rr": range(len(TEXTS)), "last": TEXTS[::-1]})
    write_table(frame, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_bytes().decode()
    expected = [[a, str(n), b] for a, n, b in frame.itertuples(index=False)]
    assert read_by_csv(text) == [["text", "n\rr", "last"], *expected]
    assert pd.read_csv(tmp_path / "t.csv", dtype=str, keep_default_na=False).to_numpy().tolist() == expected
    ours = read_table(tmp_path / "t.csv")
    expected = [[cell.replace("\r\n", "\n").replace("\r", "\n") for cell in row] for row in expected]
    assert ours.astype(str).to_numpy().tolist() == expected  # line breaks are those of Python


def test_formulas_become_texts_if_asked_for(tmp_path):
    texts = FORMULAS + HARMLESS
    frame = pd.DataFrame({"=name": texts, "number": [-1.0] * len(texts)})
    write_table(frame, tmp_path / "safe.csv", guard_formulas=True)
    header, *rows = read_by_csv((tmp_path / "safe.csv").read_bytes().decode())
    assert header == ["'=name", "number"]
    assert [text for text, _ in rows] == [f"'{text}" for text in FORMULAS] + HARMLESS
    assert {number for _, number in rows} == {"-1.0"}
    write_table(frame, tmp_path / "plain.csv")
    assert [text for text, _ in read_by_csv((tmp_path / "plain.csv").read_bytes().decode())[1:]] == texts
    write_table(frame, tmp_path / "typed.parquet", guard_formulas=True)
    assert pd.read_parquet(tmp_path / "typed.parquet").equals(frame)


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
def test_what_is_no_text_is_a_sentence(name, tmp_path):
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(ValueError, match=rf"{name} cannot be written as CSV: a text has a NUL character"):
        write_table(pd.DataFrame({"x": ["a\0b"]}), tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_read(format, frame, tmp_path):
    path = tmp_path / f"table{format}"
    write_table(frame, path)
    found = read_table(path)
    assert list(found.columns) == list(frame.columns)
    np.testing.assert_allclose(found["size [cm]"].astype(float), frame["size [cm]"])
    assert found["color"].fillna("").tolist() == frame["color"].fillna("").tolist()


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
