"""Embeddings under learned metrics, those they are compared with, and their quality."""

from lann.embedding._comparison import (
    EmbeddingComparison,
    Panel,
    compare_embeddings,
    make_panel,
    paper_embeddings,
)
from lann.embedding._embeddings import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.embedding._layout import LEAST_TSNE_ITER, check_installed, half_distance
from lann.embedding._quality import (
    EmbeddingQuality,
    embedding_quality,
    held_out_predictions,
    leave_one_out_predictions,
    neighborhood_preservation,
    pair_error,
    trustworthiness_and_continuity,
)

__all__ = [
    "LEAST_TSNE_ITER", "DiscriminantPlane", "EmbeddingComparison", "EmbeddingQuality", "LANNEmbedding",
    "NeighborEmbedding", "Panel", "check_installed", "compare_embeddings", "embedding_quality",
    "half_distance", "held_out_predictions", "leave_one_out_predictions", "make_panel",
    "neighborhood_preservation", "pair_error", "paper_embeddings", "trustworthiness_and_continuity",
]  # fmt: skip
