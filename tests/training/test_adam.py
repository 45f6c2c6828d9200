import numpy as np
import pytest

from lann.training.adam import Adam


def test_steps_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=(3, 4))
    expected = parameters.copy()
    adam = Adam(parameters, decay=(0.8, 0.95))
    first, second = np.zeros((3, 4)), np.zeros((3, 4))
    for t in range(1, 6):
        gradient = rng.normal(size=(3, 4))
        first = 0.8 * first + 0.2 * gradient
        second = 0.95 * second + 0.05 * gradient**2
        expected -= 0.1 * (first / (1 - 0.8**t)) / (np.sqrt(second / (1 - 0.95**t)) + 1e-4)
        adam.step(gradient, 0.1)
    np.testing.assert_allclose(parameters, expected, rtol=1e-12)


def test_it_walks_down_a_bowl():
    parameters = np.array([3.0, -2.0])
    adam = Adam(parameters)
    for step in range(300):
        adam.step(2 * (parameters - [1.0, 1.0]), 0.1 * (1 - step / 300))
    assert parameters == pytest.approx([1.0, 1.0], abs=1e-2)
