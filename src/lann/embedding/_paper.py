"""The embeddings that the paper compares."""

from __future__ import annotations

from typing import Any

from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lann.classifier import LANNClassifier
from lann.embedding._discriminant import DiscriminantPlane
from lann.embedding._lann_embedding import LANNEmbedding
from lann.embedding._neighbor_embedding import NeighborEmbedding


def paper_embeddings(
    *,
    classifier: LANNClassifier | None = None,
    prototypes_per_class: int = 1,
    n_neighbors: int = 15,
    min_dist: float = 0.1,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Pipeline]:
    """Return the embeddings of the paper by name, not fitted; each scales the data first.

    ``PCA`` and ``LDA`` are linear planes (see `DiscriminantPlane` for two classes); ``GMLVQ`` and ``LMNN``
    the planes that these methods learn; ``UMAP`` uses the Euclidean metric; ``LGMLVQ`` is UMAP of the
    distances to all prototypes, as these measure; ``LANN`` is `LANNEmbedding`.

    Parameters
    ----------
    classifier : LANNClassifier or None, default=None
        For ``LANN``, not fitted; None is ``LANNClassifier(random_state=…)``.
    prototypes_per_class : int, default=1
        Of ``GMLVQ`` and ``LGMLVQ``.
    n_neighbors : int, default=15
        Of UMAP.
    min_dist : float, default=0.1
        Of UMAP.
    random_state : int, RandomState instance or None, default=None
        Of all methods that use it.
    n_jobs : int or None, default=None
        Of all methods that use it.

    Returns
    -------
    embeddings : dict of str to Pipeline

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import paper_embeddings
    >>> X, y = load_iris(return_X_y=True)
    >>> embeddings = paper_embeddings(random_state=0)
    >>> list(embeddings)
    ['PCA', 'LDA', 'GMLVQ', 'LMNN', 'UMAP', 'LGMLVQ', 'LANN']
    >>> embeddings["GMLVQ"].fit_transform(X, y).shape
    (150, 2)
    """
    from lann.baselines import GMLVQ, LGMLVQ, LMNN

    common = {"random_state": random_state, "n_jobs": n_jobs}
    prototypes = {"prototypes_per_class": prototypes_per_class, **common}
    layout = {"n_neighbors": n_neighbors, "min_dist": min_dist, **common}
    steps: dict[str, list[Any]] = {
        "PCA": [PCA(2, random_state=random_state)],
        "LDA": [DiscriminantPlane()],
        "GMLVQ": [GMLVQ(n_components=2, **prototypes)],
        "LMNN": [LMNN(n_components=2, n_jobs=n_jobs)],
        "UMAP": [NeighborEmbedding(**layout)],
        "LGMLVQ": [LGMLVQ(**prototypes), NeighborEmbedding(**layout)],
        "LANN": [LANNEmbedding(classifier, **layout)],
    }
    return {name: make_pipeline(StandardScaler(), *then) for name, then in steps.items()}
