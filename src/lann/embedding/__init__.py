"""Embeddings that show learned metrics, those they are compared with, and how good they are."""

from lann.embedding.comparison import EmbeddingComparison, Panel, compare_embeddings
from lann.embedding.lann_embedding import LANNEmbedding
from lann.embedding.methods import paper_embeddings
from lann.embedding.neighbor_embedding import NeighborEmbedding
from lann.embedding.quality import (
    EmbeddingQuality,
    embedding_quality,
    held_out_predictions,
    leave_one_out_predictions,
    neighborhood_preservation,
    pair_error,
    trustworthiness_and_continuity,
)

__all__ = [
    "EmbeddingComparison",
    "EmbeddingQuality",
    "LANNEmbedding",
    "NeighborEmbedding",
    "Panel",
    "compare_embeddings",
    "embedding_quality",
    "held_out_predictions",
    "leave_one_out_predictions",
    "neighborhood_preservation",
    "pair_error",
    "paper_embeddings",
    "trustworthiness_and_continuity",
]
