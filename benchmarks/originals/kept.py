"""Measurements of the originals, kept on disk: they do not change, and some take minutes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from environment import REQUIREMENTS
from sides import HERE

from lann._files import write_atomically


def digest_of_programs() -> str:
    """Digest the versions of the originals and the settings they are run with."""
    digest = hashlib.sha256()
    for path in (REQUIREMENTS, HERE / "programs.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class Kept:
    """
    One file with all measurements of originals.

    Parameters
    ----------
    path
        It need not exist yet.
    seed, n_jobs
        Measurements with others are neither found nor lost.
    """

    def __init__(self, path: Path, *, seed: int, n_jobs: int) -> None:
        self.path = path
        self.about = f"{digest_of_programs()[:16]} seed {seed} n_jobs {n_jobs}"

    def find(self, method: str, split: str, digest: str, time_limit: float) -> dict[str, Any] | None:
        """
        What was measured, or None.

        Parameters
        ----------
        method, split
            Names.
        digest
            Of the split's training part.
        time_limit
            A fit that was ended before so many seconds is worth another try, so it is not found.
        """
        found = self._read().get(self._key(method, split, digest))
        return None if found is None or found.get("time_limit", time_limit) < time_limit else found

    def keep(self, method: str, split: str, digest: str, measured: dict[str, Any]) -> None:
        """Add a measurement. A failure other than for lack of time is not kept: the next run tries again."""
        if "failure" in measured and "time_limit" not in measured:
            return
        content = {**self._read(), self._key(method, split, digest): measured}
        write_atomically(self.path, f"{json.dumps(content, indent=1)}\n".encode())

    def _key(self, method: str, split: str, digest: str) -> str:
        return f"{method} {split} data {digest[:16]} programs {self.about}"

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            content = json.loads(self.path.read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}
