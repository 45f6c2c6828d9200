"""How metrics are learned: shared levels in batches, then every point's own weights."""

from lann.training.procedure import join, train
from lann.training.settings import Settings

__all__ = ["Settings", "join", "train"]
