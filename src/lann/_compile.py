"""Compile functions with numba, and keep the compiled code where that is possible and safe.

numba keeps compiled code beside the source file or, if that folder is read-only, in the user's cache folder.
Where it can write to neither, as in many containers, it raises an error as soon as a module is imported. The
caches of this module then use a private folder among temporary files, or none.
"""

from __future__ import annotations

import atexit
import itertools
import os
import re
import shutil
import stat
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache as remember
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numba

# The modules of numba that make caches, the cache they make, and the lock that is held while a function is
# compiled. None of them is public: a version of numba that lacks one is used as it is.
_MAKERS: tuple[Any, ...]
FunctionCache: Any
_compiler_lock: Any
try:
    from numba.core import dispatcher
    from numba.core.caching import FunctionCache, NullCache
    from numba.core.compiler_lock import global_compiler_lock as _compiler_lock
    from numba.np.ufunc import ufuncbuilder

    _MAKERS = (dispatcher, ufuncbuilder)
except ImportError:
    _MAKERS, FunctionCache, _compiler_lock = (), object, threading.RLock()

NAME = "lann-numba-"
CURE = "set NUMBA_CACHE_DIR to a folder of your own"
_config: Any = numba.config
_ROOT = Path(__file__).parent.parent
_IMPORT = re.compile(r"^(?:from|import)\s+(lann(?:\.\w+)*)", re.MULTILINE)


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator of that name; its cache never makes an import or a call fail."""

    def decorate(function: Callable[..., Any]) -> Any:
        with safe_caches():
            return numba.njit(cache=cache, **options)(function)

    return decorate


@contextmanager
def safe_caches() -> Iterator[None]:
    """Let functions that are decorated inside have caches of this module, those of other packages, too."""
    with _decorating:
        for maker in _MAKERS:
            maker.FunctionCache = make_cache
        try:
            yield
        finally:
            for maker in _MAKERS:
                maker.FunctionCache = FunctionCache


def make_cache(function: Callable[..., Any]) -> Any:
    """Return a cache for a function: where numba puts it, in a private folder, or without any folder."""
    # A user without a home gives numba a path that begins with "~", in the current folder.
    with suppress(RuntimeError, OSError):
        found = _Cache(function)
        if _config.CACHE_DIR or os.path.isabs(found.cache_path):
            return found
    folder = private_folder()
    if folder is not None:
        with suppress(RuntimeError, OSError), _cache_folder(folder):
            found = _Cache(function)
            _warn_once(
                "Neither the folder of lann nor the user's cache folder can be written to: compiled "
                f"functions are kept in {folder}; {CURE} to choose another."
            )
            return found
    _warn_once(
        "There is no folder for compiled functions that only you can write to: they are compiled again in "
        f"every process, which takes a minute; {CURE} to keep them."
    )
    return NullCache()


@contextmanager
def _cache_folder(folder: str) -> Iterator[None]:
    """Let numba take a folder for that of NUMBA_CACHE_DIR; a cache keeps the one it was made with."""
    before, _config.CACHE_DIR = _config.CACHE_DIR, folder
    try:
        yield
    finally:
        _config.CACHE_DIR = before


class _Cache(FunctionCache):
    """numba's cache of a function; if a file cannot be read or written, the function is compiled.

    What is kept includes the code of functions that are called, and constants. numba compares the time and
    size of the function's own file only; this cache compares those of all files of lann that it imports.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Neither name is public, either.
        index, stamp = getattr(self, "_cache_file", None), "_source_stamp"
        if hasattr(index, stamp):
            vars(index)[stamp] = getattr(index, stamp), stamp_sources(function.__code__.co_filename)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever a damaged pickle raises
            with suppress(Exception):
                self.flush()  # replaces a damaged index
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:  # a full disk, or an index that can be neither read nor replaced
            self.disable()
            _warn_once(
                f"A compiled function cannot be saved in {self.cache_path} ({error}), and is compiled again "
                f"in every process; {CURE} to keep it."
            )


@remember
def stamp_sources(path: str) -> tuple[tuple[str, int, int], ...]:
    """Return the name, time and size of a source file, and of all files of lann that it imports."""
    found: dict[str, tuple[str, int, int]] = {}
    paths = [path]
    while paths:
        path = paths.pop()
        if path in found:
            continue
        try:
            status = os.stat(path)
        except OSError:  # not a file: a notebook, or an archive
            continue
        found[path] = (os.path.basename(path), status.st_mtime_ns, status.st_size)
        paths += _imported_files(path)
    return tuple(sorted(found.values()))


@remember
def _imported_files(path: str) -> list[str]:
    """Return the files of lann that a source file imports as it begins."""
    modules = _IMPORT.findall(Path(path).read_text(encoding="utf-8", errors="replace"))
    paths = [_ROOT.joinpath(*module.split(".")) for module in modules]
    return [str(path / "__init__.py" if path.is_dir() else path.with_suffix(".py")) for path in paths]


@remember
def private_folder() -> str | None:
    """Return a folder among temporary files that nobody else can write to; None if there is none.

    Caches are pickles, which run code when they are read: a folder that another user could have prepared is
    never used. The user's own folder is kept for later processes; a fresh one is removed at exit.
    """
    try:
        parent = os.path.realpath(tempfile.gettempdir())
    except OSError:
        return None
    if not _only_owner_can_rename(parent):
        return None
    if hasattr(os, "geteuid"):
        own = os.path.join(parent, f"{NAME}{os.geteuid()}")
        with suppress(OSError):
            os.mkdir(own, 0o700)
        if _is_private(own):
            return own
    try:
        fresh = tempfile.mkdtemp(prefix=NAME, dir=parent)
    except OSError:
        return None
    atexit.register(_remove, fresh, os.getpid())
    return fresh


def _only_owner_can_rename(folder: str) -> bool:
    """Return whether no other user can put another folder in the place of one in this folder."""
    if not hasattr(os, "geteuid"):
        return True
    for path in (Path(folder), *Path(folder).parents):
        try:
            found = path.stat()
        except OSError:
            return False
        if found.st_uid not in (0, os.geteuid()):
            return False
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
            return False
    return True


def _is_private(folder: str) -> bool:
    """Return whether this is a folder, not a link to one, that only the present user can enter."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return own and stat.S_IMODE(found.st_mode) == stat.S_IRWXU


def _remove(folder: str, pid: int) -> None:
    if os.getpid() == pid:  # not in a forked child
        shutil.rmtree(folder, ignore_errors=True)


def _warn_once(sentence: str) -> None:
    """Warn at most once per process, and not in the workers of another."""
    if next(_warnings) == 0 and parent_process() is None:
        warnings.warn(sentence, UserWarning, stacklevel=2)


_warnings = itertools.count()
_decorating = threading.RLock()


def _before_fork() -> None:
    # In a child, a function that another thread is compiling would stay locked.
    _decorating.acquire()
    _compiler_lock.acquire()


def _after_fork() -> None:
    for lock in (_compiler_lock, _decorating):
        with suppress(RuntimeError):  # not acquired: the wait was interrupted
            lock.release()


if hasattr(os, "register_at_fork"):  # not where processes cannot fork
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
