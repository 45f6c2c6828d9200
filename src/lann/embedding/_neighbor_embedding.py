"""NeighborEmbedding: rows by their Euclidean neighbors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lann._compat import unchanged_on_failure
from lann._inputs import get_feature_names, validate_data
from lann._sizes import check_training_values
from lann._types import Floats
from lann.embedding._base import GraphEmbedding, draw_seed


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

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=15,
        min_dist=0.1,
        method="umap",
        max_iter=None,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.min_dist = min_dist
        self.method = method
        self.max_iter = max_iter
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

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
            self._embed(_euclidean_model(rows, self.n_jobs), "neighbor", draw_seed(self.random_state))
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Floats:
        """Fit, and return the coordinates of the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        coordinates : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X).embedding_.copy()


def _euclidean_model(X: Floats, n_jobs: int | None) -> Any:
    """Return a model in which all rows have the Euclidean metric."""
    from lann.metrics import Levels
    from lann.model import LocalModel

    plain = Levels.plain(X, np.zeros(len(X), np.int64), 1)
    return LocalModel(plain, n_candidates=1, n_neighbors=1, power=1.0, n_jobs=n_jobs)
