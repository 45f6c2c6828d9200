"""How metrics are learned: shared levels in batches, then every point's own weights."""

from lann.training.monitor import Epoch
from lann.training.one_by_one import join as extend
from lann.training.one_by_one import warm_start
from lann.training.procedure import n_epochs_of, train
from lann.training.settings import Settings

__all__ = ["Epoch", "Settings", "extend", "n_epochs_of", "train", "warm_start"]
