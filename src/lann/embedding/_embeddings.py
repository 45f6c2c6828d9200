"""LANNEmbedding, NeighborEmbedding and DiscriminantPlane: embeddings under learned or Euclidean metrics."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from lann._base import NeighborClassifier
from lann._support.compat import unchanged_on_failure
from lann._support.doc_links import DocumentedEstimator
from lann._support.inputs import check_columns, check_two_classes, get_feature_names
from lann._support.sizes import check_training_values, check_values
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import (
    N_JOBS,
    RANDOM_STATE,
    VERBOSE,
    Checked,
    Integer,
    Number,
    OneOf,
    ParameterTable,
    validate,
    validate_parameters,
)
from lann.classifier import LANNClassifier
from lann.columns.inputs import read_queries, read_rows
from lann.columns.schema import TableSchema
from lann.embedding._layout import (
    LAYOUTS,
    LEAST_TSNE_ITER,
    RULES,
    compute_layout,
    coordinates_by_neighbors,
    half_distance,
    list_neighbors,
    n_listed_neighbors,
)
from lann.metric import Levels
from lann.model import LocalModel, NeighborModel

FEWEST_ROWS = 3
# Share of a number that is rounding.
ROUNDING = 1e-14
LAYOUT: ParameterTable = {
    "n_components": [Integer(1)],
    "n_neighbors": [Integer(2)],
    "min_dist": [Number(0, 1)],
    "method": [OneOf(*LAYOUTS)],
    "max_iter": [Integer(1), OneOf(None)],
    "verbose": VERBOSE,
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
}


class GraphEmbedding(DocumentedEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An embedding of rows by their neighbors; subclasses provide the model that finds these in `fit`.

    Every one has the parameters `n_components`, `n_neighbors`, `min_dist`, `method`, `max_iter`, `verbose`,
    `n_jobs` and `random_state`.
    """

    _parameters: ClassVar[ParameterTable] = LAYOUT

    def __init__(
        self, n_components=2, *, n_neighbors=15, min_dist=0.1, method="umap", max_iter=None, verbose=0,
        n_jobs=None, random_state=None,
    ):  # fmt: skip
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.method = method
        self.max_iter = max_iter
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Floats:
        """Fit, and return the coordinates of the training rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or None, default=None
            Labels, where the embedding uses them.

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y).embedding_.copy()

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the coordinates of rows among the training rows.

        A training row keeps the coordinates of the fit. The coordinates of a row depend on this row alone,
        not on others in `X`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Numbers, or a table as the estimator was fitted to.

        Returns
        -------
        coordinates : ndarray of shape (n_queries, n_components)
        """
        check_is_fitted(self)
        queries = read_queries(self, X)
        k = min(self.n_neighbors, len(self.embedding_))
        neighbors, distances = self.model_.kneighbors(queries, k, n_jobs=self.n_jobs)
        distances = _without_other_zeros(self.model_, queries, neighbors, distances)
        return coordinates_by_neighbors(
            neighbors, distances, self.embedding_, self._scale, n_jobs=self.n_jobs
        )

    def _validate_parameters(self) -> None:
        validate_parameters(self, self._parameters)
        if self.method == "tsne":
            if self.n_components > 3:
                raise ValueError(
                    f"method='tsne' has at most 3 components; got n_components={self.n_components}."
                )
            validate("max_iter", self.max_iter, Integer(LEAST_TSNE_ITER), OneOf(None))

    def _embed(self, model: NeighborModel, symmetry: str, seed: int) -> None:
        """Compute the coordinates of the rows of the model; copies of a row have the same coordinates."""
        rows = model.transform(model.X)
        if len(rows) < FEWEST_ROWS:
            raise ValueError(f"An embedding needs at least {FEWEST_ROWS} rows; got n_samples={len(rows)}.")
        k = n_listed_neighbors(self.method, self.n_neighbors, len(rows))
        lists = list_neighbors(model, k, symmetry, n_jobs=self.n_jobs)
        coordinates, self.n_iter_ = compute_layout(rows, lists, self, seed)
        self.model_ = model
        self.embedding_ = _mean_of_copies(rows, coordinates)
        self.neighbors_, self.distances_ = lists
        self._scale = half_distance(self.method, self.min_dist)
        self._n_features_out = self.n_components


