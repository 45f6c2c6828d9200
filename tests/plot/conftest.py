"""Fixtures of the displays: small models, and a check of the labels."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from lann import LANNClassifier
from lann.baselines import LMNN

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def agg_backend():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def iris_frame():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def clf(iris_frame):
    """A model with three classes and four features with names and units."""
    return LANNClassifier(max_iter=3, random_state=0).fit(*iris_frame)


@pytest.fixture(scope="session")
def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X[::3], np.where(y[::3] == 1, "benign", "malignant")


@pytest.fixture(scope="session")
def binary_clf(breast_cancer):
    """A model with two classes and thirty features."""
    return LANNClassifier(max_iter=3, random_state=0).fit(*breast_cancer)


@pytest.fixture(scope="session")
def baseline(iris_frame):
    """A baseline whose training rows vote."""
    X, y = iris_frame
    return LMNN(max_iter=5).fit(X.to_numpy(), y.to_numpy())


@pytest.fixture
def long_names():
    """Return a function that makes similar feature names that are too long to be drawn in full."""
    return lambda n: pd.Index([f"mean of the measured quantity of sensor number {k}" for k in range(n)])


def _visible_tick_labels(ax):
    """Yield the tick labels within the limits, for each axis."""
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_visible() and ax.axison:
            texts = [text for text in axis.get_ticklabels() if text.get_visible() and text.get_text()]
            low, high = sorted(axis.get_view_interval())
            yield [
                text
                for text, position in zip(texts, axis.get_ticklocs(), strict=False)
                if low <= position <= high or len(texts) != len(axis.get_ticklocs())
            ]


def _are_disjoint(first, second):
    """Return whether two tick labels of an axis do not overlap."""
    boxes = first.get_window_extent(), second.get_window_extent()
    if first.get_rotation() % 90:  # the boxes of rotated texts overlap even if the texts do not
        height = first.get_fontsize() * first.figure.dpi / 72
        return abs(boxes[0].x1 - boxes[1].x1) * np.sin(np.radians(first.get_rotation())) > height
    overlap = boxes[0].intersection(*boxes)
    return overlap is None or min(overlap.width, overlap.height) < 2


@pytest.fixture
def assert_legible():
    """Return a function that checks that labels are not cut off, overlapping or smaller than 6 points."""

    def check(figure):
        figure.canvas.draw()
        edge = figure.bbox
        n_checked = 0
        for ax in figure.axes:
            for text in [ax.title, ax.xaxis.label, ax.yaxis.label] if ax.axison else [ax.title]:
                if text.get_text():
                    box = text.get_window_extent()
                    assert box.x0 >= edge.x0 - 1, text
                    assert box.x1 <= edge.x1 + 1, text
            for texts in _visible_tick_labels(ax):
                for text in texts:
                    n_checked += 1
                    box = text.get_window_extent()
                    assert text.get_fontsize() >= 6, text
                    assert box.x0 >= edge.x0 - 1, text
                    assert box.x1 <= edge.x1 + 1, text
                for first, second in itertools.pairwise(texts):
                    assert _are_disjoint(first, second), (first, second)
        assert n_checked > 0

    return check
