"""The parts of the harness: each makes cases from a seed and a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.fuzz.outcomes import Outcome

# A part is a module with a function `prepare(folder) -> Part`. The order is that of a run of all.
PARTS = {
    "inputs": "tests.fuzz.inputs.part",
    "model-files": "tests.fuzz.model_files.part",
    "special-values": "tests.fuzz.model_files.special",
}


@dataclass(frozen=True)
class Part:
    """
    A generator of cases.

    Parameters
    ----------
    run
        From a seed and a number to what happened. It is called in child processes, which are forked after
        the part was prepared; the same seed and number are the same case in every process.
    seconds
        Limit of time for each case.
    memory
        By how many bytes the address space of a child may grow; None: no limit.
    most_processes
        How many processes may run cases of this part at a time.
    keep
        Writes what reproduces a case into a folder, given the folder, the seed and the number.
    """

    run: Callable[[int, int], Outcome]
    seconds: float = 20.0
    memory: int | None = None
    most_processes: int = 2
    keep: Callable[[Path, int, int], None] | None = None


def prepare(name: str, folder: Path) -> Part:
    """
    Prepare a part: fit what it needs and compile functions, before processes are forked.

    Parameters
    ----------
    name
        One of `PARTS`.
    folder
        For temporary files.
    """
    return import_module(PARTS[name]).prepare(folder)
