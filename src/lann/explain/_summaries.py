"""Many explained rows: at a glance, a line for each, and summarized over groups."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.format import printable
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, Number, OneOf, validate
from lann.explain._decision import AMBIGUOUS, DECISIONS
from lann.explain._feature_groups import correlated_columns, group_features
from lann.explain._training_rows import frame_of
from lann.explain._value_view import of_values
from lann.explain._view import rows

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._explanation import Explanation

# Groups of correlated features that a warning names.
MOST_NAMED = 5
QUARTILES = (0.25, 0.5, 0.75)
VALUES = ("relevances", "support")


@dataclass(frozen=True, eq=False)
class Overview:
    """Explained rows at a glance.

    `overview` returns it; `Overview.joined` puts several together.

    Attributes
    ----------
    rows : DataFrame
        A line per query, with the columns ``row`` (the row number), ``id`` (if there are ids),
        ``true_label`` (if labels are known), ``prediction``, ``probability``, ``runner_up``,
        ``runner_up_probability``, ``doubtful`` (whether the prediction leads the runner-up by less than 20
        points; of numbers, ``interval`` is in place of these), ``far`` (whether nothing similar is among the
        training rows, if this is known), ``left_out`` (the training row that the row is, which did not vote),
        ``decision`` ("accepted", "ambiguous" or "far", if there is a reject option) and ``reasons``: the
        features whose values add most to the probability of the prediction, with their values and supports.
    feature_names : ndarray of shape (n_features,)
    mean_relevances : ndarray of shape (n_features,)
        Means over the queries.
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import overview
    >>> X, y = load_iris(return_X_y=True)
    >>> found = overview(LANNClassifier(random_state=0).fit(X, y).explain(X[40:60]))
    >>> found.class_counts
    {0: 10, 1: 10, 2: 0}
    >>> len(found), found.rows.columns.tolist()[:4]
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

    def _column(self, name: str, default: Any) -> pd.Series:
        import pandas as pd

        return self.rows.get(name, pd.Series(default, index=self.rows.index))

    @property
    def class_counts(self) -> dict[Any, int]:
        """Number of predictions of each class; none for numbers."""
        if not self.is_of_labels:
            return {}
        return {label: int((self.rows["prediction"] == label).sum()) for label in self.classes.tolist()}

    @property
    def has_label(self) -> NDArray[np.bool_]:
        """Which queries have a known label: (n_queries,)."""
        return self._column("true_label", None).notna().to_numpy()

    @property
    def n_labels(self) -> int:
        """Number of queries whose label is known."""
        return int(self.has_label.sum())

    @property
    def mistakes(self) -> NDArray[np.bool_]:
        """Which queries have a label that is not the prediction: (n_queries,)."""
        if not self.is_of_labels:
            return np.zeros(len(self), bool)
        differ = self._column("true_label", None).astype(str) != self.rows["prediction"].astype(str)
        return self.has_label & differ.to_numpy()

    @property
    def is_of_labels(self) -> bool:
        """Whether labels are predicted, and not numbers."""
        return "doubtful" in self.rows

    @property
    def mean_error(self) -> float | None:
        """Mean absolute error of predicted numbers; None if no true number is known."""
        if self.is_of_labels or not self.n_labels:
            return None
        errors = self.rows["true_label"].astype(float) - self.rows["prediction"]
        return float(errors.abs().mean())

    @property
    def marks(self) -> dict[str, NDArray[np.bool_]]:
        """Which queries are a "mistake", "doubtful" and "far": (n_queries,) each.

        With a reject option, "ambiguous" takes the place of "doubtful".
        """
        if not self.is_of_labels:
            return {"far": self._column("far", False).to_numpy()}
        doubt = {"doubtful": self.rows["doubtful"].to_numpy()}
        if "decision" in self.rows:
            doubt = {AMBIGUOUS: self.rows["decision"].to_numpy() == AMBIGUOUS}
        return {"mistake": self.mistakes, **doubt, "far": self._column("far", False).to_numpy()}

    @property
    def n_doubtful(self) -> int:
        """Number of queries whose vote is close."""
        return int(self._column("doubtful", False).sum())

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
    def accuracy(self) -> float | None:
        """Share of the queries with a label whose prediction is correct; None if there are none."""
        known = self.n_labels and self.is_of_labels
        return 1.0 - float(self.mistakes.sum()) / self.n_labels if known else None

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
        lines = pd.concat([part.rows for part in parts], ignore_index=True)
        return cls(lines, parts[0].feature_names, means, parts[0].classes)


def overview(explanation: Explanation, *, n_features: int = 2) -> Overview:
    """Return the explained rows at a glance: a line for each, and counts over all.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    n_features : int, default=2
        Number of reasons to name for each row, at most.

    Returns
    -------
    overview : Overview

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import overview
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:3])
    >>> overview(explanation, n_features=1).rows["reasons"].tolist()
    ['petal length (cm) 1.4 (+56%)', 'petal length (cm) 1.4 (+57%)', 'petal length (cm) 1.3 (+59%)']
    """
    import pandas as pd

    validate("n_features", n_features, Integer(1))
    e, every = explanation, np.arange(len(explanation))
    decisions = None if e.decisions is None else [decision.decision for decision in e.decisions]
    left_out = pd.array(e.left_out, "Int64")
    left_out[left_out < 0] = pd.NA
    of_label: dict[str, Any] = {}
    if not of_values(e):
        of_label = {
            "probability": e.probabilities[every, e._predicted],
            "runner_up": e.runner_up,
            "runner_up_probability": e.probabilities[every, e._runner_up],
            "doubtful": e._is_doubtful,
        }
    columns = {
        "row": every if e._query_rows is None else e._query_rows,
        "id": e.query_ids,
        "true_label": e.true_labels,
        "prediction": e.predictions,
        "interval": [row.output_interval for row in rows(e)] if of_values(e) else None,
        **of_label,
        "far": e.is_far,
        "left_out": left_out,
        "decision": decisions,
        "reasons": [
            ", ".join(row.reason_text(j) for j in row.strongest(n_features)) for row in rows(explanation)
        ],
    }
    return Overview(frame_of(columns), e.feature_names, e.relevances.mean(axis=0), e.classes)