def _mean_of_copies(rows: Floats, coordinates: Floats) -> Floats:
    """Return the mean coordinates of the copies of a row for each of them."""
    _, which, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    if len(counts) == len(rows):
        return coordinates
    sums = np.stack([np.bincount(which, column) for column in coordinates.T], axis=1)
    return np.where(counts[which][:, None] > 1, (sums / counts[:, None])[which], coordinates)


def _without_other_zeros(
    model: NeighborModel, queries: Floats, neighbors: Indices, distances: Floats
) -> Floats:
    """Return the distances with other rows at distance 0 infinitely far, for queries that are training rows.

    A metric that ignores features is 0 for different rows, too.
    """
    distances = distances.copy()
    for query in np.flatnonzero(distances[:, 0] == 0):
        zero = distances[query] == 0
        there, here = model.transform(model.X[neighbors[query]]), model.transform(queries[query][None])
        same = (there == here).all(axis=1)
        if same.any():
            distances[query, zero & ~same] = np.inf
    return distances


def _draw_seed(random_state: Any) -> int:
    """Draw an integer seed from a random state."""
    return int(check_random_state(random_state).randint(2**31 - 1))


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

    def __init__(
        self, classifier=None, *, symmetry="neighbor", n_components=2, n_neighbors=15, min_dist=0.1,
        method="umap", max_iter=None, verbose=0, n_jobs=None, random_state=None,
    ):  # fmt: skip
        super().__init__(
            n_components, n_neighbors=n_neighbors, min_dist=min_dist, method=method, max_iter=max_iter,
            verbose=verbose, n_jobs=n_jobs, random_state=random_state,
        )  # fmt: skip
        self.classifier = classifier
        self.symmetry = symmetry

    @property
    def classes_(self) -> Any:
        """The labels."""
        return self.classifier_.classes_

    @property
    def schema_(self) -> TableSchema | None:
        """What the features are, as the classifier reads them; None if it reads numbers only."""
        return getattr(self.classifier_, "schema_", None)

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
            seed = _draw_seed(self.random_state)
            if isinstance(self.classifier, FrozenEstimator):
                self.classifier_ = self._frozen_classifier(X, y)
            else:
                X, y = validate_data(self, X, y, dtype=np.float64, skip_check_array=True)
                default = LANNClassifier(random_state=seed, n_jobs=self.n_jobs)
                self.classifier_ = (default if self.classifier is None else clone(self.classifier)).fit(X, y)
            self._embed(self.classifier_.model_, self.symmetry, seed)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = not isinstance(self.classifier, FrozenEstimator)
        if self.classifier is None or isinstance(self.classifier, FrozenEstimator | NeighborClassifier):
            given = get_tags(LANNClassifier() if self.classifier is None else self.classifier).input_tags
            tags.input_tags.allow_nan, tags.input_tags.categorical = given.allow_nan, given.categorical
        return tags

    def _frozen_classifier(self, X: ArrayLike, y: ArrayLike | None) -> NeighborClassifier:
        classifier = self.classifier.estimator
        check_is_fitted(classifier)
        check_columns(classifier, X)
        validate_data(self, X, skip_check_array=True)
        if hasattr(classifier, "schema_"):
            rows = read_rows(classifier, X, classifier.schema_)
        else:
            rows = validate_data(classifier, X, dtype=np.float64, reset=False)
        check_consistent_length(rows, y)
        if not np.array_equal(rows, classifier.model_.X, equal_nan=True):
            raise ValueError(
                "With a frozen classifier, X must be the rows that it was fitted with, in their order; use "
                "transform for other rows."
            )
        # A copy, which a later fit of the classifier does not change.
        return copy(classifier)


