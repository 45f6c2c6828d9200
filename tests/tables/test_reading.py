"""Files as people have them: what was found, and the same cells whatever the dialect."""

import csv
import io
import json
import sys
from datetime import datetime

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.columns.notation import MISSING
from lann.tables import Reading, read_table, write_table

GERMAN = "name;size;share\nJörg;1,85;12,5 %\nBea;1,7;3 %\n"


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file, and returns its path."""

    def write(content, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


@pytest.mark.parametrize(
    ("content", "encoding", "summary"),
    [
        ("a,b\n1,x\n2,y\n", "utf-8", ""),
        ("a,b\nö,x\nü,y\n", "utf-8-sig", ""),
        (GERMAN, "utf-8", "semicolons separate cells; decimal commas"),
        (GERMAN, "latin-1", "semicolons separate cells; decimal commas; encoding Windows-1252"),
        ("a;b\n5 €;x\n6 €;y\n", "cp1252", "semicolons separate cells; encoding Windows-1252"),
        ("a\tb\n1\tx\n2\ty\n", "utf-16", "tabs separate cells; encoding UTF-16"),
        ("a|b\n1|x, y\n2|z\n", "utf-8", "vertical bars separate cells"),
        ("'a';'b'\n'1;5';'x'\n", "utf-8", "semicolons separate cells; single quotes around cells"),
        ('a\tb\n5" disk\tx\n"Big" Joe\ty\n', "utf-8", "tabs separate cells; quotes are part of the cells"),
        ('a, b\n1, "x, y"\n2, z\n', "utf-8", "spaces after separators are left out"),
        ("5.1,x\n4.9,y\n", "utf-8", "the first line, which has numbers, is taken as the header"),
        ("size, cm;mass, kg\n1,5;2,5\n1,7;2,1\n", "utf-8", "semicolons separate cells; decimal commas"),
        ("a;b\n1.5;x\n2.5;y\n", "utf-8", "semicolons separate cells"),
    ],
)
def test_what_is_found(content, encoding, summary, write):
    reading = Reading.from_file(write(content, encoding=encoding))
    assert reading.summary == summary
    assert reading.frame.shape[1] == 2 + ("share" in content)
    assert not any("\ufeff" in name for name in reading.frame.columns)


def test_a_tsv_file_is_expected_to_have_tabs(write):
    assert Reading.from_file(write("a\tb\n1\tx\n", "t.tsv")).summary == ""
    assert "tabs" in Reading.from_file(write("a\tb\n1\tx\n", "t.txt")).summary
    assert Reading.from_file(write("a,b\n1,x\n", "t.tsv")).frame.shape == (1, 2)


def test_options_override_what_is_found(write):
    path = write("a;b,c\n1;2,3\n2;3,4\n")
    assert list(read_table(path, sep="comma").columns) == ["a;b", "c"]
    assert list(read_table(path, sep="semicolon").columns) == ["a", "b,c"]
    assert read_table(write("a\nö\n"), encoding="latin-1")["a"].tolist() == ["Ã¶"]
    reading = Reading.from_file(write("a;b\n1,234;x\n2,345;y\n"), decimal=".", sep=";", encoding="utf-8")
    assert (reading.summary, reading.frame.attrs["decimal"]) == ("", ".")
    assert read_table(write("a;b\n1,234;x\n2,345;y\n")).attrs["decimal"] == ","
    assert "decimal" not in read_table(write("a\tb\n1,234\tx\n2,345\ty\n")).attrs


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("t.csv", {"sep": "ab"}, "sep must be one character"),
        ("t.csv", {"sep": '"'}, "sep must be one character"),
        ("t.csv", {"decimal": ";"}, "decimal must be '.' or ','.*got ';'"),
        ("t.csv", {"sep": ",", "decimal": ","}, "not the separator; got ','"),
        ("t.csv", {"encoding": "klingon"}, "There is no encoding 'klingon'"),
        ("t.csv", {"encoding": "ascii"}, "not text in ascii: there is an invalid byte"),
        ("t.csv", {"sheet": "x"}, "sheet is not for .*t.csv, whose format is text"),
        ("t.jsonl", {"sep": ","}, "sep is not for .*t.jsonl, whose format is json lines"),
    ],
)
def test_invalid_options(name, options, message, write):
    with pytest.raises(ValueError, match=message):
        read_table(write("a,b\nö,2\n", name), **options)


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ("age\n5\n\n6\n", [5, 6]),
        ("size\n1,5\n2\n", [1.5, 2]),
        ("note\nhello, you\nbye\n", ["hello, you", "bye"]),
        ('note\n"a, ""b""\nc"\n', ['a, "b"\nc']),
    ],
)
def test_one_column(content, cells, write):
    frame = read_table(write(content))
    assert frame.shape == (len(cells), 1)
    assert frame.iloc[:, 0].tolist() == cells


def test_separators_at_the_end_of_lines_and_columns_without_a_name(write):
    assert read_table(write("a,b\n1,2,\n3,4,\n")).shape == (2, 2)
    assert list(read_table(write(",a\n0,5\n1,6\n")).columns) == ["Unnamed: 0", "a"]


def test_line_ends(write):
    for end in ("\n", "\r\n", "\r"):
        assert read_table(write(end.join(["a;b", "1;x", "2;y"]))).to_numpy().tolist() == [
            [1, "x"],
            [2, "y"],
        ]


def test_missing_cells(write):
    frame = read_table(write("a,b,c\n#N/A,1,1\nn/a,2,None\n-,None,x\n?,.,y\n"))
    assert frame["a"].isna().tolist() == [True, True, False, True]
    assert frame["b"].tolist()[:2] == [1, 2]
    assert frame["b"].isna().tolist() == [False, False, True, True]
    assert frame["c"].tolist() == ["1", "None", "x", "y"]


@pytest.mark.parametrize("end", ["csv", "parquet", "xlsx", "jsonl"])
def test_further_texts_that_mean_a_missing_value(end, tmp_path):
    table = pd.DataFrame(
        {"age": ["51", "k.A.", "48"], "size": [1.5, -99.0, 2.0], "city": ["Ulm", "k.A.", "Bonn"]}
    )
    path = tmp_path / f"t.{end}"
    if end == "xlsx":
        table.to_excel(path, index=False)
    elif end == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        write_table(table, path)
    frame = read_table(path, na_values=["k.A.", "-99"])
    assert frame.isna().to_numpy().tolist() == [[False] * 3, [True] * 3, [False] * 3]
    assert frame["size"].dropna().tolist() == [1.5, 2.0]
    assert read_table(path)["city"].tolist() == ["Ulm", "k.A.", "Bonn"]


CELLS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="'\ufeff")
    | st.sampled_from(',;|\t"\n '),
    max_size=8,
).map(lambda text: text.strip() or "x")


@st.composite
def tables(draw):
    """Return a header and rows of cells, none of which means a missing value."""
    n_columns = draw(st.integers(2, 4))
    names = draw(
        st.lists(
            st.text(st.characters(categories=["L"]), min_size=1, max_size=5),
            min_size=n_columns, max_size=n_columns, unique=True,
        )
    )  # fmt: skip
    cells = CELLS.filter(lambda cell: cell not in MISSING and not any(map(str.isdigit, cell)))
    return [names, *draw(st.lists(st.lists(cells, min_size=n_columns, max_size=n_columns), min_size=1))]


@given(tables(), st.sampled_from(",;\t|"), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.booleans())
def test_what_is_written_in_some_dialect_is_read(tmp_path_factory, table, sep, encoding, is_quoted):
    buffer = io.StringIO()
    quoting = csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL
    csv.writer(buffer, delimiter=sep, quoting=quoting, lineterminator="\n").writerows(table)
    path = tmp_path_factory.mktemp("dialect") / "t.csv"
    path.write_bytes(buffer.getvalue().encode(encoding))
    reading = Reading.from_file(path)
    found = reading.frame.astype(str).to_numpy().tolist()
    assert [list(reading.frame.columns), *found] == table
    pd.testing.assert_frame_equal(read_table(path, sep=sep, encoding=encoding), reading.frame)


HUNDREDTHS = st.integers(-1_000_000, 1_000_000).map(lambda number: f"{number / 100:.2f}")
NUMBERS = st.lists(HUNDREDTHS, min_size=3, max_size=20, unique=True)


@given(NUMBERS, NUMBERS, st.sampled_from([(";", ","), (",", "."), ("\t", ","), ("|", ".")]))
def test_decimal_separators_are_found(tmp_path_factory, first, second, dialect):
    sep, decimal = dialect
    lines = [f"{a}{sep}{b}".replace(".", decimal) for a, b in zip(first, second, strict=False)]
    path = tmp_path_factory.mktemp("decimals") / "t.csv"
    path.write_text("\n".join([f"a{sep}b", *lines]))
    frame = read_table(path)
    assert frame.attrs["decimal"] == decimal
    np.testing.assert_array_equal(frame["a"], np.array(first[: len(lines)], float))


def test_json_lines(write):
    lines = [
        {"a": 1, "b": "x", "c": True},
        {"b": "NA", "a": 2.5, "d": None},
        {"a": None, "c": False, "b": "z"},
    ]
    path = write("\n".join(map(json.dumps, lines)) + "\n\n", "t.jsonl")
    frame = read_table(path)
    assert list(frame.columns) == ["a", "b", "c", "d"]
    assert frame["a"].dtype == float
    assert frame["b"].isna().tolist() == [False, True, False]
    assert frame["c"].dropna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ('{"a": 1}\n\n{"a": 1', "Line 3 of .* is not a JSON object"),
        ('{"a": 1}\n5\n', "Line 2 of .* is not a JSON object"),
        ('{"a": [1]}\n', "Line 1 of .* is not a JSON object of single values"),
        ("{}\n", "has no rows"),
    ],
)
def test_invalid_json_lines(content, message, write):
    with pytest.raises(ValueError, match=message):
        read_table(write(content, "t.ndjson"))


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["about"])
    book.active.append(["nothing"])
    sheet = book.create_sheet("Data")
    sheet.append([])
    sheet.append([None, "n", "x", "when", "ok", "text", "mixed"])
    sheet.append([None, 1, 1.5, datetime(2024, 5, 1), True, "a", 1])
    sheet.append([None, 2, None, datetime(2024, 6, 1, 12), False, "#N/A", "b"])
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_excel(workbook):
    reading = Reading.from_file(workbook, sheet="Data")
    frame = reading.frame
    assert list(frame.columns) == ["n", "x", "when", "ok", "text", "mixed"]
    assert [frame[name].dtype.kind for name in frame.columns[:4]] == ["i", "f", "M", "b"]
    assert frame["text"].isna().tolist() == [False, True]
    assert reading.summary == ""
    pd.testing.assert_frame_equal(read_table(workbook, sheet=2), frame)
    pd.testing.assert_frame_equal(read_table(workbook, sheet="2"), frame)
    assert Reading.from_file(workbook).summary == "sheet 'Notes', the first of 2"


def test_invalid_sheets(workbook, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"no sheet 'data' in .*t.xlsx; its sheets are"):
        read_table(workbook, sheet="data")
    with pytest.raises(ValueError, match=r"no sheet '7' in .*; its sheets are 'Notes', 'Data'"):
        read_table(workbook, sheet="7")
    book = openpyxl.Workbook()
    book.save(tmp_path / "empty.xlsx")
    with pytest.raises(ValueError, match="has an empty sheet 'Sheet'"):
        read_table(tmp_path / "empty.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"needs openpyxl, .*: pip install 'lann\[excel\]'"):
        read_table(workbook)


@pytest.mark.parametrize(
    ("content", "format"),
    [(b"a;b\n1;x\n", "text"), (b'\n{"a": 1, "b": "x"}\n', "json lines"), (b"PAR1", "parquet")],
)
def test_standard_input(content, format, monkeypatch):
    if format == "parquet":
        buffer = io.BytesIO()
        pd.DataFrame({"a": [1], "b": ["x"]}).to_parquet(buffer)
        content = buffer.getvalue()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    reading = Reading.from_file("-")
    assert reading.source == "standard input"
    assert [str(cell) for cell in reading.frame.iloc[0]] == ["1", "x"]


def test_the_named_index_of_a_parquet_file_is_a_column(tmp_path):
    frame = pd.DataFrame({"a": [3, 1, 4], "b": ["x", "y", "z"]})
    frame.set_index("a").to_parquet(tmp_path / "t.parquet")
    assert set(read_table(tmp_path / "t.parquet").columns) == {"a", "b"}
    frame.set_axis([7, 9, 8]).to_parquet(tmp_path / "u.parquet")
    assert list(read_table(tmp_path / "u.parquet").columns) == ["a", "b"]
