"""A CSV file of the predictions of a stream, which grows as the stream is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from lann._support.files import check_writable, sync
from lann._support.types import Indices
from lann.streams import StreamBatch
from lann.tables._csv_text import rows_text

COLUMNS = ("row", "label", "prediction", "probability", "correct", "drift")
READ_AT_ONCE = 1 << 20


class PredictionsFile:
    """A CSV file with a line per row of a stream.

    Parameters
    ----------
    path : str or path-like
    n_bytes : int or None, default=None
        What is kept of an existing file; None starts a new one.
    digest : str or None, default=None
        The SHA-256 of what is kept, as `digest` was when it was written.
    guard_formulas : bool, default=False
        As for `write_table`.

    Raises
    ------
    ValueError
        If the file does not start with what is to be kept. It is not changed then.
    OSError
        If it cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        n_bytes: int | None = None,
        digest: str | None = None,
        *,
        guard_formulas: bool = False,
    ) -> None:
        self.path = Path(path)
        self._hash, self._n_bytes = hashlib.sha256(), 0
        self._guard_formulas = guard_formulas
        check_writable(self.path)
        if n_bytes is None:
            self._file: IO[bytes] = self.path.open("wb")
            self._write([COLUMNS])
            return
        if not self._starts_with(n_bytes, digest):
            raise ValueError(
                f"{self.path} does not have the predictions that were there at the checkpoint; name the file "
                "of that run, or start again without resuming."
            )
        self._file = self.path.open("r+b")
        self._file.truncate(n_bytes)
        self._file.seek(n_bytes)
        self._n_bytes = n_bytes

    def add(self, batch: StreamBatch, rows: Indices) -> None:
        """Add the predictions of a batch, whose rows have these numbers."""
        drifts = set((batch.drifts - batch.first_row).tolist())
        self._write(
            (
                row,
                label,
                "" if prediction is None else prediction,
                f"{probability:.6g}",
                int(prediction == label),
                int(i in drifts),
            )
            for i, (row, label, prediction, probability) in enumerate(
                zip(rows.tolist(), batch.labels, batch.predictions, batch.probabilities, strict=True)
            )
        )

    def flush(self) -> int:
        """Write everything to the disk, and return the number of bytes."""
        sync(self._file)
        return self._n_bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that was written."""
        return self._hash.hexdigest()

    def close(self) -> None:
        self._file.close()

    def _starts_with(self, n_bytes: int, digest: str | None) -> bool:
        """Return whether the existing file starts with what is to be kept, of which the digest is taken."""
        if not self.path.is_file():
            return False
        n_left = n_bytes
        with self.path.open("rb") as file:
            while n_left and (part := file.read(min(n_left, READ_AT_ONCE))):
                self._hash.update(part)
                n_left -= len(part)
        return not n_left and self.digest == digest

    def _write(self, lines: Iterable[Sequence[object]]) -> None:
        try:
            content = rows_text(lines, guard_formulas=self._guard_formulas).encode()
        except ValueError as error:
            raise ValueError(f"{self.path} cannot be written as CSV: {error}.") from error
        self._file.write(content)
        self._n_bytes += len(content)
        self._hash.update(content)
