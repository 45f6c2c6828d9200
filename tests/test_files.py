"""Files that are written completely or not at all, and what may be read."""

import os
import stat
import threading

import pytest

from lann._support.files import atomic_file, check_different, check_readable, check_writable, write_atomically

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes, pipes and links of POSIX")


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


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
    monkeypatch.undo()
    with pytest.raises(TypeError), atomic_file(path) as file:
        file.writelines([b"half", "of it"])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_pipe_takes_the_content_and_stays(tmp_path):
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    with atomic_file(pipe) as file:
        file.write(b"ba")
        file.seek(0)  # as formats that are not written from start to end do
        file.write(b"ab")
    reader.join(60)
    assert received == [b"ab"]
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_the_mode_is_kept_and_nobody_may_read_more_before(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic_file(path) as file:
        file.write(b"new")
        (temporary,) = {*tmp_path.iterdir()} - {path}
        assert mode_of(temporary) == 0o640
    assert (mode_of(path), path.read_bytes()) == (0o640, b"new")


def test_links_stay_and_their_target_is_replaced(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_is_written_is_not_what_is_read(tmp_path, monkeypatch):
    path, other = tmp_path / "x.csv", tmp_path / "y.csv"
    path.write_bytes(b"x")
    (tmp_path / "link.csv").symlink_to("x.csv")
    monkeypatch.chdir(tmp_path)
    check_different([path], [other, tmp_path / "z.csv"])
    check_different([tmp_path / "none.csv", "/dev/null"], [other, "/dev/null", "/dev/null"])
    with pytest.raises(ValueError, match=r"x\.csv is read: it cannot be written, too; give another file"):
        check_different([other, path], [path])
    for name in ("x.csv", f"../{tmp_path.name}/x.csv", "link.csv"):
        with pytest.raises(ValueError, match=rf"^{name} is the file .*x\.csv, which is read"):
            check_different([path], [name])
    with pytest.raises(ValueError, match=r"new\.csv and .*new\.csv are the same file"):
        check_different([path], [tmp_path / "new.csv", "new.csv"])
    with path.open("rb") as file, pytest.raises(ValueError, match=r"which is read: it cannot be"):
        check_different([file.fileno()], [tmp_path / "link.csv"])


def test_what_cannot_be_read_is_a_sentence(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder, not a model file"):
        check_readable(tmp_path, "model file")
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\."):
        check_readable(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    check_readable(tmp_path / "pipe", pipes=True)
    with pytest.raises(OSError, match="pipe is a pipe, not a model file; write its content to a file first"):
        check_readable(tmp_path / "pipe", "model file")
    with pytest.raises(OSError, match="/dev/null is a device, not a file; give the name of a file"):
        check_readable("/dev/null", pipes=True)


def test_what_cannot_be_written_is_an_error_before_the_work(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*none to write file to"):
        check_writable(tmp_path / "none" / "file")
