"""Many explained rows at a glance: a line for each, and counts over all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._format import value_text
from lann._types import Floats
from lann._validation import Integer, validate
from lann.explain._decision import ACCEPTED, DECISIONS
from lann.explain._words import CLOSE, LEAST_SHARE

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._explanation import Explanation


@dataclass(frozen=True, eq=False)
class Overview:
    """Explained rows at a glance.

    `Explanation.overview` returns it; `Overview.joined` puts several together.

    Attributes
    ----------
    rows : DataFrame
        A line per query, with the columns ``row`` (the row number), ``id`` (if there are ids),
        ``true_label`` (if labels are known), ``prediction``, ``probability``, ``runner_up``,
        ``runner_up_probability``, ``doubtful`` (whether the prediction has less than 20% of the votes more
        than the runner-up), ``far`` (whether nothing similar is among the training rows, if this is known),
        ``decision`` ("accepted", "ambiguous" or "far", if there is a reject option) and ``reasons``: the
        features whose values support the prediction most, with their values.
    feature_names : ndarray of shape (n_features,)
    mean_relevances : ndarray of shape (n_features,)
        Means over the queries.
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> overview = LANNClassifier(random_state=0).fit(X, y).explain(X[40:60]).overview()
    >>> overview.class_counts
    {0: 10, 1: 10, 2: 0}
    >>> len(overview), overview.rows.columns.tolist()[:4]
    (20, ['row', 'prediction', 'probability', 'runner_up'])
    """

    rows: pd.DataFrame
    feature_names: NDArray[Any]
    mean_relevances: Floats
    classes: NDArray[Any]

    def __repr__(self) -> str:
        return f"<Overview of {len(self)} explained rows>"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def class_counts(self) -> dict[Any, int]:
        """Number of predictions of each class."""
        found = self.rows["prediction"].to_numpy()
        return {label: int((found == label).sum()) for label in self.classes.tolist()}

    @property
    def n_labels(self) -> int:
        """Number of queries whose label is known."""
        return int(self.rows["true_label"].notna().sum()) if "true_label" in self.rows else 0

    @property
    def mistakes(self) -> NDArray[np.bool_]:
        """Which queries have a label that is not the prediction: (n_queries,)."""
        if "true_label" not in self.rows:
            return np.zeros(len(self), bool)
        return (
            self.rows["true_label"].notna() & (self.rows["true_label"] != self.rows["prediction"])
        ).to_numpy()

    @property
    def n_doubtful(self) -> int:
        """Number of queries whose vote is close."""
        return int(self.rows["doubtful"].sum())

    @property
    def n_far(self) -> int | None:
        """Number of queries to which no training row is similar; None if this is unknown."""
        return int(self.rows["far"].sum()) if "far" in self.rows else None

    @property
    def decision_counts(self) -> dict[str, int] | None:
        """Number of queries that are accepted, ambiguous and far; None if there is no reject option."""
        if "decision" not in self.rows:
            return None
        return {decision: int((self.rows["decision"] == decision).sum()) for decision in DECISIONS}

    @property
    def accuracy_of_accepted(self) -> float | None:
        """Share of the accepted queries with a label whose prediction is correct; None if there are none."""
        if "decision" not in self.rows or not self.n_labels:
            return None
        is_counted = self.rows["true_label"].notna() & (self.rows["decision"] == ACCEPTED)
        return float(1.0 - self.mistakes[is_counted].mean()) if is_counted.any() else None

    @property
    def accuracy(self) -> float | None:
        """Share of the queries with a label whose prediction is correct; None if there are none."""
        return 1.0 - float(self.mistakes.sum()) / self.n_labels if self.n_labels else None

    @property
    def relevant_features(self) -> list[tuple[str, float]]:
        """The features and their mean relevances, the largest first."""
        order = np.argsort(-self.mean_relevances, kind="stable")
        return [(str(self.feature_names[j]), float(self.mean_relevances[j])) for j in order]

    @classmethod
    def joined(cls, parts: Sequence[Overview]) -> Overview:
        """Return the overview of the queries of several ones, which have the same features and classes.

        Parameters
        ----------
        parts : sequence of Overview
            At least one.

        Returns
        -------
        overview : Overview
        """
        import pandas as pd

        sizes = [len(part) for part in parts]
        means = np.average([part.mean_relevances for part in parts], axis=0, weights=sizes)
        rows = pd.concat([part.rows for part in parts], ignore_index=True)
        return cls(rows, parts[0].feature_names, means, parts[0].classes)


def overview(explanation: Explanation, *, n_features: int = 2) -> Overview:
    """Return the explained rows at a glance: a line for each, and counts over all.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    n_features : int, default=2
        Number of features to name for each row, at most.

    Returns
    -------
    overview : Overview

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> overview = LANNClassifier(random_state=0).fit(X, y).explain(X[:3]).overview(n_features=1)
    >>> overview.rows["reasons"].tolist()
    ['petal width (cm) 0.2', 'petal length (cm) 1.4', 'petal length (cm) 1.3']
    """
    import pandas as pd

    validate("n_features", n_features, Integer(1))
    every = np.arange(len(explanation))
    runner_up = explanation.runner_up_class_indices
    columns: dict[str, Any] = {
        "row": every if explanation.query_rows is None else explanation.query_rows,
        **({} if explanation.query_ids is None else {"id": explanation.query_ids}),
        **({} if explanation.true_labels is None else {"true_label": explanation.true_labels}),
        "prediction": explanation.predictions,
        "probability": explanation.probabilities[every, explanation.predicted_class_indices],
        "runner_up": explanation.runner_up,
        "runner_up_probability": explanation.probabilities[every, runner_up],
        "doubtful": _doubtful(explanation),
        **({} if explanation.is_far is None else {"far": explanation.is_far}),
        **_decisions(explanation),
        "reasons": _reasons(explanation, n_features),
    }
    return Overview(
        pd.DataFrame(columns),
        explanation.feature_names,
        explanation.relevances.mean(axis=0),
        explanation.classes,
    )


def _decisions(explanation: Explanation) -> dict[str, list[str]]:
    if explanation.decisions is None:
        return {}
    return {"decision": [decision.decision for decision in explanation.decisions]}


def _doubtful(explanation: Explanation) -> NDArray[np.bool_]:
    """Return which predictions are close: (n_queries,), as `in_words` says "narrowly"."""
    every, votes = np.arange(len(explanation)), explanation.class_votes
    lead = votes[every, explanation.predicted_class_indices]
    return lead - votes[every, explanation.runner_up_class_indices] < CLOSE


def _reasons(explanation: Explanation, n_features: int) -> list[str]:
    """Return for each query the features that support the prediction most, with their values."""
    reasons = explanation.support if explanation.has_supports else explanation.relevances
    names, values = explanation.feature_names, explanation.query_values
    texts = []
    for row, shares in enumerate(reasons):
        order = np.argsort(-shares, kind="stable")[:n_features]
        chosen = [j for j in order if shares[j] > 0 and shares[j] >= LEAST_SHARE * shares[order[0]]]
        texts.append(", ".join(f"{names[j]} {value_text(values[row, j])}" for j in chosen))
    return texts
