"""The first call of a new process: fit, explanation, streams and the commands of `lann`.

Every task runs in processes of its own, the best time counts. ``--other PYTHON`` also runs them with another
commit, in turns: by the Python of an environment in which that is installed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sklearn.datasets import load_iris

from benchmarks.harness import NAN, OK, SHORT, Benchmark, Found, Job, Report, Results, Table, positive

# What runs before the time is taken, what is timed, and the most seconds it may take.
DATA = "from sklearn.datasets import load_breast_cancer; X, y = load_breast_cancer(return_X_y=True)"
ROWS = (
    "import numpy as np; X = np.random.default_rng(0).normal(size=(2000, 5)); y = (X[:, 0] > 0).astype(int)"
)
FIT = "from lann import LANNClassifier; model = LANNClassifier(random_state=0).fit(X[:400], y[:400])"
STREAM = "from lann.streams import {0}; {0}(random_state=0).partial_fit(X, y, classes=[0, 1])"
CALLS = {
    "import LANNClassifier": ("import sklearn.neighbors", "from lann import LANNClassifier", 0.3),
    "fit of 400 × 30": (f"import sklearn; {DATA}", FIT, 1.2),
    "explanation of three rows": (f"{DATA}; {FIT}", "model.explain(X[400:403])", 0.4),
    "2000 rows by SAMKNN": (f"import sklearn; {ROWS}", STREAM.format("SAMKNN"), 0.2),
    "2000 rows by SAMLANN": (f"import sklearn; {ROWS}", STREAM.format("SAMLANN"), 0.4),
}
# Options of the command, and the most seconds it may take, from the start of the process to its end.
COMMANDS = {
    "fit iris.csv --target target": 3.0,
    "info iris.lann": 0.7,
    "predict iris.lann iris.csv": 1.2,
    "explain iris.lann iris.csv --row 3": 1.3,
}


def run(code: str, folder: str, python: str) -> tuple[str, float]:
    """Run Python code in a new process: what it printed, and the seconds that it took."""
    start = time.perf_counter()
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return done.stdout, time.perf_counter() - start


def time_call(name: str, folder: str, python: str) -> float:
    """Return the seconds of one call in a new process."""
    before, timed, _ = CALLS[name]
    code = f"{before}\nimport time\nstart = time.perf_counter()\n{timed}\nprint(time.perf_counter() - start)"
    return float(run(code, folder, python)[0])


def time_command(options: str, folder: str, python: str) -> float:
    """Return the seconds of one command in a new process."""
    code = f"import sys\nfrom lann.cli import main\nsys.argv[1:] = {options.split()!r}\nmain()"
    return run(code, folder, python)[1]


def time_in_turns(name: str, most: float, other: str | None, repeats: int) -> Found:
    """Time one task by this Python and by another one."""
    pythons = {"ours": sys.executable}
    if other is not None:
        pythons["other"] = str(Path(other).absolute())
    times: dict[str, list[float]] = {side: [] for side in pythons}
    measure = time_call if name in CALLS else time_command
    with tempfile.TemporaryDirectory() as folder:
        for side in pythons:
            Path(folder, side).mkdir()
            load_iris(as_frame=True).frame.to_csv(Path(folder, side, "iris.csv"), index=False)
        for _ in range(repeats + 1):
            for side, python in pythons.items():
                own = str(Path(folder, side))
                if name in COMMANDS and "iris.lann" in name and not times[side]:
                    time_command("fit iris.csv --target target --no-cv -o iris.lann", own, python)
                times[side].append(measure(name, own, python))
    # The first turn reads the files of the modules from the disk.
    seconds = {side: min(values[1:]) for side, values in times.items()}
    return {"seconds": {"most": most, **seconds}}


class Start(Benchmark):
    parts = ("calls", "commands")
    main_score = "ours"
    quick = "1 repeat."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--repeats", type=positive, help="Turns. Default: 5, with --quick 1.")
        parser.add_argument("--other", metavar="PYTHON", help="Of an environment with another commit.")

    def jobs(self) -> Iterator[Job]:
        repeats = self.options.repeats or (1 if self.options.quick else 5)
        tasks = [("calls", name, most) for name, (_, _, most) in CALLS.items()]
        tasks += [("commands", name, most) for name, most in COMMANDS.items()]
        for part, name, most in tasks:
            if part in self.chosen:
                measure = partial(time_in_turns, name, most, self.options.other, repeats)
                yield Job(part, part, name, 0, measure)

    def report(self, results: Results) -> Report:
        rows = []
        for (_, _, name), repeats in results.cells.items():
            values = repeats[0]
            other = values.get("other", NAN)
            compared = (f"{other:.2f}", f"{other / values['ours']:.1f} ×") if other == other else ("", "")
            reached = OK if values["ours"] <= values["most"] else SHORT
            rows.append((name, f"{values['ours']:.2f}", f"{values['most']:.1f}", reached, *compared))
        header = ("", "seconds", "at most", "", "other", "times as long")
        return Report("New processes, the best of the turns counts.", [Table("First calls", header, rows)])


BENCHMARK = Start
