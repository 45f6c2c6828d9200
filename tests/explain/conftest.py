"""Explanations made by hand, whose summaries and sentences are known."""

import numpy as np
import pandas as pd
import pytest

from lann import Explanation, LANNClassifier
from lann.explain._readings import Readings


@pytest.fixture
def made():
    """Return a function that makes an explanation of few rows by three neighbors over four features.

    Every row has a landmark of its own, so that its supports are exactly those given; without any, supports
    are unknown.
    """

    def make(shares, labels, supports=None, *, classes=("benign", "malignant"), ids=None, **changes):
        shares, labels, classes = np.asarray(shares, float), np.asarray(labels), np.asarray(classes)
        n_rows, k = shares.shape
        votes = np.stack([np.where(labels == label, shares, 0).sum(axis=1) for label in classes], axis=1)
        contributions = np.arange(1.0, n_rows * k * 4 + 1).reshape(n_rows, k, 4) / 8
        relevances = np.tile([0.4, 0.3, 0.2, 0.0], (n_rows, 1))
        readings = near = None
        if supports is not None:
            supports = np.asarray(supports, float)
            relevances = np.abs(supports).sum(axis=1) / 2
            readings, near = Readings(votes, relevances, supports), np.arange(n_rows)[:, None]
        neighbors = 10 * np.arange(1, n_rows * k + 1).reshape(n_rows, k)
        parts = {
            "queries": np.arange(n_rows * 4.0).reshape(n_rows, 4),
            "predictions": classes[votes.argmax(axis=1)],
            "probabilities": votes,
            "neighbors": neighbors,
            "neighbor_ids": None if ids is None else np.asarray(ids)[neighbors // 10 - 1],
            "neighbor_labels": labels,
            "distances": np.sqrt(contributions.sum(axis=2)),
            "vote_shares": shares,
            "contributions": contributions,
            "relevances": relevances,
            "feature_weights": 2.0 * relevances,
            "feature_names": np.array(["area", "texture", "depth", "width"], dtype=object),
            "classes": classes,
            "_near": near,
            "_readings": readings,
        }
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


def make_passengers(n_rows=400, seed=0):
    """Return a table with features of all kinds, gaps and an index, and labels that depend on Sex."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "Sex": rng.choice(["male", "female"], n_rows, p=[0.6, 0.4]),
            "Class": pd.Categorical(
                rng.choice(["1st", "2nd", "3rd"], n_rows), ["3rd", "2nd", "1st"], ordered=True
            ),
            "Age": rng.normal(30, 12, n_rows).round(1),
            "Fare": np.exp(rng.normal(3, 1, n_rows)),
            "Town": rng.choice(["Ulm", "Bern", "Graz"], n_rows),
            "Alone": rng.random(n_rows) < 0.5,
            "Sailed": pd.Timestamp("1912-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D"),
        },
        index=1000 + 7 * np.arange(n_rows),
    )
    logit = -2.0 + 4.5 * (frame["Sex"] == "female") + 1.0 * (frame["Class"] == "1st")
    frame.loc[rng.random(n_rows) < 0.2, "Age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "Town"] = None
    return frame, np.where(rng.random(n_rows) < 1 / (1 + np.exp(-logit)), "survived", "died")


@pytest.fixture(scope="session")
def passengers():
    """A table of passengers, labels, and a classifier that is fitted to the first 300."""
    frame, y = make_passengers()
    return frame, y, LANNClassifier(random_state=0, max_iter=4).fit(frame[:300], y[:300])


@pytest.fixture
def odd_queries(passengers):
    """Passengers of whom the first has an unseen category, and the second a gap that no training row has."""
    queries = passengers[0][300:306].copy()
    queries.iloc[0, 4] = "Wien"
    queries.iloc[1, 3] = np.nan
    return queries
