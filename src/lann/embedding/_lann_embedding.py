"""LANNEmbedding: rows by their neighbors under the metrics of a classifier."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from lann._compat import unchanged_on_failure
from lann._inputs import check_columns, validate_data
from lann._neighbor_classifier import NeighborClassifier
from lann._table_inputs import check_measurable, check_some_value, read_queries, read_rows
from lann._types import Floats
from lann._validation import Checked, OneOf, ParameterTable
from lann.classifier import LANNClassifier
from lann.embedding._base import LAYOUT, GraphEmbedding, draw_seed
from lann.embedding._neighbor_lists import RULES


def _check_classifier(classifier: Any) -> None:
    if isinstance(classifier, FrozenEstimator):
        classifier = classifier.estimator
    if not isinstance(classifier, NeighborClassifier | None):
        raise ValueError(
            "classifier must be None, a LANNClassifier or a baseline with neighbors, possibly frozen; "
            f"got {type(classifier).__name__}."
        )


class LANNEmbedding(GraphEmbedding):
    """An embedding in which neighbors are those of a LANNClassifier.

    The nearest training rows of every training row, under the learned metrics, are passed to UMAP (or
    densMAP, or t-SNE) as lists, never as a matrix of all pairs. Rows that the classifier considers similar
    are therefore close to each other: classes, and within classes what else the metrics distinguish. Rows
    that it confuses lie where the classes meet. The coordinates of new rows follow from those of their
    neighbors.

    Parameters
    ----------
    classifier : estimator or None, default=None
        The classifier whose metrics are used: a LANNClassifier, or a baseline with neighbors. A clone of it
        is fitted; a fitted classifier in scikit-learn's ``FrozenEstimator`` is used as it is, and `fit` then
        takes the rows that it was fitted with. None is ``LANNClassifier(random_state=…, n_jobs=…)``.
    symmetry : {"neighbor", "min", "mean", "max"}, default="neighbor"
        The distance of two rows, which measure differently. With "neighbor" the distance of x_i to its
        neighbor x_j is the one that x_j measures, √d_j(x_i), as in the classifier; the layout then joins both
        directions. "min", "mean" and "max" are those of √d_j(x_i) and √d_i(x_j).
    n_components : int, default=2
        Number of dimensions of the embedding.
    n_neighbors : int, default=15
        Size of the neighborhoods: the number of neighbors in UMAP, with the row itself; the perplexity of
        t-SNE.
    min_dist : float, default=0.1
        How closely UMAP packs neighboring rows. t-SNE does not use it.
    method : {"umap", "densmap", "tsne"}, default="umap"
        The layout. densMAP also preserves the density of the data under the metrics.
    max_iter : int or None, default=None
        Number of iterations of the layout. None is 500 for up to 10 000 rows and 200 for more (densMAP: 200
        more; t-SNE: 1000).
    verbose : int, default=0
        1 shows the progress of the layout.
    n_jobs : int or None, default=None
        Number of threads of the search, as in scikit-learn. The result does not depend on it. The layout uses
        one thread: with more, it could not be reproduced.
    random_state : int, RandomState instance or None, default=None
        Determines the initialization and the sampling of the layout, and the default classifier.

    Attributes
    ----------
    classifier_ : estimator
        The fitted classifier.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows. Copies of a row have the same coordinates.
    neighbors_ : ndarray of shape (n_samples, k)
        Positions of the neighbors of each training row, without itself.
    distances_ : ndarray of shape (n_samples, k)
        Their distances, by the rule of `symmetry`.
    model_ : NeighborModel
        The model of the classifier.
    n_iter_ : int
        Number of iterations of the layout.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.

    See Also
    --------
    NeighborEmbedding : The same with the Euclidean metric, without labels.

    Notes
    -----
    The symmetric rules measure, for every row, twice as many neighbors as are listed and all rows of which it
    is such a neighbor, and keep the nearest.

    An embedding that has used the labels is optimistic about its training rows: judge it by held-out rows,
    with `transform`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import LANNEmbedding
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding = LANNEmbedding(max_iter=50, random_state=0).fit(X[::2], y[::2])
    >>> embedding.embedding_.shape, embedding.transform(X[1::2]).shape
    ((75, 2), (75, 2))
    """

    _parameters: ClassVar[ParameterTable] = {
        "classifier": [Checked(_check_classifier)],
        "symmetry": [OneOf("neighbor", *RULES)],
        **LAYOUT,
    }

    classifier_: NeighborClassifier

    def __init__(
        self,
        classifier=None,
        *,
        symmetry="neighbor",
        n_components=2,
        n_neighbors=15,
        min_dist=0.1,
        method="umap",
        max_iter=None,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.classifier = classifier
        self.symmetry = symmetry
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.method = method
        self.max_iter = max_iter
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def classes_(self) -> Any:
        """The labels."""
        return self.classifier_.classes_

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the classifier, unless it is frozen, and embed the training rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            What the classifier takes: numbers, or for a LANNClassifier also a table with text, categories,
            bools, dates and gaps.
        y : array-like of shape (n_samples,) or None, default=None
            Labels of at least two classes; not needed with a frozen classifier.

        Returns
        -------
        self : LANNEmbedding

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; a previous fit is then kept.
        """
        with unchanged_on_failure(self):
            self._validate_parameters()
            seed = draw_seed(self.random_state)
            frozen = isinstance(self.classifier, FrozenEstimator)
            self.classifier_ = self._frozen_classifier(X, y) if frozen else self._fit_classifier(X, y, seed)
            self._embed(self.classifier_.model_, self.symmetry, seed)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Floats:
        """Fit, and return the coordinates of the training rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y).embedding_.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not isinstance(self.classifier, FrozenEstimator)
        if self.classifier is None or isinstance(self.classifier, FrozenEstimator | NeighborClassifier):
            given = get_tags(LANNClassifier() if self.classifier is None else self.classifier).input_tags
            tags.input_tags.allow_nan, tags.input_tags.categorical = given.allow_nan, given.categorical
        return tags

    def _read_queries(self, X: ArrayLike) -> Floats:
        classifier = self.classifier_
        if not hasattr(classifier, "schema_"):
            return super()._read_queries(X)
        if classifier.schema_.is_numeric:
            queries: Floats = validate_data(
                self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False
            )
            check_measurable(self, queries)
            check_some_value(classifier.model_.unmeasured(queries))
            return queries
        validate_data(self, X, skip_check_array=True, reset=False)
        return read_queries(classifier, X)

    def _fit_classifier(self, X: ArrayLike, y: ArrayLike | None, seed: int) -> NeighborClassifier:
        X, y = validate_data(self, X, y, dtype=np.float64, skip_check_array=True)
        if self.classifier is None:
            return LANNClassifier(random_state=seed, n_jobs=self.n_jobs).fit(X, y)
        return clone(self.classifier).fit(X, y)

    def _frozen_classifier(self, X: ArrayLike, y: ArrayLike | None) -> NeighborClassifier:
        classifier = self.classifier.estimator
        check_is_fitted(classifier)
        check_columns(classifier, X)
        schema = getattr(classifier, "schema_", None)
        if schema is None or schema.is_numeric:
            finite = True if schema is None else "allow-nan"
            rows = validate_data(self, X, dtype=np.float64, ensure_all_finite=finite)
        else:
            validate_data(self, X, skip_check_array=True)
            rows = read_rows(classifier, X, schema)
        check_consistent_length(rows, y)
        if not np.array_equal(rows, classifier.model_.X, equal_nan=True):
            raise ValueError(
                "With a frozen classifier, X must be the rows that it was fitted with, in their order; use "
                "transform for other rows."
            )
        # A copy, which a later fit of the classifier does not change.
        return copy(classifier)
