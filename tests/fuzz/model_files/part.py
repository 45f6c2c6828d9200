"""The part "model-files": honest files are changed in hostile ways, loaded and used."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.fuzz.children import CONTEXT, address_space
from tests.fuzz.model_files.honest import honest_files, load_and_use, use_file
from tests.fuzz.model_files.mutations import mutate
from tests.fuzz.outcomes import REJECTED, WRONG, Outcome, try_case
from tests.fuzz.parts import Part

# How much more memory than an honest file a changed one may take.
FACTOR = 10
# Below this, buffers of BLAS and numba are most of what is measured.
LEAST_GROWTH = 8 * 2**20
SECONDS = 20.0


def prepare(folder: Path) -> Part:
    """
    Write honest files, use them, so that children need not compile, and measure the memory that they take.

    Parameters
    ----------
    folder
        For temporary files.
    """
    import os

    files = honest_files(folder)
    path = folder / "warm.lann"
    for content in files:
        path.write_bytes(content)
        load_and_use(path)

    def run(seed: int, number: int) -> Outcome:
        name, content = mutate(files, seed, number)
        return try_content(name, content, folder / f"{os.getpid()}.lann")

    def keep(target: Path, seed: int, number: int) -> None:
        (target / f"{seed}-{number}.lann").write_bytes(mutate(files, seed, number)[1])

    return Part(run, SECONDS, memory=FACTOR * peak_growth(files, folder), keep=keep)


def try_content(name: str, content: bytes, path: Path) -> Outcome:
    """
    Write a file, load it and use what is loaded.

    Parameters
    ----------
    name
        Of the change.
    content
        The file.
    path
        Where it is written.
    """
    from lann.persist import load_with_table

    path.write_bytes(content)
    is_loaded = False

    def load() -> None:
        nonlocal is_loaded
        found = load_with_table(path)
        is_loaded = True
        use_file(*found)

    outcome = try_case(name, load, allowed=(ValueError,))
    if outcome.kind == REJECTED and is_loaded:
        return Outcome(WRONG, name, f"Loaded, but raises at use: {outcome.detail}")
    if outcome.kind == REJECTED and path.name not in outcome.detail:
        return Outcome(WRONG, name, f"The message does not name the file: {outcome.detail}")
    return outcome


def peak_growth(files: Iterable[bytes], folder: Path) -> int:
    """Return by how many bytes the address space of a child grows, when it loads and uses honest files."""
    receiver, sender = CONTEXT.Pipe(duplex=False)

    def measure() -> None:
        before, path = address_space("VmSize"), folder / "growth.lann"
        for content in files:
            path.write_bytes(content)
            load_and_use(path)
        sender.send(address_space("VmPeak") - before)

    child = CONTEXT.Process(target=measure)
    child.start()
    growth = receiver.recv()
    child.join()
    return max(growth, LEAST_GROWTH)
