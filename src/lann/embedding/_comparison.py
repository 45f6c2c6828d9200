"""The comparison of embeddings of the same data, and those of the paper."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_array, check_consistent_length

from lann._base import NeighborClassifier
from lann._support.types import Floats
from lann.classifier import LANNClassifier
from lann.columns.schema import as_table, infer_schema, read
from lann.embedding._embeddings import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.embedding._quality import (
    EmbeddingQuality,
    embedding_quality,
    held_out_predictions,
    leave_one_out_predictions,
)
from lann.metric import Encoding


@dataclass(frozen=True)
class Panel:
    """One embedding of some data, and its quality.

    Attributes
    ----------
    name : str
        Of the method.
    coordinates : ndarray of shape (n_samples, n_components)
        Of the training rows.
    labels : ndarray of shape (n_samples,)
        Of the training rows.
    predictions : ndarray of shape (n_samples,)
        By the neighbors in the embedding, without the row itself.
    held_out_coordinates : ndarray of shape (n_held_out, n_components) or None
        Of rows that were added by `transform`; None without such rows.
    held_out_labels : ndarray of shape (n_held_out,) or None
    held_out_predictions : ndarray of shape (n_held_out,) or None
        By the training rows near them in the embedding.
    quality : EmbeddingQuality
    seconds : float
        Time to fit, and to transform the held-out rows.
    estimator : estimator
        Fitted.

    See Also
    --------
    compare_embeddings : Makes panels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import compare_embeddings, paper_embeddings
    >>> X, y = load_iris(return_X_y=True)
    >>> panel = compare_embeddings(X, y, embeddings={"PCA": paper_embeddings()["PCA"]})["PCA"]
    >>> panel.coordinates.shape, panel.held_out_coordinates is None
    ((150, 2), True)
    """

    name: str
    coordinates: Floats
    labels: NDArray[Any]
    predictions: NDArray[Any]
    held_out_coordinates: Floats | None
    held_out_labels: NDArray[Any] | None
    held_out_predictions: NDArray[Any] | None
    quality: EmbeddingQuality
    seconds: float
    estimator: Any

    @property
    def accuracy(self) -> float:
        """Accuracy of `predictions`."""
        return self.quality.accuracy

    @property
    def held_out_accuracy(self) -> float | None:
        """Accuracy of `held_out_predictions`; None without held-out rows."""
        return self.quality.held_out_accuracy


@dataclass(frozen=True)
class EmbeddingComparison:
    """Embeddings of the same data: a panel for each, selected by name, ``comparison["LANN"]``.

    Attributes
    ----------
    panels : tuple of Panel
        In the order in which the methods were given.

    See Also
    --------
    compare_embeddings : Makes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import compare_embeddings, paper_embeddings
    >>> X, y = load_iris(return_X_y=True)
    >>> linear = {name: paper_embeddings()[name] for name in ("PCA", "LDA")}
    >>> [panel.name for panel in compare_embeddings(X, y, embeddings=linear)]
    ['PCA', 'LDA']
    """

    panels: tuple[Panel, ...]

    def __getitem__(self, name: str) -> Panel:
        panels = {panel.name: panel for panel in self.panels}
        if name not in panels:
            raise KeyError(f"There is no embedding {name!r}; there are {', '.join(map(repr, panels))}.")
        return panels[name]

    def __iter__(self) -> Iterator[Panel]:
        return iter(self.panels)

    def __len__(self) -> int:
        return len(self.panels)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per method.

        Returns
        -------
        frame : DataFrame
            With the scores of `EmbeddingQuality` and ``seconds`` as columns.
        """
        scores = {panel.name: asdict(panel.quality) | {"seconds": panel.seconds} for panel in self.panels}
        frame = pd.DataFrame.from_dict(scores, orient="index", dtype=np.float64)
        return frame.drop(columns="n_neighbors").rename_axis("method")


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


