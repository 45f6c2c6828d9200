"""Child processes that load and use files, with limits of memory and time."""

from __future__ import annotations

import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.fuzz.model_files.honest import load_and_use, use_file

REJECTED, USED, RAISED = "rejected with one sentence", "loaded and used", "raised one sentence at use"
CRASH, HANG, MEMORY, FAULT = "crash", "hang", "too much memory", "other exception"
OUTCOMES = (REJECTED, USED, RAISED, CRASH, HANG, MEMORY, FAULT)
FAULTS = (CRASH, HANG, MEMORY, FAULT)
"""What must not happen."""

_CONTEXT = multiprocessing.get_context("fork")
# Below this, buffers of BLAS and numba are most of what is measured.
LEAST_GROWTH = 8 * 2**20


@dataclass(frozen=True)
class Outcome:
    """
    What happened with a file.

    Parameters
    ----------
    number
        Of the file.
    change
        Name of the change.
    kind
        One of `OUTCOMES`.
    detail
        The message.
    """

    number: int
    change: str
    kind: str
    detail: str


def try_file(path: Path) -> tuple[str, str]:
    """Load and use a file; return one of `OUTCOMES` and the message."""
    from lann.persist import load_with_table

    stage = REJECTED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = load_with_table(path)
            stage = RAISED
            use_file(*found)
    except MemoryError as error:
        return MEMORY, repr(error)
    except Exception as error:
        text = str(error)
        one_sentence = (
            isinstance(error, ValueError) and "\n" not in text and text.endswith(".") and len(text) < 2000
        )
        if one_sentence and (stage == RAISED or path.name in text):
            return stage, text
        return FAULT, f"{(stage == RAISED and 'use') or 'load'}: {type(error).__name__}: {text[:300]}"
    return USED, ""


def peak_growth(files: Iterable[bytes], folder: Path) -> int:
    """Return by how many bytes the address space of a child grows, when it loads and uses honest files."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)

    def measure() -> None:
        before, path = _address_space("VmSize"), folder / "growth.lann"
        for content in files:
            path.write_bytes(content)
            load_and_use(path)
        sender.send(_address_space("VmPeak") - before)

    child = _CONTEXT.Process(target=measure)
    child.start()
    growth = receiver.recv()
    child.join()
    return max(growth, LEAST_GROWTH)


def _address_space(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


class Child:
    """
    A process that tries one file after another.

    Parameters
    ----------
    path
        The file through which it gets the content.
    memory
        By how many bytes its address space may grow.
    """

    def __init__(self, path: Path, memory: int) -> None:
        self.path, self._memory = path, memory
        self.number, self.change, self.deadline = -1, "", 0.0
        self._start()

    @property
    def connection(self) -> Connection:
        return self._connection

    def _start(self) -> None:
        self._connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, self.path, self._memory), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, number: int, change: str, content: bytes, seconds: float) -> None:
        """Give it a file, with a limit of time."""
        self.number, self.change = number, change
        self.path.write_bytes(content)
        self.deadline = time.monotonic() + seconds
        self._connection.send(True)

    def take(self) -> Outcome:
        """Return the outcome of the file; restart the process if it has ended."""
        try:
            kind, detail = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            kind, detail = CRASH, f"exit code {self._process.exitcode}"
            self._start()
        return Outcome(self.number, self.change, kind, detail)

    def stop(self) -> Outcome:
        """End the process, whose time is over, and start another."""
        self.close()
        self._start()
        return Outcome(self.number, self.change, HANG, "")

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()


def _serve(connection: Connection, path: Path, memory: int) -> None:
    limit = _address_space("VmSize") + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)
    while connection.recv():
        connection.send(try_file(path))


def try_files(
    changed: Callable[[int], tuple[str, bytes]],
    n_files: int,
    *,
    folder: Path,
    memory: int,
    seconds: float,
    n_children: int,
) -> Iterator[Outcome]:
    """
    Try changed files in child processes, and return the outcomes as they come.

    Parameters
    ----------
    changed
        From a number to the name of a change and the content of a file.
    n_files
        How many there are.
    folder
        For temporary files.
    memory
        By how many bytes the address space of a child may grow.
    seconds
        Limit of time for each file.
    n_children
        How many processes run at a time.
    """
    children = [Child(folder / f"child{number}.lann", memory) for number in range(min(n_children, n_files))]
    numbers = iter(range(n_files))

    def give(child: Child) -> bool:
        number = next(numbers, None)
        if number is not None:
            child.give(number, *changed(number), seconds)
        return number is not None

    busy: dict[Any, Child] = {child.connection: child for child in children if give(child)}
    try:
        while busy:
            ready: list[Any] = wait(list(busy), timeout=0.2)
            now = time.monotonic()
            over = [c for c, child in busy.items() if c not in ready and now > child.deadline]
            for connection in [*ready, *over]:
                child = busy.pop(connection)
                yield child.take() if connection in ready else child.stop()
                if give(child):
                    busy[child.connection] = child
    finally:
        for child in children:
            child.close()
