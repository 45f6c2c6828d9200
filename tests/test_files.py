import os

import pytest

from lann._files import check_writable, write_atomically


def test_writing_creates_folders_and_leaves_the_file_alone(tmp_path):
    path = tmp_path / "new" / "folder" / "file"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_cannot_be_written_is_an_error_before_the_work(tmp_path, monkeypatch):
    check_writable(tmp_path / "file")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no folder .* to write file to"):
        check_writable(tmp_path / "none" / "file")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="no permission to write file"):
        check_writable(tmp_path / "file")
