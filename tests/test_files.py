"""Files that are written completely or not at all, and what may be read."""

import errno
import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest

from lann._support import files as _files
from lann._support.files import (
    atomic_file,
    check_different,
    check_readable,
    check_writable,
    open_growing,
    read_content,
    sync,
    write_atomically,
)

posix = pytest.mark.skipif(os.name != "posix", reason="modes, pipes and devices of POSIX")
pytestmark = posix
NOBODY = 65534


@pytest.fixture
def user_folder():
    """A folder of a user without special rights, as whom the test runs."""
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        if is_root:
            os.chown(name, NOBODY, NOBODY)
            os.setegid(NOBODY)
            os.seteuid(NOBODY)
        try:
            yield Path(name)
        finally:
            if is_root:
                os.seteuid(0)
                os.setegid(0)


@pytest.fixture
def device(tmp_path):
    """A device as /dev/null is one, but not the one that everything else needs."""
    path = tmp_path / "null"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        path.write_bytes(b"")
    except OSError:
        pytest.skip("devices can only be made by root, on some file systems")
    return path


@pytest.fixture
def listen():
    """Return a function that reads a pipe in the background, and returns one that waits for its content."""

    def listen(path):
        found = []
        reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
        reader.start()

        def wait():
            reader.join(60)
            return found[0]

        return wait

    return listen


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
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_too_little_space_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "file"
    path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
        with pytest.raises(OSError, match=r"too large: '.*/file'$"):  # not the name of the temporary file
            write_atomically(path, bytes(1 << 17))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_folders_and_files_without_permission(user_folder):
    path = user_folder / "file"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"file is write-protected; give another file name"):
        check_writable(path)
    path.chmod(0o644)
    user_folder.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"to the folder .*"):
            check_writable(path)
        with pytest.raises(PermissionError, match=r"no permission to write new to the folder [^,]*\.$"):
            check_writable(user_folder / "new")
        user_folder.chmod(0o600)
        with pytest.raises(PermissionError, match=r"Permission denied"):
            check_writable(path)
    finally:
        user_folder.chmod(0o700)
    path.chmod(0o200)
    with pytest.raises(PermissionError, match=r"no permission to read .*file\."):
        read_content(path)
    assert os.listdir(user_folder) == ["file"]


def test_pipes_take_the_content_and_stay(tmp_path, listen):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("pipe")
    for path in (pipe, tmp_path / "link"):
        check_writable(path)
        wait = listen(pipe)
        with atomic_file(path) as file:
            file.write(b"ba")
            file.seek(0)  # as formats that are not written from start to end do
            file.write(b"ab")
        assert wait() == b"ab"
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_a_failed_write_sends_nothing_to_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TypeError, match="not 'str'"), atomic_file(tmp_path / "pipe") as file:
        file.writelines([b"half", "of it"])
    assert stat.S_ISFIFO(os.lstat(tmp_path / "pipe").st_mode)


def test_devices_take_the_content_and_stay(device):
    check_writable(device)
    write_atomically(device, b"content")
    with open_growing(device) as file:
        file.write(b"content")
        sync(file)
    assert stat.S_ISCHR(os.lstat(device).st_mode)
    assert os.listdir(device.parent) == ["null"]


def test_a_hard_link_keeps_the_old_content(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    os.link(tmp_path / "file", tmp_path / "other")
    write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "other").read_bytes() == b"old"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_the_mode_is_kept_and_nobody_may_read_more_before(mode, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_file(path) as file:
        file.write(b"new")
        (temporary,) = {*tmp_path.iterdir()} - {path}
        assert mode_of(temporary) == 0o600
        assert temporary.name.startswith(".")
    assert mode_of(path) == mode
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_new_files_have_the_usual_mode(mask, tmp_path):
    before = os.umask(mask)
    try:
        with atomic_file(tmp_path / "file"):
            assert [mode_of(path) for path in tmp_path.iterdir()] == [0o666 & ~mask]
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "file") == 0o666 & ~mask


