"""Training: learn the metrics of training rows, in stages or one query at a time."""

from lann.training._candidates import stratified_sample
from lann.training._extend import extend, warm_start
from lann.training._initial import select_vote
from lann.training._online_procedure import OnlineResult, train_online
from lann.training._procedure import Epoch, TrainingResult, train_distinct
from lann.training._settings import OnlineSettings, Settings
from lann.training._train import (
    MANY_ROWS,
    SAMPLE_ROWS,
    TILE_ROWS,
    RowsByCell,
    Tile,
    TileResult,
    assign_cells,
    build_index,
    draw_calibration_rows,
    draw_partition_rows,
    fit_partition,
    has_many_rows,
    mean_class_weights,
    n_epochs_of,
    n_reached_of,
    plan_tiles,
    train,
    train_sample,
    train_tile,
    with_shared_levels,
)

__all__ = [
    "MANY_ROWS",
    "SAMPLE_ROWS",
    "TILE_ROWS",
    "Epoch",
    "OnlineResult",
    "OnlineSettings",
    "RowsByCell",
    "Settings",
    "Tile",
    "TileResult",
    "TrainingResult",
    "assign_cells",
    "build_index",
    "draw_calibration_rows",
    "draw_partition_rows",
    "extend",
    "fit_partition",
    "has_many_rows",
    "mean_class_weights",
    "n_epochs_of",
    "n_reached_of",
    "plan_tiles",
    "select_vote",
    "stratified_sample",
    "train",
    "train_distinct",
    "train_online",
    "train_sample",
    "train_tile",
    "warm_start",
    "with_shared_levels",
]
