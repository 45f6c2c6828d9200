"""Files that are written completely or not at all, and files that are read.

Regular files are replaced: a new file in the same folder is written and then renamed. Pipes and devices such
as /dev/null are never replaced: they take what is written, when it is complete.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

Name = str | os.PathLike[str]


def check_writable(path: Name) -> None:
    """Raise an OSError if a file cannot be written, before the work that leads to it."""
    folder = Path(os.path.realpath(path)).parent
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write.")
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {Path(path).parent} to write {Path(path).name} to.")
    for needed in (path, folder):
        if os.path.exists(needed) and not is_stream(path) and not os.access(needed, os.W_OK):
            raise PermissionError(f"{needed} is write-protected; give another file name.")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; create its folder if it does not exist."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write, which is there at the end of the block, and not if that fails."""
    if is_stream(path):
        buffer = io.BytesIO()
        yield buffer
        path.write_bytes(buffer.getvalue())
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    check_writable(target)
    temporary = hidden_path(target)
    try:
        with temporary.open("xb") as file:
            if target.exists():
                shutil.copymode(target, temporary)
            yield file
            sync(file)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def hidden_path(path: Path) -> Path:
    """Return a new hidden name beside a file."""
    return path.with_name(f".lann-{uuid.uuid4().hex}.tmp")


def sync(file: IO[bytes]) -> None:
    """Write a file to the disk; pipes and some file systems cannot do that."""
    file.flush()
    with suppress(OSError):
        os.fsync(file.fileno())


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
                is_other = str(source) != str(output)
                what = f"the file {source}, which is read" if is_other else "read"
                raise ValueError(f"{output} is {what}: it cannot be written, too; give another file name.")
        for other in written:
            if is_same_file(other, output):
                raise ValueError(f"{other} and {output} are the same file; give different files to write.")
        written.append(output)


def is_same_file(first: Name | int, second: Name | int) -> bool:
    """Return whether two names, or numbers of open files, are those of one file or pipe."""
    try:
        return os.path.samefile(first, second) and not stat.S_ISCHR(os.stat(first).st_mode)
    except OSError:
        return os.path.realpath(str(first)) == os.path.realpath(str(second))


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
    if not os.path.exists(path):
        raise FileNotFoundError(f"There is no file {path}.")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder, not a {kind}.")
    if is_pipe(path) and not pipes:
        raise OSError(f"{path} is a pipe, not a {kind}; write its content to a file first.")
    if not os.path.isfile(path) and not is_pipe(path):
        raise OSError(f"{path} is a device, not a {kind}; give the name of a file.")
    if not os.access(path, os.R_OK):
        raise PermissionError(f"There is no permission to read {path}.")


def is_pipe(path: Name) -> bool:
    """Return whether a path is a pipe, such as a named one or that of ``<(command)`` in a shell."""
    return Path(path).is_fifo()


def is_stream(path: Name) -> bool:
    """Return whether a path is a pipe or a device, such as /dev/null."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def read_content(path: Name, kind: str = "file") -> bytes:
    """Return the content of a file; see `check_readable`."""
    check_readable(path, kind)
    return Path(path).read_bytes()
