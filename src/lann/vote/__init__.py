"""The vote: from distances to shares of neighbors, to probabilities or values; its choice, and its losses."""

from lann.vote._choice import (
    CANDIDATES_PER_NEIGHBOR,
    LOG_LOSS,
    SQUARED_ERROR,
    VoteChoice,
    held_out_losses,
    held_out_means,
)
from lann.vote._rule import (
    HUGE,
    VoteRule,
    class_shares,
    counted_weights,
    n_rows_for,
    sums_before,
    with_floor,
    zero_distance_guard,
)
from lann.vote._values import QUANTILE_LEVELS, ValueReading, ValueRule, ends_of, read_values

__all__ = [
    "CANDIDATES_PER_NEIGHBOR", "CRPS", "HUGE", "LOG_LOSS", "QUANTILE_LEVELS", "SHARES", "SOFTMAX",
    "SQUARED_ERROR", "ValueReading", "ValueRule", "VoteChoice",
    "VoteRule", "class_shares", "counted_weights", "ends_of", "held_out_losses", "held_out_means",
    "n_rows_for", "read_values", "sums_before", "with_floor", "zero_distance_guard",
]  # fmt: skip

# Kinds of losses of a query, as in `vote.hpp`.
SHARES, SOFTMAX, CRPS = 0, 1, 2
