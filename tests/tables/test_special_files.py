"""Pipes, devices and files that are no tables."""

import gzip
import os
import threading

import pandas as pd
import pytest

from lann.streams import SAMKNN
from lann.tables import StreamRun, read_table, sample_table, write_table

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")
CSV = "a,b,y\n" + "".join(f"{i % 7},{i % 3},{'uv'[i % 2]}\n" for i in range(60))


@pytest.fixture
def pipe(tmp_path):
    """Return a function that makes a pipe of some name, to which content is written as soon as it is read."""
    started = []

    def make(content, name="pipe"):
        path = tmp_path / name
        os.mkfifo(path)
        started.append(threading.Thread(target=path.write_bytes, args=(content,), daemon=True))
        started[-1].start()
        return path

    yield make
    for thread in started:
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture
def descriptor():
    """Return a function that gives content as a shell gives the output of ``<(command)``."""
    opened, started = [], []

    def make(content):
        source, target = os.pipe()

        def write():
            with os.fdopen(target, "wb") as file:
                file.write(content)

        started.append(threading.Thread(target=write, daemon=True))
        started[-1].start()
        opened.append(source)
        if not os.path.exists(f"/dev/fd/{source}"):
            pytest.skip("there is no /dev/fd")
        return f"/dev/fd/{source}"

    yield make
    for source in opened:
        os.close(source)
    for thread in started:
        thread.join(60)


def parquet(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(pd.DataFrame({"a": range(5), "y": list("uvuvu")}), path)
    return path.read_bytes()


@posix
def test_pipes_are_read_as_files_of_their_name(pipe):
    expected = read_table(pipe(CSV.encode(), "first.csv"))
    assert expected.shape == (60, 3)
    assert read_table(pipe(gzip.compress(CSV.encode()), "t.csv.gz")).equals(expected)
    assert read_table(pipe(b'{"a": 1, "y": "u"}\n', "t.jsonl")).shape == (1, 2)


@posix
def test_the_format_of_a_pipe_of_a_shell_is_found(pipe, descriptor, tmp_path):
    expected = read_table(pipe(CSV.encode(), "first.csv"))
    for path in (pipe(CSV.encode()), descriptor(CSV.encode()), descriptor(gzip.compress(CSV.encode()))):
        assert read_table(path).equals(expected)
    assert read_table(descriptor(b'{"a": 1, "y": "u"}\n')).shape == (1, 2)
    assert read_table(descriptor(parquet(tmp_path))).shape == (5, 2)
    with pytest.raises(ValueError, match=r"/dev/fd/\d+ is empty"):
        read_table(descriptor(b""))


@posix
def test_streams_are_read_from_pipes_and_written_to_them(pipe, descriptor, tmp_path):
    found = []
    os.mkfifo(tmp_path / "out.csv")
    reader = threading.Thread(target=lambda: found.append((tmp_path / "out.csv").read_text()), daemon=True)
    reader.start()
    with StreamRun(pipe(CSV.encode()), "y", SAMKNN(random_state=0), output=tmp_path / "out.csv") as run:
        run.run(checkpoint=tmp_path / "c.lann")
    reader.join(60)
    assert run.evaluation.n_rows == 60
    assert len(found[0].splitlines()) == 61
    assert sorted(os.listdir(tmp_path)) == ["c.lann", "out.csv", "pipe"]
    with pytest.raises(ValueError, match="does not have the predictions that were there"):
        StreamRun(descriptor(CSV.encode()), checkpoint=tmp_path / "c.lann", output=tmp_path / "out.csv")


@posix
def test_a_stream_does_not_overwrite_its_table(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text(CSV)
    (tmp_path / "link.csv").symlink_to("s.csv")
    with pytest.raises(ValueError, match=r"link\.csv is the file .*, which is read"):
        StreamRun(path, "y", output=tmp_path / "link.csv")
    with StreamRun(path, "y", SAMKNN(random_state=0), output=tmp_path / "p.csv") as run:
        for other, message in ((path, "is read"), (tmp_path / "p.csv", "are the same file|is read")):
            with pytest.raises(ValueError, match=message):
                run.run(checkpoint=other)
            with pytest.raises(ValueError, match=message):
                run.save(other)
    assert path.read_text() == CSV


@posix
@pytest.mark.parametrize("name", ["t.csv", "t"])
def test_devices_and_folders_are_no_tables(name, tmp_path):
    link = tmp_path / name
    for target in ("/dev/zero", "/dev/null"):
        link.symlink_to(target)
        for read in (read_table, lambda path: StreamRun(path, "y"), lambda path: sample_table(path, "y", 5)):
            with pytest.raises(OSError, match=rf"{name} is a device, not a file; give the name of a file\."):
                read(link)
        link.unlink()
    link.mkdir()
    with pytest.raises(IsADirectoryError, match=rf"{name} is a folder, not a file\."):
        read_table(link)


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
        ('a,y\n"1"x,u\n"2",v\n', "Line 2 of .* text after a closing quote"),
        ("a,y\n1,u\n2,\0\n", "NUL character in line 3"),
        ("a,y\n\xff\x01,u\n", "is not text"),
        ("\x89PNG\r\n\x1a\n", "is not text"),
    ],
    ids=range(13),
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
    with pytest.raises(ValueError, match=r"unknown format; .* ends in \.csv, \.tsv, .*\.ndjson, or \.gz"):
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
