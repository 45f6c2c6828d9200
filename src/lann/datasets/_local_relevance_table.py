"""Tables with known local relevance of categories and numbers, to evaluate explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# By rule: how many relevant categories and numbers it has.
RULES = {"category": (1, 0), "category_number": (1, 1), "categories": (2, 0), "numbers": (0, 2)}


def make_local_relevance_table(
    n_samples: int = 2500,
    *,
    rules: Sequence[str] = ("category", "category_number", "numbers"),
    n_categories: int = 10,
    n_noise_numbers: int = 3,
    n_noise_categories: int = 3,
    label_noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Any, NDArray[np.int64], NDArray[np.bool_]]:
    """
    Generate a table in which the label depends on different numbers and categories in every region.

    The first feature, the gate, is a number that divides the table into regions of equal width, one for every
    rule. For every categorical feature, a random half of its categories are *members*. In each region the
    label depends only on the features of that region, by one of these rules:

    - ``"category"``: whether the category is a member;
    - ``"category_number"``: whether the category is a member, exclusive or whether a number is positive;
    - ``"categories"``: whether one category is a member, exclusive or whether another one is;
    - ``"numbers"``: whether one number is positive, exclusive or whether another one is.

    In all other regions these features are noise.

    Parameters
    ----------
    n_samples : int, default=2500
        The number of samples.
    rules : sequence of {"category", "category_number", "categories", "numbers"}, \
            default=("category", "category_number", "numbers")
        The rules of the regions.
    n_categories : int, default=10
        The number of categories of every categorical feature, all equally frequent. If it is odd, fewer than
        half of them are members.
    n_noise_numbers : int, default=3
        The number of numeric features that are relevant in no region.
    n_noise_categories : int, default=3
        The number of categorical features that are relevant in no region.
    label_noise : float, default=0.0
        The fraction of labels that are flipped.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same data on every call.

    Returns
    -------
    X : DataFrame of shape (n_samples, n_features)
        The table. Its columns are "x0", the gate, with a uniform distribution, and "x1", "x2", … in random
        order: numbers with a Gaussian distribution, and categories as text. All numbers have mean 0 and
        standard deviation 1.
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
    make_local_relevance : The same with numbers only.

    Examples
    --------
    >>> from lann.datasets import make_local_relevance_table
    >>> X, y, mask = make_local_relevance_table(600, random_state=0)
    >>> X.shape, X.select_dtypes("number").shape, sorted(set(mask.sum(axis=1).tolist()))
    ((600, 12), (600, 7), [1, 2])
    >>> X["x1"].head(3).tolist()
    ['c4', 'c8', 'c4']
    """
    import pandas as pd
    from sklearn.utils import check_random_state

    from lann._validation import Integer, Number, validate

    validate("n_samples", n_samples, Integer(1))
    validate("n_categories", n_categories, Integer(2))
    validate("n_noise_numbers", n_noise_numbers, Integer(0))
    validate("n_noise_categories", n_noise_categories, Integer(0))
    validate("label_noise", label_noise, Number(0, 0.5))
    if not rules or any(rule not in RULES for rule in rules):
        raise ValueError(f"rules must be some of {', '.join(map(repr, RULES))}; got {rules!r}.")

    rng = check_random_state(random_state)
    gate = rng.uniform(-1.0, 1.0, n_samples)
    region = np.minimum(((gate + 1.0) / 2.0 * len(rules)).astype(int), len(rules) - 1)
    # Relevant features, region by region, then noise; shuffled at the end.
    n_texts = sum(RULES[rule][0] for rule in rules) + n_noise_categories
    n_numbers = sum(RULES[rule][1] for rule in rules) + n_noise_numbers
    codes = rng.randint(n_categories, size=(n_samples, n_texts))
    numbers = rng.standard_normal((n_samples, n_numbers))
    members = np.argsort(rng.random_sample((n_texts, n_categories)), axis=1) < n_categories // 2
    # Membership and positive signs, (n_samples, n_features); labels are exclusive ors of these.
    holds = np.column_stack([members[np.arange(n_texts), codes], numbers > 0])

    y = np.zeros(n_samples, np.int64)
    relevant = np.zeros((n_samples, n_texts + n_numbers), bool)
    next_text, next_number = 0, n_texts
    for index, rule in enumerate(rules):
        n_own_texts, n_own_numbers = RULES[rule]
        own = [*range(next_text, next_text + n_own_texts), *range(next_number, next_number + n_own_numbers)]
        next_text, next_number = next_text + n_own_texts, next_number + n_own_numbers
        rows = region == index
        y[rows] = np.logical_xor.reduce(holds[np.ix_(rows, own)], axis=1)
        relevant[np.ix_(rows, own)] = True
    flipped = rng.random_sample(n_samples) < label_noise
    y[flipped] = 1 - y[flipped]

    order = rng.permutation(n_texts + n_numbers)
    names = np.array([f"c{code}" for code in range(n_categories)], dtype=object)
    columns = {"x0": np.sqrt(3.0) * gate}
    for position, feature in enumerate(order.tolist(), start=1):
        is_text = feature < n_texts
        columns[f"x{position}"] = names[codes[:, feature]] if is_text else numbers[:, feature - n_texts]
    return pd.DataFrame(columns), y, np.column_stack([np.zeros(n_samples, bool), relevant[:, order]])
