"""`import lann.streams` stays cheap, and what river is needed for says so."""

import subprocess
import sys

HEAVY = ("numba", "river", "matplotlib", "faiss")


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_package_is_imported_without_numba_and_river():
    done = run(f"import sys, lann.streams; print([name for name in {HEAVY} if name in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr


def test_without_river_one_sentence_says_what_to_install():
    done = run("import sys; sys.modules['river'] = None; import lann.streams.river")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == "ImportError: lann.streams.river needs the package river: pip install 'lann[streams]'."


def test_the_adapters_are_imported_without_numba():
    done = run("import sys, lann.streams.river; print('numba' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr
