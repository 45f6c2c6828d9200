import numpy as np
import pytest

from lann.training._adam import Adam


def test_steps_equal_those_of_the_paper():
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=(3, 4))
    expected = parameters.copy()
    adam = Adam(parameters)
    first, second = np.zeros((3, 4)), np.zeros((3, 4))
    for t in range(1, 6):
        gradient = rng.normal(size=(3, 4))
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient**2
        expected -= 0.1 * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.99**t)) + 1e-4)
        adam.step(gradient, 0.1)
    np.testing.assert_allclose(parameters, expected, rtol=1e-12)


def test_a_quadratic_function_is_minimized():
    parameters = np.array([3.0, -2.0])
    adam = Adam(parameters)
    for step in range(300):
        adam.step(2 * (parameters - [1.0, 1.0]), 0.1 * (1 - step / 300))
    assert parameters == pytest.approx([1.0, 1.0], abs=1e-2)
