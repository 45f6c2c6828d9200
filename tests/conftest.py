"""Fixtures for all tests: slow references, small data sets, and a second process."""

import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris, load_wine

settings.register_profile(
    "lann",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("lann")


@pytest.fixture(scope="session")
def reference():
    """The slow, obvious versions in reference.py."""
    path = Path(__file__).with_name("reference.py")
    spec = importlib.util.spec_from_file_location("lann_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture
def blobs():
    """Three overlapping classes over four features, no two points alike: X (90, 4), y (90,)."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    centers = np.array([[0.0, 0.0, 0.0, 0.0], [2.0, 0.5, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0]])
    return centers[y] + rng.normal(size=(90, 4)), y


@pytest.fixture(scope="session")
def in_new_process():
    """Run a program in a fresh interpreter; what it prints last, as JSON."""

    def run(program):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
