"""Embeddings that show learned metrics, those they are compared with, and how good they are."""

from lann.embedding.lann_embedding import LANNEmbedding
from lann.embedding.neighbor_embedding import NeighborEmbedding

__all__ = ["LANNEmbedding", "NeighborEmbedding"]
