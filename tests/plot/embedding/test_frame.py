import numpy as np

from lann.plot import EmbeddingDisplay


def test_a_few_outliers_are_outside(make_clusters):
    coordinates, labels = make_clusters(2, 200)
    coordinates[:2] *= 1000
    ax = EmbeddingDisplay(coordinates, labels, class_names=["a", "b"]).plot().ax_
    assert np.ptp(ax.get_xlim()) < 30
    assert "2 outside" in [text.get_text() for text in ax.texts]


def test_no_class_is_outside(make_clusters):
    coordinates, labels = make_clusters(2, 200)
    coordinates[:2] *= 1000
    labels[:2] = 2
    ax = EmbeddingDisplay(coordinates, labels, class_names=["a", "b", "c"]).plot().ax_
    assert np.ptp(ax.get_xlim()) > 1000
