"""Contrast: the nearest training point of another class, and what keeps it away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._types import Floats, Indices
from lann.explain.voters import voters_of

if TYPE_CHECKING:
    import pandas as pd

# Differences that are split among the features at once: 8 MB.
SPLIT_AT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Contrast:
    """The nearest unlike training point of some queries.

    Attributes
    ----------
    queries : (n_queries, n_features)
    predictions : (n_queries,) predicted labels
    points : (n_queries,) rows of the training data
    labels : (n_queries,) their labels
    values : (n_queries, n_features) the points themselves
    distances : (n_queries,) squared, as each point measures
    contributions : (n_queries, n_features) what each feature adds to the distance: what keeps the point away
    feature_names : (n_features,)
    """

    queries: Floats
    predictions: NDArray[Any]
    points: Indices
    labels: NDArray[Any]
    values: Floats
    distances: Floats
    contributions: Floats
    feature_names: NDArray[Any]

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        queries = "1 query" if len(self) == 1 else f"{len(self)} queries"
        return f"<Contrast of {queries} to the nearest unlike training points>"

    def to_frame(self) -> pd.DataFrame:
        """One row per query: the point, how far it is, and what each feature adds to that."""
        import pandas as pd

        table: dict[str, Any] = {
            "query": np.arange(len(self)),
            "prediction": self.predictions,
            "point": self.points,
            "label": self.labels,
            "distance": self.distances,
        }
        for place, name in enumerate(self.feature_names):
            table[f"contribution of {name}"] = self.contributions[:, place]
        return pd.DataFrame(table)


def nearest_unlike(clf: Any, X: ArrayLike, *, target: Any = None) -> Contrast:
    """For each query the nearest training point of another class than predicted, as that point measures.

    It is searched as the model searches its neighbors: among the `n_candidates` nearest of each class by the
    metrics of the classes, or among all points.

    Parameters
    ----------
    clf
        A fitted LANNClassifier, or a baseline whose neighbors vote.
    X : (n_queries, n_features)
    target
        The class to look in, whatever was predicted; by default every class but the predicted one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import nearest_unlike
    >>> X, y = load_iris(return_X_y=True)
    >>> contrast = nearest_unlike(LANNClassifier(random_state=0).fit(X, y), X[[0, 60, 120]])
    >>> contrast.predictions, contrast.labels
    (array([0, 1, 2]), array([1, 2, 1]))
    >>> contrast.contributions.shape
    (3, 4)
    """
    voters = voters_of(clf)
    queries, classes = voters.check(X), voters.classes
    if target is not None:
        check_target(target, classes)
    predictions = clf.predict(X)
    unlike = classes[None, :] != predictions[:, None] if target is None else classes[None, :] == target
    allowed = np.broadcast_to(unlike, (len(queries), len(classes)))
    found, lengths = voters.nearest_of(queries, allowed, 1)
    points, distances = found[:, 0], lengths[:, 0]
    if (points < 0).any():
        wanted = "another class than predicted" if target is None else f"the class {target!r}"
        raise ValueError(f"There is no training point of {wanted}.")
    contributions = np.empty(queries.shape)
    block = max(SPLIT_AT_ONCE // queries.shape[1], 1)
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        contributions[part] = voters.contributions(queries[part], found[part])[:, 0]
    return Contrast(
        queries=queries,
        predictions=predictions,
        points=points,
        labels=classes[voters.labels[points]],
        values=voters.X[points],
        distances=distances,
        contributions=contributions,
        feature_names=voters.feature_names,
    )


def check_target(target: Any, classes: NDArray[Any], name: str = "target") -> None:
    if target not in classes.tolist():
        raise ValueError(f"{name} must be one of the classes {classes.tolist()}; got {target!r}.")
