import numpy as np
import pytest

from lann.bench.embeddings.measure import METHODS, VARIANTS, measure_task, outside_around
from lann.bench.embeddings.task import make_task
from lann.classifier import LANNClassifier


def slow_around(middle, inside, outside):
    farther = [(np.linalg.norm(o - middle) > np.linalg.norm(i - middle)) for o in outside for i in inside]
    return np.mean(farther)


def test_around_as_by_hand():
    rng = np.random.default_rng(0)
    cylinders, inside = np.arange(80) % 2, np.arange(80) // 2 % 2
    # Outside points of the first stick are all around, those of the second anywhere.
    places = rng.normal(size=(80, 2)) + 10 * cylinders[:, None]
    ring = (cylinders == 0) & (inside == 0)
    places[ring] *= 20 / np.linalg.norm(places[ring], axis=1, keepdims=True)
    fit, held_out = slice(0, 40), slice(40, 80)
    found = outside_around(
        places[fit], inside[fit], cylinders[fit], places[held_out], inside[held_out], cylinders[held_out]
    )
    for stick in range(2):
        middle = np.median(places[fit][(cylinders[fit] == stick) & (inside[fit] == 1)], axis=0)
        own = places[held_out][cylinders[held_out] == stick]
        within = inside[held_out][cylinders[held_out] == stick] == 1
        assert found[stick] == pytest.approx(slow_around(middle, own[within], own[~within]))
    assert found[0] == 1
    assert found[1] < 0.9


def test_every_method_on_a_small_licorice(tiny):
    task = make_task("licorice", 0, tiny, n_jobs=1)
    for classifier in (task.classifier, *task.others.values()):
        classifier.set_params(max_iter=1)
    outcome = measure_task(task, n_jobs=1)
    assert list(outcome.methods) == [*METHODS, *VARIANTS]
    assert outcome.seconds >= sum(outcome.methods[name].seconds for name in METHODS)
    for measured in outcome.methods.values():
        assert 0 < measured.held_out_accuracy <= 1
        assert 0 <= measured.least_around <= measured.around <= 1
        assert measured.pair_error is None
    assert isinstance(task.classifier, LANNClassifier)
