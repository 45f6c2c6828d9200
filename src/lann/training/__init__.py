"""Training: learn the metrics of training rows, in stages or one query at a time."""

from lann.training._candidates import stratified_sample
from lann.training._extend import extend, warm_start
from lann.training._loss import OnlineSettings, Settings
from lann.training._online import train_online
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
)
from lann.training._votes import default_vote, for_noisy_labels

__all__ = [
    "SAMPLE_ROWS", "Epoch", "OnlineSettings", "Settings", "Tile", "TrainingResult", "default_vote",
    "draw_calibration_rows", "draw_partition_rows", "extend", "for_noisy_labels", "mean_class_weights",
    "n_epochs_of", "n_reached_of", "plan_tiles", "stratified_sample", "train", "train_distinct",
    "train_online", "train_tile", "warm_start",
]  # fmt: skip
