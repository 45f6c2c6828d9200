"""Covertype, 581 012 rows × 54 features, seven classes: its file, and the split."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.common.arrays import Floats, Labels
from benchmarks.streams.data import find_streams, read_stream

NAME = "covtype"
TEST_SIZE = 0.2


def read_covertype(seed: int, most_rows: int | None = None) -> tuple[Floats, Labels, Floats, Labels]:
    """
    Return X and y of the training rows, 80 %, and of the test rows, stratified.

    Parameters
    ----------
    seed
        Of the split.
    most_rows
        If given, so many rows, drawn at random, are all there are.
    """
    files, skipped = find_streams([NAME])
    if not files:
        raise ValueError(f"{NAME} {skipped[NAME]}")
    stream = read_stream(NAME, files[NAME])
    X, y = stream.X, stream.y
    if most_rows is not None and most_rows < len(y):
        rows = np.random.default_rng(seed).permutation(len(y))[:most_rows]
        X, y = X[rows], y[rows]
    X, X_test, y, y_test = train_test_split(X, y, test_size=TEST_SIZE, stratify=y, random_state=seed)
    return X, y, X_test, y_test