@pytest.mark.parametrize(
    ("code", "is_error"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)]
)
def test_errors_of_the_disk_leave_the_old_file(code, is_error, tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(code, "it does not work")

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", fail)
    if is_error:
        with pytest.raises(OSError, match="it does not work"):
            write_atomically(path, b"new")
    else:
        write_atomically(path, b"new")
    assert path.read_bytes() == (b"old" if is_error else b"new")
    assert os.listdir(tmp_path) == ["file"]


def test_the_longest_names_can_be_written(tmp_path):
    path = tmp_path / ("ä" * 125 + ".lann")  # 255 bytes
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_files_that_grow_are_written_where_they_are(tmp_path, listen):
    path = tmp_path / "file"
    with open_growing(path) as file:
        file.write(b"first")
    inode = path.stat().st_ino
    with open_growing(path, keep=True) as file:
        file.seek(5)
        file.write(b", second")
    assert (path.read_bytes(), path.stat().st_ino) == (b"first, second", inode)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a pipe or a device, which has nothing to continue"):
        open_growing(tmp_path / "pipe", keep=True)
    wait = listen(tmp_path / "pipe")
    with open_growing(tmp_path / "pipe") as file:
        file.write(b"first")
        sync(file)
    assert wait() == b"first"


def test_what_is_written_is_not_what_is_read(tmp_path, monkeypatch):
    path, other = tmp_path / "x.csv", tmp_path / "y.csv"
    path.write_bytes(b"x")
    (tmp_path / "link.csv").symlink_to("x.csv")
    os.link(path, tmp_path / "hard.csv")
    (tmp_path / "dangling.csv").symlink_to("new.csv")
    monkeypatch.chdir(tmp_path)
    check_different([path], [other, tmp_path / "z.csv"])
    check_different([tmp_path / "none.csv", "/dev/null"], [other, "/dev/null", "/dev/null"])
    with pytest.raises(
        ValueError, match=r"x\.csv is read: it cannot be written, too; give another file name\."
    ):
        check_different([other, path], [path])
    for name in ("x.csv", f"../{tmp_path.name}/x.csv", "link.csv", "hard.csv"):
        with pytest.raises(ValueError, match=rf"^{name} is the file .*x\.csv, which is read"):
            check_different([path], [name])
    with pytest.raises(ValueError, match=r"new\.csv and .*dangling\.csv are the same file"):
        check_different([path], [tmp_path / "new.csv", tmp_path / "dangling.csv"])
    with pytest.raises(ValueError, match=r"hard\.csv and .*link\.csv are the same file"):
        check_different([], [tmp_path / "hard.csv", tmp_path / "link.csv"])
    with path.open("rb") as file, pytest.raises(ValueError, match=r"link\.csv is read: it cannot be"):
        check_different([file.fileno()], [tmp_path / "link.csv"])


def test_what_cannot_be_read_is_a_sentence(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder, not a model file"):
        check_readable(tmp_path, "model file")
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\."):
        check_readable(tmp_path / "none")
    (tmp_path / "lost").symlink_to("none")
    with pytest.raises(FileNotFoundError, match="lost"):
        check_readable(tmp_path / "lost")
    os.mkfifo(tmp_path / "pipe")
    check_readable(tmp_path / "pipe", pipes=True)
    with pytest.raises(OSError, match="pipe is a pipe, not a model file; write its content to a file first"):
        read_content(tmp_path / "pipe", "model file")
    for name in ("/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match=f"{name} is a device, not a file; give the name of a file"):
            read_content(name, pipes=True)


def test_files_of_the_system_have_no_size():
    path = Path("/proc/self/cmdline")
    if not path.exists():
        pytest.skip("there is no /proc")
    assert read_content(path) == path.read_bytes() != b""


@pytest.mark.parametrize("change", ["grow", "shrink", "rewrite"])
def test_a_file_that_changes_while_it_is_read(change, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789" * 100)
    os.utime(path, ns=(0, 0))
    status, n_calls = os.fstat, []

    def fstat(descriptor):
        found = status(descriptor)
        n_calls.append(descriptor)
        if len(n_calls) == 1:
            with path.open("r+b") as file:
                if change == "shrink":
                    file.truncate(100)
                else:
                    file.seek(0, 2 if change == "grow" else 0)
                    file.write(b"more")
        return found

    with monkeypatch.context() as patched:
        patched.setattr(_files.os, "fstat", fstat)
        with pytest.raises(ValueError, match="file was changed while it was read; wait until it is complete"):
            read_content(path)
    assert len(read_content(path)) in (100, 1000, 1004)


def test_links_stay_and_their_target_is_replaced(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_file_that_cannot_be_written_is_an_error_before_the_work(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*none to write file to"):
        check_writable(tmp_path / "none" / "file")
