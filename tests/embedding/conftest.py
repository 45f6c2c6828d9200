"""A small model, fitted once."""

import pytest

from lann import LANNClassifier


@pytest.fixture(scope="module")
def fitted(iris):
    """Every third flower: X (50, 4), y (50,), and a classifier."""
    X, y = iris
    X, y = X[::3], y[::3]
    return X, y, LANNClassifier(max_iter=2, random_state=0).fit(X, y)
