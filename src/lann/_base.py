"""What all estimators with a model share: queries, neighbors, predictions and explanations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from lann._row_draw import blocks
from lann._support.doc_links import DocumentedEstimator
from lann._support.inputs import (
    check_ids,
    check_leave_out,
    check_n_neighbors,
    get_feature_names,
    mean_by_class,
    on_host,
    weighted_means,
)
from lann._support.threads import iterate_in_order
from lann._support.types import Floats, Indices
from lann.columns.inputs import query_values, read_queries, row_ids
from lann.explain import Explanation, build_explanation, split_distances

# What computes is imported on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.columns.schema import TableSchema
    from lann.model import NeighborModel

Result = TypeVar("Result")
# Queries of an array that are read and searched at once.
BLOCK_QUERIES = 1 << 14


def query_blocks(X: Any) -> Iterator[tuple[Any, int]]:
    """Yield the parts in which queries are read, and their first rows: blocks of an array, all of others."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and len(X) > BLOCK_QUERIES:
        yield from ((X[part], part.start) for part in blocks(len(X), BLOCK_QUERIES))
    else:
        yield X, 0


class ModelEstimator(DocumentedEstimator, BaseEstimator):
    """An estimator whose fitted model is a `NeighborModel`; `fit` sets `model_`."""

    model_: NeighborModel
    n_jobs: int | None

    @property
    def feature_weights_(self) -> Floats:
        """How much a difference in each feature counts for each row of the model: (n_rows, n_features)."""
        return self.model_.feature_weights(n_jobs=self.n_jobs)

    @property
    def mean_feature_weights_(self) -> Floats:
        """Mean feature weights of all rows: (n_features,)."""
        model = self.model_
        return weighted_means(model.feature_weights(n_jobs=self.n_jobs), model.row_weights)

    def to(self, device: str) -> Self:
        """Search neighbors on a device from now on: a GPU, or the CPU.

        It applies to predictions, neighbors and explanations, and to embeddings that are given the fitted
        estimator. It remains after further calls of `fit` and `partial_fit`, which learn on the CPU. It is a
        property of the machine and not of what has been learned: copies, pickles and model files are for the
        CPU.

        Parameters
        ----------
        device : {"cpu", "cuda", "auto"}
            "cuda" needs torch and a GPU (``pip install 'lann[gpu]'``). "auto" takes a GPU if there is one,
            for calls with many queries and training rows.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If torch finds no GPU, or if the model searches on the CPU only.
        ImportError
            If torch is not installed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann import LANNClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = LANNClassifier(random_state=0).fit(X, y).to("auto")
        >>> clf.predict(X[:3])
        array([0, 0, 0])
        """
        check_is_fitted(self)
        self.model_ = self.model_.to(device)
        return self

    def _by_block(self, X: Any, compute: Callable[[Any, Floats], Result]) -> Iterator[Result]:
        """Yield what is computed from the model and blocks of queries; tables and lists are one block."""
        parts = list(query_blocks(on_host(X)))
        # Once: another thread may add or forget rows, which sets another model.
        model: NeighborModel | None = vars(self).get("model_")

        def compute_part(number: int) -> Result:
            block, first_row = parts[number]
            return compute(model, self._validate_queries(block, first_row=first_row))

        # While a GPU searches one block, threads prepare others.
        on_gpu = model is not None and model.device != "cpu"
        yield from iterate_in_order(compute_part, len(parts), n_jobs=self.n_jobs if on_gpu else 1)

    def explain(
        self, X: ArrayLike, y: ArrayLike | None = None, *, ids: ArrayLike | None = None
    ) -> Explanation:
        """Explain predictions: similar cases, and what each feature adds to the probabilities.

        The first call computes the relevances of up to 500 training rows, which takes less time than a fit;
        further calls take little longer than predicting. Supports are computed for the rows for which they
        are read.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        y : array-like of shape (n_queries,) or None, default=None
            True labels, which the explanation shows beside the predictions.
        ids : array-like of shape (n_rows,) or None, default=None
            Names of the training rows, which the explanation shows in place of their positions.

        Returns
        -------
        explanation : Explanation
        """
        queries = self._validate_queries(X)
        explanation = self._explain(self.model_, queries, X, ids, query_ids=row_ids(X))
        return _with_labels(explanation, y)

    def contributions(self, X: ArrayLike, rows: ArrayLike | None = None) -> Floats:
        """Return what each feature adds to the squared distances of neighbors.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        rows : array-like of shape (n_queries, k) or None, default=None
            Positions of the rows; None is those that vote on each query, nearest first.

        Returns
        -------
        contributions : ndarray of shape (n_queries, k, n_features)
            They add up to the squared distances. With matrix metrics a contribution can be negative: the
            feature then compensates the difference in another one.
        """
        queries, model = self._validate_queries(X), self.model_
        found = model.voters(queries, n_jobs=self.n_jobs)[0] if rows is None else np.asarray(rows)
        return split_distances(model, queries, found, n_jobs=self.n_jobs)

    def neighbor_feature_weights(self, X: ArrayLike) -> Floats:
        """Return the feature weights of the neighbors, averaged by vote share: the paper's explanation.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        weights : ndarray of shape (n_queries, n_features)
        """
        queries, model = self._validate_queries(X), self.model_
        found, distances = model.voters(queries, n_jobs=self.n_jobs)
        shares = model.vote(found, distances).shares
        return model.neighbor_feature_weights(queries, found, shares, n_jobs=self.n_jobs)

    def _ids_of(self, model: NeighborModel) -> NDArray[Any] | None:
        """Return the names of the rows of a model, or the numbers of their arrival: (n_rows,) or None."""
        return getattr(self, "ids_", None)

    def _names_of(self, model: NeighborModel) -> NDArray[Any] | None:
        """Return the names of the rows of a model: (n_rows,) or None."""
        return self._ids_of(model)

    def _explain(
        self,
        model: NeighborModel,
        queries: Floats,
        X: ArrayLike | None,
        ids: ArrayLike | None,
        *,
        query_ids: NDArray[Any] | None,
        exclude: Indices | None = None,
    ) -> Explanation:
        """Explain queries that were read from X by a model; None is the training rows."""
        schema: TableSchema | None = getattr(self, "schema_", None)
        if schema is not None and schema.is_numeric:
            schema = None  # the numbers are the values
        names = self._ids_of(model) if ids is None else check_ids(ids, model.n_rows)
        explanation = self._build_explanation(
            model,
            queries,
            feature_names=get_feature_names(self),
            ids=names,
            schema=schema,
            exclude=exclude,
            n_jobs=self.n_jobs,
        )
        if schema is not None and X is not None:  # with the names of unseen categories
            explanation = replace(explanation, _query_values=query_values(X, schema, queries))
        return replace(explanation, query_ids=query_ids)

    def _build_explanation(self, model: NeighborModel, queries: Floats, **options: Any) -> Explanation:
        """Explain what a model predicts for queries."""
        raise NotImplementedError

    def _validate_queries(self, X: ArrayLike, *, first_row: int = 0) -> Floats:
        if "model_" not in vars(self):
            check_is_fitted(self)
        return read_queries(self, X, first_row=first_row)


