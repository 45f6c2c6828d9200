"""Data sets and classifiers that are fitted in a moment."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from lann import LANNClassifier


@pytest.fixture
def quick():
    """A LANNClassifier that learns for a moment."""
    return LANNClassifier(max_iter=1, random_state=0)


@pytest.fixture
def linear():
    """A classifier without neighbors."""
    return LogisticRegression(max_iter=500)


@pytest.fixture(scope="session")
def cancer():
    """Training and test rows of a data set with two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(scale(X[:, :8]), y, stratify=y, random_state=0)
    return X_train, y_train, X_test, y_test


@pytest.fixture(scope="session")
def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="session")
def make_noisy_class():
    """Generate three clusters; in the area of the third, a third of the labels are of the others."""

    def make(n_rows, seed):
        rng = np.random.default_rng(seed)
        cluster = rng.integers(3, size=n_rows)
        X = np.array([[0, 0], [4, 0], [0, 4]])[cluster] + rng.normal(size=(n_rows, 2))
        is_noisy = (cluster == 2) & (rng.random(n_rows) < 0.35)
        return X, np.where(is_noisy, rng.integers(2, size=n_rows), cluster)

    return make
