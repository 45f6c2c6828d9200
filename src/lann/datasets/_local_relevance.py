"""Data with known local relevance, to evaluate explanations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

RULES = ("xor", "radial", "linear")


def make_local_relevance(
    n_samples: int = 2500,
    n_features: int = 12,
    *,
    n_regions: int = 3,
    n_relevant: int = 2,
    rules: Sequence[str] = RULES,
    n_decoys: int = 0,
    decoy_correlation: float = 0.8,
    n_duplicates: int = 0,
    label_noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """
    Generate data in which the label depends on different features in every region.

    The first feature, the gate, divides the data into regions of equal width. In each region the label
    depends only on the `n_relevant` features of that region, by one of these rules:

    - ``"xor"``: whether their product is positive;
    - ``"radial"``: whether the sum of their squares is above its median;
    - ``"linear"``: whether their sum is positive.

    In all other regions these features are noise. Both classes are equally frequent in every region. The
    returned `mask` has the relevant features of every sample, with which those named by an explanation can
    be compared.

    Parameters
    ----------
    n_samples : int, default=2500
        The number of samples.
    n_features : int, default=12
        The number of features, including the gate. At least
        ``1 + n_regions * n_relevant + n_decoys + n_duplicates``.
    n_regions : int, default=3
        The number of regions. No feature is relevant in two regions.
    n_relevant : int, default=2
        The number of relevant features in each region.
    rules : sequence of {"xor", "radial", "linear"}, default=("xor", "radial", "linear")
        The rules of the regions, repeated if there are more regions than rules.
    n_decoys : int, default=0
        The number of features that are correlated with a relevant one, but do not influence the label.
    decoy_correlation : float, default=0.8
        The correlation of the decoys with the relevant feature.
    n_duplicates : int, default=0
        The number of features that are copies of a relevant one. A copy is as relevant as the original:
        `mask` contains both.
    label_noise : float, default=0.0
        The fraction of labels that are flipped.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same data on every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The features, with mean 0 and standard deviation 1. The gate, column 0, has a uniform distribution;
        the others are Gaussian and in random order.
    y : ndarray of shape (n_samples,)
        The labels, 0 or 1.
    mask : ndarray of shape (n_samples, n_features)
        Whether each feature is relevant to each sample. It is False for the gate, which selects the region
        and is left out of scores.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    See Also
    --------
    make_local_relevance_table : A table with numbers and categories.
    make_artificial_classification : Data whose relevant features are the same everywhere.
    make_licorice : Data whose relevant directions depend on the region.

    Examples
    --------
    >>> from lann.datasets import make_local_relevance
    >>> X, y, mask = make_local_relevance(600, 12, random_state=0)
    >>> X.shape, mask.sum(axis=1).tolist() == [2] * 600
    ((600, 12), True)
    >>> first_region, last_region = X[:, 0].argmin(), X[:, 0].argmax()
    >>> bool((mask[first_region] & mask[last_region]).any())
    False
    """
    from sklearn.utils import check_random_state

    from lann._validation import Integer, Number, validate

    validate("n_samples", n_samples, Integer(1))
    validate("n_regions", n_regions, Integer(1))
    validate("n_relevant", n_relevant, Integer(1))
    validate("n_decoys", n_decoys, Integer(0))
    validate("n_duplicates", n_duplicates, Integer(0))
    validate("decoy_correlation", decoy_correlation, Number(-1, 1))
    validate("label_noise", label_noise, Number(0, 0.5))
    n_all_relevant = n_regions * n_relevant
    validate("n_features", n_features, Integer(1 + n_all_relevant + n_decoys + n_duplicates))
    if not rules or any(rule not in RULES for rule in rules):
        raise ValueError(f"rules must be some of {', '.join(map(repr, RULES))}; got {rules!r}.")

    rng = check_random_state(random_state)
    gate = rng.uniform(-1.0, 1.0, n_samples)
    region = np.minimum(((gate + 1.0) / 2.0 * n_regions).astype(int), n_regions - 1)
    # Columns, shuffled at the end: relevant features, region by region; decoys; duplicates; noise.
    columns = rng.standard_normal((n_samples, n_features - 1))
    originals = rng.permutation(np.resize(np.arange(n_all_relevant), n_decoys + n_duplicates))
    first_duplicate = n_all_relevant + n_decoys
    _add_decoys(columns[:, :first_duplicate], originals[:n_decoys], decoy_correlation)
    columns[:, first_duplicate : first_duplicate + n_duplicates] = columns[:, originals[n_decoys:]]

    y = np.zeros(n_samples, np.int64)
    relevant = np.zeros((n_samples, n_features - 1), bool)
    for index in range(n_regions):
        rows, own = region == index, np.arange(n_relevant) + index * n_relevant
        y[rows] = _labels(rules[index % len(rules)], columns[np.ix_(rows, own)])
        copies = first_duplicate + np.flatnonzero(np.isin(originals[n_decoys:], own))
        relevant[np.ix_(rows, np.concatenate([own, copies]))] = True
    flipped = rng.random_sample(n_samples) < label_noise
    y[flipped] = 1 - y[flipped]

    order = rng.permutation(n_features - 1)
    X = np.column_stack([np.sqrt(3.0) * gate, columns[:, order]])
    mask = np.column_stack([np.zeros(n_samples, bool), relevant[:, order]])
    return X, y, mask


def _add_decoys(columns: NDArray[np.float64], originals: NDArray[np.int64], correlation: float) -> None:
    """Make the last columns correlated with the original ones, in place."""
    decoys = columns[:, columns.shape[1] - len(originals) :]
    decoys *= np.sqrt(1.0 - correlation**2)
    decoys += correlation * columns[:, originals]


def _labels(rule: str, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the labels of rows, given the values of their relevant features, (n_rows, n_relevant)."""
    from scipy.stats import chi2

    if rule == "xor":
        return np.prod(values, axis=1) > 0
    if rule == "radial":
        return np.sum(values**2, axis=1) > chi2.median(values.shape[1])
    return np.sum(values, axis=1) > 0
