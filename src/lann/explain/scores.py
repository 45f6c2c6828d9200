"""How good explanations are: whether they name what was planted, and what the predictions hang on.

Relevances are not negative, one row per query: (n_queries, n_features). Features of equal relevance count as
named in random order, so that a method gains nothing by the order of the columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._types import Floats, Indices

Mask = NDArray[np.bool_]


def planted_auc(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Area under the ROC curve: how often a planted feature is more relevant than one that is not.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True where a feature decides

    Returns
    -------
    areas : (n_queries,) 1 where all planted features come first, .5 for a guess; NaN where all or none is

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
    The share of planted features among the k most relevant, of as many as could be there.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True where a feature decides
    k
        How many features an explanation may name.

    Returns
    -------
    shares : (n_queries,) NaN where nothing is planted

    Examples
    --------
    >>> top_k_intersection([[4, 3, 2, 1]], [[True, False, False, True]], k=3).tolist()
    [0.5]
    """
    found, mask = _checked(relevances, planted)
    if not 1 <= k <= found.shape[1]:
        raise ValueError(f"k={k} must be from 1 to {found.shape[1]}, the number of features.")
    return _named_first(found, mask, np.full(len(found), k))


def rank_accuracy(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Relevance rank accuracy: the same with k the number of planted features, so that there is no spare place.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True where a feature decides

    Returns
    -------
    shares : (n_queries,) NaN where nothing is planted

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
    return _named_first(found, mask, mask.sum(axis=1))


def mass_accuracy(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Relevance mass accuracy: the share of the relevance that lies on planted features.

    A row without any relevance counts as if all features had the same.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True where a feature decides

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
    The Gini index: 0 where all features count alike, toward 1 where few carry everything.

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
    The cosine of the angle between explanations, row by row: 1 where they say the same.

    Of a query and of one beside it, it is the stability of a method.

    Parameters
    ----------
    relevances, others : (n_queries, n_features)

    Returns
    -------
    cosines : (n_queries,) 0 where either row has no relevance at all

    Examples
    --------
    >>> similarity([[3, 4], [1, 0]], [[6, 8], [0, 1]]).tolist()
    [1.0, 0.0]
    """
    left, right = _not_negative(relevances), _not_negative(others)
    if left.shape != right.shape:
        raise ValueError(f"Explanations of shape {left.shape} cannot be held against {right.shape}.")
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.divide((left * right).sum(axis=1), norms, out=np.zeros(len(left)), where=norms > 0)


def most_relevant(relevances: ArrayLike, k: int) -> Indices:
    """
    The columns of the k most relevant features of each query, the most relevant first: (n_queries, k).

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
    How much the probability of the predicted label changes when features have the values of other points.

    In each draw a point of the pool lends its values to all the named features of a query at once. An
    explanation is faithful if it names features by which this changes more than by features drawn by lot.

    Parameters
    ----------
    predict_proba
        From (n, n_features) to (n, n_classes).
    queries : (n_queries, n_features)
    features : (n_queries, k), or (n_draws, n_queries, k) for other features in every draw
        Columns to replace.
    pool : (n_points, n_features)
        Points whose values are taken, the training data for instance.
    n_draws
        How many points lend their values to each query.
    random_state
        Of these points: with the same seed they are the same.

    Returns
    -------
    changes : (n_queries,) mean absolute change over the draws

    Examples
    --------
    >>> import numpy as np
    >>> def first_decides(X):
    ...     return np.column_stack([X[:, 0] <= 0, X[:, 0] > 0]).astype(float)
    >>> X = np.array([[-1.0, 5.0], [1.0, 6.0]])
    >>> probability_change(first_decides, X, np.array([[0], [0]]), X[::-1], n_draws=1000).round(1).tolist()
    [0.5, 0.5]
    >>> probability_change(first_decides, X, np.array([[1], [1]]), X).tolist()
    [0.0, 0.0]
    """
    rng = np.random.default_rng(random_state)
    rows = np.arange(len(queries))
    before = predict_proba(queries)
    predicted = before.argmax(axis=1)
    drawn = np.broadcast_to(features, (n_draws, *features.shape[-2:]))
    change = np.zeros(len(queries))
    for columns in drawn:  # one draw at a time: no more memory than the queries have
        lenders = rng.integers(len(pool), size=len(queries))
        changed = queries.copy()
        changed[rows[:, None], columns] = pool[lenders[:, None], columns]
        change += np.abs(predict_proba(changed)[rows, predicted] - before[rows, predicted])
    return change / n_draws


def _named_first(found: Floats, mask: Mask, k: Indices) -> Floats:
    """The expected share of planted features among the k[i] most relevant of row i."""
    rows, last = np.arange(len(found)), np.maximum(k, 1) - 1
    least = -np.sort(-found, axis=1)[rows, last][:, None]  # (n_queries, 1) the least relevance that is named
    above, level = found > least, found == least
    # Whatever places are left are drawn among those of the same relevance.
    left = (k - above.sum(axis=1)) / level.sum(axis=1)
    hits = (mask & above).sum(axis=1) + left * (mask & level).sum(axis=1)
    possible = np.minimum(k, mask.sum(axis=1))
    return np.divide(hits, possible, out=np.full(len(found), np.nan), where=possible > 0)


def _checked(relevances: ArrayLike, planted: ArrayLike) -> tuple[Floats, Mask]:
    found, mask = _not_negative(relevances), np.asarray(planted, dtype=bool)
    if found.shape != mask.shape:
        raise ValueError(f"Relevances of shape {found.shape} cannot be held against a mask of {mask.shape}.")
    return found, mask


def _not_negative(relevances: ArrayLike) -> Floats:
    found = np.asarray(relevances, dtype=np.float64)
    if found.ndim != 2:
        raise ValueError(f"Relevances must have one row per query; got an array of {found.ndim} dimensions.")
    if not (found >= 0).all():  # NaN is not, either
        worst = found[~(found >= 0)][0]
        raise ValueError(f"Relevances must not be negative; got {worst}. Take the absolute values first.")
    return found
