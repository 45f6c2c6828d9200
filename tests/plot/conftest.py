"""Fixtures of the displays: small models, and a check of the labels."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from lann import LANNClassifier
from lann.baselines import LMNN
from lann.embedding import LANNEmbedding, compare_embeddings, paper_embeddings

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


def _own_texts(ax):
    """Yield the title, the labels of the axes, and the texts and the legend entries of a panel."""
    yield ax.title
    if ax.axison:
        yield from (ax.xaxis.label, ax.yaxis.label)
    yield from (text for text in ax.texts if not text.get_clip_on())
    if ax.get_legend() is not None:
        yield from ax.get_legend().get_texts()


def _assert_legible(text, edge):
    """Check that a text is not cut off or smaller than 6 points."""
    box = text.get_window_extent()
    assert edge.x0 - 1 <= box.x0 <= box.x1 <= edge.x1 + 1, text
    assert edge.y0 - 1 <= box.y0 <= box.y1 <= edge.y1 + 1, text
    assert text.get_fontsize() >= 6, text


def _assert_disjoint_titles(figure):
    """Check that the titles and legends of the figure and of all panels do not overlap."""
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    drawn = [figure._suptitle, *(ax.title for ax in figure.axes), *legends]
    boxes = [(artist, artist.get_window_extent()) for artist in drawn if artist is not None]
    for (first, box), (second, other) in itertools.combinations(boxes, 2):
        overlap = box.intersection(box, other)
        assert overlap is None or min(overlap.width, overlap.height) < 3, (first, second)


@pytest.fixture
def assert_legible():
    """Return a function that checks that texts are not cut off, overlapping or smaller than 6 points."""

    def check(figure):
        figure.canvas.draw()
        n_checked = 0
        for ax in figure.axes:
            for text in _own_texts(ax):
                if text.get_text() and text.get_visible():
                    _assert_legible(text, figure.bbox)
            for texts in _visible_tick_labels(ax):
                for text in texts:
                    n_checked += 1
                    _assert_legible(text, figure.bbox)
                for first, second in itertools.pairwise(texts):
                    assert _are_disjoint(first, second), (first, second)
        _assert_disjoint_titles(figure)
        assert n_checked > 0

    return check


@pytest.fixture
def long_class_names():
    """Thirty class names that are too long to be drawn in full."""
    return [f"moderate chronic disease of the upper respiratory tract, type {k + 1}" for k in range(30)]


@pytest.fixture(scope="session")
def halves(iris_frame):
    """Training rows, their labels, new rows and their labels: 75 each."""
    X, y = iris_frame
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="session")
def embedding(halves):
    X, y, _, _ = halves
    clf = LANNClassifier(max_iter=3, random_state=0)
    return LANNEmbedding(clf, max_iter=30, random_state=0).fit(X, y)


@pytest.fixture(scope="session")
def comparison(halves):
    methods = {name: paper_embeddings()[name] for name in ("PCA", "LDA", "GMLVQ")}
    return compare_embeddings(*halves, embeddings=methods)


@pytest.fixture(scope="session")
def make_clusters():
    """Return a function that makes coordinates and labels of one cluster per class."""

    def make(n_classes, n_rows_per_class=20):
        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(n_classes), n_rows_per_class)
        return 9 * rng.random((n_classes, 2))[labels] + 0.2 * rng.normal(size=(len(labels), 2)), labels

    return make


@pytest.fixture
def legend_texts():
    """Return a function that returns the texts of each legend of a figure."""

    def texts(figure):
        legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
        return [[text.get_text() for text in legend.get_texts()] for legend in legends if legend is not None]

    return texts
