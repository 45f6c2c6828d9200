from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lann.tables import _reading, table_size, write_table


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
    half, all_rows = (table_size(paths / "t.parquet", memory=size) for size in ("170MB", "2 GB"))
    assert all_rows.fits
    assert all_rows.n_fitting == all_rows.n_rows == 20_000
    assert not half.fits
    assert 5_000 < half.n_fitting < 15_000
    assert half.n_bytes > half.memory == 170_000_000


def test_a_fit_without_cross_validation_takes_less(paths):
    sizes = [table_size(paths / "t.parquet", memory="170MB", n_folds=n) for n in (0, 3, 5, 10)]
    needed = [size.n_bytes for size in sizes]
    assert needed == sorted(set(needed))
    assert sizes[0].n_fitting > 1.5 * sizes[2].n_fitting
    with pytest.raises(ValueError, match="n_folds"):
        table_size(paths / "t.parquet", n_folds=-1)


@pytest.mark.parametrize(("end", "tolerance"), [("csv", 0.05), ("csv.gz", 1.0)])
def test_the_rows_of_text_are_estimated(end, tolerance, paths):
    size = table_size(paths / f"t.{end}", memory="2GB")
    assert abs(size.n_rows - 20_000) < tolerance * 20_000
    # Cells of text take more memory than numbers.
    assert size.n_bytes / size.n_rows > table_size(paths / "t.parquet", memory="2GB").n_bytes / 20_000


def test_the_available_memory_is_the_default(paths, monkeypatch):
    monkeypatch.setattr(_reading, "available_memory", lambda: 120_000_000)
    assert table_size(paths / "t.parquet").memory == 120_000_000
    monkeypatch.setattr(_reading, "available_memory", lambda: 1000)
    assert table_size(paths / "t.parquet").n_fitting == _reading.FEWEST_ROWS
    monkeypatch.undo()
    assert _reading.available_memory() > 1 << 20


@pytest.mark.parametrize("size", ["much", "-1GB", "0", "2 PBB", ""])
def test_invalid_sizes_are_errors(size, paths):
    with pytest.raises(ValueError, match="must be a size such as 2GB"):
        table_size(paths / "t.parquet", memory=size)


def test_too_little_memory_is_an_error(paths):
    with pytest.raises(ValueError, match="A memory of 10 MB is too little for 500 rows"):
        table_size(paths / "t.parquet", memory="10MB")
