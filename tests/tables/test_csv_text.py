"""CSV files are read by every program as they were written, and are computed by none."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from lann.streams import StreamBatch
from lann.tables import read_table, write_table
from lann.tables._csv_text import frame_text, guarded, rows_text
from lann.tables._predictions_file import PredictionsFile

# Characters at which some program ends a line, or a cell.
BREAKS = [
    "\r",
    "\n",
    "\r\n",
    "\n\r",
    "\u2028",
    "\u2029",
    "\x85",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1e",
    ",",
    '"',
    ";",
]
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
    assert list(ours.columns) == list(frame.columns)
    assert ours.fillna("").to_numpy().tolist() == expected


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_texts_of_all_types_are_quoted(dtype):
    cells = pd.Series(["a\rb", None, "c", "a\rb"], dtype=dtype)
    assert frame_text(pd.DataFrame({"x": cells, "n": [1.5, 2, 3, 4]})) == (
        'x,n\n"a\rb",1.5\n,2.0\nc,3.0\n"a\rb",4.0\n'
    )


def test_nothing_else_changes():
    """The other cells are as pandas writes them, whether or not one needs quotes."""
    frame = pd.DataFrame(
        {
            "float": [0.1, np.nan, 1e300],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "mixed": [1.5, "x,y", True],
            "date": pd.to_datetime(["2024-01-01", None, "2024-01-03"]),
            "text": ["a", 'quo"te', "\ufdd0"],
        }
    )
    plain = frame.to_csv(index=False, lineterminator="\n")
    assert frame_text(frame) == frame_text(frame, guard_formulas=True) == plain
    with_return = pd.concat([frame, frame.assign(text="\r")], ignore_index=True)
    assert frame_text(with_return).startswith(plain)
    assert frame_text(frame, header=False) == plain.split("\n", 1)[1]


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


def test_a_separator_of_another_country_starts_no_formula():
    assert frame_text(pd.DataFrame({"x": ["a;=1+1", "b\t=1"]}), guard_formulas=True) == (
        'x\n"a;=1+1"\n"b\t=1"\n'
    )
    assert guarded("=1") == "'=1"


@pytest.mark.parametrize(("text", "reason"), [("a\0b", "NUL character"), ("a\ud800", "half of a character")])
@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
def test_what_is_no_text_is_a_sentence(text, reason, name, tmp_path):
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(ValueError, match=rf"{name} cannot be written as CSV: a text has a?.*{reason}.*\.$"):
        write_table(pd.DataFrame({"x": [text]}, dtype=object), tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"old"


@pytest.mark.parametrize("guard_formulas", [False, True])
def test_predictions_of_a_stream(guard_formulas, tmp_path):
    labels = np.array(["a\rb", "=1", "c"], dtype=object)
    batch = StreamBatch(
        first_row=0,
        labels=labels,
        predictions=labels,
        probabilities=np.array([0.5, 1, -0.25]),
        true_probabilities=np.ones(3),
        drifts=np.array([1]),
    )
    file = PredictionsFile(tmp_path / "p.csv", guard_formulas=guard_formulas)
    file.add(batch, np.arange(3))
    n_bytes = file.flush()
    file.close()
    assert n_bytes == (tmp_path / "p.csv").stat().st_size
    rows = read_by_csv((tmp_path / "p.csv").read_bytes().decode())
    guarded_label = "'=1" if guard_formulas else "=1"
    assert rows[1:] == [
        ["0", "a\rb", "a\rb", "0.5", "1", "0"],
        ["1", guarded_label, guarded_label, "1", "1", "1"],
        ["2", "c", "c", "-0.25", "1", "0"],
    ]


def test_rows_of_texts():
    assert rows_text([["a", 1], ["b\r", None]]) == 'a,1\n"b\r",\n'


def test_a_guard_leaves_cells_that_are_no_formulas_as_they_are():
    dates = pd.Categorical(pd.to_datetime(["2024-01-01", "2024-01-02"]))
    frame = pd.DataFrame({"day": dates, "text": ["=1", "b"]})
    assert frame_text(frame, guard_formulas=True) == 'day,text\n2024-01-01,"\'=1"\n2024-01-02,b\n'


def test_names_of_several_levels_are_guarded():
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("=a", "x"), ("b", "+y")]))
    text = frame_text(frame, guard_formulas=True)
    assert "'=a" in text
    assert "'+y" in text
