"""Fixtures of EmbeddingDisplay: a fitted embedding, a comparison and generated coordinates."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.embedding import LANNEmbedding, compare_embeddings, paper_embeddings


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
        legends = [ax.get_legend() for ax in figure.axes if ax.get_legend() is not None]
        return [[text.get_text() for text in legend.get_texts()] for legend in legends]

    return texts


@pytest.fixture(scope="session")
def leave_one_out_vote():
    """Return a function that computes the vote on one training row by a search among all other rows."""

    def vote(clf, X, labels, row):
        lengths, neighbors = clf.kneighbors(X[[row]], n_neighbors=clf.n_neighbors_ + 1)
        others = neighbors[0] != row
        neighbors = neighbors[0][others][: clf.n_neighbors_]
        distances = lengths[0][others][: clf.n_neighbors_] ** 2
        votes = clf.model_.vote(neighbors[None], distances[None])
        return neighbors, votes.shares[0], votes.probabilities[0]

    return vote
