"""LANNEmbedding: points by their neighbors under the metrics that a LANNClassifier has learned."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from lann._compat import unchanged_on_failure
from lann._inputs import check_columns
from lann._neighbor_classifier import NeighborClassifier
from lann._types import Floats
from lann._validation import OneOf, validate
from lann.classifier import LANNClassifier
from lann.embedding._estimator import GraphEmbedding, drawn_seed
from lann.embedding.graph import RULES


class LANNEmbedding(GraphEmbedding):
    """An embedding in which the neighbors are those that a LANNClassifier sees.

    The nearest training points of every training point, as measured by the metrics that were learned, go to
    UMAP (or densMAP, or t-SNE) as lists, never as a matrix of all pairs. So what the classifier takes for
    alike comes together: classes, and within them what else the metrics tell apart. Points that it confuses
    lie where the classes meet. New points are placed by their neighbors, as the classifier finds them.

    Parameters
    ----------
    classifier : estimator or None, default=None
        The classifier whose metrics are used: a LANNClassifier, or a baseline with neighbors. A clone of it
        is fitted; a fitted classifier in scikit-learn's ``FrozenEstimator`` is used as it is, and `fit` then
        takes the rows that it was fitted with. None is ``LANNClassifier(random_state=…, n_jobs=…)``.
    symmetry : {"neighbor", "min", "mean", "max"}, default="neighbor"
        How far two points are from each other, as each measures in its own way. For "neighbor", the one in
        whose neighborhood the other is looked for counts: of the neighbors of x_i, x_j is as far as it
        says itself, √d_j(x_i), which is how the classifier measures; the layout then joins both directions.
        "min", "mean" and "max" are the lesser, the mean and the greater of √d_j(x_i) and √d_i(x_j).
    n_components : int, default=2
        Dimensions of the embedding.
    n_neighbors : int, default=15
        How far a neighborhood reaches: the neighbors UMAP looks at, the point itself among them; the
        perplexity of t-SNE.
    min_dist : float, default=0.1
        How close UMAP packs points that are near each other. t-SNE does not use it.
    method : {"umap", "densmap", "tsne"}, default="umap"
        What places the points. densMAP shows, too, how dense the data are, as the metrics measure.
    max_iter : int or None, default=None
        How long the places are improved. None is 500 for up to 10 000 points and 200 for more (densMAP: 200
        more than that; t-SNE: 1000).
    verbose : int, default=0
        1 shows the progress of the layout.
    n_jobs : int or None, default=None
        Threads of the search, as in scikit-learn. The result does not depend on it. The layout is done by
        one thread: more could not give the same result twice.
    random_state : int, RandomState instance or None, default=None
        Where the layout begins, and what it draws; also for a classifier that is not given.

    Attributes
    ----------
    classifier_ : estimator
        The fitted classifier.
    embedding_ : (n_train, n_components)
        Where the training points are. Copies of a point share a place.
    neighbors_ : (n_train, k)
        The neighbors of each training point, without itself: rows of the training data.
    distances_ : (n_train, k)
        How far these are, by the rule of `symmetry`.
    classes_ : (n_classes,)
    n_iter_ : int
        Iterations of the layout.
    n_features_in_, feature_names_in_ : what it was fitted with

    See Also
    --------
    NeighborEmbedding : The same with the Euclidean metric, without labels.

    Notes
    -----
    The symmetric rules measure, for every point, twice as many neighbors as are wanted and all points of
    which it is such a neighbor, and keep the nearest.

    An embedding that has seen the labels flatters its training points: judge it by held-out points, placed
    by `transform`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import LANNEmbedding
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding = LANNEmbedding(max_iter=50, random_state=0).fit(X[::2], y[::2])
    >>> embedding.embedding_.shape, embedding.transform(X[1::2]).shape
    ((75, 2), (75, 2))
    """

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
        """Learn the metrics, unless that is done, and place the training points.

        Parameters
        ----------
        X : (n_samples, n_features), numeric, finite
        y : (n_samples,) labels of at least two classes; not needed with a frozen classifier
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            seed = drawn_seed(self.random_state)
            frozen = isinstance(self.classifier, FrozenEstimator)
            self.classifier_ = self._frozen_classifier(X, y) if frozen else self._fit_classifier(X, y, seed)
            self._lay_out(self.classifier_.model_, self.symmetry, seed)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Floats:
        """Fit, and return the places of the training points: (n_samples, n_components)."""
        return self.fit(X, y).embedding_.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not isinstance(self.classifier, FrozenEstimator)
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validate("symmetry", self.symmetry, OneOf("neighbor", *RULES))
        classifier = self.classifier
        if isinstance(classifier, FrozenEstimator):
            classifier = classifier.estimator
        if not isinstance(classifier, NeighborClassifier | None):
            raise ValueError(
                "classifier must be None, a LANNClassifier or a baseline with neighbors, possibly frozen; "
                f"got {type(classifier).__name__}."
            )

    def _fit_classifier(self, X: ArrayLike, y: ArrayLike | None, seed: int) -> NeighborClassifier:
        X, y = validate_data(self, X, y, dtype=np.float64, skip_check_array=True)
        if self.classifier is None:
            return LANNClassifier(random_state=seed, n_jobs=self.n_jobs).fit(X, y)
        return clone(self.classifier).fit(X, y)

    def _frozen_classifier(self, X: ArrayLike, y: ArrayLike | None) -> NeighborClassifier:
        classifier = self.classifier.estimator
        check_is_fitted(classifier)
        check_columns(classifier, X)
        rows = validate_data(self, X, dtype=np.float64)
        check_consistent_length(rows, y)
        if not np.array_equal(rows, classifier.model_.X):
            raise ValueError(
                "With a frozen classifier, X must be the rows that it was fitted with, in their order; use "
                "transform for other rows."
            )
        # A copy, which a later fit of the classifier does not change.
        return copy(classifier)
