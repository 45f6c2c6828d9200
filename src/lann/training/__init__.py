"""How metrics are learned: shared levels in batches, then every point's own weights."""

from lann.training._extend import join as extend
from lann.training._extend import warm_start
from lann.training._procedure import n_epochs_of, train
from lann.training._settings import Settings
from lann.training._trainer import Epoch

__all__ = ["Epoch", "Settings", "extend", "n_epochs_of", "train", "warm_start"]
