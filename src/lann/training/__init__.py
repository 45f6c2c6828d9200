"""How metrics are learned: shared levels in batches, then every point's own weights."""

from lann.training.one_by_one import join, warm_start
from lann.training.procedure import planned_epochs, train
from lann.training.settings import Settings

__all__ = ["Settings", "join", "planned_epochs", "train", "warm_start"]