class NeighborEmbedding(GraphEmbedding):
    """UMAP, densMAP or t-SNE of the data as they are: what `LANNEmbedding` is compared with.

    The same steps as in `LANNEmbedding`, with the Euclidean metric for all rows. Scale the data first.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding.
    n_neighbors : int, default=15
        Size of the neighborhoods: the number of neighbors in UMAP, with the row itself; the perplexity of
        t-SNE.
    min_dist : float, default=0.1
        How closely UMAP packs neighboring rows. t-SNE does not use it.
    method : {"umap", "densmap", "tsne"}, default="umap"
        The layout. densMAP also preserves the density of the data.
    max_iter : int or None, default=None
        Number of iterations of the layout. None is 500 for up to 10 000 rows and 200 for more (densMAP: 200
        more; t-SNE: 1000).
    verbose : int, default=0
        1 shows the progress of the layout.
    n_jobs : int or None, default=None
        Number of threads of the search, as in scikit-learn. The result does not depend on it. The layout uses
        one thread: with more, it could not be reproduced.
    random_state : int, RandomState instance or None, default=None
        Determines the initialization and the sampling of the layout.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows. Copies of a row have the same coordinates.
    neighbors_ : ndarray of shape (n_samples, k)
        Positions of the neighbors of each training row, without itself.
    distances_ : ndarray of shape (n_samples, k)
        Their distances.
    model_ : NeighborModel
        The training rows and their Euclidean metric.
    n_iter_ : int
        Number of iterations of the layout.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.

    See Also
    --------
    LANNEmbedding : The same under learned metrics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import NeighborEmbedding
    >>> X = load_iris().data
    >>> embedding = NeighborEmbedding(max_iter=50, random_state=0).fit(X)
    >>> embedding.transform(X[:2]).shape
    (2, 2)
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Embed the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : None
            Not used.

        Returns
        -------
        self : NeighborEmbedding

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; a previous fit is then kept.
        """
        with unchanged_on_failure(self):
            self._validate_parameters()
            rows: Floats = validate_data(self, X, dtype=np.float64, order="C", copy=True)
            check_training_values(rows, lambda: get_feature_names(self))
            plain = Levels.plain(rows, np.zeros(len(rows), np.int64), 1)
            model = LocalModel(plain, n_candidates=1, n_neighbors=1, power=1.0, n_jobs=self.n_jobs)
            self._embed(model, "neighbor", _draw_seed(self.random_state))
        return self


class DiscriminantPlane(
    DocumentedEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """The two directions of linear discriminant analysis that separate the classes best.

    With two classes there is only one such direction. The second one is then the direction of largest
    variance orthogonal to the first, scaled to standard deviation 1 within classes, like the first. It adds
    no information about the classes, but the plane needs one.

    Attributes
    ----------
    components_ : ndarray of shape (2, n_features)
        The directions; zeros for the second one if all features but one are constant.
    mean_ : ndarray of shape (n_features,)
        The origin of the plane.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.

    See Also
    --------
    paper_embeddings : The methods that it is compared with.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from lann.embedding import DiscriminantPlane
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> DiscriminantPlane().fit(scale(X), y).transform(scale(X)).shape
    (569, 2)
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Labels of at least two classes.

        Returns
        -------
        self : DiscriminantPlane

        Raises
        ------
        ValueError
            If the data are invalid.
        """
        with unchanged_on_failure(self):
            rows, y = validate_data(self, X, y, dtype=np.float64)
            check_training_values(rows, lambda: get_feature_names(self))
            check_classification_targets(y)
            classes, labels = np.unique(y, return_inverse=True)
            check_two_classes(classes)
            n_directions = min(2, len(classes) - 1, rows.shape[1])
            try:
                with np.errstate(invalid="ignore"):  # of shares of a variance that is 0
                    analysis = LinearDiscriminantAnalysis(n_components=n_directions).fit(rows, labels)
            except IndexError:  # there is no direction at all
                raise ValueError("The rows of different classes do not differ: there is no plane.") from None
            self.mean_ = analysis.xbar_
            self.components_ = np.zeros((2, rows.shape[1]))
            # There are fewer where the class means lie on a line.
            directions = analysis.scalings_[:, :n_directions].T
            self.components_[: len(directions)] = directions
            if len(directions) == 1 and rows.shape[1] > 1:
                self.components_[1] = _orthogonal_direction(directions[0], rows, self.mean_, labels)
            self._n_features_out = 2
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Project rows onto the plane.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        coordinates : ndarray of shape (n_queries, 2)
        """
        check_is_fitted(self)
        queries: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        check_values(queries, lambda: get_feature_names(self))
        return (queries - self.mean_) @ self.components_.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _orthogonal_direction(direction: Floats, rows: Floats, mean: Floats, labels: Labels) -> Floats:
    """Return the direction of largest variance orthogonal to a given one, 0 without any: (n_features,)."""
    unit = direction / np.linalg.norm(direction)
    centered = rows - mean
    rest = centered - np.outer(centered @ unit, unit)
    if (np.abs(rest) <= ROUNDING * np.abs(rows).max(axis=0)).all():
        return np.zeros_like(unit)
    second = PCA(1, svd_solver="full").fit(rest).components_[0]
    coordinates = rest @ second
    means = np.bincount(labels, coordinates) / np.bincount(labels)
    within = np.sqrt(np.mean((coordinates - means[labels]) ** 2))
    return second / within if within > 0 else second
