"""SAMKNN has the error rates of the authors' program on the streams that it was run on."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lann.streams import SAMKNN

# By stream: number of rows from the first, and the error of the authors' program in percent.
PUBLISHED = {
    "streams/keystroke": (1600, 8.75),
    "paper/outdoor-objects": (4000, 11.75),
    "streams/weather": (18_159, 21.87),
    "streams/electricity": (10_000, 18.74),
    "streams/sea": (10_000, 12.42),
    "streams/moving-squares": (10_000, 2.72),
    "streams/rialto": (15_000, 18.34),
    "streams/interchanging-rbf": (10_000, 2.29),
    "streams/transient-chessboard": (10_000, 8.45),
    "streams/covtype": (10_000, 18.50),
}


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("LANN_DATA"), reason="needs the data files: set LANN_DATA")
@pytest.mark.parametrize("name", PUBLISHED)
def test_errors_are_those_of_the_authors(name):
    n_rows, expected = PUBLISHED[name]
    path = Path(os.environ["LANN_DATA"]) / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"{name} is not here")
    table = pd.read_csv(path, nrows=n_rows)
    assert len(table) == n_rows
    clf = SAMKNN(random_state=0)
    y = table.pop(table.columns[-1]).to_numpy()
    probabilities = clf.test_then_train(table, y)
    error = 100 * np.mean(clf.classes_[probabilities.argmax(axis=1)] != y)
    assert abs(error - expected) < 0.5
