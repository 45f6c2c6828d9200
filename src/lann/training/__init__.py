"""Training: learn the metrics of training rows, in stages or one query at a time."""

from lann.training._extend import extend
from lann.training._many_rows import (
    MANY_ROWS,
    SAMPLE_ROWS,
    RowsByCell,
    has_many_rows,
    n_epochs_of,
    train_sample,
    with_shared_levels,
)
from lann.training._online_procedure import OnlineResult, train_online
from lann.training._procedure import TrainingResult, train_distinct
from lann.training._row_cells import (
    assign_cells,
    build_index,
    draw_calibration_rows,
    draw_partition_rows,
    fit_partition,
    mean_class_weights,
)
from lann.training._sampling import stratified_sample
from lann.training._settings import OnlineSettings, Settings
from lann.training._tiles import TILE_ROWS, Tile, TileResult, n_reached_of, plan_tiles, train_tile
from lann.training._train import train
from lann.training._trainer import Epoch
from lann.training._vote_selection import select_vote
from lann.training._warm_start import warm_start

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
