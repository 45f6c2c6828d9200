"""The choice of the vote, by how well it predicts rows that were not learned from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lann._support.rows import spread_rows
from lann._support.types import Floats, Indices
from lann.metric import Copies, DiagonalMetric, Levels, find_copies
from lann.model import SLOPE_NEIGHBORS, LocalModel, ValueModel
from lann.training._candidates import N_TYPICAL, find_candidates
from lann.training._initial import Standardization
from lann.training._loss import Settings
from lann.vote import (
    CANDIDATES_PER_NEIGHBOR,
    ValueRule,
    VoteChoice,
    VoteRule,
    held_out_losses,
    held_out_means,
    n_rows_for,
    read_values,
    zero_distance_guard,
)

# Powers of the votes that are compared, and their numbers of neighbors: where far neighbors hardly count,
# more of them change nothing.
NEIGHBORS_OF_POWERS = {
    0.5: (5, 15, 40, 100),
    1.0: (5, 15, 40, 100),
    2.0: (5, 15, 40),
    4.0: (5, 15, 40),
    6.0: (15, 40),
}
MORE_NEIGHBORS = (3, 5, 7, 15, 40)
FLOORS = (0.001, 0.005, 0.02, 0.1)
# The vote in use where there is nothing to compare.
DEFAULT_NEIGHBORS, DEFAULT_POWER, DEFAULT_FLOOR = 7, 3.0, 0.02
# With fewer rows, the default vote is not compared with others.
FEWEST_ROWS = 30
# Rows on which votes are compared where nothing was learned, and among which their neighbors are searched.
MOST_ROWS, MOST_SEARCHED = 1_000, 100_000
# Labels are noisy if votes for noisy labels are better by more than this number of standard errors.
N_STANDARD_ERRORS = 2.0


class HeldOut(NamedTuple):
    """The neighbors of rows that were not learned from.

    Attributes
    ----------
    rows : (n,)
    neighbors : (n, k)
        Nearest first, the rows themselves excluded.
    distances : (n, k)
        Squared, in units of ε.
    offsets : (n, k)
        What local slopes add to the values of the neighbors; 0 for classes.
    """

    rows: Indices
    neighbors: Indices
    distances: Floats
    offsets: Floats


def find_held_out(levels: Levels, rows: Indices, settings: Settings) -> HeldOut:
    """Return the neighbors of some rows under the metrics of levels."""
    k = _n_listed(levels, settings)
    n_candidates = max(settings.n_candidates, math.ceil(CANDIDATES_PER_NEIGHBOR * k))
    options: dict[str, Any] = {"n_candidates": n_candidates, "n_neighbors": 1, "power": 1.0, "epsilon": 1.0}
    model = LocalModel(levels, **options, n_jobs=settings.n_jobs)
    neighbors, distances = model.kneighbors(levels.X[rows], k, exclude=rows, n_jobs=settings.n_jobs)
    distances = distances / zero_distance_guard(distances[:, :N_TYPICAL])
    offsets = np.zeros(distances.shape)
    if levels.values is not None:
        options["n_neighbors"] = SLOPE_NEIGHBORS
        valued = ValueModel(model.memory, value_rule=ValueRule.of_normal(), **options)
        offsets = valued.offsets(levels.X[rows], neighbors, distances, n_jobs=settings.n_jobs)
    return HeldOut(rows, neighbors, distances, offsets)


def choose_vote(levels: Levels, held_out: Sequence[HeldOut], settings: Settings) -> VoteChoice:
    """Choose the vote by the log-losses of held-out rows.

    Parameters
    ----------
    levels : Levels
        The rows, of which none is a copy of another.
    held_out : sequence of HeldOut
    settings : Settings
        With what is fixed of the vote.
    """
    votes, mean_weight = _votes_of(levels, settings), settings.mean_weight
    if len(levels.X) < FEWEST_ROWS or not held_out:
        return VoteChoice.of(votes[:1], np.empty((0, 1)), mean_weight=mean_weight)
    rows, neighbors, distances, _ = (np.concatenate(parts) for parts in zip(*held_out, strict=True))
    counts, row_weights = _counts(levels, neighbors, settings), settings.targets(levels).weights[rows]
    if levels.values is not None:
        means = held_out_means(distances, levels.values[neighbors], votes, weights=counts)
        errors = (levels.values[rows, None] - means) / settings.value_scale
        return VoteChoice.of_errors(votes, errors, row_weights, mean_weight)
    losses = held_out_losses(
        distances,
        levels.labels[neighbors],
        levels.labels[rows],
        len(levels.class_log_weights),
        votes,
        VoteRule(class_weight=settings.class_weight),
        weights=counts,
    )
    return VoteChoice.of(votes, losses, row_weights, mean_weight)


def choose_value_rule(
    levels: Levels, held_out: Sequence[HeldOut], settings: Settings, vote: VoteChoice
) -> ValueRule | None:
    """Choose by held-out rows how much local slopes count, and learn the distribution of what is left.

    Parameters
    ----------
    levels, held_out, settings
        As for `choose_vote`.
    vote : VoteChoice

    Returns
    -------
    rule : ValueRule or None
        None for classes.
    """
    values, slope_share = levels.values, settings.slope_share
    if values is None:
        return None
    if len(levels.X) < FEWEST_ROWS or not held_out:
        return ValueRule.of_normal(settings.value_scale, slope_share or 0.0)
    rows, neighbors, distances, offsets = (np.concatenate(parts) for parts in zip(*held_out, strict=True))
    counts, weights = _counts(levels, neighbors, settings), settings.targets(levels).weights[rows]
    shares = vote.rule().shares(distances, levels.labels[neighbors], counts, vote.n_neighbors)
    near, own = values[neighbors], values[rows]
    if slope_share is None:
        change, rest = (shares * offsets).sum(axis=1), own - (shares * near).sum(axis=1)
        largest = weights @ np.square(change)
        slope_share = float(np.clip(weights @ (rest * change) / largest, 0.0, 1.0)) if largest > 0 else 0.0
    reading = read_values(near, offsets, shares, slope_share)
    return ValueRule.of(own - reading.predictions, reading.spreads, weights, slope_share)


def _counts(levels: Levels, neighbors: Indices, settings: Settings) -> Floats | None:
    """Return the votes of neighbors, in the number that votes count; None is 1 for all."""
    return None if levels.row_weights is None else settings.mean_weight * levels.row_weights[neighbors]


def default_vote(levels: Levels, settings: Settings) -> VoteChoice:
    """Return the vote that is used where there is nothing to compare."""
    copies = find_copies(levels)
    return choose_vote(levels, (), settings.replace(mean_weight=mean_weight_of(copies, levels)))


def for_noisy_labels(levels: Levels, settings: Settings) -> Settings:
    """Return the settings with another loss, if the labels are noisy: if votes for noise are better for kNN.

    Parameters
    ----------
    levels : Levels
        Training rows, of which the metrics are not used.
    settings : Settings
    """
    copies = find_copies(levels)
    given = settings
    settings = settings.replace(mean_weight=mean_weight_of(copies, levels))
    levels = levels if copies is None else copies.merge(levels)
    if len(levels.X) < FEWEST_ROWS:
        return given
    levels = levels.subset(spread_rows(len(levels.X), MOST_SEARCHED))
    # Standardized numbers, and categories equally far apart.
    standardization = Standardization(levels.X, levels.row_weights, encoding=levels.encoding)
    points = standardization.transform(levels.X)
    if not levels.encoding.is_numeric:
        points = standardization.apply(levels, n_bins=1).encoding.transform(points)
    rows = spread_rows(len(points), MOST_ROWS)
    metric = DiagonalMetric(points, np.ones(points.shape[1]))
    k = _n_listed(levels, settings)
    neighbors, distances = find_candidates(metric, rows, k, n_jobs=settings.n_jobs)
    distances /= zero_distance_guard(distances[:, :N_TYPICAL])
    choice = choose_vote(levels, [HeldOut(rows, neighbors, distances, np.zeros(distances.shape))], settings)
    is_noisy = choice.is_for_noise and choice.gain > N_STANDARD_ERRORS * choice.gain_error
    return given.for_noise() if is_noisy else given


def mean_weight_of(copies: Copies | None, levels: Levels) -> float:
    """Return the mean weight of a distinct row."""
    return 1.0 if copies is None else float(copies.totals(levels.row_weights).mean())


def _votes_of(levels: Levels, settings: Settings) -> Floats:
    """Return number of neighbors, power and floor of the votes to compare, the default first: (n, 3)."""
    power, number = settings.vote_power, settings.vote_neighbors
    mean_weight, most = settings.mean_weight, max(len(levels.X) - 1, 1)
    numbers_of = (
        NEIGHBORS_OF_POWERS if power is None else {power: NEIGHBORS_OF_POWERS.get(power, MORE_NEIGHBORS)}
    )

    def votes_of(k: int) -> float:
        return number or max(round(min(k, most) * mean_weight), 1)

    floors = FLOORS if levels.values is None else (0.0,)
    default_floor = DEFAULT_FLOOR if levels.values is None else 0.0
    first = (votes_of(DEFAULT_NEIGHBORS), DEFAULT_POWER if power is None else power, default_floor)
    others = [
        (votes_of(k), p, floor)
        for p, numbers in numbers_of.items()
        for k in (numbers if number is None else numbers[:1])
        for floor in floors
        if k <= most or number is not None
    ]
    return np.array([first, *[vote for vote in others if vote != first]], dtype=np.float64)


def _n_listed(levels: Levels, settings: Settings) -> int:
    """Return the number of neighbors from which all votes can be counted, at most all other rows."""
    votes, mean_weight = _votes_of(levels, settings), settings.mean_weight
    most, weights = math.ceil(votes[:, 0].max() / mean_weight), levels.row_weights
    if levels.values is not None:
        most = max(most, SLOPE_NEIGHBORS)
    if weights is not None:  # enough for the lightest rows, but at most twice as many as on average
        most = min(n_rows_for(most, weights), 2 * math.ceil(most / weights.mean()))
    return min(most, len(levels.X) - 1)
