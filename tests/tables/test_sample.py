"""Samples of tables in files, which are read block by block."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from lann.tables import Reading, TrainingTable, _table_file, sample_table, write_table

N_ROWS = 4000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_table_file, "BLOCK_ROWS", 300)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=N_ROWS),
            "count": rng.integers(0, 9, N_ROWS),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], N_ROWS),
            "grade": pd.Categorical(rng.choice(list("ABC"), N_ROWS)),
            "day": pd.date_range("2020-01-01", periods=N_ROWS, freq="D"),
            "gaps": np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.normal(size=N_ROWS)),
            "state": np.where(rng.random(N_ROWS) < 0.3, "fault", "ok"),
        }
    )
    frame.loc[[5, 1700], "state"] = "rare"
    return frame


@pytest.fixture(scope="module")
def paths(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    table.to_parquet(folder / "table.parquet", row_group_size=700)
    table.to_csv(folder / "table.csv", index=False)
    table.to_csv(folder / "table.csv.gz", index=False)
    table.astype({"day": str}).to_json(folder / "table.jsonl", orient="records", lines=True)
    return folder


@pytest.mark.parametrize("format", ["parquet", "csv", "csv.gz", "jsonl"])
def test_the_rows_are_those_of_the_whole_table(format, paths, table):
    path = paths / f"table.{format}"
    reading = sample_table(path, "state", 500)
    whole = Reading.from_file(path)
    assert len(reading.row_numbers) == 500
    assert reading.n_file_rows == N_ROWS
    assert np.all(np.diff(reading.row_numbers) > 0)
    expected = whole.frame.iloc[reading.row_numbers].reset_index(drop=True)
    pd.testing.assert_frame_equal(reading.frame, expected)
    assert reading.frame.attrs == whole.frame.attrs
    assert reading.sha256 == whole.sha256


def test_formats_have_the_same_sample(paths):
    numbers = [
        sample_table(paths / f"table.{end}", "state", 300).row_numbers for end in ("parquet", "csv", "jsonl")
    ]
    assert all(np.array_equal(numbers[0], others) for others in numbers)
    assert not np.array_equal(
        numbers[0], sample_table(paths / "table.csv", "state", 300, random_state=1).row_numbers
    )


def test_the_sample_is_uniform_with_some_rows_of_every_class(paths, table):
    drawn = [sample_table(paths / "table.parquet", "state", 400, random_state=seed) for seed in range(5)]
    shares = [(reading.frame["state"] == "fault").mean() for reading in drawn]
    assert abs(np.mean(shares) - 0.3) < 0.03
    assert all((reading.frame["state"] == "rare").sum() == 2 for reading in drawn)
    mean_rows = np.mean([reading.row_numbers.mean() for reading in drawn])
    assert abs(mean_rows / N_ROWS - 0.5) < 0.03


def test_a_model_knows_the_rows_by_their_position_in_the_file(paths, table):
    reading = sample_table(paths / "table.parquet", "state", 300)
    training = TrainingTable.from_frame(reading.frame, "state", row_numbers=reading.row_numbers)
    assert [column.kind for column in training.columns] == [
        "number", "number", "category", "category", "date", "number",
    ]  # fmt: skip
    assert np.array_equal(training.row_numbers, reading.row_numbers)
    assert training.rows.index.tolist() == reading.row_numbers.tolist()
    with pytest.raises(ValueError, match="row_numbers must be 300 ascending integers"):
        TrainingTable.from_frame(reading.frame, "state", row_numbers=reading.row_numbers[::-1])


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_rows_without_a_label_are_left_out(end, table, tmp_path, table_warnings):
    frame = table.copy()
    frame.loc[frame.index % 4 == 0, "state"] = None
    write_table(frame, tmp_path / f"gaps.{end}")
    reading, texts = table_warnings(sample_table, tmp_path / f"gaps.{end}", "state", 600)
    assert texts == ["1,000 rows have no 'state' and are left out."]
    assert (reading.row_numbers % 4 > 0).all()
    assert reading.frame["state"].notna().all()


def test_progress_is_reported(paths):
    calls = []
    sample_table(
        paths / "table.parquet", "state", 100, callback=lambda done, total: calls.append((done, total))
    )
    assert calls[-1] == (2 * N_ROWS, 2 * N_ROWS)
    assert calls == sorted(calls)


@pytest.mark.parametrize("end", ["csv", "csv.gz"])
@pytest.mark.parametrize(
    ("first", "late", "encoding"),
    [
        ("Ulm", "Köln", "latin-1"),
        ("Ulm", "5 €", "cp1252"),
        ("Köln", "5 €", "cp1252"),
        ("Köln", "5 €", "utf-8"),
    ],
)
def test_the_encoding_is_that_of_the_whole_file(first, late, encoding, end, tmp_path):
    cells = [first, *["Bonn"] * 997, late, "Kiel"]
    content = "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))
    content = content.encode(encoding)
    path = tmp_path / f"t.{end}"
    content = b"city,state\n" + content
    path.write_bytes(gzip.compress(content) if end == "csv.gz" else content)
    reading, whole = sample_table(path, "state", 5000), Reading.from_file(path)
    assert reading.notes == whole.notes
    pd.testing.assert_frame_equal(reading.frame, whole.frame)


def test_invalid_bytes_of_utf8_name_the_line(tmp_path):
    lines = [b"city,state\n", *["Köln,a\n".encode()] * 5000, b"K\xf6ln,b\n", *["Köln,b\n".encode()] * 5000]
    (tmp_path / "t.csv").write_bytes(b"".join(lines))
    for read in (lambda path: sample_table(path, "state", 100), Reading.from_file):
        with pytest.raises(ValueError, match="is text in UTF-8, but line 5002 has an invalid byte"):
            read(tmp_path / "t.csv")


def test_errors_are_sentences(paths, table, tmp_path):
    with pytest.raises(ValueError, match=r"There is no column 'stat' in .*; did you mean 'state'"):
        sample_table(paths / "table.parquet", "stat", 100)
    with pytest.raises(ValueError, match=r"The target 'size' has .* different values in the first 300 rows"):
        sample_table(paths / "table.parquet", "size", 100)
    with pytest.raises(ValueError, match=r"sep is not for .*, whose format is parquet"):
        sample_table(paths / "table.parquet", "state", 100, sep=";")
    with pytest.raises(ValueError, match="not the separator"):
        sample_table(paths / "table.csv", "state", 100, sep=",", decimal=",")
    with pytest.raises(TypeError, match="unexpected keyword argument 'separator'"):
        sample_table(paths / "table.csv", "state", 100, separator=",")
    write_table(table.assign(state=None), tmp_path / "empty.csv")
    with pytest.raises(ValueError, match=r"The target 'state' is empty in every row of .*empty.csv"):
        sample_table(tmp_path / "empty.csv", "state", 100)
    with pytest.raises(ValueError, match="n_rows must be"):
        sample_table(paths / "table.csv", "state", 1)
    table[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="has no rows"):
        sample_table(tmp_path / "none.parquet", "state", 100)


def test_a_damaged_row_group_is_named(paths, tmp_path):
    import pyarrow.parquet as pq

    path = tmp_path / "damaged.parquet"
    content = bytearray((paths / "table.parquet").read_bytes())
    group = pq.read_metadata(paths / "table.parquet").row_group(3)
    for column in range(group.num_columns):
        chunk = group.column(column)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        content[start : start + 30] = b"\xff" * 30
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged: rows after row 2100 cannot be read"):
        sample_table(path, "state", 100)
    path.write_bytes(content[:5000])
    with pytest.raises(ValueError, match="is not a complete Parquet file"):
        sample_table(path, "state", 100)


def test_text_that_changes_between_row_groups_is_a_category(tmp_path):
    """Numbers in the first row groups, words in the last ones: the sample has both."""
    frame = pd.DataFrame({"mixed": ["1.5", "2"] * 500 + ["low", "high"] * 500, "y": ["a", "b"] * 1000})
    frame.to_parquet(tmp_path / "mixed.parquet", row_group_size=250)
    reading = sample_table(tmp_path / "mixed.parquet", "y", 200)
    (column,) = TrainingTable.from_frame(reading.frame, "y").columns
    assert column.kind == "category"
