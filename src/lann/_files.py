"""Files that are written completely or not at all, and files that are read: the rules for both.

Regular files are replaced: a new file in the same folder is written, brought to the disk, and then renamed.
What is there keeps its mode, its owner if that is permitted, and the symbolic links that lead to it; another
hard link keeps the old content. Pipes and character devices such as /dev/null are never replaced: they take
what is written, when it is complete. Everything else is an error.
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

# Flags that not all systems have.
_STREAM_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_SAFE_FLAGS = _STREAM_FLAGS | getattr(os, "O_NOFOLLOW", 0)
_NO_TERMINAL, _NO_WAIT = getattr(os, "O_NOCTTY", 0), getattr(os, "O_NONBLOCK", 0)
# Folders whose entries are files that a process has opened.
_DESCRIPTORS = re.compile(r"/proc/[^/]+(/task/[^/]+)?/fd|/dev/fd")
_MOST_LINKS = 40
# What file systems say that cannot do something, instead of doing it.
_UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EROFS}
_NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


class _Target(NamedTuple):
    """Where something is written: the file behind all links, and what is there, None if nothing is."""

    path: Path
    status: os.stat_result | None

    @property
    def is_stream(self) -> bool:
        """Whether it is a pipe or a device, which takes bytes and is not replaced."""
        return self.status is not None and not stat.S_ISREG(self.status.st_mode)


def check_writable(path: Name) -> None:
    """Raise an OSError if a file cannot be written, before the work that leads to it."""
    target = _find_target(Path(path))
    if target.is_stream:
        if not _has_access(target.path, os.W_OK):
            raise PermissionError(f"There is no permission to write to {path}.")
        return
    name, folder = target.path.name, target.path.parent
    shown = Path(path).parent
    if os.path.realpath(shown) != str(folder):  # a link leads elsewhere
        shown = folder
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {shown} to write {name} to.")
    if target.status is not None and not _has_access(target.path, os.W_OK):
        raise PermissionError(f"{path} is write-protected; give another file name, or permit to write it.")
    if not _has_access(folder, os.W_OK | os.X_OK):
        why = "" if target.status is None else ", which is needed to replace the file"
        raise PermissionError(f"There is no permission to write {name} to the folder {shown}{why}.")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all; create its folder if it does not exist."""
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write, which is there at the end of the block, and not if that fails."""
    target = _find_target(path)
    if target.is_stream:
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            try:
                with _open_stream(target.path) as stream:
                    shutil.copyfileobj(file, stream)
            except BrokenPipeError as error:
                raise OSError(f"{path} was closed before everything was written to it.") from error
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from error
        return
    target.path.parent.mkdir(parents=True, exist_ok=True)
    temporary = hidden_path(target.path)
    # No one else may read it who may not read the file that it replaces; a new file has the usual mode.
    mode = 0o666 if target.status is None else 0o600
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE_FLAGS, mode)
    except OSError as error:  # with the name that the user knows
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:  # interrupted as the file was made
        temporary.unlink(missing_ok=True)
        raise
    try:
        with open(descriptor, "wb") as written:
            yield written
            written.flush()
            existing = _find_target(target.path)  # perhaps it has changed in the meantime
            if existing.is_stream:
                raise FileExistsError(f"{path} has become a pipe or a device, which is not replaced.")
            if existing.status is not None:
                _keep_attributes(written.fileno(), existing.path, existing.status)
            sync(written)
        os.replace(temporary, target.path)
        sync_folder(target.path.parent)
    except OSError as error:
        if error.errno in _NO_SPACE or error.filename == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def open_growing(path: Path, *, keep: bool = False) -> IO[bytes]:
    """Open a file to write that grows as it is written, and is there from the start.

    Parameters
    ----------
    path : Path
    keep : bool, default=False
        Whether to keep the content of a regular file, which must exist then.
    """
    check_writable(path)
    target = _find_target(path)
    if target.is_stream:
        if keep:
            raise ValueError(f"{path} is a pipe or a device, which has nothing to continue.")
        return _open_stream(target.path)
    return target.path.open("r+b" if keep else "wb")


def hidden_path(path: Path) -> Path:
    """Return a new hidden name beside a file; it is short, however long the name of the file is."""
    return path.with_name(f".lann-{uuid.uuid4().hex}.tmp")


def final_path(path: Path) -> Path:
    """Return the file or folder behind all links, which need not exist; raise an OSError if they loop."""
    _status(path)
    return Path(os.path.realpath(path))


def sync(file: IO[bytes]) -> None:
    """Bring a file to the disk; pipes and some file systems have no such thing."""
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise


def sync_folder(folder: Path) -> None:
    """Bring the names of a folder to the disk, where the system can do this."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
                raise ValueError(
                    f"{other} and {output} are the same file; give different names of files to write."
                )
        written.append(output)


def check_readable(path: Name, kind: str = "file", *, pipes: bool = False) -> None:
    """Raise an OSError if there is nothing to read.

    Parameters
    ----------
    path : path-like
    kind : str, default="file"
        What is expected, in messages.
    pipes : bool, default=False
        Whether a pipe will do, which can be read once and from start to end only.
    """
    status = _status(Path(path))
    if status is None:
        if Path(path).is_symlink():
            raise FileNotFoundError(f"There is no file {path}: it is a link to a file that does not exist.")
        raise FileNotFoundError(f"There is no file {path}.")
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{path} is a folder, not a {kind}.")
    if stat.S_ISFIFO(status.st_mode) and not pipes:
        raise OSError(f"{path} is a pipe, not a {kind}; write its content to a file first.")
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
        raise OSError(f"{path} is {_kind(status)}, not a {kind}; give the name of a file.")
    if not _has_access(Path(path), os.R_OK):
        raise PermissionError(f"There is no permission to read {path}.")


