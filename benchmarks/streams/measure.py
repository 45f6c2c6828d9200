"""Measure a classifier on a stream: every row is first predicted and then learned."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.streams.data import Stream
from benchmarks.streams.scores import Record, score_up_to

MARK_EVERY = 1000
"""Scores are stored for the stream up to every multiple of this number of rows, and up to its end."""

BATCH = 1000


class Runner(Protocol):
    """What a method does with a stream."""

    def __call__(self, model: Any, X: Floats, y: Labels) -> Record: ...


def run_river(model: Any, X: Floats, y: Labels) -> Record:
    """Predict and learn row by row through river's interface; the label is that of `predict_one`."""
    names = [f"f{i}" for i in range(X.shape[1])]
    labels = y.tolist()
    predicted = np.full(len(labels), -1)
    probability = np.zeros(len(labels))
    for i, label in enumerate(labels):
        row = dict(zip(names, X[i].tolist(), strict=True))
        shares = model.predict_proba_one(row)
        shares.pop(None, None)  # "no label yet" of earlier versions of river
        if shares:
            predicted[i] = max(shares, key=shares.get)  # what `predict_one` does, without a second search
            probability[i] = shares.get(label, 0.0)
        model.learn_one(row, label)
    return Record(predicted, probability)


def run_batches(model: Any, X: Floats, y: Labels) -> Record:
    """Predict and learn through ``test_then_train`` of the estimators of `lann.streams`."""
    predicted = np.full(len(y), -1)
    probability = np.zeros(len(y))
    for start in range(0, len(y), BATCH):
        rows = slice(start, min(start + BATCH, len(y)))
        shares = model.test_then_train(X[rows], y[rows])
        known = shares.sum(axis=1) > 0  # not on the first row of the stream
        predicted[rows][known] = model.classes_[shares[known].argmax(axis=1)]
        columns = np.searchsorted(model.classes_, y[rows])
        probability[rows] = shares[np.arange(len(shares)), columns]
    return Record(predicted, probability)


def measure_stream(model: Any, stream: Stream, run: Runner) -> dict[str, Any]:
    """
    Run a model over a stream, and score it up to several rows.

    Returns
    -------
    values
        Scores over the whole stream; ``seconds`` of processor time, ``wall_seconds``, ``rows_per_second`` of
        processor time; ``at``: by number of rows, the scores up to there.
    """
    start, wall = time.process_time(), time.perf_counter()
    record = run(model, stream.X, stream.y)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    n_rows = len(stream.y)
    at = {
        str(mark): score_up_to(record, stream.y, stream.n_classes, mark)
        for mark in sorted({*range(MARK_EVERY, n_rows, MARK_EVERY), n_rows})
    }
    return {
        "n_rows": n_rows,
        **at[str(n_rows)],
        "seconds": seconds,
        "wall_seconds": wall,
        "rows_per_second": n_rows / seconds,
        "at": at,
    }


def marks(values: dict[str, Any]) -> Iterator[int]:
    """Yield the numbers of rows up to which there are scores."""
    return map(int, values["at"])


def scores_at(values: dict[str, Any] | None, n_rows: int) -> dict[str, float] | None:
    """Return the scores up to a row, or up to the end of a shorter stream; None if there are none."""
    if values is None:
        return None
    found: Sequence[int] = sorted(marks(values))
    return values["at"].get(str(min(n_rows, found[-1])))
