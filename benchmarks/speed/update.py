"""Rows that are predicted and learned one by one, against a model that is built again after every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.engine import Found, PairedTimes, seconds_of
from benchmarks.speed._internals import add_by_rebuilding
from benchmarks.speed.figures import Figure, times_as_fast
from lann import LANNClassifier

# Number of training rows and features; targets: rows per second, times as fast as building the model again.
SIZES = (
    (2_000, 20, 500.0, 20.0),
    (1_800, 64, 500.0, 20.0),
    (10_000, 20, 300.0, 50.0),
    (60_000, 20, 100.0, 200.0),
)
N_CLASSES = 5
# Rows of a turn; building the model again takes seconds for each of them.
N_ROWS, N_REBUILT = 200, 2
# Times are those of this many rows.
PER = 1_000


@dataclass
class Stream:
    """A fitted classifier, and the rows that follow."""

    classifier: LANNClassifier
    X: Floats
    y: Labels
    position: int = 0

    def next_rows(self, n_rows: int) -> list[tuple[Floats, Labels]]:
        """Return rows one by one; after the last one, the first ones follow again."""
        rows = (self.position + np.arange(n_rows)) % len(self.X)
        self.position += n_rows
        return [(self.X[row : row + 1], self.y[row : row + 1]) for row in rows]

    def update(self) -> None:
        """Predict and learn rows one by one."""
        for x, label in self.next_rows(N_ROWS):
            self.classifier.predict(x)
            self.classifier.partial_fit(x, label)

    def rebuild(self) -> None:
        """Predict and learn rows by a model that is built again."""
        for x, label in self.next_rows(N_REBUILT):
            self.classifier.predict(x)
            add_by_rebuilding(self.classifier, x, label)


def time_updates(size: tuple[int, int, float, float], n_jobs: int, repeats: int) -> Found:
    """Compare `partial_fit` and `predict` of single rows with a model that is built again."""
    n_rows, n_features, per_second, ratio = size
    ours, other = (_stream(n_rows, n_features, n_jobs) for _ in range(2))
    ours.update()
    other.rebuild()
    times = PairedTimes([], [])
    for _ in range(repeats):
        times.ours.append(seconds_of(ours.update) * PER / N_ROWS)
        times.other.append(seconds_of(other.rebuild) * PER / N_REBUILT)
    task, seconds = f"predict and learn {PER} rows one by one", min(times.ours)
    speeds = [PER / turn for turn in times.ours]
    std = float(np.std(speeds, ddof=1)) if len(speeds) > 1 else 0.0
    figure = Figure(task, PER / seconds, per_second, True, seconds, std=std, unit="/s")
    return {
        "rows per second": figure.values(),
        "times as fast as building the model again": times_as_fast(task, times, ratio),
    }


def _stream(n_rows: int, n_features: int, n_jobs: int) -> Stream:
    rng = np.random.default_rng(0)
    n_all = n_rows + 10 * N_ROWS
    y = rng.integers(N_CLASSES, size=n_all)
    X = rng.normal(size=(n_all, n_features)) + rng.normal(size=(N_CLASSES, n_features))[y]
    classifier = LANNClassifier(max_iter=2, n_jobs=n_jobs, random_state=0).fit(X[:n_rows], y[:n_rows])
    return Stream(classifier, X[n_rows:], y[n_rows:])
