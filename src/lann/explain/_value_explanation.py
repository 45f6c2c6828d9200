"""The explanation of predicted numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann.explain._explanation import Explanation, build_explanation
from lann.explain._training_rows import Queries
from lann.explain._value_view import ExplainedValue
from lann.model import ValueModel
from lann.vote import ValueReading, ends_of

# Coverage of the interval that is shown.
COVERAGE = 0.9


@dataclass(frozen=True, eq=False, repr=False)
class ValueExplanation(Explanation):
    """Why a regressor predicts what it does for some rows: similar cases, reasons, and what matters.

    `LANNRegressor.explain` returns it. It is an `Explanation` with one output, the value, in place of the
    probabilities of classes: supports have the shape (n_queries, 1, n_features), and with the base values,
    (n_queries, 1), they add up to the predictions. There are no runners-up.

    Attributes
    ----------
    predictions : ndarray of shape (n_queries,)
        As `predict` returns them.
    probabilities : ndarray of shape (n_queries, 1)
        The predictions as a column.
    classes : ndarray of shape (1,)
        The name of the target.
    intervals : ndarray of shape (n_queries, 2)
        Ends of the intervals that 90% of the values are in.
    deviations : ndarray of shape (n_queries,)
        Standard deviations.
    neighbor_labels : ndarray of shape (n_queries, k)
        The values of the neighbors.
    adjusted : ndarray of shape (n_queries, k)
        The values of the neighbors, adjusted to the query; the prediction is their mean by `vote_shares`.
    relevances : ndarray of shape (n_queries, n_features)
        How much the shares of the sixths of the target among the neighbors depend on each feature.
    target_name : str

    See Also
    --------
    Explanation : What is common to all explanations.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from lann import LANNRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> explanation = LANNRegressor(random_state=0).fit(X[5:], y[5:]).explain(X[:5])
    >>> total = explanation.base_values[:, 0] + explanation.supports[:, 0].sum(axis=1)
    >>> bool(np.allclose(total, explanation.predictions))
    True
    """

    intervals: Floats = field(default_factory=lambda: np.empty((0, 2)))
    deviations: Floats = field(default_factory=lambda: np.empty(0))
    adjusted: Floats = field(default_factory=lambda: np.empty((0, 0)))
    target_name: str = "value"
    _scale: float = field(default=1.0, repr=False)

    _row_view: ClassVar[Any] = ExplainedValue

    @property
    def _unit(self) -> float:  # type: ignore[override]
        return self._scale

    @property
    def _predicted(self) -> Indices:
        return np.zeros(len(self), np.int64)

    def _typical_texts(self, label: Any) -> NDArray[Any]:
        return np.full(len(self.feature_names), "", dtype=object)


def build_value_explanation(
    model: ValueModel, queries: Floats, *, target_name: str = "value", **options: Any
) -> ValueExplanation:
    """Explain the predictions of a model of values.

    Parameters
    ----------
    model : ValueModel
        The fitted model.
    queries : ndarray of shape (n_queries, n_features)
    target_name : str, default="value"
    **options : dict
        As for `build_explanation`.

    Returns
    -------
    explanation : ValueExplanation

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lann import LANNRegressor
    >>> from lann.explain import build_value_explanation
    >>> data = load_diabetes()
    >>> reg = LANNRegressor(random_state=0).fit(data.data, data.target)
    >>> found = build_value_explanation(reg.model_, data.data[:3], feature_names=data.feature_names)
    >>> found.supports.shape
    (3, 1, 10)
    """
    plain = build_explanation(model, queries, classes=np.arange(model.n_classes), **options)
    assert plain._asked is not None
    neighbors, distances, reading = _read(plain._asked)
    ids, rule = options.get("ids"), model.value_rule
    known = {f.name: getattr(plain, f.name) for f in fields(plain)}
    return ValueExplanation(
        **known
        | {
            "predictions": reading.predictions,
            "probabilities": reading.predictions[:, None],
            "classes": np.array([target_name]),
            "neighbors": neighbors,
            "_voters": neighbors,
            "neighbor_ids": None if ids is None else ids[neighbors],
            "neighbor_labels": model.values[neighbors],
            "distances": distances,
            "vote_shares": reading.shares,
            "adjusted": reading.adjusted,
            "intervals": rule.quantiles(reading.predictions, reading.spreads, ends_of(COVERAGE)),
            "deviations": rule.standard_deviations(reading.spreads),
            "target_name": target_name,
            "_wide_votes": None,
            "_scale": model.output_scale or 1.0,
        }
    )


def _read(queries: Queries) -> tuple[Indices, Floats, ValueReading]:
    """Return the rows that count for each query, their lengths, and what they predict."""
    model: Any = queries.model
    is_left_out = np.zeros(len(queries), bool) if queries.exclude is None else queries.exclude >= 0
    parts = []
    for rows in (np.flatnonzero(~is_left_out), np.flatnonzero(is_left_out)):
        own = queries[rows]
        if not is_left_out[rows].any():
            own = Queries(model, own.rows, None, queries.n_jobs)
        if len(rows):
            found, squared = own.voters()
            reading = model.read(own.rows, found, squared, n_jobs=queries.n_jobs)
            parts.append((rows, found, np.sqrt(squared), reading))
    n_used = [max(int((part[3].shares > 0).sum(axis=1).max()), 1) for part in parts]
    shape = len(queries), max(n_used, default=0)
    neighbors = np.zeros(shape, np.int64)
    distances, shares, adjusted = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    predictions, spreads = np.zeros(shape[0]), np.zeros(shape[0])
    for rows, found, lengths, reading in parts:
        k = min(shape[1], found.shape[1])
        # Where there are fewer, the nearest is repeated without a share.
        neighbors[rows], distances[rows] = found[:, :1], lengths[:, :1]
        neighbors[rows, :k], distances[rows, :k] = found[:, :k], lengths[:, :k]
        shares[rows, :k], adjusted[rows, :k] = reading.shares[:, :k], reading.adjusted[:, :k]
        predictions[rows], spreads[rows] = reading.predictions, reading.spreads
    return neighbors, distances, ValueReading(shares, adjusted, predictions, spreads)
