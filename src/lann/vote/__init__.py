"""The vote: from distances to probabilities of classes, the choice of a vote, and the losses that train it.

A neighbor at squared distance d supports its label with (d + ε)^−p; ε keeps zero distances finite. The
probability of a class is (share + η/C) / (1 + η): the floor η keeps it above 0 for each of the C classes.
"""

from lann.vote._choice import VoteChoice, leave_one_out_losses
from lann.vote._losses import SHARES, SOFTMAX, share_loss, softmax_loss, weighted_loss
from lann.vote._rule import HUGE, VoteRule, class_shares, counted_weights, n_rows_for, zero_distance_guard

__all__ = [
    "HUGE",
    "SHARES",
    "SOFTMAX",
    "VoteChoice",
    "VoteRule",
    "class_shares",
    "counted_weights",
    "leave_one_out_losses",
    "n_rows_for",
    "share_loss",
    "softmax_loss",
    "weighted_loss",
    "zero_distance_guard",
]
