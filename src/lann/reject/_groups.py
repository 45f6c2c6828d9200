"""Groups of rows with a threshold of their own: only those that have other errors than the rest.

A threshold that is learned from few rows follows their noise. A class or a region has therefore a threshold
of its own only if its held-out rows have significantly more or fewer errors than rows of the same certainty
elsewhere; all others share one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression

from lann._types import Floats, Labels

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
