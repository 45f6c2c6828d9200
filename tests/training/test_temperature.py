import numpy as np
import pytest

from lann.metrics import Levels
from lann.training._temperature import choose_temperature


def test_the_temperature_follows_the_scale_of_the_votes(blobs):
    X, y = blobs
    one, other = (choose_temperature(Levels.plain(X * scale, y, 3)) for scale in (1.0, 10.0))
    assert one == pytest.approx(100 * other, rel=1e-6)


def test_the_typical_query_has_a_clear_result(reference, blobs):
    X, y = blobs
    temperature = choose_temperature(Levels.plain(X, y, 3))
    distances = reference.nearest(reference.distances(X, X, np.ones(4)), 5, exclude=np.arange(90))[1]
    scores = np.sum(1 / distances, axis=1) / temperature  # all five neighbors have one label
    probability = np.exp(scores) / (np.exp(scores) + 2)
    assert np.median(probability) == pytest.approx(np.exp(3) / (np.exp(3) + 1), abs=0.01)