class NeighborEstimator(ModelEstimator):
    """An estimator whose model keeps the training rows."""

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
            most = model.n_rows - (X is None)
            k = model.n_neighbors if model.row_weights is None else min(model.n_voters, most)
        check_n_neighbors(k, model.n_rows, exclude_self=X is None)
        exclude = np.arange(len(queries)) if X is None else None
        indices, distances = model.kneighbors(queries, k, exclude=exclude, n_jobs=self.n_jobs)
        return (np.sqrt(distances), indices) if return_distance else indices

    def explain(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
        leave_out: ArrayLike | None = "auto",
    ) -> Explanation:
        """Explain predictions: similar cases, and what each feature adds to the probabilities.

        The first call computes the relevances of up to 500 training rows, which takes less time than a fit;
        further calls take little longer than predicting. Supports are computed for the rows for which they
        are read.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features) or None, default=None
            None is the training rows, each without itself.
        y : array-like of shape (n_queries,) or None, default=None
            True labels, which the explanation shows beside the predictions.
        ids : array-like of shape (n_rows,) or None, default=None
            Names of the training rows, which the explanation shows in place of their positions.
        leave_out : "auto", None or array-like of shape (n_queries,), default="auto"
            The position of a training row that does not vote on each query, -1 for none. "auto" is, for a
            query that is a training row, this row: it would vote for its own label. A query is a training row
            if it has the same values and, where both tables have an index other than 0, 1, …, the same name;
            otherwise, if it has the values of exactly one training row. None leaves out no row; all
            probabilities are then those of `predict_proba`.

        Returns
        -------
        explanation : Explanation
            `left_out` has the training rows that did not vote.

        Raises
        ------
        ValueError
            If X does not have the features of the fit, y does not have a label for each row, or `leave_out`
            is not one of the above.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann import LANNClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = LANNClassifier(random_state=0).fit(X, y)
        >>> clf.explain(X[:3]).left_out, clf.explain(X[:3] + 0.01).left_out
        (array([0, 1, 2]), array([-1, -1, -1]))
        """
        check_is_fitted(self)
        model = self.model_
        training_ids = self._ids_of(model)
        if X is None:
            queries, query_ids = model.X, training_ids if ids is None else check_ids(ids, model.n_rows)
        else:
            queries, query_ids = self._validate_queries(X), row_ids(X)
        exclude: Indices | None
        if not isinstance(leave_out, str) or leave_out != "auto":
            exclude = check_leave_out(leave_out, len(queries), model.n_rows)
        elif X is None:
            exclude = check_leave_out(np.arange(len(queries)), len(queries), model.n_rows)
        else:
            from lann.explain import find_training_rows

            # Numbers of arrival are not names of rows of another table.
            names = self._names_of(model)
            exclude = find_training_rows(model, queries, names=query_ids, training_names=names)
        explanation = self._explain(model, queries, X, ids, query_ids=query_ids, exclude=exclude)
        return _with_labels(explanation, y)


