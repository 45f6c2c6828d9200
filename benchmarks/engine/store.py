"""Measurements on disk, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.files import write_atomically
from benchmarks.engine.jobs import Found, Job


@dataclass(frozen=True)
class Stored:
    """The outcome of a job, and how long the job took."""

    found: Found
    seconds: float


class Store:
    """
    A folder with one small file for every part, method and data set.

    Parameters
    ----------
    folder
        It need not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, job: Job) -> Path:
        """Return the file of a job, which also has the other repeats."""
        part, method, data_set = (_file_name(name) for name in job.cell)
        return self.folder / part / method / f"{data_set}.json"

    def load(self, job: Job) -> Stored | None:
        """Return the outcome of an earlier run; None if there is none, or if it is out of date."""
        try:
            entry = self._read(job)[str(job.repeat)]
            if job.fingerprint is None or entry["fingerprint"] != _digest(job.fingerprint):
                return None
            return Stored(dict(entry["found"]), float(entry["seconds"]))
        except (KeyError, TypeError, ValueError):
            return None

    def save(self, job: Job, stored: Stored) -> None:
        """Add an outcome, unless the job has no fingerprint."""
        if job.fingerprint is None:
            return
        entry = {
            "fingerprint": _digest(job.fingerprint),
            "seconds": stored.seconds,
            "found": stored.found,
        }
        # Read again, because another run may have added to the file.
        entries = {**self._read(job), str(job.repeat): entry}
        content = {repeat: entries[repeat] for repeat in sorted(entries, key=int)}
        write_atomically(self.path(job), f"{json.dumps(content, indent=1)}\n".encode())

    def discard(self, job: Job) -> None:
        """Delete the file of a job."""
        self.path(job).unlink(missing_ok=True)

    def _read(self, job: Job) -> dict[str, Any]:
        try:
            content = json.loads(self.path(job).read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return {k: v for k, v in content.items() if k.isdigit()} if isinstance(content, dict) else {}


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "all"


def _digest(fingerprint: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(fingerprint, sort_keys=True).encode()).hexdigest()
