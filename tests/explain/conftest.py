"""Explanations made by hand, whose summaries and sentences are known."""

import numpy as np
import pytest

from lann import Explanation


@pytest.fixture
def made():
    """Return a function that makes an explanation of few rows by three neighbors over four features."""

    def make(shares, labels, supports=None, *, classes=("benign", "malignant"), ids=None, **changes):
        shares, labels, classes = np.asarray(shares, float), np.asarray(labels), np.asarray(classes)
        n_rows, k = shares.shape
        votes = np.stack([np.where(labels == label, shares, 0).sum(axis=1) for label in classes], axis=1)
        relevances = np.tile([0.4, 0.3, 0.2, 0.0], (n_rows, 1))
        if supports is not None:
            supports = np.asarray(supports, float)
            relevances = np.abs(supports).sum(axis=1) / 2
        neighbors = 10 * np.arange(1, n_rows * k + 1).reshape(n_rows, k)
        parts = {
            "_queries": np.arange(n_rows * 4.0).reshape(n_rows, 4),
            "predictions": classes[votes.argmax(axis=1)],
            "probabilities": votes,
            "neighbors": neighbors,
            "neighbor_ids": None if ids is None else np.asarray(ids)[neighbors // 10 - 1],
            "neighbor_labels": labels,
            "distances": np.arange(1.0, n_rows * k + 1).reshape(n_rows, k),
            "vote_shares": shares,
            "relevances": relevances,
            "feature_names": np.array(["area", "texture", "depth", "width"], dtype=object),
            "classes": classes,
            "_unmeasured": np.zeros((n_rows, 4), bool),
            "_unseen": np.zeros((n_rows, 4), bool),
            "left_out": np.full(n_rows, -1),
            "_wide_votes": votes,
        }
        if supports is None:
            supports = np.zeros((n_rows, len(classes), 4))
        parts["_parts"] = {"supports": supports, "errors": np.full(supports.shape, 0.001)}
        return Explanation(**(parts | changes))

    return make


def of_two(support):
    """Return supports of two classes, which are opposite: (2, n_features)."""
    return [support, [-value for value in support]]


@pytest.fixture
def two_rows(made):
    """A clear vote and a close one."""
    return made(
        [[0.5, 0.3, 0.2], [0.45, 0.3, 0.25]],
        [["benign", "benign", "benign"], ["malignant", "benign", "benign"]],
        [of_two([0.3, 0.1, -0.2, 0.0]), of_two([0.0, 0.2, 0.005, -0.3])],
    )
