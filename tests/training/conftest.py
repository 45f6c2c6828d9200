"""Levels over the blobs, before and after training."""

import numpy as np
import pytest

from lann.metrics import Levels
from lann.training import Settings, train


@pytest.fixture
def plain(blobs):
    return Levels.plain(*blobs, 3)


@pytest.fixture
def learned(plain):
    return train(plain, Settings(), np.random.default_rng(0), max_iter=4).levels
