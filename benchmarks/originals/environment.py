"""The environment with old versions in which the original programs run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PYTHON = (3, 11)  # the newest for which the old versions were built
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def python_of(folder: Path) -> Path:
    """Return the Python of the old environment in a folder, which need not exist yet."""
    return folder / "environment" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment(folder: Path) -> None:
    """
    Create the old environment if it is absent, incomplete or of other versions.

    Parameters
    ----------
    folder
        The environment is ``environment`` in it.
    """
    environment, python = folder / "environment", python_of(folder)
    installed = environment / "installed.txt"  # written last: an interrupted installation has none
    if installed.exists() and installed.read_text() == REQUIREMENTS.read_text():
        return
    create = [_base_python(), "-m", "venv", "--clear", str(environment)]
    _call(create, "The old environment could not be created")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _call([*install, "-r", str(REQUIREMENTS)], "The old versions could not be installed")
    shutil.copyfile(REQUIREMENTS, installed)


def environment_variables(n_jobs: int) -> dict[str, str]:
    """Return the variables of this process, with the number of threads for every library."""
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
            "no error message"
        ]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise ValueError(f"{problem}: {errors[-1].removeprefix('ERROR: ')}")