def is_pipe(path: Name) -> bool:
    """Return whether a path is a pipe, such as a named one or that of ``<(command)`` in a shell."""
    status = _status(Path(path))
    return status is not None and stat.S_ISFIFO(status.st_mode)


def is_stream(path: Name) -> bool:
    """Return whether a path is a pipe or a character device."""
    status = _status(Path(path))
    return status is not None and (stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode))


def is_same_file(first: Name | int, second: Name | int) -> bool:
    """Return whether two names, or numbers of open files, are those of one file or pipe."""
    identity = _identity(first)
    return identity is not None and identity == _identity(second)


def is_descriptor(path: Name) -> bool:
    """Return whether a path is the name of an open file of a process: /dev/stdin, /dev/stdout, /dev/fd/3."""
    return any(_DESCRIPTORS.fullmatch(os.path.realpath(link.parent)) for link in _links(Path(path)))


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
    """Return the content of a file, all of it from one version.

    Parameters
    ----------
    path : path-like
    kind : str, default="file"
        What is expected, in messages.
    pipes : bool, default=False
        Whether a pipe will do; it is read until nothing writes to it any more.

    Raises
    ------
    OSError
        If there is nothing to read.
    ValueError
        If the file was changed while it was read.
    """
    check_readable(path, kind, pipes=pipes)
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return file.read()
        content = file.read(status.st_size)
        more = file.read(1)  # of files of the system, sizes are unknown
        if status.st_size == 0 and more:
            return more + file.read()
        if more or len(content) != status.st_size:
            raise has_changed(path)
        if FileVersion.of(os.fstat(file.fileno())) != FileVersion.of(status):
            raise has_changed(path)
        return content


def _find_target(path: Path) -> _Target:
    """Return where a file is written; raise an OSError if something else than a file is there."""
    status = _status(path)
    if status is None:
        return _Target(final_path(path), None)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write.")
    if stat.S_ISREG(status.st_mode):
        if is_descriptor(path):  # it may be opened to append to it
            raise OSError(f"{path} is an open file, which is not replaced; give the name of a file to write.")
        return _Target(Path(os.path.realpath(path)), status)
    if stat.S_ISFIFO(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not _is_terminal(path)):
        return _Target(path, status)
    raise OSError(f"{path} is {_kind(status, path)}; give the name of a file to write.")


def _kind(status: os.stat_result, path: Path | None = None) -> str:
    if stat.S_ISSOCK(status.st_mode):
        return "a socket"
    if path is not None and stat.S_ISCHR(status.st_mode):
        return "a terminal"
    return "a device"


def _is_terminal(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | _NO_WAIT | _NO_TERMINAL)
    except OSError:
        return False
    try:
        return os.isatty(descriptor)
    finally:
        os.close(descriptor)


def _open_stream(path: Path) -> IO[bytes]:
    """Open a pipe or a device; a file of this name is neither created nor emptied."""
    return open(os.open(path, os.O_WRONLY | _NO_TERMINAL | _STREAM_FLAGS), "wb")


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file behind all links, None if there is none."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise PermissionError(f"There is no permission to look for {path} in its folder.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(f"{path} is a symbolic link that leads back to itself.") from error
        if error.errno == errno.ENAMETOOLONG:
            raise OSError(f"The name {path.name[:40]}... is too long for a file.") from error
        raise


def _links(path: Path) -> Iterator[Path]:
    """Yield a path, and what it leads to as long as that is a symbolic link."""
    for _ in range(_MOST_LINKS):
        yield path
        if not path.is_symlink():
            return
        path = path.parent / os.readlink(path)


def _has_access(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _identity(file: Name | int) -> object:
    """Return what two names of the same file have in common; None of a device, which no file is."""
    if isinstance(file, int):
        try:
            status: os.stat_result | None = os.fstat(file)
        except OSError:  # it is closed
            return None
    else:
        status = _status(Path(file))
    if status is None:
        assert not isinstance(file, int)
        return os.path.normcase(final_path(Path(file)))
    is_file = stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode)
    return (status.st_dev, status.st_ino) if is_file else None


def _keep_attributes(descriptor: int, existing: Path, status: os.stat_result) -> None:
    """Give a new file owner, group, access list and mode of the one that it replaces, as far as permitted."""
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if not hasattr(os, "fchown"):  # on Windows, access is inherited from the folder
        return
    own = os.fstat(descriptor)
    if own.st_uid != status.st_uid:
        with suppress(OSError):
            os.fchown(descriptor, status.st_uid, -1)
    if own.st_gid != status.st_gid:
        try:
            os.fchown(descriptor, -1, status.st_gid)
        except OSError:  # the mode is about another group then, which may do no more than others
            mode &= ~0o070 | (mode & 0o007) << 3
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # a list that is inherited from the folder would permit more
            os.removexattr(descriptor, "system.posix_acl_access")
        with suppress(OSError):
            for name in os.listxattr(existing):
                if name.startswith("user.") or name == "system.posix_acl_access":
                    os.setxattr(descriptor, name, os.getxattr(existing, name))
    os.fchmod(descriptor, mode)
