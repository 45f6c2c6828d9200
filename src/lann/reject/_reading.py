"""What a fitted classifier and its training rows say about queries: probabilities, distances, novelty.

Distances are those of the model if the classifier has neighbors, and those of plain rows otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lann._table_inputs import read_queries
from lann._types import Floats, Labels
from lann.reject._plain_rows import LEAST_SHARE, N_AROUND, PlainRows

if TYPE_CHECKING:
    from lann.model import NeighborModel

# A value is outside the range of the training rows if it is outside by more than so many deviations.
LEAST_OUTSIDE = 0.05
# Distances at least as long, as their logarithms are compared.
SHORTEST = 1e-12


class Reading(NamedTuple):
    """What is known of queries.

    Attributes
    ----------
    probabilities : (n_queries, n_classes)
    separation : (n_queries,) or None
        (d⁻ − d⁺) / (d⁻ + d⁺), with d⁺ and d⁻ the distances to the nearest row of the predicted class and of
        any other class: from -1 to 1. None if it is not needed.
    novelty : (n_queries, n_parts) or None
        Logarithms of relative distances: to the nearest row as the model measures, if it has neighbors; to
        the nearest plain row; to the range of the values. None if it is not needed.
    """

    probabilities: Floats
    separation: Floats | None
    novelty: Floats | None


class Needs(NamedTuple):
    """What is needed of queries, beside probabilities."""

    separation: bool
    novelty: bool


def final_step(estimator: Any) -> Any:
    """Return the fitted classifier in a pipeline or a search, or the classifier itself."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "named_steps") and hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def neighbor_model(estimator: Any) -> NeighborModel | None:
    """Return the model of a fitted classifier of `lann`, also at the end of a pipeline; None for others."""
    model = getattr(final_step(estimator), "model_", None)
    if model is None:
        return None
    from lann.model import NeighborModel

    return model if isinstance(model, NeighborModel) else None


def model_queries(estimator: Any, X: Any) -> Floats:
    """Return queries as the model of a classifier takes them: transformed by the steps before it."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "named_steps") and hasattr(estimator, "steps"):
            if len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator.steps[-1][1]
        else:
            return read_queries(estimator, X)


def model_spacing(model: NeighborModel, *, n_jobs: int | None = None) -> Floats | None:
    """Return the distance of each training row to its nearest other row, as that one measures: (n_rows,).

    None if the model has prototypes in place of training rows.
    """
    if not model.has_training_rows or len(model.X) < 2:
        return None
    own = np.arange(len(model.X))
    squared = model.kneighbors(model.X, 1, exclude=own, n_jobs=n_jobs)[1][:, 0]
    return np.sqrt(np.maximum(squared, 0.0))


@dataclass(frozen=True)
class Reader:
    """Reads queries by a fitted classifier and its training rows.

    Attributes
    ----------
    estimator : classifier
        Fitted.
    n_classes : int
        Number of all classes.
    columns : (n_own,)
        The index, among all classes, of each class of the estimator.
    plain : PlainRows or None
        The training rows in all features; None if they are not needed.
    spacing : (n_rows,) or None
        Distances between the training rows, as they measure.
    needs : Needs
    n_jobs : int or None
        Number of threads.
    """

    estimator: Any
    n_classes: int
    columns: Labels
    plain: PlainRows | None
    spacing: Floats | None
    needs: Needs
    n_jobs: int | None

    @property
    def model(self) -> NeighborModel | None:
        """The model of the classifier, if it has neighbors."""
        return neighbor_model(self.estimator)

    def read(self, X: Any) -> Reading:
        """Return what is known of queries.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)
        """
        own = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        probabilities = np.zeros((len(own), self.n_classes))
        probabilities[:, self.columns] = own
        if not (self.needs.separation or self.needs.novelty):
            return Reading(probabilities, None, None)
        predicted = probabilities.argmax(axis=1)
        model = self.model
        queries = None if model is None else model_queries(self.estimator, X)
        plain = None if self.plain is None else self.plain.measure(X, predicted)
        separation = None
        if self.needs.separation:
            if model is not None and queries is not None:
                separation = self._model_separation(model, queries, own.argmax(axis=1))
            elif plain is not None:
                separation = _separation(plain.own, plain.other)
        novelty = None
        if self.needs.novelty and plain is not None and self.plain is not None:
            outside = self.plain.outside(X)
            parts = [np.log(plain.nearest), np.log1p(outside / LEAST_OUTSIDE)]
            if model is not None and queries is not None:
                parts.insert(0, self._model_novelty(model, queries))
            novelty = np.column_stack(parts)
        return Reading(probabilities, separation, novelty)

    def _model_separation(self, model: NeighborModel, queries: Floats, predicted: Labels) -> Floats:
        allowed = np.zeros((len(queries), model.n_classes), bool)
        allowed[np.arange(len(queries)), predicted] = True
        own, other = (
            np.sqrt(np.maximum(model.kneighbors_of_classes(queries, a, 1, n_jobs=self.n_jobs)[1][:, 0], 0.0))
            for a in (allowed, ~allowed)
        )
        return _separation(own, other)

    def _model_novelty(self, model: NeighborModel, queries: Floats) -> Floats:
        n_around = min(N_AROUND, len(model.X))
        rows, squared = model.kneighbors(queries, n_around, n_jobs=self.n_jobs)
        nearest = np.sqrt(np.maximum(squared[:, 0], 0.0))
        if self.spacing is None:
            return np.log(np.maximum(nearest, SHORTEST))
        least = LEAST_SHARE * self.spacing.mean() or 1.0
        return np.log((nearest + least) / (self.spacing[rows].mean(axis=1) + least))


def _separation(own: Floats, other: Floats) -> Floats:
    """Return (d⁻ − d⁺) / (d⁻ + d⁺): 0 where both are 0, 1 where no row of another class is found."""
    with np.errstate(invalid="ignore"):
        total = other + own
        separation = np.where(total > 0, (other - own) / np.where(total > 0, total, 1.0), 0.0)
    found_one = np.where(np.isinf(other), np.where(np.isinf(own), 0.0, 1.0), separation)
    return np.where(np.isinf(own) & ~np.isinf(other), -1.0, found_one)