def compare_embeddings(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    embeddings: Mapping[str, Any] | None = None,
    n_neighbors: int = 5,
) -> EmbeddingComparison:
    """Embed the same data by several methods, and compute the same scores for all.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        The rows to embed; a table with categories or gaps if all embeddings take it.
    y : array-like of shape (n_samples,)
        Their labels.
    X_test : array-like of shape (n_held_out, n_features) or None, default=None
        Rows that are added by `transform`. Judge by these: an embedding that has used the labels is
        optimistic about its training rows.
    y_test : array-like of shape (n_held_out,) or None, default=None
        Their labels.
    embeddings : mapping of str to transformer or None, default=None
        Clones of which are fitted; None is ``paper_embeddings()``. One without `transform`, such as
        scikit-learn's t-SNE, has no held-out rows.
    n_neighbors : int, default=5
        Number of neighbors for all scores.

    Returns
    -------
    comparison : EmbeddingComparison
        Trustworthiness and continuity refer to all features, scaled; neighborhood preservation to the metrics
        of the first `LANNEmbedding` among the methods.

    Raises
    ------
    ValueError
        If lengths differ, only one of `X_test` and `y_test` is given, or there is no embedding.

    See Also
    --------
    paper_embeddings : The default methods.
    embedding_quality : The scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import compare_embeddings, paper_embeddings
    >>> X, y = load_iris(return_X_y=True)
    >>> linear = {name: paper_embeddings()[name] for name in ("PCA", "LDA")}
    >>> comparison = compare_embeddings(X[::2], y[::2], X[1::2], y[1::2], embeddings=linear)
    >>> comparison["LDA"].held_out_accuracy > 0.9
    True
    >>> comparison.to_frame().shape
    (2, 6)
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be given together, or neither.")
    check_consistent_length(X, y)
    check_consistent_length(X_test, y_test)
    chosen = paper_embeddings() if embeddings is None else embeddings
    if not chosen:
        raise ValueError("embeddings must name at least one method; got none.")
    embedded = {name: _embed(clone(estimator), X, y, X_test) for name, estimator in chosen.items()}
    # Scores refer to the metrics of the first LANNEmbedding, possibly the last step of a pipeline.
    estimators = [own["estimator"] for own in embedded.values()]
    last = [own[-1] if isinstance(own, Pipeline) else own for own in estimators]
    classifier = next((step.classifier_ for step in last if isinstance(step, LANNEmbedding)), None)
    scores = {"classifier": classifier, "n_neighbors": n_neighbors}
    scaled = _scaled_features(X)
    return EmbeddingComparison(
        tuple(_panel(name, own, scaled, y, y_test, **scores) for name, own in embedded.items())
    )


def make_panel(
    name: str,
    estimator: Any,
    train: tuple[ArrayLike, ArrayLike],
    test: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    classifier: NeighborClassifier | None = None,
    n_neighbors: int = 5,
) -> Panel:
    """Embed data by one method, and compute its scores. The estimator itself is fitted, not a clone.

    Parameters
    ----------
    name : str
        Of the method.
    estimator : transformer
    train : tuple of X and y
        The rows to embed, and their labels.
    test : tuple of X and y or None, default=None
        Rows that are added by `transform`, and their labels.
    classifier : estimator or None, default=None
        Fitted with the training rows; its neighborhoods are compared with those in the embedding.
    n_neighbors : int, default=5
        Number of neighbors for all scores.

    Returns
    -------
    panel : Panel

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from lann.embedding import make_panel
    >>> make_panel("PCA", PCA(2), load_iris(return_X_y=True)).accuracy > 0.9
    True
    """
    (X, y), (X_test, y_test) = train, test or (None, None)
    embedded, scaled = _embed(estimator, X, y, X_test), _scaled_features(X)
    return _panel(name, embedded, scaled, y, y_test, classifier=classifier, n_neighbors=n_neighbors)


def _scaled_features(X: Any) -> Floats:
    """Return all features with variance 1, as coordinates of which a category has several.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        Two rows with different categories, or one with a gap, differ by the same amount in the feature.

    Returns
    -------
    scaled : ndarray of shape (n_samples, n_coordinates)
    """
    table = as_table(X)
    if table is None or all(dtype.is_numeric() for dtype in table.schema.values()):
        rows = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", copy=True)
        n_categories: tuple[int, ...] = (0,) * rows.shape[1]
        if not np.isnan(rows).any():
            return StandardScaler().fit_transform(X)
    else:
        schema = infer_schema(table, "from_dtype", has_names=True)
        rows, n_categories = read(table, schema), schema.n_categories
    is_number = np.array(n_categories) == 0
    rows[:, is_number] = StandardScaler().fit_transform(rows[:, is_number])
    encoding = Encoding.plain(rows, n_categories)
    widths = np.where(is_number, 1, encoding.n_axes_of_features)
    return encoding.transform(rows) / np.sqrt(np.repeat(widths, encoding.n_axes_of_features))


def _embed(estimator: Any, X: ArrayLike, y: ArrayLike, X_test: ArrayLike | None) -> dict[str, Any]:
    """Fit an estimator; return it with the coordinates of all rows and the time they took."""
    start = time.perf_counter()
    coordinates, held_out = np.asarray(estimator.fit_transform(X, y), dtype=np.float64), None
    if X_test is not None and hasattr(estimator, "transform"):
        held_out = np.asarray(estimator.transform(X_test), dtype=np.float64)
    seconds = time.perf_counter() - start
    return {
        "estimator": estimator, "coordinates": coordinates, "held_out_coordinates": held_out,
        "seconds": seconds,
    }  # fmt: skip


def _panel(name: str, embedded: dict[str, Any], scaled: Floats, y: Any, y_test: Any, **options: Any) -> Panel:
    """Compute the scores of an embedding; `scaled` are the rows with all features scaled."""
    labels, held_out = np.asarray(y), embedded["held_out_coordinates"]
    coordinates, k = embedded["coordinates"], options["n_neighbors"]
    held_out_labels = predictions = None
    if held_out is not None:
        held_out_labels = np.asarray(y_test)
        predictions = held_out_predictions(coordinates, labels, held_out, n_neighbors=k)
    quality = embedding_quality(
        scaled, coordinates, labels, held_out_coordinates=held_out, held_out_labels=held_out_labels, **options
    )
    return Panel(
        name=name,
        labels=labels,
        predictions=leave_one_out_predictions(coordinates, labels, n_neighbors=k),
        held_out_labels=held_out_labels,
        held_out_predictions=predictions,
        quality=quality,
        **embedded,
    )
