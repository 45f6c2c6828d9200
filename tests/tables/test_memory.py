from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from lann.tables import _reading, rows_in_memory, write_table
from lann.tables._reading import open_table
from lann.tables._table_file import FileOptions


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(20_000, 10))).rename(columns="x{}".format)
    frame["y"] = np.arange(20_000) % 2
    write_table(frame, folder / "t.parquet")
    write_table(frame, folder / "t.csv")
    write_table(frame, folder / "t.csv.gz")
    return folder


def test_the_number_of_rows_follows_from_the_memory(paths):
    assert rows_in_memory(paths / "t.parquet", memory="2 GB") == (None, "")
    half, reason = rows_in_memory(paths / "t.parquet", memory="170MB")
    assert 5_000 < half < 15_000
    needed = int(re.search(r"about (\d+) MB of memory, of which 170 MB may be taken$", reason)[1])
    assert rows_in_memory(paths / "t.parquet", memory=f"{needed - 1}MB")[0] < 20_000
    assert rows_in_memory(paths / "t.parquet", memory=f"{needed + 1}MB")[0] is None


def test_a_fit_without_cross_validation_takes_less(paths):
    limits = [rows_in_memory(paths / "t.parquet", memory="100MB", n_folds=n)[0] for n in (0, 3, 5, 10)]
    assert limits == sorted(set(limits), reverse=True)
    assert limits[0] > 1.5 * limits[2]
    with pytest.raises(ValueError, match="n_folds"):
        rows_in_memory(paths / "t.parquet", n_folds=-1)


@pytest.mark.parametrize(("end", "tolerance"), [("csv", 0.05), ("csv.gz", 1.0)])
def test_the_rows_of_text_are_estimated(end, tolerance, paths):
    n_rows = open_table(paths / f"t.{end}", FileOptions()).n_rows_estimated
    assert abs(n_rows - 20_000) < tolerance * 20_000
    # Cells of text take more memory than numbers.
    text, numbers = (rows_in_memory(paths / f"t.{name}", memory="100MB")[0] for name in (end, "parquet"))
    assert text < numbers


def test_the_available_memory_is_the_default(paths, monkeypatch):
    monkeypatch.setattr(_reading, "available_memory", lambda: 120_000_000)
    assert rows_in_memory(paths / "t.parquet") == rows_in_memory(paths / "t.parquet", memory="120MB")
    monkeypatch.setattr(_reading, "available_memory", lambda: 1000)
    assert rows_in_memory(paths / "t.parquet")[0] == _reading.FEWEST_ROWS
    monkeypatch.undo()
    assert _reading.available_memory() > 1 << 20


def test_files_that_are_read_as_a_whole_have_no_limit():
    assert rows_in_memory("-") == rows_in_memory("t.xlsx") == (None, "")
    with pytest.raises(ValueError, match="cannot be limited for -, which is read as a whole"):
        rows_in_memory("-", memory="2GB")


@pytest.mark.parametrize("size", ["much", "-1GB", "0", "2 PBB", ""])
def test_invalid_sizes_are_errors(size, paths):
    with pytest.raises(ValueError, match="must be a size such as 2GB"):
        rows_in_memory(paths / "t.parquet", memory=size)


def test_too_little_memory_is_an_error(paths):
    with pytest.raises(ValueError, match="A memory of 10 MB is too little for 500 rows"):
        rows_in_memory(paths / "t.parquet", memory="10MB")
