"""Maps of the rows of a page: where each of them is drawn."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator

from lann._base import NeighborClassifier
from lann._support.types import Floats
from lann.columns.inputs import as_fitted
from lann.embedding import LANNEmbedding, NeighborEmbedding, half_distance
from lann.explorer._source import Source
from lann.metric import Encoding

METHODS = ("auto", "umap", "densmap", "tsne", "pca")
TITLES = {"umap": "UMAP", "densmap": "densMAP", "tsne": "t-SNE", "pca": "principal components"}
# Below this, a layout of neighbors is of no use.
FEWEST_ROWS = 10


class RowMap(NamedTuple):
    """Coordinates of all rows, training rows first.

    Attributes
    ----------
    title : str
    coordinates : (n_rows, 2)
    scale : float
        The distance at which a neighbor counts less for the position of a new row; 0 where this is not known.
    """

    title: str
    coordinates: Floats
    scale: float = 0.0


def row_maps(source: Source, method: str, random_state: Any) -> dict[str, RowMap]:
    """Return the map under the learned metric, if rows can be laid out by it, and that of the plain data."""
    maps, n_training = {}, source.n_training
    learns = isinstance(source.classifier, NeighborClassifier)
    if method == "auto":
        method = "umap" if find_spec("umap") else "pca"
    if (n_training if learns else source.n_rows) < FEWEST_ROWS:
        method = "pca"
    options = {"method": method, "random_state": random_state, "n_jobs": source.classifier.n_jobs}
    name = TITLES[method]
    if learns and method == "pca":
        maps["learned"] = RowMap(f"Learned metric ({name})", _components(source.model.transform(source.X)))
    elif learns:
        layout = LANNEmbedding(FrozenEstimator(source.classifier), **options)
        tables = [as_fitted(source.classifier, part) for part in _parts(source.X, n_training)]
        maps["learned"] = _laid_out(f"Learned metric ({name})", layout, tables)
    rows = _standardized(source)
    if method == "pca":
        maps["plain"] = RowMap(f"Plain data ({name})", _components(rows))
    else:
        parts = _parts(rows, n_training) if learns else [rows]
        maps["plain"] = _laid_out(f"Plain data ({name})", NeighborEmbedding(**options), parts)
    return maps


def _parts(rows: Floats, n_training: int) -> list[Floats]:
    return [part for part in (rows[:n_training], rows[n_training:]) if len(part)]


def _laid_out(title: str, layout: Any, parts: list[Any]) -> RowMap:
    joined = np.concatenate([layout.fit(parts[0]).embedding_, *map(layout.transform, parts[1:])])
    # A row without edges has no coordinates.
    coordinates = np.where(np.isnan(joined), np.nanmean(joined, axis=0), joined)
    return RowMap(title, coordinates, half_distance(layout.method, layout.min_dist))


def _components(rows: Floats) -> Floats:
    """Return the first two principal components; 0 where there are fewer."""
    found = PCA(min(2, *rows.shape), svd_solver="full").fit_transform(rows)
    return np.pad(found, ((0, 0), (0, 2 - found.shape[1])))


def _standardized(source: Source) -> Floats:
    """Return the rows as plain numbers: standardized, categories and gaps encoded without learning."""
    n_training = source.n_training
    X = source.X.astype(np.float64)
    encoding = Encoding.plain(X[:n_training], source.schema.n_categories)
    rows = encoding.transform(X)
    scale = rows[:n_training].std(axis=0)
    categories = np.repeat(np.array(source.schema.n_categories) > 0, encoding.n_axes_of_features)
    return (rows - rows[:n_training].mean(axis=0)) / np.where((scale > 0) & ~categories, scale, 1.0)
