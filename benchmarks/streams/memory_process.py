"""Learn a long stream, and print the peak memory: `python -m benchmarks.streams.memory_process N_ROWS`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.peak_memory import peak_memory
from lann.streams import SAMKNN, prequential

BATCH, N_FEATURES = 1000, 8
DRIFT_EVERY = 20_000


def batches(n_rows: int) -> Iterator[tuple[Floats, Labels]]:
    """Yield rows from eight Gaussians in four classes, which are other ones after every drift."""
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, BATCH):
        if start % DRIFT_EVERY == 0:
            centers = rng.normal(size=(8, N_FEATURES))
        which = rng.integers(8, size=min(BATCH, n_rows - start))
        yield centers[which] + 0.5 * rng.normal(size=(len(which), N_FEATURES)), which % 4


def main(n_rows: int) -> None:
    start = time.perf_counter()
    evaluation = prequential(SAMKNN(random_state=0), batches(n_rows))
    print(
        json.dumps(
            {
                "megabytes": peak_memory() / 1e6,
                "accuracy": evaluation.scores.accuracy,
                "rows_per_second": n_rows / (time.perf_counter() - start),
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
