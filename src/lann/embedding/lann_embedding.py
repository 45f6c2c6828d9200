"""LANNEmbedding: points by their neighbors under the metrics that a LANNClassifier has learned."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from lann._compat import unchanged_on_failure
from lann._inputs import check_columns
from lann._types import Floats
from lann._validation import BOOLEAN, OneOf, validate
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
    classifier : LANNClassifier or None, default=None
        Whose metrics are used. It is fitted, as a copy; with `prefit` it is used as it is. None is
        ``LANNClassifier(random_state=…, n_jobs=…)``.
    prefit : bool, default=False
        Whether `classifier` is fitted already. Then `X` in `fit` has to be what it was fitted with.
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
    n_epochs : int or None, default=None
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
    classifier_ : LANNClassifier
        The fitted classifier.
    embedding_ : (n_train, n_components)
        Where the training points are. Copies of a point share a place.
    neighbors_ : (n_train, k)
        The neighbors of each training point, without itself: rows of the training data.
    distances_ : (n_train, k)
        How far these are, by the rule of `symmetry`.
    classes_ : (n_classes,)
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
    >>> embedding = LANNEmbedding(n_epochs=50, random_state=0).fit(X[::2], y[::2])
    >>> embedding.embedding_.shape, embedding.transform(X[1::2]).shape
    ((75, 2), (75, 2))
    """

    classifier_: LANNClassifier

    def __init__(
        self,
        classifier=None,
        *,
        prefit=False,
        symmetry="neighbor",
        n_components=2,
        n_neighbors=15,
        min_dist=0.1,
        method="umap",
        n_epochs=None,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.classifier = classifier
        self.prefit = prefit
        self.symmetry = symmetry
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.method = method
        self.n_epochs = n_epochs
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
        y : (n_samples,) labels of at least two classes; not needed with `prefit`
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            seed = drawn_seed(self.random_state)
            self.classifier_ = self._known(X, y) if self.prefit else self._learned(X, y, seed)
            self._lay_out(self.classifier_._model, self.symmetry, seed)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Floats:
        """Fit, and return the places of the training points: (n_samples, n_components)."""
        return self.fit(X, y).embedding_.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not self.prefit
        return tags

    def __sklearn_clone__(self) -> Self:
        twin = super().__sklearn_clone__()
        if self.prefit:  # which a clone of the classifier would not be
            twin.classifier = self.classifier
        return twin

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validate("symmetry", self.symmetry, OneOf("neighbor", *RULES))
        validate("prefit", self.prefit, *BOOLEAN)
        if not isinstance(self.classifier, LANNClassifier | None):
            raise ValueError(
                f"classifier must be a LANNClassifier or None; got {type(self.classifier).__name__}."
            )
        if self.prefit and self.classifier is None:
            raise ValueError("prefit=True needs a fitted classifier; got classifier=None.")

    def _learned(self, X: ArrayLike, y: ArrayLike | None, seed: int) -> LANNClassifier:
        X, y = validate_data(self, X, y, dtype=np.float64, skip_check_array=True)
        if self.classifier is None:
            return LANNClassifier(random_state=seed, n_jobs=self.n_jobs).fit(X, y)
        return clone(self.classifier).fit(X, y)

    def _known(self, X: ArrayLike, y: ArrayLike | None) -> LANNClassifier:
        check_is_fitted(self.classifier)
        check_columns(self.classifier, X)
        given = validate_data(self, X, dtype=np.float64)
        check_consistent_length(given, y)
        if not np.array_equal(given, self.classifier._model.levels.X):
            raise ValueError(
                "With prefit=True, X must be the points that the classifier was fitted with, in their order; "
                "place others with transform."
            )
        # A copy: what the classifier learns later has no place here.
        return copy(self.classifier)
