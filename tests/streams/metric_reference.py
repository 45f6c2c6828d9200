"""The learned metric of SAMLANN, its votes and its loss, in plain NumPy and one row at a time."""

import numpy as np

from lann.streams._memory import N_LONG, N_SEEN, POINTS, START, STOP

GUARD = 1e-3
TIMELESS, AGED, PLAIN, RECENT = range(4)
# Search, number of neighbors and power; vote 0 is that of SAMKNN.
VOTES = [
    None, (PLAIN, 50, 0.5), (TIMELESS, 5, 2.0), (AGED, 5, 2.0), (AGED, 50, 2.0), (RECENT, 5, 2.0),
    (RECENT, 20, 1.0), (RECENT, 50, 0.5), (RECENT, 50, 2.0),
]  # fmt: skip


def curve(metric, X):
    """Return the values of the curves: integrals of the slopes, bin by bin."""
    differences = X - metric.center
    # Values that differ from all others so far are one standard deviation away from them.
    others = np.where(np.abs(differences) > 1e-12 * np.abs(metric.center), np.sign(differences), 0.0)
    Z = np.where(np.isinf(metric.scale), others, differences / metric.scale)
    values = np.zeros(Z.shape)
    for feature, (edges, slopes) in enumerate(zip(metric.edges, metric.slopes, strict=True)):
        limits = np.concatenate([[-np.inf], edges, [np.inf]])
        for number, slope in enumerate(slopes):
            low, high = limits[number], limits[number + 1]
            # The part of the way from the first edge to the value that is in this bin.
            start = np.clip(edges[0], low, high)
            values[:, feature] += slope * (np.clip(Z[:, feature], low, high) - start)
    return np.where(np.isnan(X), np.nan, values)


def stored(clf, search):
    """Return rows, labels, ages and weights of the rows that a search is about."""
    memories, limits = clf.memories_, clf.limits_
    start, stop, n_long = (int(memories.counters[c]) for c in (START, STOP, N_LONG))
    seen = memories.counters[N_SEEN]
    oldest = max(stop - limits.total, 0) if search == RECENT else start
    n_long = 0 if search == RECENT else n_long
    X = np.hstack([memories.short_X[:, oldest:stop], memories.long_X[:, :n_long]]).T
    labels = np.concatenate([memories.short_labels[oldest:stop], memories.long_labels[:n_long]])
    arrivals = np.concatenate([memories.short_arrivals[oldest:stop], memories.long_arrivals[:n_long]])
    logs = [memories.short_extras[POINTS][:, oldest:stop], memories.long_extras[POINTS][:, :n_long]]
    weights = clf.metric_.class_weights[labels] * np.exp(np.hstack(logs).T)
    return X, labels, seen - arrivals, weights


def distances(clf, x, search):
    """Return the squared distances of a row to the rows that a search is about, and their labels."""
    X, labels, ages, weights = stored(clf, search)
    if search == PLAIN:
        steps, weights = X - x, np.ones(X.shape)
    else:
        steps = curve(clf.metric_, X) - curve(clf.metric_, x[None])
    common = np.isfinite(steps).sum(axis=1)
    squared = np.nansum(weights * steps**2, axis=1) * len(x) / np.maximum(common, 1)
    squared[common == 0] = 1e300
    if search in (AGED, RECENT):
        axis = np.log1p(ages) / np.log1p(clf.limits_.total)
        squared = squared + clf.metric_.typical[0] * np.exp(2 * clf.metric_.age[0]) * axis**2
    return squared, labels


def vote(clf, x, number):
    """Return the probabilities of the classes by one vote."""
    search, n_neighbors, power = VOTES[number]
    squared, labels = distances(clf, x, search)
    order = np.argsort(squared, kind="stable")
    # The guard of plain distances is a part of the 50th.
    guard = GUARD * (clf.metric_.typical[0] if search != PLAIN else squared[order[:50]][-1])
    support = (squared[order] + guard) ** -power
    shares = np.bincount(labels[order[:n_neighbors]], support[:n_neighbors], minlength=len(clf.classes_))
    return (shares / shares.sum() + 0.02 / len(clf.classes_)) / 1.02


def recent_neighbors(clf, x):
    """Return the positions of the neighbors among the newest rows from which a row learns."""
    return np.argsort(distances(clf, x, RECENT)[0], kind="stable")[:50]


def loss(clf, x, label):
    """Return the loss of a row among its nearest among the newest rows: the trained loss, all of them."""
    squared, labels = distances(clf, x, RECENT)
    order = recent_neighbors(clf, x)
    support = (squared[order] + GUARD * clf.metric_.typical[0]) ** -3.0
    same = support[labels[order] == label].sum()
    return -np.log((same + 0.02 * support.sum()) / (1.02 * support.sum()))
