"""What all classifiers of this package share: labels, queries, neighbors, probabilities and explanations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from lann._inputs import check_ids, check_n_neighbors, get_feature_names, mean_by_class, weighted_moments
from lann._table_inputs import query_values, read_queries, row_ids
from lann._types import Floats, Indices
from lann.explain import Explanation, build_explanation

# numba is imported with the modules that compute, on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.encoding import TableSchema
    from lann.model import NeighborModel


class ModelClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose fitted model is a `NeighborModel`; `fit` sets `classes_` and `model_`."""

    classes_: NDArray[Any]
    model_: NeighborModel
    n_jobs: int | None

    @property
    def feature_weights_(self) -> Floats:
        """How much a difference in each feature counts for each row of the model: (n_rows, n_features)."""
        return self.model_.feature_weights(n_jobs=self.n_jobs)

    @property
    def class_feature_weights_(self) -> Floats:
        """Mean feature weights of the rows of each class: (n_classes, n_features)."""
        model = self.model_
        return mean_by_class(self.feature_weights_, model.labels, len(self.classes_), model.row_weights)

    @property
    def mean_feature_weights_(self) -> Floats:
        """Mean feature weights of all rows: (n_features,)."""
        return weighted_moments(self.feature_weights_, self.model_.row_weights)[0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class with the largest probability.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        labels : ndarray of shape (n_queries,)
        """
        probabilities = self.predict_proba(X)  # first, as it raises if the model is not fitted
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the probability of each class: its share of the vote, with the floor if there is one.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Columns are in the order of `classes_`.
        """
        queries = self._validate_queries(X)
        voters = self.model_.voters(queries, n_jobs=self.n_jobs)
        return self.model_.vote(*voters).probabilities

    def explain(self, X: ArrayLike, *, ids: ArrayLike | None = None) -> Explanation:
        """Explain predictions: the neighbors that voted, and the features that each prediction depends on.

        The first call computes the relevances of up to 500 training rows, which takes about as long as a fit
        (longer with hundreds of features); further calls take little longer than predicting.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        ids : array-like of shape (n_rows,) or None, default=None
            Names of the training rows, which the explanation shows in place of their positions.

        Returns
        -------
        explanation : Explanation
        """
        queries = self._validate_queries(X)
        schema: TableSchema | None = getattr(self, "schema_", None)
        if schema is not None and schema.is_numeric:
            schema = None  # the numbers are the values
        names = getattr(self, "ids_", None) if ids is None else check_ids(ids, len(self.model_.X))
        explanation = build_explanation(
            self.model_,
            queries,
            classes=self.classes_,
            feature_names=get_feature_names(self),
            ids=names,
            schema=schema,
            query_values=None if schema is None else query_values(X, schema, queries),
            n_jobs=self.n_jobs,
        )
        return replace(explanation, query_ids=row_ids(X))

    def _validate_queries(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return read_queries(self, X)


class NeighborClassifier(ModelClassifier):
    """A classifier whose model keeps the training rows."""

    def kneighbors(
        self, X: ArrayLike | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Floats, Indices] | Indices:
        """Find the nearest training rows, as each of them measures.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None, default=None
            None is the training rows, each without itself.
        n_neighbors : int or None, default=None
            None is the number of neighbors that vote; with sample weights, the largest number that can vote.
        return_distance : bool, default=True

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Lengths, ascending; only if `return_distance`.
        indices : ndarray of shape (n_queries, n_neighbors)
            Positions of the training rows.
        """
        check_is_fitted(self)
        model = self.model_
        queries = model.X if X is None else self._validate_queries(X)
        k = n_neighbors
        if k is None:
            k = model.n_neighbors if model.row_weights is None else min(model.n_voters, len(queries) - 1)
        check_n_neighbors(k, len(model.X), exclude_self=X is None)
        exclude = np.arange(len(queries)) if X is None else None
        indices, distances = model.kneighbors(queries, k, exclude=exclude, n_jobs=self.n_jobs)
        return (np.sqrt(distances), indices) if return_distance else indices
