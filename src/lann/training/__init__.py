"""Training: learn the metrics of training rows, in stages or one query at a time."""

from lann.training._extend import extend
from lann.training._online_procedure import OnlineResult, train_online
from lann.training._procedure import TrainingResult, n_epochs_of, train
from lann.training._settings import OnlineSettings, Settings
from lann.training._trainer import Epoch
from lann.training._vote_selection import select_vote
from lann.training._warm_start import warm_start

__all__ = [
    "Epoch",
    "OnlineResult",
    "OnlineSettings",
    "Settings",
    "TrainingResult",
    "extend",
    "n_epochs_of",
    "select_vote",
    "train",
    "train_online",
    "warm_start",
]
