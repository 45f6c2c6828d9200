"""The part "special-values": every array of numbers of every honest file, with every special number.

The cases are those of a list, in an order that the seed determines; after the last, they begin again.
"""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.fuzz.children import unlimited_memory
from tests.fuzz.model_files.honest import honest_files, load_and_use
from tests.fuzz.model_files.mutations import SPECIAL, arrays_of, change_array, entries_of, load_array
from tests.fuzz.model_files.part import SECONDS, try_content
from tests.fuzz.outcomes import Outcome
from tests.fuzz.parts import Part

REGIONS = ("cell", "row", "column", "all")


class SpecialCase(NamedTuple):
    """
    A number somewhere in an array of a file.

    Parameters
    ----------
    file
        Position of the honest file.
    entry
        Name of the array.
    value
        The number.
    region
        One of `REGIONS`.
    """

    file: int
    entry: str
    value: float
    region: str


def list_cases(files: list[bytes]) -> list[SpecialCase]:
    """Return all cases of honest files."""
    cases = []
    for number, content in enumerate(files):
        found = entries_of(content)
        arrays = {name: load_array(found, name) for name in arrays_of(found)}
        entries = [name for name, array in arrays.items() if array.dtype.kind == "f" and array.size]
        cases += [SpecialCase(number, *case) for case in product(entries, SPECIAL, REGIONS)]
    return cases


def special_file(content: bytes, case: SpecialCase, rng: np.random.Generator) -> bytes:
    """
    Return a file with a special number.

    Parameters
    ----------
    content
        The honest file.
    case
        The number, and where it is.
    rng
        Draws the cell, row or column.
    """

    def change(array: NDArray[np.floating]) -> NDArray[np.floating]:
        array = array.copy()
        regions = {
            "cell": np.unravel_index(int(rng.integers(array.size)), array.shape),
            "row": int(rng.integers(len(array))),
            "column": (..., int(rng.integers(array.shape[-1]))),
            "all": ...,
        }
        with np.errstate(over="ignore"):
            array[regions[case.region]] = case.value
        return array

    return change_array(content, case.entry, change)


def prepare(folder: Path) -> Part:
    """
    Write honest files, and use them, so that children need not compile.

    Parameters
    ----------
    folder
        For temporary files.
    """
    files = honest_files(folder)
    warm = folder / "warm.lann"
    for content in files:
        warm.write_bytes(content)
        load_and_use(warm)
    cases = list_cases(files)
    orders: dict[int, NDArray[np.int64]] = {}

    def make(seed: int, number: int) -> tuple[str, bytes]:
        if seed not in orders:
            orders[seed] = np.random.default_rng(seed).permutation(len(cases))
        case = cases[orders[seed][number % len(cases)]]
        name = f"{case.value:g} in {case.region} of {case.entry}"
        return name, special_file(files[case.file], case, np.random.default_rng([seed, number]))

    def run(seed: int, number: int) -> Outcome:
        with unlimited_memory():
            name, content = make(seed, number)
        return try_content(name, content, folder / f"{os.getpid()}.lann")

    def keep(target: Path, seed: int, number: int) -> None:
        (target / f"{seed}-{number}.lann").write_bytes(make(seed, number)[1])

    return Part(run, SECONDS, keep=keep)
