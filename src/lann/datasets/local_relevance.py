"""Data of which is known where which features matter: the truth that explanations are held against."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real

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
    Generate points whose label depends on other features in every region.

    The first feature is the gate: its range is cut into equal regions. In each region the label depends on
    that region's own `n_relevant` features alone, by a rule of its own:

    - ``"xor"``: whether their product is positive;
    - ``"radial"``: whether they lie far from the origin together;
    - ``"linear"``: whether their sum is positive.

    Everywhere else these features are noise, as all others are. Both classes are equally frequent in every
    region. A feature that a method names for a point is right if it decides there: `mask` knows.

    Parameters
    ----------
    n_samples
        Number of points.
    n_features
        Number of features, the gate and all others counted.
    n_regions
        Number of regions. Each needs `n_relevant` features that are no other's.
    n_relevant
        How many features decide in a region.
    rules
        The rules of the regions, in turn.
    n_decoys
        How many features follow a relevant one without deciding anything.
    decoy_correlation
        Their correlation with the feature that they follow.
    n_duplicates
        How many features are copies of a relevant one. A copy decides as much as the feature itself: `mask`
        has both.
    label_noise
        Share of the labels that are turned over.
    random_state
        Seed or generator, for the same data on every call.

    Returns
    -------
    X
        Points, (n_samples, n_features). All features have mean 0 and standard deviation 1; the gate, column
        0, is uniform, the others are Gaussian and in random order.
    y
        0 or 1, (n_samples,).
    mask
        Which features decide at each point, (n_samples, n_features). The gate is in no mask: it says which
        features decide, everywhere alike, and scores leave it out.

    Examples
    --------
    >>> from lann.datasets import make_local_relevance
    >>> X, y, mask = make_local_relevance(600, 12, random_state=0)
    >>> X.shape, mask.sum(axis=1).tolist() == [2] * 600
    ((600, 12), True)
    >>> far_left, far_right = X[:, 0].argmin(), X[:, 0].argmax()
    >>> bool((mask[far_left] & mask[far_right]).any())
    False
    """
    from sklearn.utils import check_random_state, check_scalar

    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_regions, "n_regions", Integral, min_val=1)
    check_scalar(n_relevant, "n_relevant", Integral, min_val=1)
    check_scalar(n_decoys, "n_decoys", Integral, min_val=0)
    check_scalar(n_duplicates, "n_duplicates", Integral, min_val=0)
    check_scalar(decoy_correlation, "decoy_correlation", Real, min_val=-1, max_val=1)
    check_scalar(label_noise, "label_noise", Real, min_val=0, max_val=0.5)
    n_deciding = n_regions * n_relevant
    needed = 1 + n_deciding + n_decoys + n_duplicates
    check_scalar(n_features, "n_features", Integral, min_val=needed)
    if not rules or any(rule not in RULES for rule in rules):
        raise ValueError(f"rules must be some of {', '.join(map(repr, RULES))}; got {rules!r}.")

    rng = check_random_state(random_state)
    gate = rng.uniform(-1.0, 1.0, n_samples)
    region = np.minimum(((gate + 1.0) / 2.0 * n_regions).astype(int), n_regions - 1)
    # In order: deciding features, region by region; decoys; duplicates; noise. Shuffled at the end.
    others = rng.standard_normal((n_samples, n_features - 1))
    followed = rng.permutation(np.resize(np.arange(n_deciding), n_decoys + n_duplicates))
    ends = n_deciding + n_decoys, n_deciding + n_decoys + n_duplicates
    others[:, n_deciding : ends[0]] *= np.sqrt(1.0 - decoy_correlation**2)
    others[:, n_deciding : ends[0]] += decoy_correlation * others[:, followed[:n_decoys]]
    others[:, ends[0] : ends[1]] = others[:, followed[n_decoys:]]

    y = np.zeros(n_samples, np.int64)
    decides = np.zeros((n_samples, n_features - 1), bool)
    for place in range(n_regions):
        rows, columns = region == place, np.arange(n_relevant) + place * n_relevant
        y[rows] = _decide(rules[place % len(rules)], others[np.ix_(rows, columns)])
        copies = ends[0] + np.flatnonzero(np.isin(followed[n_decoys:], columns))
        decides[np.ix_(rows, np.concatenate([columns, copies]))] = True
    turned = rng.random_sample(n_samples) < label_noise
    y[turned] = 1 - y[turned]

    order = rng.permutation(n_features - 1)
    X = np.column_stack([np.sqrt(3.0) * gate, others[:, order]])
    mask = np.column_stack([np.zeros(n_samples, bool), decides[:, order]])
    return X, y, mask


def _decide(rule: str, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The labels of points, given their deciding features: (n_points, n_relevant)."""
    from scipy.stats import chi2

    if rule == "xor":
        return np.prod(values, axis=1) > 0
    if rule == "radial":
        return np.sum(values**2, axis=1) > chi2.median(values.shape[1])
    return np.sum(values, axis=1) > 0
