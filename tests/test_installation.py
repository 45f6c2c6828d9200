"""The package as users install it: built without a compiler of the machine, in an environment of its own."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What a build and the command call; none of them compiles.
PROGRAMS = ("sh", "env", "uname", "cat", "rm", "cp", "mkdir", "ls", "git")


def run(*command, **options):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def without_compiler(tmp_path):
    """Return the environment variables of a machine that has no compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in PROGRAMS:
        if found := shutil.which(program):
            (folder / program).symlink_to(found)
    names = ("CC", "CXX", "PYTHONPATH", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name not in names} | {"PATH": str(folder)}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="programs of Unix are linked")
def test_sources_install_where_there_is_no_compiler(tmp_path, without_compiler):
    python = tmp_path / "venv" / "bin" / "python"
    venv.create(python.parents[1], with_pip=True)
    run(python, "-m", "pip", "install", "--quiet", "build", env=without_compiler)
    # The archive of the sources, and the wheel built from it.
    run(python, "-m", "build", "--outdir", tmp_path / "dist", ROOT, env=without_compiler)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    assert archive.stat().st_size < 5e6
    names = zipfile.ZipFile(wheel).namelist()
    assert sum("/_native." in name and name.endswith(".so") for name in names) == 1
    assert not any(name.endswith((".cpp", ".hpp", ".txt")) for name in names if "dist-info" not in name)
    run(python, "-m", "pip", "install", "--quiet", wheel, env=without_compiler)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shown = run(python.with_name("lann"), "demo", cwd=elsewhere, env=without_compiler)
    assert "LANN" in shown
    listed = run(python, "-m", "pip", "list", env=without_compiler)
    assert not {"numba", "llvmlite", "ziglang"} & set(listed.split())
