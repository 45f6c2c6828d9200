"""What the process holds while nothing runs: memory, threads, open files, temporary files."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.common.peak_memory import held_memory

# The number of the option in glibc's malloc.h.
M_ARENA_MAX = -8


def sample(temporary: Path) -> dict[str, Any]:
    """
    Return what the process holds after a collection of garbage.

    Parameters
    ----------
    temporary
        The folder for temporary files.

    Returns
    -------
    sample
        `resident` memory in MB as it is, and `memory` after free memory was given back to the system, where
        that is possible; numbers of `threads` of the system and `python_threads`; `open_files`, and
        `temporary_files`. None where the system does not say.
    """
    for _ in range(2):  # finalizers can leave more
        gc.collect()
    resident = held_memory() / 2**20
    _give_back()
    return {
        "resident": round(resident, 2),
        "memory": round(held_memory() / 2**20, 2),
        "threads": _count_threads(),
        "python_threads": threading.active_count(),
        "open_files": _count("/proc/self/fd"),
        "temporary_files": sum(1 for _ in temporary.rglob("*")),
    }


def _count_threads() -> int | None:
    """Return the number of threads of the system; one that has ended can be seen a moment longer."""
    fewest = _count("/proc/self/task")
    for _ in range(20):
        if fewest is None or fewest <= threading.active_count():
            break
        time.sleep(0.02)
        fewest = min(fewest, _count("/proc/self/task") or fewest)
    return fewest


def _count(folder: str) -> int | None:
    try:
        return len(os.listdir(folder))
    except OSError:
        return None


def use_one_arena() -> None:
    """Let all threads allocate memory from one place, where the C library allows it.

    With a place for each thread, what is left between blocks that are in use grows for minutes, by chance.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def _give_back() -> None:
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
