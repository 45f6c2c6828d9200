"""Awkward CSV files: each is read correctly."""

import pytest

from lann.tables import Reading

ROWS = [("Ulm", 1.5, "u"), ("Bonn", 2.25, "v"), ("Kiel", 3.5, "u"), ("Köln", 4.75, "v")]


def lines(sep=",", decimal=".", end="\n"):
    cells = [("city", "size", "y"), *((city, str(size).replace(".", decimal), y) for city, size, y in ROWS)]
    return "".join(sep.join(row) + end for row in cells)


FILES = {
    "semicolon and decimal comma": (lines(";", ","), "utf-8"),
    "tab": (lines("\t"), "utf-8"),
    "pipe": (lines("|"), "utf-8"),
    "cp1252": (lines(";").replace("Kiel", "Kiel€"), "cp1252"),
    "utf-16": (lines("\t"), "utf-16"),
    "thousands": (lines(";", ",").replace("1,5", "1.001,5"), "utf-8"),
    "preamble": ("Report of May\nmade by hand\n\n" + lines(), "utf-8"),
    "comments": ("# made by a device\n# in May\n" + lines(), "utf-8"),
    "aligned": (lines("   "), "utf-8"),
    "total": (lines() + "Total,12.0,\n", "utf-8"),
    "quoted line breaks": (lines().replace("Bonn", '"Bonn\nCity"'), "utf-8"),
    "byte order mark": (lines(), "utf-8-sig"),
    "separators at the end of lines": (lines(end=",\n"), "utf-8"),
}


@pytest.mark.parametrize("name", FILES)
def test_awkward_files(name, tmp_path):
    content, encoding = FILES[name]
    (tmp_path / "t.csv").write_bytes(content.encode(encoding))
    reading = Reading.from_file(tmp_path / "t.csv")
    frame = reading.frame.iloc[:, :3]
    assert list(frame.columns) == ["city", "size", "y"]
    assert len(frame) == 4
    assert frame["y"].tolist() == ["u", "v", "u", "v"]
    assert frame["city"].iloc[3] == "Köln"
    assert str(frame["size"].iloc[1]).replace(",", ".") == "2.25"


def test_a_table_with_one_column_asks_for_the_separator(tmp_path):
    (tmp_path / "t.csv").write_text("a:b\n1:2\n3:4\n")
    assert "is the separator right?" in Reading.from_file(tmp_path / "t.csv").summary


def test_a_cell_that_contradicts_the_sample_is_named_with_its_line(tmp_path):
    rows = [f"{i},{'uv'[i % 2]}" for i in range(3000)]
    rows[2500] = "unknown,u"
    (tmp_path / "t.csv").write_text("\n".join(["size,y", *rows]))
    reading = Reading.from_file(tmp_path / "t.csv")
    assert reading.summary == (
        "line 2502 has 'unknown' in column 'size', which had numbers before: it is read as text"
    )
    assert reading.frame["size"].iloc[[2, 2500]].tolist() == ["2", "unknown"]
    rows[2500] = "-,u"
    (tmp_path / "t.csv").write_text("\n".join(["size,y", *rows]))
    reading = Reading.from_file(tmp_path / "t.csv")
    assert reading.notes == ()
    assert reading.frame["size"].isna().sum() == 1


def test_a_header_that_starts_with_a_number_sign_is_no_comment(tmp_path):
    (tmp_path / "t.csv").write_text("#city,size,y\nUlm,1,u\nBonn,2,v\n")
    assert list(Reading.from_file(tmp_path / "t.csv").frame) == ["#city", "size", "y"]


def test_a_quote_that_is_not_closed_in_a_long_file_is_one_sentence(tmp_path):
    rows = [f"{i},{'uv'[i % 2]}" for i in range(50_000)]
    rows[600] = '600,"u'
    (tmp_path / "t.csv").write_text("\n".join(["size,y", *rows]))
    with pytest.raises(ValueError, match=r"Line 602 of .* has a (quote that is|cell of more than)"):
        Reading.from_file(tmp_path / "t.csv")
