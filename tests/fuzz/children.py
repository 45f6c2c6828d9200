"""Child processes that run cases, with limits of memory and time."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.fuzz.outcomes import CRASH, FOREIGN, HANG, Outcome, Part

CONTEXT = multiprocessing.get_context("fork")
STATUS = Path("/proc/self/status")


def address_space(name: str) -> int:
    """
    Return a size of this process, in bytes; 0 if the system does not say it.

    Parameters
    ----------
    name
        `VmSize` or `VmPeak`.
    """
    if not STATUS.exists():
        return 0
    for line in STATUS.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


@contextlib.contextmanager
def unlimited_memory() -> Iterator[None]:
    """Lift the limit of memory for a while: what makes a case may take more than what it tries."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limits[1], limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


class Child:
    """
    A process that runs one case after another, in a group of its own with whatever it starts.

    Parameters
    ----------
    part
        Has the cases and the limits.
    seed
        Of the cases.
    """

    def __init__(self, part: Part, seed: int) -> None:
        self._part, self._seed = part, seed
        self.number, self.deadline = -1, 0.0
        self._start()

    @property
    def connection(self) -> Connection:
        return self._connection

    def _start(self) -> None:
        self._connection, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=_serve, args=(theirs, self._part, self._seed), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, number: int) -> None:
        """Give it the number of a case; the time runs from now on."""
        self.number, self.deadline = number, time.monotonic() + self._part.seconds
        self._connection.send(number)

    def take(self) -> Outcome:
        """Return the outcome of the case; restart the process if it has ended."""
        try:
            return self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            self.close()
            self._start()
            return Outcome(CRASH, "", f"exit code {code}")

    def stop(self) -> Outcome:
        """End the process, whose time is over, and start another."""
        self.close()
        self._start()
        return Outcome(HANG, "", f"more than {self._part.seconds:g} s")

    def close(self) -> None:
        """End the process, and those that it has started."""
        with contextlib.suppress(ProcessLookupError):
            if self._process.pid is not None:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self._connection.close()


def _serve(connection: Connection, part: Part, seed: int) -> None:
    os.setsid()
    # AddressSanitizer reserves addresses of its own.
    if part.memory is not None and STATUS.exists() and "libasan" not in os.environ.get("LD_PRELOAD", ""):
        limit = address_space("VmSize") + part.memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)
    while True:
        number = connection.recv()
        try:
            outcome = part.run(seed, number)
        except MemoryError as error:
            outcome = Outcome(FOREIGN, "", repr(error))
        connection.send(outcome)


def run_cases(
    part: Part, seed: int, *, n_children: int, is_over: Callable[[int], bool]
) -> Iterator[tuple[int, Outcome]]:
    """
    Run cases in child processes, and return numbers and outcomes as they come.

    Parameters
    ----------
    part
        Has the cases and the limits.
    seed
        Of the cases.
    n_children
        How many processes run at a time.
    is_over
        Whether no further case begins, given its number.
    """
    children = [Child(part, seed) for _ in range(n_children)]
    n_given = 0

    def give(child: Child) -> bool:
        nonlocal n_given
        if is_over(n_given):
            return False
        child.give(n_given)
        n_given += 1
        return True

    busy: dict[Any, Child] = {child.connection: child for child in children if give(child)}
    try:
        while busy:
            ready: list[Any] = wait(list(busy), timeout=0.2)
            now = time.monotonic()
            over = [c for c, child in busy.items() if c not in ready and now > child.deadline]
            for connection in [*ready, *over]:
                child = busy.pop(connection)
                number = child.number
                yield number, child.take() if connection in ready else child.stop()
                if give(child):
                    busy[child.connection] = child
    finally:
        for child in children:
            child.close()
