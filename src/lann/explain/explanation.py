"""What made a prediction: the neighbors that voted, and the features that brought them near."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.explain import aggregate, as_dict, as_html, as_shap, correlation, grouping, words

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain.sensitivity import Readings


_SHARED = ("feature_names", "classes", "readings", "correlated_places")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The neighbors behind some predictions, and what each feature had to do with them.

    Attributes
    ----------
    queries : (n_queries, n_features) the rows that were asked about
    predictions : (n_queries,) predicted labels
    probabilities : (n_queries, n_classes)
    neighbors : (n_queries, k) rows of the training data (of `prototypes_` where a model has these), nearest
        first
    neighbor_ids : (n_queries, k) what these rows are called, or None
    neighbor_labels : (n_queries, k)
    distances : (n_queries, k) squared, under each neighbor's own metric
    vote_shares : (n_queries, k) what each neighbor's vote counted; they add up to 1
    contributions : (n_queries, k, n_features) what each feature adds to each distance. None is negative, but
        where points own matrices: there a feature can make up for the difference in another
    relevances : (n_queries, n_features) which features the prediction hangs on: the share of the vote that
        changes, around the query, when a feature's value is replaced by other points'
    feature_weights : (n_queries, n_features) how much a difference counts for the neighbors that voted,
        the reading of the paper: their weights, by votes
    runner_up : (n_queries,) the label with the second most votes around the query
    supports : (n_queries, n_classes, n_features) how much more of the vote a class has by the feature's value
        than by other values: above 0 the value speaks for the class, below 0 against it
    feature_names : (n_features,)
    classes : (n_classes,)
    correlated : groups of features that say nearly the same in the training data, by name

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:2])
    >>> explanation.neighbors.shape, explanation.contributions.shape
    ((2, 5), (2, 5, 4))
    >>> bool(np.all(explanation.contributions.sum(axis=2) == explanation.distances))
    True
    """

    queries: Floats
    predictions: NDArray[Any]
    probabilities: Floats
    neighbors: Indices
    neighbor_labels: NDArray[Any]
    distances: Floats
    vote_shares: Floats
    contributions: Floats
    relevances: Floats
    feature_weights: Floats
    feature_names: NDArray[Any]
    classes: NDArray[Any]
    neighbor_ids: NDArray[Any] | None = None
    near: Indices | None = field(default=None, repr=False)  # (n_queries, n_near) places in `readings`
    readings: Readings | None = field(default=None, repr=False)
    correlated_places: correlation.Places = field(default=(), repr=False)

    # What is made of an explanation stands in modules of its own.
    grouped = grouping.group_features
    by_class = aggregate.by_class
    by_group = aggregate.by_group
    overall = aggregate.overall
    to_dict = as_dict.to_dict
    to_shap = as_shap.to_shap
    in_words = words.in_words
    _repr_html_ = as_html.to_html

    def __len__(self) -> int:
        return len(self.predictions)

    def __getitem__(self, rows: int | slice | Indices | NDArray[np.bool_]) -> Explanation:
        """The explanations of some rows, still as an Explanation."""
        if isinstance(rows, int | np.integer):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"There are {len(self)} explained rows; row {rows} is not one of them.")
            rows = np.array([rows])
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return Explanation(**{k: v if k in _SHARED or v is None else v[rows] for k, v in parts.items()})

    @property
    def tells_supports(self) -> bool:
        """Whether the model tells what speaks for and against a class; otherwise `supports` fails."""
        return self.near is not None and self.readings is not None

    @property
    def supports(self) -> Floats:
        """What speaks for each class, and what against it: (n_queries, n_classes, n_features)."""
        readings, near = self._told()
        return readings.supports_near(near)

    @property
    def predicted_places(self) -> Indices:
        """Where the predictions stand among the classes: (n_queries,)."""
        return np.searchsorted(self.classes, self.predictions)

    @property
    def runner_up_places(self) -> Indices:
        """Where the runners-up stand among the classes: (n_queries,).

        Most votes beside the prediction; where the neighbors agree, of the wider neighborhood.
        """
        rest = self.probabilities.copy()
        if self.near is not None and self.readings is not None:
            # So little that it decides only between classes that no neighbor has voted for.
            rest += 1e-9 * self.readings.votes_near(self.near)
        rest[np.arange(len(self)), self.predicted_places] = -1.0
        return rest.argmax(axis=1)

    @property
    def runner_up(self) -> NDArray[Any]:
        return self.classes[self.runner_up_places]

    @property
    def support(self) -> Floats:
        """What speaks for the prediction (above 0), and what against it: (n_queries, n_features)."""
        return self._support_of(self.predicted_places)

    @property
    def separation(self) -> Floats:
        """What speaks for the prediction rather than the runner-up: (n_queries, n_features)."""
        return self._support_of(self.predicted_places) - self._support_of(self.runner_up_places)

    def _support_of(self, places: Indices) -> Floats:
        """What speaks for one class of each query, without those of all classes: (n_queries, n_features)."""
        readings, near = self._told()
        return readings.support_near(near, places)

    def _told(self) -> tuple[Readings, Indices]:
        """The readings, and which of them are near each query."""
        if self.near is None or self.readings is None:
            raise ValueError("This model does not tell what speaks for and against a class.")
        return self.readings, self.near

    @property
    def correlated(self) -> dict[str, list[str]]:
        """Groups of features that say nearly the same in the training data: `grouped` adds them up."""
        return correlation.named(self.correlated_places, self.feature_names)

    def __repr__(self) -> str:
        n_queries, k, n_features = self.contributions.shape
        predictions = "1 prediction" if n_queries == 1 else f"{n_queries} predictions"
        return f"<Explanation of {predictions} by {k} neighbors over {n_features} features>"

    def to_frame(self) -> pd.DataFrame:
        """One row per query and neighbor: who, how near, how many votes, and what each feature added."""
        import pandas as pd

        n_queries, k = self.neighbors.shape
        table: dict[str, Any] = {
            "query": np.repeat(np.arange(n_queries), k),
            "prediction": np.repeat(self.predictions, k),
            "neighbor": self.neighbors.ravel(),
            **({} if self.neighbor_ids is None else {"neighbor_id": self.neighbor_ids.ravel()}),
            "label": self.neighbor_labels.ravel(),
            "distance": self.distances.ravel(),
            "vote_share": self.vote_shares.ravel(),
        }
        for place, name in enumerate(self.feature_names):
            table[f"contribution of {name}"] = self.contributions[:, :, place].ravel()
        return pd.DataFrame(table)

    def relevance_frame(self) -> pd.DataFrame:
        """One row per query, one column per feature, adding up to 1."""
        import pandas as pd

        total = self.relevances.sum(axis=1, keepdims=True)
        shares = np.divide(self.relevances, total, out=np.zeros_like(self.relevances), where=total > 0)
        return pd.DataFrame(shares, columns=list(self.feature_names))
