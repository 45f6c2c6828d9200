"""The part "model-files": honest files are changed in hostile ways, loaded and used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import dask
import numpy as np

import lann
from lann.persist import read_model_file
from tests.fuzz.children import CONTEXT, address_space, unlimited_memory
from tests.fuzz.model_files.honest import honest_files, load_and_use, use, use_file
from tests.fuzz.model_files.mutations import mutate
from tests.fuzz.model_files.shards import change_folder, honest_folder, write_folder
from tests.fuzz.outcomes import REJECTED, RIGHT, WRONG, Outcome, try_case
from tests.fuzz.parts import Part

# How much more memory than an honest file a changed one may take.
FACTOR = 10
# Below this, buffers of BLAS and numba are most of what is measured.
LEAST_GROWTH = 8 * 2**20
SECONDS = 20.0
# What a model may say at use: the metrics of a file can be valid, and measure no more than small numbers.
TOO_FAR = "too far from those of the training rows to be measured"


def prepare(folder: Path) -> Part:
    """
    Write honest files, use them, so that children need not compile, and measure the memory that they take.

    Parameters
    ----------
    folder
        For temporary files.
    """
    dask.config.set(scheduler="synchronous")  # no threads, as processes are forked
    files, shards = honest_files(folder), honest_folder(folder)
    path = folder / "warm.lann"
    for content in files:
        path.write_bytes(content)
        load_and_use(path)
    if try_folder("honest", shards, folder / "warm.shards").kind != RIGHT:
        raise RuntimeError("The honest model in shards cannot be used.")

    def run(seed: int, number: int) -> Outcome:
        path = folder / f"{os.getpid()}.lann"
        if is_folder(number):
            with unlimited_memory():
                name, changed = change_folder(shards, seed, number)
            return try_folder(name, changed, path.with_suffix(".shards"))
        with unlimited_memory():
            name, content = mutate(files, seed, number)
        return try_content(name, content, path)

    def keep(target: Path, seed: int, number: int) -> None:
        path = target / f"{seed}-{number}.lann"
        if is_folder(number):
            write_folder(change_folder(shards, seed, number)[1], path)
        else:
            path.write_bytes(mutate(files, seed, number)[1])

    return Part(run, SECONDS, memory=FACTOR * peak_growth(files, folder), keep=keep)


def is_folder(number: int) -> bool:
    """Return whether a case is a folder of shards: one of eight is."""
    return number % 8 == 7


def try_folder(name: str, files: dict[str, bytes], path: Path) -> Outcome:
    """
    Write a folder of shards, load it and use the model.

    Parameters
    ----------
    name
        Of the change.
    files
        Content by name.
    path
        The folder.
    """
    write_folder(files, path)

    def load() -> Any:
        model = lann.load(path)
        return lambda: use(model, np.random.default_rng(0))

    return _try_loading(name, load, path)


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
    path.write_bytes(content)

    def load() -> Any:
        file = read_model_file(path)
        return lambda: use_file(file.model, file.table)

    return _try_loading(name, load, path)


def _try_loading(name: str, load: Callable[[], Callable[[], None]], path: Path) -> Outcome:
    """Return the outcome of a function that loads a file, and returns one that uses it."""
    is_loaded = False

    def load_and_use() -> None:
        nonlocal is_loaded
        use_loaded = load()
        is_loaded = True
        use_loaded()

    outcome = try_case(name, load_and_use, allowed=(ValueError, OSError))
    if outcome.kind == REJECTED and is_loaded and TOO_FAR not in outcome.detail:
        return Outcome(WRONG, name, f"Loaded, but raises at use: {outcome.detail}")
    if outcome.kind == REJECTED and not is_loaded and path.name not in outcome.detail:
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
