"""Adam: gradient steps of a size of their own for every parameter."""

from __future__ import annotations

import numpy as np

from lann._compile import njit
from lann._types import Floats

# Decay of the first and of the second moment.
DECAY = (0.9, 0.99)


class Adam:
    """Adam (Kingma & Ba 2015) for one array of parameters.

    Parameters
    ----------
    parameters : ndarray
        Changed in place.
    """

    def __init__(self, parameters: Floats) -> None:
        self.parameters = parameters
        self._first = np.zeros_like(parameters)
        self._second = np.zeros_like(parameters)
        self._n_steps = 0

    def step(self, gradient: Floats, rate: float) -> None:
        """Take one step of size `rate`, for a gradient of the shape of the parameters."""
        self._n_steps += 1
        _step(
            self.parameters.reshape(-1), gradient.reshape(-1), self._first.reshape(-1),
            self._second.reshape(-1), rate, DECAY, self._n_steps,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def _step(parameters, gradient, first, second, rate, decay, n_steps):
    first_decay, second_decay = decay
    first_scale = 1.0 / (1.0 - first_decay**n_steps)
    second_scale = 1.0 / (1.0 - second_decay**n_steps)
    for i in range(parameters.shape[0]):
        first[i] += (1.0 - first_decay) * (gradient[i] - first[i])
        second[i] += (1.0 - second_decay) * (gradient[i] ** 2 - second[i])
        parameters[i] -= rate * (first[i] * first_scale) / (np.sqrt(second[i] * second_scale) + 1e-4)
