"""Twelve streams: their files, in the order of time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common.arrays import Floats, Labels

FILES = {
    "keystroke": "streams/keystroke.csv.gz",
    "outdoor": "paper/outdoor-objects.csv.gz",
    "weather": "streams/weather.csv.gz",
    "electricity": "streams/electricity.csv.gz",
    "sea": "streams/sea.csv.gz",
    "rialto": "streams/rialto.csv.gz",
    "moving-squares": "streams/moving-squares.csv.gz",
    "interchanging-rbf": "streams/interchanging-rbf.csv.gz",
    "transient-chessboard": "streams/transient-chessboard.csv.gz",
    "rotating-hyperplane": "streams/rotating-hyperplane.csv.gz",
    "covtype": "streams/covtype.csv.gz",
    "poker-hand": "streams/poker-hand.csv.gz",
}
"""By stream: its file in the folder named by ``LANN_DATA``."""

STREAMS = tuple(FILES)
QUICK_STREAMS = ("keystroke", "outdoor", "electricity")

SHORT_NAMES = {
    "electricity": "elec",
    "moving-squares": "squares",
    "interchanging-rbf": "rbf",
    "transient-chessboard": "chess",
    "rotating-hyperplane": "hyperpl",
    "poker-hand": "poker",
}
"""Names for the columns of wide tables."""


@dataclass(frozen=True)
class Stream:
    """
    A stream, with its rows in the order of time.

    Parameters
    ----------
    name
        Its name.
    X
        Features (n_rows, n_features), as they are in the file.
    y
        Class indices (n_rows,).
    n_classes
        The number of classes in the whole stream.
    digest
        Digest of the file.
    """

    name: str
    X: Floats
    y: Labels
    n_classes: int
    digest: str

    def first(self, n_rows: int) -> Stream:
        """Return the stream up to a row."""
        if n_rows >= len(self.y):
            return self
        return Stream(self.name, self.X[:n_rows].copy(), self.y[:n_rows], self.n_classes, self.digest)


def find_streams(names: Iterable[str]) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the files of the streams that are there, and the reasons why the others are not."""
    root = os.environ.get("LANN_DATA")
    found, skipped = {}, {}
    for name in names:
        if root is None:
            skipped[name] = f"needs {FILES[name]} in the folder named by LANN_DATA, which is not set."
        elif not (path := Path(root).expanduser() / FILES[name]).is_file():
            skipped[name] = f"needs {FILES[name]} in the folder named by LANN_DATA, which does not have it."
        else:
            found[name] = path
    return found, skipped


def read_stream(name: str, path: Path) -> Stream:
    """Read a file: one header row, the last column is ``target``, all others are numbers."""
    import pandas as pd

    table = pd.read_csv(path, dtype={"target": str})
    y = np.unique(table.pop("target").to_numpy(dtype=str), return_inverse=True)[1].astype(np.int64)
    X = np.ascontiguousarray(table.to_numpy(dtype=np.float64))
    return Stream(name, X, y, int(y.max()) + 1, file_digest(path))


def file_digest(path: Path) -> str:
    """Return a digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
