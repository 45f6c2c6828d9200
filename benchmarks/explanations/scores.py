"""Scores of explanations: agreement with planted features, and fidelity to the predictions.

Relevances are not negative, one row per query: (n_queries, n_features). Features of equal relevance count as
ranked in random order, so that the order of the columns does not matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.common.arrays import Floats, Indices

Mask = NDArray[np.bool_]


def planted_auc(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Return the area under the ROC curve: how often a planted feature is more relevant than one that is not.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features

    Returns
    -------
    areas : (n_queries,) 1 if all planted features come first, .5 by chance; NaN if all or none are planted

    Examples
    --------
    >>> planted_auc([[3, 1, 2, 0], [1, 1, 1, 1]], [[True, False, True, False]] * 2).tolist()
    [1.0, 0.5]
    """
    from scipy.stats import rankdata

    found, mask = _checked(relevances, planted)
    n_planted = mask.sum(axis=1)
    pairs = n_planted * (mask.shape[1] - n_planted)
    # Mann–Whitney: pairs won, from the sum of the ranks.
    won = (rankdata(found, axis=1) * mask).sum(axis=1) - n_planted * (n_planted + 1) / 2
    return np.divide(won, pairs, out=np.full(len(mask), np.nan), where=pairs > 0)


def top_k_intersection(relevances: ArrayLike, planted: ArrayLike, k: int) -> Floats:
    """
    Return the share of planted features among the k most relevant, of as many as there can be.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features
    k
        Number of most relevant features that count.

    Returns
    -------
    shares : (n_queries,) NaN if nothing is planted

    Examples
    --------
    >>> top_k_intersection([[4, 3, 2, 1]], [[True, False, False, True]], k=3).tolist()
    [0.5]
    """
    found, mask = _checked(relevances, planted)
    if not 1 <= k <= found.shape[1]:
        raise ValueError(f"k={k} must be from 1 to {found.shape[1]}, the number of features.")
    return _share_among_top(found, mask, np.full(len(found), k))


