"""Compare the results of this tree with those of another commit: `python -m tests.golden COMMIT [NAME ...]`.

Both run in the present environment, on the present machine. Every array and text of every configuration is
compared to the bit; differences are listed with their size. Names select configurations that contain them.
"""

from __future__ import annotations

import argparse
import difflib
import os
import pickle
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.configurations import CONFIGURATIONS

ROOT = Path(__file__).parents[2]
# An editable installation comes before PYTHONPATH: it is left out.
FROM_PATH = """
import runpy, sys
sys.meta_path = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")]
runpy.run_module("tests.golden", run_name="__main__", alter_sys=True)
"""
PRECISE = re.compile(r"-?\d+\.\d{7,}(e-?\d+)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


def run_here(output: str, names: list[str]) -> None:
    """Compute the configurations with the installed package, and write them to a file."""
    results: dict[str, Any] = {}
    for name in names:
        print(f"  {name}", flush=True)
        try:
            results[name] = CONFIGURATIONS[name]()
        except Exception:
            results[name] = {"error": traceback.format_exc(limit=-2)}
            print(results[name]["error"])
        with open(output, "wb") as file:
            pickle.dump(results, file)


def results_of(tree: Path, names: list[str], output: Path) -> dict[str, Any]:
    """Compute the configurations with the package of a tree."""
    if not output.exists():
        print(f"Running {len(names)} configurations of {tree.name}")
        environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{ROOT}", "COLUMNS": "100"}
        command = [sys.executable, "-c", FROM_PATH, "--write", str(output), *names]
        subprocess.run(command, env=environment, cwd=ROOT, check=True)
    with open(output, "rb") as file:
        return pickle.load(file)  # written by this program


def difference(before: Any, after: Any, tolerance: float = 0.0) -> str | None:
    """Describe how two results differ; None if they are equal to the bit, or numbers within the tolerance."""
    if before is None or after is None:
        return None if before is after else "missing on one side"
    if isinstance(before, str):
        texts = [MOMENT.sub("(moment)", str(text)) for text in (before, after)]
        if tolerance:
            texts = [PRECISE.sub(lambda match: f"{float(match[0]):.6g}", text) for text in texts]
        words = [text.split() for text in texts]
        if words[0] == words[1]:
            return None
        matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
        changes = [block for block in matcher.get_opcodes() if block[0] != "equal"]
        changed = [f"{' '.join(words[0][a:b])!r} -> {' '.join(words[1][c:d])!r}" for _, a, b, c, d in changes]
        return f"{len(changes)} changes: " + " | ".join(text[:200] for text in changed[:5])
    before, after = np.asarray(before), np.asarray(after)
    if before.shape != after.shape or before.dtype != after.dtype:
        return f"{before.dtype}{before.shape} became {after.dtype}{after.shape}"
    if before.dtype.kind == "f":
        if np.array_equal(before, after, equal_nan=True):
            return None
        if np.allclose(before, after, rtol=tolerance, atol=tolerance, equal_nan=True):
            return None
        return (
            f"largest difference {np.nanmax(np.abs(before - after)):.3g} of {np.nanmax(np.abs(before)):.3g}"
        )
    return None if np.array_equal(before, after) else f"{np.sum(before != after)} of {before.size} differ"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("commit", nargs="?", help="the commit to compare with")
    parser.add_argument("names", nargs="*", help="parts of the names of configurations")
    parser.add_argument("--write", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument(
        "--keep", metavar="FILE", type=Path, help="keep the other commit's results, or use them"
    )
    parser.add_argument(
        "--tolerance", type=float, default=0.0, help="accept differences of numbers, also relative ones"
    )
    options = parser.parse_args()
    if options.write:
        run_here(options.write, [options.commit, *options.names])
        return 0
    if options.commit is None:
        parser.error("a commit is required")
    parts = options.names or [""]
    names = [name for name in CONFIGURATIONS if any(part in name for part in parts)]
    n_compared = n_different = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "other"
        subprocess.run(
            ["git", "worktree", "add", "--detach", "-q", tree, options.commit], cwd=ROOT, check=True
        )
        try:
            if (tree / "src/lann/_native").exists():
                build = tree / "build"
                python = f"-DPython_EXECUTABLE={sys.executable}"
                subprocess.run(["cmake", "-S", tree / "src/lann/_native", "-B", build, python], check=True)
                subprocess.run(["cmake", "--build", build, "--parallel"], check=True)
            before = results_of(tree, names, options.keep or Path(folder) / "before")
            after = results_of(ROOT, names, Path(folder) / "after")
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)
    for name in names:
        for key in {**before[name], **after[name]}:
            n_compared += 1
            text = difference(before[name].get(key), after[name].get(key), options.tolerance)
            if text is not None:
                n_different += 1
                print(f"{name}: {key}: {text}")
    print(f"{len(names)} configurations, {n_compared} results compared, {n_different} differ")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main())
