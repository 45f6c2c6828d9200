"""Training: learn the metrics of training rows, in stages or one query at a time."""

from lann.training._candidates import stratified_sample
from lann.training._initial import select_vote
from lann.training._loss import OnlineSettings, Settings
from lann.training._online import extend, train_online, warm_start
from lann.training._procedure import Epoch
from lann.training._train import (
    SAMPLE_ROWS,
    Tile,
    TrainingResult,
    draw_calibration_rows,
    draw_partition_rows,
    mean_class_weights,
    n_epochs_of,
    n_reached_of,
    plan_tiles,
    train,
    train_distinct,
    train_tile,
    with_shared_levels,
)

__all__ = [
    "SAMPLE_ROWS",
    "Epoch",
    "OnlineSettings",
    "Settings",
    "Tile",
    "TrainingResult",
    "draw_calibration_rows",
    "draw_partition_rows",
    "extend",
    "mean_class_weights",
    "n_epochs_of",
    "n_reached_of",
    "plan_tiles",
    "select_vote",
    "stratified_sample",
    "train",
    "train_distinct",
    "train_online",
    "train_tile",
    "warm_start",
    "with_shared_levels",
]