def rank_accuracy(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Return the relevance rank accuracy: the top-k intersection with k the number of planted features.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features

    Returns
    -------
    shares : (n_queries,) NaN if nothing is planted

    References
    ----------
    L. Arras, A. Osman, W. Samek: CLEVR-XAI: A benchmark dataset for the ground truth evaluation of neural
    network explanations, Information Fusion 81 (2022), 14–40.

    Examples
    --------
    >>> rank_accuracy([[4, 3, 2, 1]], [[True, False, True, False]]).tolist()
    [0.5]
    """
    found, mask = _checked(relevances, planted)
    return _share_among_top(found, mask, mask.sum(axis=1))


def mass_accuracy(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Return the relevance mass accuracy: the share of the relevance on planted features.

    A row without any relevance counts as if all features had the same.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features

    Returns
    -------
    shares : (n_queries,)

    References
    ----------
    L. Arras, A. Osman, W. Samek: CLEVR-XAI: A benchmark dataset for the ground truth evaluation of neural
    network explanations, Information Fusion 81 (2022), 14–40.

    Examples
    --------
    >>> mass_accuracy([[6, 1, 2, 1]], [[True, False, True, False]]).tolist()
    [0.8]
    """
    found, mask = _checked(relevances, planted)
    total = found.sum(axis=1)
    return np.divide((found * mask).sum(axis=1), total, out=mask.mean(axis=1), where=total > 0)


def sparseness(relevances: ArrayLike) -> Floats:
    """
    Return the Gini index: 0 if all features are equally relevant, near 1 if few have all the relevance.

    Parameters
    ----------
    relevances : (n_queries, n_features)

    Returns
    -------
    indices : (n_queries,) 0 for a row without any relevance

    References
    ----------
    P. Chalasani, J. Chen, A. R. Chowdhury, S. Jha, X. Wu: Concise Explanations of Neural Networks using
    Adversarial Training, ICML 2020.

    Examples
    --------
    >>> sparseness([[1, 1, 1, 1], [0, 0, 0, 1]]).tolist()
    [0.0, 0.75]
    """
    found = np.sort(_not_negative(relevances), axis=1)
    n_features = found.shape[1]
    weights = 2 * np.arange(1, n_features + 1) - n_features - 1
    total = n_features * found.sum(axis=1)
    return np.divide(found @ weights, total, out=np.zeros(len(found)), where=total > 0)


def similarity(relevances: ArrayLike, others: ArrayLike) -> Floats:
    """
    Return the cosine similarity of explanations, row by row.

    For a query and a perturbation of it, this is the stability of a method.

    Parameters
    ----------
    relevances, others : (n_queries, n_features)

    Returns
    -------
    cosines : (n_queries,) 0 if either row has no relevance

    Examples
    --------
    >>> similarity([[3, 4], [1, 0]], [[6, 8], [0, 1]]).tolist()
    [1.0, 0.0]
    """
    left, right = _not_negative(relevances), _not_negative(others)
    if left.shape != right.shape:
        raise ValueError(f"Explanations of shape {left.shape} cannot be compared with {right.shape}.")
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.divide((left * right).sum(axis=1), norms, out=np.zeros(len(left)), where=norms > 0)


def most_relevant(relevances: ArrayLike, k: int) -> Indices:
    """
    Return the columns of the k most relevant features of each query, most relevant first: (n_queries, k).

    Examples
    --------
    >>> most_relevant([[1, 3, 2]], 2).tolist()
    [[1, 2]]
    """
    return np.argsort(-_not_negative(relevances), axis=1, kind="stable")[:, :k]


def probability_change(
    predict_proba: Callable[[Floats], Floats],
    queries: Floats,
    features: Indices,
    pool: Floats,
    *,
    n_draws: int = 10,
    random_state: int = 0,
) -> Floats:
    """
    Return how much the probability of the predicted label changes when features are replaced.

    In each draw, all given features of a query are replaced at once by the values of one row of the pool. An
    explanation is faithful if its features change the probability more than random features do.

    Parameters
    ----------
    predict_proba
        From (n, n_features) to (n, n_classes).
    queries : (n_queries, n_features)
    features : (n_queries, k), or (n_draws, n_queries, k) for other features in every draw
        Columns to replace.
    pool : (n_rows, n_features)
        Rows whose values are used, such as the training rows.
    n_draws
        Number of draws for each query.
    random_state
        Seed of the draws.

    Returns
    -------
    changes : (n_queries,) mean absolute change over the draws

    Examples
    --------
    >>> import numpy as np
    >>> def by_first_feature(X):
    ...     return np.column_stack([X[:, 0] <= 0, X[:, 0] > 0]).astype(float)
    >>> X = np.array([[-1.0, 5.0], [1.0, 6.0]])
    >>> probability_change(by_first_feature, X, np.array([[0], [0]]), X[::-1], n_draws=1000).round(1).tolist()
    [0.5, 0.5]
    >>> probability_change(by_first_feature, X, np.array([[1], [1]]), X).tolist()
    [0.0, 0.0]
    """
    rng = np.random.default_rng(random_state)
    rows = np.arange(len(queries))
    before = predict_proba(queries)
    predicted = before.argmax(axis=1)
    drawn = np.broadcast_to(features, (n_draws, *features.shape[-2:]))
    change = np.zeros(len(queries))
    for columns in drawn:  # one draw at a time: no more memory than the queries have
        donors = rng.integers(len(pool), size=len(queries))
        changed = queries.copy()
        changed[rows[:, None], columns] = pool[donors[:, None], columns]
        change += np.abs(predict_proba(changed)[rows, predicted] - before[rows, predicted])
    return change / n_draws


def _share_among_top(found: Floats, mask: Mask, k: Indices) -> Floats:
    """Return the expected share of planted features among the k[i] most relevant of row i."""
    rows, last = np.arange(len(found)), np.maximum(k, 1) - 1
    least = -np.sort(-found, axis=1)[rows, last][:, None]  # (n_queries, 1) relevance of the last one
    above, tied = found > least, found == least
    # The remaining features are drawn among the tied ones.
    share = (k - above.sum(axis=1)) / tied.sum(axis=1)
    hits = (mask & above).sum(axis=1) + share * (mask & tied).sum(axis=1)
    possible = np.minimum(k, mask.sum(axis=1))
    return np.divide(hits, possible, out=np.full(len(found), np.nan), where=possible > 0)


def _checked(relevances: ArrayLike, planted: ArrayLike) -> tuple[Floats, Mask]:
    found, mask = _not_negative(relevances), np.asarray(planted, dtype=bool)
    if found.shape != mask.shape:
        raise ValueError(f"Relevances of shape {found.shape} cannot be compared with a mask of {mask.shape}.")
    return found, mask


def _not_negative(relevances: ArrayLike) -> Floats:
    found = np.asarray(relevances, dtype=np.float64)
    if found.ndim != 2:
        raise ValueError(f"Relevances must have one row per query; got an array of {found.ndim} dimensions.")
    if not (found >= 0).all():  # also if NaN
        worst = found[~(found >= 0)][0]
        raise ValueError(f"Relevances must not be negative; got {worst}. Take the absolute values first.")
    return found
