"""`import lann` does not import Dask, and what it is needed for says so."""

import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_packages_are_imported_without_dask():
    done = run("import sys, lann, lann.distributed, lann.persist; print('dask' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


def test_without_dask_one_sentence_says_what_to_install():
    done = run("import sys; sys.modules['dask'] = None; from lann.distributed import DaskLANN")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == "ImportError: lann.distributed needs the package dask: pip install 'lann[dask]'."
