"""A run of the fuzzer: honest files, their changes, and what happened with these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.children import FAULTS, OUTCOMES, RAISED, Outcome, peak_growth, try_files
from tests.fuzz.model_files.honest import honest_files, load_and_use
from tests.fuzz.model_files.mutations import mutate

# How much more memory than an honest file a changed one may take.
FACTOR = 10


@dataclass
class FuzzReport:
    """
    What happened with the files.

    Parameters
    ----------
    memory
        The limit of the memory, in bytes beyond that before loading.
    counts
        Number of files by outcome.
    faults
        What must not happen.
    raised
        What raised one sentence at use.
    """

    memory: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    faults: list[Outcome] = field(default_factory=list)
    raised: list[Outcome] = field(default_factory=list)


def fuzz(
    n_files: int,
    seed: int,
    *,
    folder: Path,
    n_children: int = 2,
    seconds: float = 20.0,
    keep: Path | None = None,
    make_files: Callable[[Path], list[bytes]] = honest_files,
) -> FuzzReport:
    """
    Change honest files, and load and use each in a child process.

    Parameters
    ----------
    n_files
        Number of changed files.
    seed
        Determines the changes.
    folder
        For temporary files.
    n_children
        Number of processes.
    seconds
        Limit of time for each file.
    keep
        A folder for the files on which something happened that must not; None: they are not kept.
    make_files
        Returns the honest files, given the folder.
    """
    files = make_files(folder)
    path = folder / "warm.lann"
    for content in files:  # compiles, so that children need not
        path.write_bytes(content)
        load_and_use(path)
    report = FuzzReport(FACTOR * peak_growth(files, folder))
    outcomes = try_files(
        lambda number: mutate(files, seed, number),
        n_files,
        folder=folder,
        memory=report.memory,
        seconds=seconds,
        n_children=n_children,
    )
    for outcome in outcomes:
        report.counts[outcome.kind] += 1
        if outcome.kind in FAULTS:
            report.faults.append(outcome)
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}-{outcome.number}.lann").write_bytes(mutate(files, seed, outcome.number)[1])
        elif outcome.kind == RAISED:
            report.raised.append(outcome)
    return report
