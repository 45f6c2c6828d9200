"""What tests of displays share: small models, one of which only knows weights, and a check of legibility."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.neighbors import KNeighborsClassifier

from lann import Explanation, LANNClassifier


@pytest.fixture(autouse=True)
def without_a_screen():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def flowers():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="session")
def clf(flowers):
    """Three classes, four features with names and units."""
    return LANNClassifier(max_iter=3, random_state=0).fit(*flowers)


@pytest.fixture(scope="session")
def tumours():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X[::3], np.where(y[::3] == 1, "benign", "malignant")


@pytest.fixture(scope="session")
def two_class(tumours):
    """Two classes, thirty features."""
    return LANNClassifier(max_iter=3, random_state=0).fit(*tumours)


class WeighingNeighbors(KNeighborsClassifier):
    """Neighbors under one metric that tell weights, but not what their votes hang on: like a baseline."""

    def fit(self, X, y):
        super().fit(X, y)
        weights = 1.0 / np.asarray(X).var(axis=0)
        self.feature_weights_ = np.tile(weights, (len(X), 1))
        self._model = type(
            "Kept", (), {"points": np.asarray(X), "labels": np.unique(y, return_inverse=True)[1]}
        )
        return self

    def explain(self, X):
        _, rows = self.kneighbors(X)
        steps = np.asarray(X)[:, None, :] - self._model.points[rows]
        shares = np.full(rows.shape, 1.0 / rows.shape[1])
        weights = self.feature_weights_[rows[:, 0]]
        return Explanation(
            queries=np.asarray(X),
            predictions=self.predict(X),
            probabilities=self.predict_proba(X),
            neighbors=rows,
            neighbor_labels=self.classes_[self._model.labels[rows]],
            distances=(steps**2).sum(axis=2),
            vote_shares=shares,
            contributions=steps**2,
            relevances=weights,
            feature_weights=weights,
            feature_names=np.array([f"x{place}" for place in range(steps.shape[2])], dtype=object),
            classes=self.classes_,
        )


@pytest.fixture(scope="session")
def weighing(flowers):
    X, y = flowers
    return WeighingNeighbors().fit(X.to_numpy(), y.to_numpy())


@pytest.fixture
def long_names():
    """So many names of features, like each other and too long to be shown."""
    return lambda n: pd.Index(
        [f"mean of the measured quantity of sensor number {place}" for place in range(n)]
    )


def _labels(ax):
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_visible() and ax.axison:
            shown = [text for text in axis.get_ticklabels() if text.get_visible() and text.get_text()]
            low, high = sorted(axis.get_view_interval())
            yield [
                text
                for text, place in zip(shown, axis.get_ticklocs(), strict=False)
                if low <= place <= high or len(shown) != len(axis.get_ticklocs())
            ]


def _apart(one, other):
    """Whether two labels of an axis do not touch."""
    boxes = one.get_window_extent(), other.get_window_extent()
    if one.get_rotation() % 90:  # boxes of slanted words overlap, the words need not
        height = one.get_fontsize() * one.figure.dpi / 72
        return abs(boxes[0].x1 - boxes[1].x1) * np.sin(np.radians(one.get_rotation())) > height
    both = boxes[0].intersection(*boxes)
    return both is None or min(both.width, both.height) < 2


@pytest.fixture
def assert_legible():
    """No name lies over another or is cut off, and none is smaller than 6 points."""

    def check(figure):
        figure.canvas.draw()
        edge = figure.bbox
        n_checked = 0
        for ax in figure.axes:
            others = [ax.title, ax.xaxis.label, ax.yaxis.label] if ax.axison else [ax.title]
            for text in others:
                if text.get_text():
                    box = text.get_window_extent()
                    assert box.x0 >= edge.x0 - 1, text
                    assert box.x1 <= edge.x1 + 1, text
            for texts in _labels(ax):
                boxes = [text.get_window_extent() for text in texts]
                for text, box in zip(texts, boxes, strict=True):
                    n_checked += 1
                    assert text.get_fontsize() >= 6, text
                    assert box.x0 >= edge.x0 - 1, text
                    assert box.x1 <= edge.x1 + 1, text
                for one, other in itertools.pairwise(texts):
                    assert _apart(one, other), (one, other)
        assert n_checked > 0

    return check
