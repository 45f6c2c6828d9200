"""NeighborEmbedding: points by their Euclidean neighbors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from lann._compat import unchanged_on_failure
from lann._inputs import check_not_too_large
from lann._types import Floats
from lann.embedding._estimator import GraphEmbedding, drawn_seed


class NeighborEmbedding(GraphEmbedding):
    """UMAP, densMAP or t-SNE of the data as they are: what `LANNEmbedding` is compared with.

    The same steps as `LANNEmbedding`, with the Euclidean metric for all points. Scale the data first.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the embedding.
    n_neighbors : int, default=15
        How far a neighborhood reaches: the neighbors UMAP looks at, the point itself among them; the
        perplexity of t-SNE.
    min_dist : float, default=0.1
        How close UMAP packs points that are near each other. t-SNE does not use it.
    method : {"umap", "densmap", "tsne"}, default="umap"
        What places the points. densMAP shows, too, how dense the data are.
    max_iter : int or None, default=None
        How long the places are improved. None is 500 for up to 10 000 points and 200 for more (densMAP: 200
        more than that; t-SNE: 1000).
    verbose : int, default=0
        1 shows the progress of the layout.
    n_jobs : int or None, default=None
        Threads of the search, as in scikit-learn. The result does not depend on it. The layout is done by
        one thread: more could not give the same result twice.
    random_state : int, RandomState instance or None, default=None
        Where the layout begins, and what it draws.

    Attributes
    ----------
    embedding_ : (n_train, n_components)
        Where the points of the fit are.
    neighbors_ : (n_train, k)
        The neighbors of each, without itself.
    distances_ : (n_train, k)
        How far these are.
    n_iter_ : int
        Iterations of the layout.
    n_features_in_, feature_names_in_ : what it was fitted with

    See Also
    --------
    LANNEmbedding : Under metrics that were learned.

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
        """Find the neighbors, and place the points. `y` is not used.

        Parameters
        ----------
        X : (n_samples, n_features), numeric, finite
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Floats:
        """Fit, and return the places of the points: (n_samples, n_components)."""
        with unchanged_on_failure(self):
            self._check_parameters()
            points: Floats = validate_data(self, X, dtype=np.float64, order="C", copy=True)
            check_not_too_large(points)
            self._lay_out(_euclidean(points, self.n_jobs), "neighbor", drawn_seed(self.random_state))
        return self.embedding_.copy()


def _euclidean(points: Floats, n_jobs: int | None) -> Any:
    """A model in which every point measures alike."""
    from lann.metrics import Levels
    from lann.model import LocalModel

    plain = Levels.plain(points, np.zeros(len(points), np.int64), 1)
    return LocalModel(plain, n_candidates=1, n_neighbors=1, power=1.0, n_jobs=n_jobs)
