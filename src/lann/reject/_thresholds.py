"""Thresholds of certainties, one for each group of rows, that reject many errors and few correct predictions.

Rows of a group are rejected in the order of rising certainty. A threshold of group g rejects t_g errors (true
rejects) and f_g correct predictions (false rejects). To choose one threshold in each group is a
multiple-choice knapsack problem (Fischer, Hammer, Wersing: Optimal local rejection for classifiers,
Neurocomputing 2016). What can be reached is here the smallest number of false rejects for each number of true
rejects, the *front*, on which each target chooses its best point:

- cost c: the fewest accepted errors + c × rejected rows;
- coverage: the fewest accepted errors, if at least this share of the rows is accepted;
- risk: the most accepted rows, if at most this share of them is wrong.

The exact front is computed by dynamic programming over the groups, in time proportional to the square of the
number of errors. The greedy front has the points at which a next step of any group rejects more correct
predictions for each error than all steps before, in linear time after sorting. These are points of the exact
front, and for a cost the best point is among them.

A class or a region has a threshold of its own only if its held-out rows have significantly more or fewer
errors than rows of the same certainty elsewhere, because a threshold that is learned from few rows follows
their noise; all others share one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression

from lann._support.types import Floats, Indices, Labels

# The probability that any group has a threshold of its own, although it does not differ.
FALSE_ALARM = 0.05


def excess_errors(certainties: Floats, wrong: NDArray[np.bool_], inside: NDArray[np.bool_]) -> float:
    """Return by how many standard errors the errors inside differ from those of equal certainty outside.

    The probability of an error at each certainty is estimated from the rows outside, falling with certainty.

    Parameters
    ----------
    certainties, wrong, inside : (n_rows,)
    """
    n_inside, n_outside = int(inside.sum()), int((~inside).sum())
    if n_inside == 0 or n_outside == 0:
        return 0.0
    # Ranks, so that infinite certainties are numbers, too.
    ranks = np.searchsorted(np.sort(certainties[~inside]), certainties, side="right").astype(np.float64)
    curve = IsotonicRegression(increasing=False, out_of_bounds="clip")
    expected = curve.fit(ranks[~inside], wrong[~inside].astype(np.float64)).predict(ranks[inside])
    least = 1.0 / (n_outside + 2)
    expected = np.clip(expected, least, 1.0 - least)
    # The expected numbers are estimates, too.
    variance = (expected * (1.0 - expected)).sum() * (1.0 + n_inside / n_outside)
    return float((wrong[inside].sum() - expected.sum()) / np.sqrt(variance))


def merge_groups(certainties: Floats, wrong: NDArray[np.bool_], groups: Labels, n_groups: int) -> Labels:
    """Return the number of the threshold that each group has: 0 is shared.

    Parameters
    ----------
    certainties, wrong, groups : (n_rows,)
    n_groups : int

    Returns
    -------
    threshold_of : (n_groups,)
    """
    threshold_of = np.zeros(n_groups, np.int64)
    significant = norm.isf(FALSE_ALARM / 2 / n_groups)  # standard errors, for so many comparisons
    shared = list(range(n_groups))
    while len(shared) > 1:
        # The group that differs most is left out before the others are compared.
        rows = np.isin(groups, shared)
        excesses = [
            abs(excess_errors(certainties[rows], wrong[rows], groups[rows] == group)) for group in shared
        ]
        largest = int(np.argmax(excesses))
        if excesses[largest] <= significant:
            break
        threshold_of[shared.pop(largest)] = threshold_of.max() + 1
    return threshold_of


NOT_REACHED = np.iinfo(np.int64).max // 4


class Target(NamedTuple):
    """What thresholds are chosen for.

    Attributes
    ----------
    kind : {"cost", "coverage", "risk"}
    value : float
    """

    kind: str
    value: float


class Steps(NamedTuple):
    """The thresholds of a group that are worth considering: each rejects one more error, at least.

    Attributes
    ----------
    false, true : (n_steps,)
        Rejected correct predictions and rejected errors, ascending from 0.
    """

    false: Indices
    true: Indices


class Front(NamedTuple):
    """What can be reached together, and how; the first point rejects nothing, the last one all errors.

    Attributes
    ----------
    false, true : (n_points,)
        Rejected correct predictions, and rejected errors, which ascend.
    n_rejected : (n_points, n_groups)
        Rows of lowest certainty that are rejected in each group.
    """

    false: Indices
    true: Indices
    n_rejected: Indices


def group_steps(certainties: Floats, wrong: NDArray[np.bool_]) -> Steps:
    """Return the thresholds of a group that are worth considering.

    Parameters
    ----------
    certainties : (n_rows,)
    wrong : (n_rows,)
        Whether the prediction is wrong.
    """
    order = np.argsort(certainties, kind="stable")
    values, errors = certainties[order], np.cumsum(wrong[order])
    if len(values) == 0:
        return Steps(np.zeros(1, np.int64), np.zeros(1, np.int64))
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)  # ties are rejected together
    true = errors[ends]
    ends = ends[np.diff(true, prepend=0) > 0]
    true = np.append(0, errors[ends]).astype(np.int64)
    return Steps(np.append(0, ends + 1).astype(np.int64) - true, true)


def exact_front(groups: list[Steps]) -> Front:
    """Return the smallest number of false rejects for each number of true rejects that can be reached.

    Parameters
    ----------
    groups : list of Steps
    """
    n_errors = int(sum(steps.true[-1] for steps in groups))
    false = np.full(n_errors + 1, NOT_REACHED)
    false[0] = 0
    chosen = np.zeros((len(groups), n_errors + 1), np.int64)
    for group, steps in enumerate(groups):
        best = np.full(n_errors + 1, NOT_REACHED)
        for number, (f, t) in enumerate(zip(steps.false, steps.true, strict=True)):
            reached = false[: n_errors + 1 - t] + f
            better = reached < best[t:]
            best[t:][better] = reached[better]
            chosen[group, t:][better] = number
        false = best
    points = np.flatnonzero(false < NOT_REACHED)
    n_rejected = np.zeros((len(points), len(groups)), np.int64)
    left = points.copy()
    for group in range(len(groups) - 1, -1, -1):
        step = chosen[group, left]
        n_rejected[:, group] = groups[group].false[step] + groups[group].true[step]
        left = left - groups[group].true[step]
    return Front(false[points], points.astype(np.int64), n_rejected)


def greedy_front(groups: list[Steps]) -> Front:
    """Return the points that are reached by the steps of all groups in the order of what an error costs.

    Parameters
    ----------
    groups : list of Steps
    """
    pieces = [_convex(steps) for steps in groups]
    group = np.repeat(np.arange(len(groups)), [len(steps.true) - 1 for steps in pieces])
    false = np.concatenate([np.diff(steps.false) for steps in pieces])
    true = np.concatenate([np.diff(steps.true) for steps in pieces])
    order = np.argsort(false / np.maximum(true, 1), kind="stable")
    group, false, true = group[order], false[order], true[order]
    n_rejected = np.zeros((len(order) + 1, len(groups)), np.int64)
    n_rejected[np.arange(1, len(order) + 1), group] = false + true
    return Front(
        np.append(0, np.cumsum(false)).astype(np.int64),
        np.append(0, np.cumsum(true)).astype(np.int64),
        np.cumsum(n_rejected, axis=0),
    )


def _convex(steps: Steps) -> Steps:
    """Return the steps after which each further error costs more false rejects: the lower convex hull."""
    kept: list[int] = []
    for number in range(len(steps.true)):
        while len(kept) > 1:
            first, second = kept[-2], kept[-1]
            cheaper = (steps.false[number] - steps.false[first]) * (steps.true[second] - steps.true[first])
            if cheaper > (steps.false[second] - steps.false[first]) * (
                steps.true[number] - steps.true[first]
            ):
                break
            kept.pop()
        kept.append(number)
    return Steps(steps.false[kept], steps.true[kept])


def choose_point(front: Front, target: Target, *, n_rows: int, n_errors: int, n_total: int) -> int:
    """Return the number of the best point of a front.

    Parameters
    ----------
    front : Front
    target : Target
    n_rows, n_errors : int
        Rows of all groups, and errors among them.
    n_total : int
        All rows: those rejected for another reason count in the coverage.

    Returns
    -------
    point : int
        The last one, which rejects all errors, satisfies every risk.
    """
    rejected, accepted_errors = front.false + front.true, n_errors - front.true
    if target.kind == "cost":
        values, then = accepted_errors + target.value * rejected, rejected
    elif target.kind == "coverage":
        is_allowed = rejected <= budget_of(target.value, n_rows, n_total)
        values, then = np.where(is_allowed, accepted_errors, NOT_REACHED), rejected
    else:
        is_allowed = accepted_errors <= target.value * (n_rows - rejected)
        values, then = np.where(is_allowed, rejected, NOT_REACHED), accepted_errors
    # The smallest value; of equal ones, the one that is smallest by the other.
    return int(np.lexsort((then, values))[0])


def budget_of(coverage: float, n_rows: int, n_total: int) -> int:
    """Return how many rows of the groups can be rejected at most, with `n_total - n_rows` others."""
    most = int(np.floor((1.0 - coverage) * n_total + 1e-9))
    return max(most - (n_total - n_rows), 0)


def choose_thresholds(
    certainties: Floats,
    wrong: NDArray[np.bool_],
    groups: Labels,
    n_groups: int,
    target: Target,
    *,
    exact: bool = False,
    n_total: int | None = None,
) -> Floats:
    """Return the threshold of each group: rows below it are rejected.

    Parameters
    ----------
    certainties : (n_rows,)
    wrong : (n_rows,)
        Whether the prediction is wrong.
    groups : (n_rows,)
        Number of the group of each row.
    n_groups : int
    target : Target
    exact : bool, default=False
        Whether the front is exact rather than greedy.
    n_total : int or None, default=None
        Number of rows with those that are rejected for another reason; None is none of them.

    Returns
    -------
    thresholds : (n_groups,)
        -inf where no row is rejected.
    """
    n_total = len(certainties) if n_total is None else n_total
    members = [np.flatnonzero(groups == group) for group in range(n_groups)]
    members = [rows[np.argsort(certainties[rows], kind="stable")] for rows in members]
    steps = [group_steps(certainties[rows], wrong[rows]) for rows in members]
    front = (exact_front if exact else greedy_front)(steps)
    point = choose_point(front, target, n_rows=len(certainties), n_errors=int(wrong.sum()), n_total=n_total)
    n_rejected = front.n_rejected[point].copy()
    if target.kind == "coverage":
        budget = budget_of(target.value, len(certainties), n_total)
        n_rejected = _use_up(certainties, members, n_rejected, budget)
    sorted_values = [certainties[rows] for rows in members]
    return np.array([_between(v, n) for v, n in zip(sorted_values, n_rejected, strict=True)])


def _use_up(certainties: Floats, members: list[Indices], n_rejected: Indices, budget: int) -> Indices:
    """Reject the rows of lowest certainty in addition, as many as the budget allows."""
    left = budget - int(n_rejected.sum())
    rest = np.concatenate([rows[n:] for rows, n in zip(members, n_rejected, strict=True)])
    group = np.concatenate(
        [np.full(len(rows) - n, g) for g, (rows, n) in enumerate(zip(members, n_rejected, strict=True))]
    )
    order = np.lexsort((group, certainties[rest]))
    group, values = group[order], certainties[rest][order]
    # Rows of one group with equal certainties are rejected together.
    while 0 < left < len(values) and values[left] == values[left - 1]:
        left -= 1
    return n_rejected + np.bincount(group[: max(left, 0)].astype(np.int64), minlength=len(members))


def _between(values: Floats, n_rejected: int) -> float:
    """Return a threshold that rejects the first `n_rejected` of ascending values."""
    if n_rejected == 0:
        return -np.inf
    if n_rejected == len(values):
        return float(np.nextafter(values[-1], np.inf))
    low, high = values[n_rejected - 1], values[n_rejected]
    middle = low + (high - low) / 2 if np.isfinite(high - low) else high
    return float(middle if low < middle <= high else high)