def summarize(
    explanation: Explanation,
    by: ArrayLike | int | str | None = None,
    *,
    values: str = "relevances",
    quantiles: Sequence[float] = QUARTILES,
    correlated: str = "warn",
) -> pd.DataFrame:
    """Summarize explanations over groups of rows.

    Parameters
    ----------
    explanation : Explanation
        Of many rows.
    by : None, "class", int or array-like of shape (n_queries,), default=None
        The groups: None is one group of all rows, "class" the predicted classes, an integer that many
        clusters of rows with similar relevances (0 is the largest), and an array a label for each row; rows
        whose label is missing are left out.
    values : {"relevances", "support"}, default="relevances"
        What is summarized; "support" is that of each prediction.
    quantiles : sequence of float, default=(0.25, 0.5, 0.75)
        Quantiles to return beside the mean, each from 0 to 1.
    correlated : {"warn", "group", "ignore"}, default="warn"
        How to treat features that are correlated in the training data, between which relevance is divided
        arbitrarily: "warn" names them in a warning, "group" adds them up.

    Returns
    -------
    frame : DataFrame
        A row for each group and feature: ``group``, ``feature``, ``mean``, a column per quantile such as
        ``q25``, and ``n``, the number of rows in the group.

    Raises
    ------
    ValueError
        If an argument is invalid, or there are no rows to summarize.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import summarize
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X)
    >>> frame = summarize(explanation, "class", correlated="group")
    >>> frame.columns.tolist(), frame["group"].unique().tolist()
    (['group', 'feature', 'mean', 'q25', 'q50', 'q75', 'n'], [0, 1, 2])
    """
    import pandas as pd

    validate("values", values, OneOf(*VALUES))
    validate("correlated", correlated, OneOf("warn", "group", "ignore"))
    quantiles = np.atleast_1d(quantiles).tolist()
    for quantile in quantiles:
        validate("quantiles", quantile, Number(0, 1))
    labels, names = _groups_of_rows(explanation, by)
    found = correlated_columns(explanation)
    if found and correlated == "group":
        explanation = group_features(explanation)
    elif found and correlated == "warn":
        named = [f"({printable(name)})" for name in found]
        if len(named) > MOST_NAMED:
            named[MOST_NAMED:] = [f"{len(named) - MOST_NAMED} more groups"]
        warnings.warn(
            "Some features are correlated in the training data, and relevance is divided between them "
            f'arbitrarily: {", ".join(named)}; correlated="group" adds them up.',
            stacklevel=2,
        )
    summarized: Floats = explanation.relevances if values == "relevances" else explanation._support
    parts = []
    for label in np.unique(labels[labels >= 0]):
        rows = summarized[labels == label]
        columns = {f"q{100 * q:g}": np.quantile(rows, q, axis=0) for q in quantiles}
        table = {"group": names[label], "feature": explanation.feature_names, "mean": rows.mean(axis=0)}
        parts.append(pd.DataFrame({**table, **columns, "n": len(rows)}))
    if not parts:
        raise ValueError("There are no rows to summarize: none is explained, or none has a group.")
    return pd.concat(parts, ignore_index=True)


def _groups_of_rows(explanation: Explanation, by: Any) -> tuple[Labels, Sequence[Any] | np.ndarray]:
    """Return the group of each row, negative for none, and the names of the groups."""
    import pandas as pd

    if by is None:
        return np.zeros(len(explanation), np.int64), ["all"]
    if isinstance(by, str):
        validate("by", by, OneOf(None) if of_values(explanation) else OneOf(None, "class"))
        return explanation._predicted, explanation.classes
    if isinstance(by, int | np.integer):
        by = relevance_clusters(explanation, int(by))
    groups = np.asarray(by)
    if groups.shape != (len(explanation),):
        raise ValueError(
            f"by must be None, 'class', a number of clusters, or {len(explanation)} labels, one for each "
            f"row; got an array of shape {groups.shape}."
        )
    return pd.factorize(groups, sort=True)


def relevance_clusters(explanation: Explanation, n_clusters: int) -> Indices:
    """Cluster rows whose predictions depend on the same features, by k-means of the relevances.

    Parameters
    ----------
    explanation : Explanation
        Of at least `n_clusters` rows.
    n_clusters : int

    Returns
    -------
    clusters : ndarray of shape (n_queries,)
        0 is the largest cluster.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNClassifier
    >>> from lann.explain import relevance_clusters
    >>> X, y = load_wine(return_X_y=True)
    >>> clusters = relevance_clusters(LANNClassifier(random_state=0).fit(X, y).explain(X), 3)
    >>> sorted(set(clusters.tolist()))
    [0, 1, 2]
    """
    from sklearn.cluster import KMeans

    validate("n_clusters", n_clusters, Integer(1, len(explanation)))
    found = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(explanation.relevances)
    order = np.argsort(-np.bincount(found, minlength=n_clusters), kind="stable")
    return np.argsort(order)[found]
