import gzip
import io
import sys
from types import SimpleNamespace

import pandas as pd
import pytest

from lann.tables._stream_source import TextSource, length, open_stream, row_bytes, split

TEXT = "x,kind\n1,a\n2,b\n3,\n4,d\n5,e\n"


def read_all(path, at_once=2, **options):
    """Return the cells of all batches by column."""
    found = {}
    with open_stream(path, **options) as source:
        while length(batch := source.read(at_once)):
            for name, cells in batch.items():
                found.setdefault(name, []).extend(cells)
    return found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", TEXT.encode()),
        ("t.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("t.tsv", TEXT.replace(",", "\t").encode()),
        ("t.txt", TEXT.replace(",", ";").encode("utf-16")),
        ("t.csv", b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()),
    ],
    ids=["csv", "gzip", "tabs", "utf-16", "byte order mark"],
)
def test_text_is_read_in_batches(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert read_all(tmp_path / name) == {"x": list("12345"), "kind": ["a", "b", "", "d", "e"]}


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(TEXT.encode()))))
    assert read_all("-")["x"] == list("12345")


def test_cells_may_have_line_breaks_and_other_encodings(tmp_path):
    (tmp_path / "t.csv").write_bytes('a,b\n"one\ntwo",Jörg\nthree,4\n'.encode("latin-1"))
    assert read_all(tmp_path / "t.csv") == {"a": ["one\ntwo", "three"], "b": ["Jörg", "4"]}
    assert read_all(tmp_path / "t.csv", encoding="latin-1")["b"] == ["Jörg", "4"]


def test_parquet_is_read_in_batches(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"x": range(2500), "kind": ["a", None] * 1250})
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_all(tmp_path / "t.parquet", at_once=700)
    assert found["x"] == list(range(2500))
    assert found["kind"][0] == "a"
    assert pd.isna(found["kind"][1])


def test_parts_have_the_bytes_of_the_whole():
    batch = {"x": tuple("12345"), "y": pd.Series([1.5, 2, None, 4, 5])}
    parts = split(batch, 2)
    assert [length(part) for part in parts] == [2, 3]
    assert b"".join(map(row_bytes, parts)) == row_bytes(batch)
    assert row_bytes({"x": ("12", "3")}) != row_bytes({"x": ("1", "23")})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "t.csv is empty."),
        ("t.csv", b"a,b\n1,2\n3\n", "Line 3 of .*t.csv has 1 cell, but the header has 2."),
        ("t.csv", b"a,a\n1,2\n", "has more than one column 'a'."),
        ("t.csv", b'a,b\n1,"2\n', "has a quote that is not closed."),
        ("t.csv", b"PAR1" + bytes(50), "must be text with separators."),
        ("t.xlsx", b"PK", "cannot be read in batches"),
        ("t.png", b"", "has an unknown format"),
        ("t.parquet", b"PAR1", "is not a complete Parquet file."),
        ("t.csv", b"a\n" + 300 * b"x\n" + b"\xe4\n", "is not text in utf-8 after its first lines"),
        ("t.csv.gz", gzip.compress(TEXT.encode() * 2000, mtime=0)[:-30], "is damaged"),
    ],
)
def test_invalid_files_get_one_sentence(tmp_path, name, content, message):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_all(tmp_path / name)


def test_missing_files_get_one_sentence(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_all(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text(TEXT)
    with pytest.raises(ValueError, match="There is no encoding 'klingon'"):
        read_all(tmp_path / "t.csv", encoding="klingon")


@pytest.mark.parametrize("encoding", [None, "utf-8"])
@pytest.mark.parametrize("n_rows", [3, 250])
def test_an_interrupt_while_lines_are_waited_for_is_the_end(encoding, n_rows):
    text = "a,b\n" + "".join(f"{i},x\n" for i in range(n_rows)) + '7,"begun\n'
    source = TextSource(Interrupted(text.encode()), "input", encoding=encoding)
    batch = source.read(1000)
    assert source.is_interrupted
    assert list(batch["a"]) == [str(i) for i in range(n_rows)]
    assert length(source.read(1000)) == 0


def test_an_interrupt_before_the_first_line_is_raised():
    with pytest.raises(KeyboardInterrupt):
        TextSource(Interrupted(b""), "input")


class Interrupted(io.RawIOBase):
    """A file that is interrupted where its content ends."""

    def __init__(self, content):
        self.content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        found = self.content.read(len(buffer))
        if not found:
            raise KeyboardInterrupt
        buffer[: len(found)] = found
        return len(found)
