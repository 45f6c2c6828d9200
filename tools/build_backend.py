"""Build backend: scikit-build-core, with a compiler from the package index where the machine has none."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scikit_build_core import build as scikit_build
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist  # noqa: F401

# Its C++ compiler, and the CMake that knows it: older ones fail their test of the compiler.
COMPILER = ["ziglang>=0.13", "cmake>=3.29", "ninja>=1.11"]
NO_COMPILER = (
    "lann needs a C++ compiler to be built, and the one of the package index (ziglang) does not work here: "
    "install g++ or clang++, or set the environment variable CXX."
)


def has_compiler() -> bool:
    """Return whether CMake will find a C++ compiler."""
    return "CXX" in os.environ or any(map(shutil.which, ("c++", "g++", "clang++", "cl")))


@contextmanager
def compiler() -> Iterator[None]:
    """Set environment variables that make CMake take the compiler of the package index if it needs one."""
    if has_compiler():
        yield
        return
    zig = [sys.executable, "-m", "ziglang"]
    if subprocess.run([*zig, "version"], capture_output=True, check=False).returncode:
        raise SystemExit(NO_COMPILER)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("c++", "ar", "ranlib"):  # CMake wants programs without arguments
            script = Path(folder, f"zig-{name}")
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {name} "$@"\n')
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
        options = [f"-DCMAKE_{name.upper()}={folder}/zig-{name}" for name in ("ar", "ranlib")]
        added = {
            "CXX": f"{folder}/zig-c++",
            "CMAKE_ARGS": " ".join([*options, os.environ.get("CMAKE_ARGS", "")]),
        }
        before = dict(os.environ)
        os.environ.update(added)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _requires(found: list[str]) -> list[str]:
    return found if has_compiler() else [*found, *COMPILER]


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what a build of a wheel needs."""
    return _requires(scikit_build.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Return what an editable installation needs."""
    return _requires(scikit_build.get_requires_for_build_editable(config_settings))


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel."""
    with compiler():
        return scikit_build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build an editable wheel."""
    with compiler():
        return scikit_build.build_editable(wheel_directory, config_settings, metadata_directory)