def _with_labels(explanation: Explanation, y: ArrayLike | None) -> Explanation:
    """Return an explanation with the true labels of the queries, if they are given."""
    if y is None:
        return explanation
    labels = column_or_1d(y)
    check_consistent_length(explanation.probabilities, labels)
    return replace(explanation, true_labels=labels)


class ModelClassifier(ClassifierMixin, ModelEstimator):
    """A classifier whose fitted model is a `NeighborModel`; `fit` sets `classes_` and `model_`."""

    classes_: NDArray[Any]

    @property
    def class_feature_weights_(self) -> Floats:
        """Mean feature weights of the rows of each class: (n_classes, n_features)."""
        model = self.model_
        weights = model.feature_weights(n_jobs=self.n_jobs)
        return mean_by_class(weights, model.labels, len(self.classes_), model.row_weights)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class with the largest probability.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            An array is read block by block, so that it can be mapped from a file that is larger than memory.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
        """
        indices = [probabilities.argmax(axis=1) for probabilities in self._probabilities(X)]
        return self.classes_[np.concatenate(indices)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the probability of each class: its share of the vote, with the floor if there is one.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            An array is read block by block, so that it can be mapped from a file that is larger than memory.

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Columns are in the order of `classes_`.
        """
        blocks = list(self._probabilities(X))
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _probabilities(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities of blocks of queries; those of tables and lists are one block."""

        def vote(model: NeighborModel, queries: Floats) -> Floats:
            return model.vote(*model.voters(queries, n_jobs=self.n_jobs)).probabilities

        yield from self._by_block(X, vote)

    def _build_explanation(self, model: NeighborModel, queries: Floats, **options: Any) -> Explanation:
        return build_explanation(model, queries, classes=self.classes_, **options)


class NeighborClassifier(NeighborEstimator, ModelClassifier):
    """A classifier whose model keeps the training rows."""
