"""Files that are written completely or not at all, and files that are read.

Regular files are replaced: a new file in the same folder is written and then renamed. What is there keeps its
mode and the symbolic links that lead to it. Pipes and devices such as /dev/null are never replaced: they take
what is written, when it is complete.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

Name = str | os.PathLike[str]
# Folders whose entries are files that a process has opened.
_DESCRIPTORS = re.compile(r"/proc/[^/]+(/task/[^/]+)?/fd|/dev/fd")


def check_writable(path: Name) -> None:
    """Raise an OSError if a file cannot be written, before the work that leads to it."""
    status, folder = _status(path), Path(os.path.realpath(path)).parent
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write.")
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {Path(path).parent} to write {Path(path).name} to.")
    if status is not None and not _has_access(path, os.W_OK):
        raise PermissionError(f"{path} is write-protected; give another file name, or permit to write it.")
    if not is_stream(path) and not _has_access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"There is no permission to write {Path(path).name} to the folder {folder}.")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; create its folder if it does not exist."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write, which is there at the end of the block, and not if that fails."""
    if is_stream(path):
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            with open(path, "wb") as stream:
                shutil.copyfileobj(file, stream)
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    check_writable(target)
    temporary = hidden_path(target)
    # No one else may read it who may not read the file that it replaces; a new file has the usual mode.
    mode = 0o600 if target.exists() else 0o666
    try:
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode
        )
        with open(descriptor, "wb") as written:
            yield written
            sync(written)
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        if error.filename == str(temporary) or error.errno in (
            errno.ENOSPC,
            errno.EFBIG,
        ):  # with the name that the user knows
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def open_growing(path: Path, *, keep: bool = False) -> IO[bytes]:
    """Open a file to write that grows as it is written; `keep` keeps the content of a regular file."""
    check_writable(path)
    if keep and is_stream(path):
        raise ValueError(f"{path} is a pipe or a device, which has nothing to continue.")
    return open(path, "r+b" if keep else "wb")


def hidden_path(path: Path) -> Path:
    """Return a new hidden name beside a file; it is short, however long the name of the file is."""
    return path.with_name(f".lann-{uuid.uuid4().hex}.tmp")


def sync(file: IO[bytes]) -> None:
    """Write a file to the disk; pipes and some file systems cannot do that."""
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EROFS):
            raise


def check_different(inputs: Iterable[Name | int], outputs: Iterable[Name]) -> None:
    """Raise ValueError if a file to write is one that is read, or the same as another one to write.

    Files are compared, not their names: a link and another spelling of a path are the same file.

    Parameters
    ----------
    inputs : iterable of path-like and int
        Files that are read, which need not exist, and numbers of open files.
    outputs : iterable of path-like
    """
    inputs, written = list(inputs), list[Name]()
    for output in outputs:
        for source in inputs:
            if is_same_file(source, output):
                is_other = not isinstance(source, int) and os.fspath(source) != os.fspath(output)
                what = f"the file {source}, which is read" if is_other else "read"
                raise ValueError(f"{output} is {what}: it cannot be written, too; give another file name.")
        for other in written:
            if is_same_file(other, output):
                raise ValueError(f"{other} and {output} are the same file; give different files to write.")
        written.append(output)


def check_readable(path: Name, kind: str = "file", *, pipes: bool = False) -> None:
    """Raise an OSError if there is no file to read, or no pipe where pipes are allowed.

    Parameters
    ----------
    path : path-like
    kind : str, default="file"
        What is expected, in messages.
    pipes : bool, default=False
        Whether a pipe will do, which can be read once and from start to end only.
    """
    status = _status(path)
    if status is None:
        raise FileNotFoundError(f"There is no file {path}.")
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{path} is a folder, not a {kind}.")
    if stat.S_ISFIFO(status.st_mode) and not pipes:
        raise OSError(f"{path} is a pipe, not a {kind}; write its content to a file first.")
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
        raise OSError(f"{path} is a device, not a {kind}; give the name of a file.")
    if not _has_access(path, os.R_OK):
        raise PermissionError(f"There is no permission to read {path}.")


def is_pipe(path: Name) -> bool:
    """Return whether a path is a pipe, such as a named one or that of ``<(command)`` in a shell."""
    status = _status(path)
    return status is not None and stat.S_ISFIFO(status.st_mode)


def is_stream(path: Name) -> bool:
    """Return whether a path is a pipe or a character device."""
    status = _status(path)
    return status is not None and (stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode))


def is_same_file(first: Name | int, second: Name | int) -> bool:
    """Return whether two names, or numbers of open files, are those of one file or pipe."""
    with suppress(OSError):
        return not is_stream_device(first) and os.path.samefile(first, second)
    names = [file for file in (first, second) if not isinstance(file, int)]
    return len(names) == 2 and os.path.realpath(names[0]) == os.path.realpath(names[1])


def is_stream_device(file: Name | int) -> bool:
    """Return whether a file is a character device such as /dev/null, which can be read and written."""
    return stat.S_ISCHR(os.stat(file).st_mode)


def is_descriptor(path: Name) -> bool:
    """Return whether a path is the name of an open file of a process: /dev/stdin, /dev/stdout, /dev/fd/3."""
    link = Path(path)
    while True:
        if _DESCRIPTORS.fullmatch(os.path.realpath(link.parent)):
            return True
        if not link.is_symlink() or _status(link) is None:
            return False
        link = link.parent / os.readlink(link)


class FileVersion(NamedTuple):
    """What changes if somebody else writes to a file."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileVersion:
        """Return the version of a file with a status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def has_changed(name: object) -> ValueError:
    """Return the error for a file that was written to while it was read."""
    return ValueError(f"{name} was changed while it was read; wait until it is complete, or read a copy.")


def read_content(path: Name, kind: str = "file", *, pipes: bool = False) -> bytes:
    """Return the content of a file, or of a pipe where pipes are allowed; see `check_readable`."""
    check_readable(path, kind, pipes=pipes)
    with open(path, "rb") as file:
        before = FileVersion.of(os.fstat(file.fileno()))
        content = file.read()
        if not is_pipe(path) and FileVersion.of(os.fstat(file.fileno())) != before:
            raise has_changed(path)
        return content


def _status(path: Name) -> os.stat_result | None:
    """Return the status of a file behind all links, None if there is none."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _has_access(path: Name, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)
