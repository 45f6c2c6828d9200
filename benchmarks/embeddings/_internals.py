"""The internals of `lann.embedding` that are measured; no other module of this benchmark imports any."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats
from lann.embedding import LANNEmbedding, NeighborEmbedding, Panel
from lann.embedding.comparison import classifier_of, embed
from lann.embedding.graph import RULES

__all__ = ["RULES", "classifier_of", "compile_umap", "coordinates", "embed", "embedding_of_fitted"]


def embedding_of_fitted(classifier: Any, **parameters: Any) -> LANNEmbedding:
    """Return an embedding that uses a fitted classifier as it is."""
    return LANNEmbedding(classifier, prefit=True, **parameters)


def coordinates(panel: Panel) -> tuple[Floats, Floats]:
    """Return the coordinates of the training rows and of the held-out rows, of a panel that has both."""
    assert panel.held_out_places is not None
    return panel.places, panel.held_out_places


def compile_umap() -> None:
    """Let UMAP compile itself, so that no timing includes it; raise ImportError without umap-learn."""
    NeighborEmbedding(n_epochs=11, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 3)))
