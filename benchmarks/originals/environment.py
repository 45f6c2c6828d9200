"""The old environment: made once, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PYTHON = (3, 11)  # the newest that the old versions were built for
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def environment_python(folder: Path) -> Path:
    """
    The Python of the old environment, which is made first if it is absent, incomplete or of other versions.

    Parameters
    ----------
    folder
        The environment is ``environment`` in it.
    """
    environment = folder / "environment"
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    installed = environment / "installed.txt"  # written last: an interrupted installation has none
    if installed.exists() and installed.read_text() == REQUIREMENTS.read_text():
        return python
    _call(
        [_base_python(), "-m", "venv", "--clear", str(environment)], "the old environment could not be made"
    )
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _call([*install, "-r", str(REQUIREMENTS)], "the old versions could not be installed")
    shutil.copyfile(REQUIREMENTS, installed)
    return python


def environment_variables(n_jobs: int) -> dict[str, str]:
    """This process's variables, with so many threads for every library that asks them."""
    return {**os.environ, **dict.fromkeys(THREADS, str(n_jobs))}


def _base_python() -> str:
    if sys.version_info[:2] == PYTHON:
        return sys.executable
    name = f"python{PYTHON[0]}.{PYTHON[1]}"
    found = shutil.which(name)
    if found is None:
        raise ValueError(f"The original programs need {name}, and there is none on the PATH.")
    return found


def _call(command: list[str], problem: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()] or [
            "no reason given"
        ]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise ValueError(f"{problem[0].upper()}{problem[1:]}: {errors[-1].removeprefix('ERROR: ')}")
