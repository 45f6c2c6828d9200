"""Classifiers for streams have the same size after many rows as after some."""

import pickle

import numpy as np
import pytest

from lann.persist._model_file import to_bytes
from lann.streams import SAMKNN, SAMLANN


def batches(n_batches):
    """Yield batches of rows whose boundary turns slowly."""
    rng = np.random.default_rng(0)
    for number in range(n_batches):
        X = rng.normal(size=(500, 3))
        angle = number / 3
        yield X, np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] > 0


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
def test_the_size_of_a_model_does_not_grow(cls):
    clf = cls(window_size=300, random_state=0)
    sizes, files = [], []
    for X, y in batches(20):
        clf.partial_fit(X, y)
        sizes.append(len(pickle.dumps(clf)))
        files.append(len(to_bytes(clf, None)))
        assert clf.short_term_size_ + clf.long_term_size_ <= 300
    assert clf.n_seen_ == 10_000
    assert max(sizes) - min(sizes) < 100
    # A file has the rows that are kept, 300 at most, and up to 1000 drifts.
    assert max(files[10:]) < 1.5 * max(files[:10]) < 300_000
