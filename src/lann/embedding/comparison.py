"""How embeddings of the same data compare: a panel for each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_consistent_length

from lann._types import Floats
from lann.classifier import LANNClassifier
from lann.embedding.lann_embedding import LANNEmbedding
from lann.embedding.methods import paper_embeddings
from lann.embedding.quality import (
    EmbeddingQuality,
    embedding_quality,
    held_out_predictions,
    leave_one_out_predictions,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Panel:
    """One embedding of some data, and how good it is.

    Parameters
    ----------
    name
        Of the method.
    places : (n_samples, 2) of the points of the fit
    labels : (n_samples,)
    predictions : (n_samples,) what each point's neighbors in the embedding take it for, without itself
    held_out_places, held_out_labels, held_out_predictions
        The same for points placed afterwards, (n_held_out, 2) and (n_held_out,), by their neighbors among
        the points of the fit; None if there are none.
    quality
        See `EmbeddingQuality`.
    seconds
        To fit, and to place all points.
    estimator
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
    >>> panel.places.shape, panel.held_out_places is None
    ((150, 2), True)
    """

    name: str
    places: Floats
    labels: NDArray[Any]
    predictions: NDArray[Any]
    held_out_places: Floats | None
    held_out_labels: NDArray[Any] | None
    held_out_predictions: NDArray[Any] | None
    quality: EmbeddingQuality
    seconds: float
    estimator: Any

    @property
    def accuracy(self) -> float:
        """Share of the points that their neighbors in the embedding take for what they are."""
        return self.quality.accuracy

    @property
    def held_out_accuracy(self) -> float | None:
        """The same for held-out points; None if there are none."""
        return self.quality.held_out_accuracy


@dataclass(frozen=True)
class EmbeddingComparison:
    """Embeddings of the same data: a panel for each, found by its name, ``comparison["LANN"]``.

    Parameters
    ----------
    panels
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
        for panel in self.panels:
            if panel.name == name:
                return panel
        names = ", ".join(repr(panel.name) for panel in self.panels)
        raise KeyError(f"There is no embedding {name!r}; there are {names}.")

    def __iter__(self) -> Iterator[Panel]:
        return iter(self.panels)

    def __len__(self) -> int:
        return len(self.panels)

    def to_frame(self) -> pd.DataFrame:
        """A table with a row for each method, and its quality and seconds as columns."""
        import pandas as pd

        scores = [field.name for field in fields(EmbeddingQuality) if field.name != "n_neighbors"]
        return pd.DataFrame(
            [
                {**{score: getattr(panel.quality, score) for score in scores}, "seconds": panel.seconds}
                for panel in self.panels
            ],
            index=pd.Index([panel.name for panel in self.panels], name="method"),
            dtype=np.float64,
        )


def compare_embeddings(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    embeddings: Mapping[str, Any] | None = None,
    n_neighbors: int = 5,
) -> EmbeddingComparison:
    """Embed the same data by several methods, and judge the results alike.

    Parameters
    ----------
    X, y : (n_samples, n_features) and (n_samples,), what is embedded, and its labels
    X_test, y_test : (n_held_out, n_features) and (n_held_out,)
        Points that are placed among these afterwards. Judge by them: an embedding that has seen the labels
        may put points together that nothing else tells apart.
    embeddings
        Scikit-learn transformers by name, copies of which are fitted; None is ``paper_embeddings()``. One
        that cannot place new points, such as scikit-learn's t-SNE, has no held-out points.
    n_neighbors
        How many neighbors the quality is judged by.

    Returns
    -------
    EmbeddingComparison
        `trustworthiness` and `continuity` are against all features, scaled; `neighborhood_preservation` is
        under the metrics of the first `LANNEmbedding` among the methods, for all of them.

    See Also
    --------
    paper_embeddings : What is compared by default.
    embedding_quality : What is measured.

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
    if not isinstance(chosen, Mapping):
        raise ValueError(f"embeddings must be a dictionary of transformers; got {type(chosen).__name__}.")
    if not chosen:
        raise ValueError("embeddings must name at least one method; got none.")
    placed = {name: _place(clone(estimator), X, y, X_test) for name, estimator in chosen.items()}
    classifier = next(
        (found for fitted in placed.values() if (found := classifier_of(fitted.estimator))), None
    )
    scaled = StandardScaler().fit_transform(X)
    return EmbeddingComparison(
        tuple(
            _judged(name, fitted, scaled, y, y_test, classifier, n_neighbors)
            for name, fitted in placed.items()
        )
    )


def embed(
    name: str,
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    classifier: LANNClassifier | None = None,
    n_neighbors: int = 5,
) -> Panel:
    """A single panel. The estimator is fitted itself, no copy: what it holds may be fitted already.

    classifier : LANNClassifier, fitted; under whose metrics neighborhoods are compared
    """
    fitted = _place(estimator, X, y, X_test)
    return _judged(name, fitted, StandardScaler().fit_transform(X), y, y_test, classifier, n_neighbors)


def classifier_of(estimator: Any) -> LANNClassifier | None:
    """The classifier of a fitted LANNEmbedding, or of a pipeline that ends in one; None for any other."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return last.classifier_ if isinstance(last, LANNEmbedding) else None


@dataclass(frozen=True)
class _Placed:
    """A fitted estimator, where it has put the points, and how long that took."""

    estimator: Any
    places: Floats
    held_out_places: Floats | None
    seconds: float


def _place(estimator: Any, X: ArrayLike, y: ArrayLike, X_test: ArrayLike | None) -> _Placed:
    start = time.perf_counter()
    places = np.asarray(estimator.fit_transform(X, y), dtype=np.float64)
    held_out = None
    if X_test is not None and hasattr(estimator, "transform"):
        held_out = np.asarray(estimator.transform(X_test), dtype=np.float64)
    return _Placed(estimator, places, held_out, time.perf_counter() - start)


def _judged(
    name: str,
    placed: _Placed,
    scaled: Floats,
    y: ArrayLike,
    y_test: ArrayLike | None,
    classifier: LANNClassifier | None,
    n_neighbors: int,
) -> Panel:
    labels, held_out = np.asarray(y), placed.held_out_places
    held_out_labels = None if held_out is None else np.asarray(y_test)
    return Panel(
        name=name,
        places=placed.places,
        labels=labels,
        predictions=leave_one_out_predictions(placed.places, labels, n_neighbors=n_neighbors),
        held_out_places=held_out,
        held_out_labels=held_out_labels,
        held_out_predictions=None
        if held_out is None
        else held_out_predictions(placed.places, labels, held_out, n_neighbors=n_neighbors),
        quality=embedding_quality(
            scaled, placed.places, labels, held_out_places=held_out,
            held_out_labels=held_out_labels, classifier=classifier, n_neighbors=n_neighbors,
        ),
        seconds=placed.seconds,
        estimator=placed.estimator,
    )  # fmt: skip
