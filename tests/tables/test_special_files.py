"""Pipes, devices and files that change, as tables."""

import gzip
import os
import threading

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.streams import SAMKNN
from lann.tables import (
    StreamRun,
    _table_file,
    fit_table,
    is_large_table,
    read_table,
    sample_table,
    table_size,
    write_table,
)
from lann.tables._table_file import open_table

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")
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


def test_pipes_are_read_as_files_of_their_name(pipe):
    expected = read_table(pipe(CSV.encode(), "first.csv"))
    assert expected.shape == (60, 3)
    assert read_table(pipe(gzip.compress(CSV.encode()), "t.csv.gz")).equals(expected)
    assert read_table(pipe(b'{"a": 1, "y": "u"}\n', "t.jsonl")).shape == (1, 2)


def test_the_format_of_a_pipe_of_a_shell_is_found(pipe, descriptor, tmp_path):
    expected = read_table(pipe(CSV.encode(), "first.csv"))
    for path in (pipe(CSV.encode()), descriptor(CSV.encode()), descriptor(gzip.compress(CSV.encode()))):
        assert read_table(path).equals(expected)
    assert read_table(descriptor(b'{"a": 1, "y": "u"}\n')).shape == (1, 2)
    assert read_table(descriptor(parquet(tmp_path))).shape == (5, 2)
    with pytest.raises(ValueError, match=r"/dev/fd/\d+ is empty"):
        read_table(descriptor(b""))


def test_an_open_file_is_read_by_its_content(tmp_path):
    (tmp_path / "rows").write_text(CSV)
    with (tmp_path / "rows").open("rb") as file:
        assert len(read_table(f"/dev/fd/{file.fileno()}")) == 60


def test_pipes_are_read_once(pipe, descriptor):
    """What reads files in blocks, several times, reads pipes as a whole, or not at all."""
    assert not is_large_table(pipe(CSV.encode(), "waits.csv"))
    path = pipe(CSV.encode(), "sample.csv")
    assert open_table(path, {}) is None
    assert table_size(path, memory="2GB") is None
    assert len(sample_table(path, "y", 20).frame) == 20
    assert len(sample_table(descriptor(CSV.encode()), "y", 20).frame) == 20
    read_table(path.with_name("waits.csv"))


def test_predictions_in_blocks_need_a_file(pipe, tmp_path):
    model = fit_table(pd.read_csv(pipe(CSV.encode())), "y", classifier=LANNClassifier(max_iter=0))
    path = pipe(CSV.encode(), "new.csv")
    with pytest.raises(ValueError, match=r"new\.csv cannot be read in blocks"):
        model.predict_file(path, tmp_path / "out.csv")
    read_table(path)
    (tmp_path / "own.csv").write_text(CSV)
    os.link(tmp_path / "own.csv", tmp_path / "same.csv")
    with pytest.raises(ValueError, match=r"same\.csv is the file .*own\.csv, which is read"):
        model.predict_file(tmp_path / "own.csv", tmp_path / "same.csv")
    assert (tmp_path / "own.csv").read_text() == CSV


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
    with pytest.raises(OSError, match="is a pipe, not a Parquet file; write its content to a file first"):
        StreamRun(_make_pipe(tmp_path / "t.parquet"), "y")


def _make_pipe(path):
    os.mkfifo(path)
    return path


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


def test_empty_files_are_a_sentence(tmp_path):
    for name in ("t.csv", "t.jsonl"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(ValueError, match=rf"{name} is empty\."):
            read_table(tmp_path / name)
    for name in ("t.parquet", "t.xlsx", "t.csv.gz"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(ValueError, match=rf"{name} is (not a complete|damaged)"):
            read_table(tmp_path / name)


@pytest.mark.parametrize("format", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("change", ["grow", "shrink", "replace"])
def test_tables_that_change_while_they_are_read_in_blocks(format, change, tmp_path, monkeypatch):
    monkeypatch.setattr(_table_file, "BLOCK_ROWS", 64)
    rng = np.random.default_rng(0)
    path = tmp_path / f"t{format}"
    frame = pd.DataFrame({"x": rng.normal(size=3_000), "y": rng.choice(["u", "v"], 3_000)})
    write_table(frame[:2_000], path)
    file = open_table(path, {})
    blocks = file.blocks()
    next(blocks)
    content = path.read_bytes()
    if change == "replace":
        write_table(frame, path)
    else:
        with path.open("r+b") as other:
            if change == "grow":
                other.seek(0, 2)
                other.write(content)
            else:
                other.truncate(len(content) // 2)
    with pytest.raises(ValueError, match=r"was changed while it was read; wait until it is complete"):
        list(blocks)


def test_a_pipe_without_an_ending_takes_csv(tmp_path):
    os.mkfifo(tmp_path / "out")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "out").read_text()), daemon=True)
    reader.start()
    write_table(pd.DataFrame({"a": [1, 2]}), tmp_path / "out")
    reader.join(60)
    assert found == ["a\n1\n2\n"]
