"""Slow, obvious float64 versions of what is computed fast, reached through the `reference` fixture."""

import numpy as np


def distances(queries, points, weights):
    """d_j(x) = Σ_l w_jl (x_l − p_jl)² for every query and point: (n_queries, n_points)."""
    weights = np.broadcast_to(weights, points.shape)
    return np.array(
        [[np.sum(w * (x - p) ** 2) for p, w in zip(points, weights, strict=True)] for x in queries]
    )


def nearest(all_distances, k, exclude=None):
    """The k smallest of each row, equal ones by index."""
    rows = []
    for query, row in enumerate(all_distances):
        order = sorted(range(len(row)), key=lambda j, row=row: (row[j], j))
        if exclude is not None:
            order = [j for j in order if j != exclude[query]]
        rows.append(order[:k])
    indices = np.array(rows, dtype=np.int64).reshape(len(all_distances), k)
    return indices, np.take_along_axis(all_distances, indices, axis=1)


def shortlisted(coarse_distances, own_distances, n_candidates, k, exclude=None):
    """The nearest by `coarse_distances`, then the k nearest of these by `own_distances`."""
    candidates, _ = nearest(coarse_distances, n_candidates, exclude)
    kept = np.full_like(own_distances, np.inf)
    np.put_along_axis(kept, candidates, np.take_along_axis(own_distances, candidates, axis=1), axis=1)
    return nearest(kept, k)


def share_loss(distances, labels, label, power, floor):
    """−log[(A + ηT) / ((1 + η) T)] with supports d^−p."""
    support = distances**-power
    total, same = support.sum(), support[labels == label].sum()
    return -np.log((same + floor * total) / ((1 + floor) * total))


def softmax_loss(distances, labels, label, power, temperature, n_classes):
    """−log softmax(S / β) at the label."""
    scores = np.array([np.sum(distances[labels == c] ** -power) for c in range(n_classes)]) / temperature
    highest = scores.max()
    return highest + np.log(np.sum(np.exp(scores - highest))) - scores[label]


def weighted_loss(kind, distances, labels, label, power, strength, weights, n_classes):
    """The loss of a query whose neighbors' supports are multiplied by weights."""
    support = weights * distances**-power
    if kind == "shares":
        total, same = support.sum(), support[labels == label].sum()
        return -np.log((same + strength * total) / ((1 + strength) * total))
    scores = np.bincount(labels, support, n_classes) / strength
    return scores.max() + np.log(np.sum(np.exp(scores - scores.max()))) - scores[label]


def crps(distances, values, value, power, weights):
    """The continuous ranked probability score of the neighbors' values, by their supports."""
    shares = weights * distances**-power
    shares = shares / shares.sum()
    return shares @ np.abs(values - value) - 0.5 * shares @ np.abs(values[:, None] - values) @ shares


def slopes(function, x, step=1e-6):
    """Central differences of a function of an array, relative to the size of each entry."""
    result = np.zeros_like(x)
    for entry in np.ndindex(x.shape):
        h = step * max(1.0, abs(x[entry]))
        up, down = x.copy(), x.copy()
        up[entry] += h
        down[entry] -= h
        result[entry] = (function(up) - function(down)) / (2 * h)
    return result


def published_slopes(d, near_labels, label, temperature, n_classes):
    """∂E/∂d of each neighbor, and E: the paper's closed form."""
    scores = np.array([np.sum(1 / d[near_labels == c]) for c in range(n_classes)]) / temperature
    probabilities = np.exp(scores - scores.max())
    probabilities /= probabilities.sum()
    same = (1 - probabilities[label]) / (temperature * d**2)
    other = -probabilities[near_labels] / (temperature * d**2)
    loss = softmax_loss(d, near_labels, label, 1.0, temperature, n_classes)
    return np.where(near_labels == label, same, other), loss


def distances_to_all(x, points, weights):
    return np.sum(weights * (x - points) ** 2, axis=1)


def exhaustive_pass(
    points, labels, weights, rows, rate, *, k, epsilon, temperature, n_classes, norm=None,
    measure=distances_to_all, slopes_of=published_slopes,
):  # fmt: skip
    """The paper's loop: one point after another, all points searched, plain steps on λ, then the constraint.

    Changes `weights` in place and returns the mean loss. `norm` is what the weights of a point
    add up to; None bounds them.
    """
    total = 0.0
    for i in rows:
        near, d = nearest(measure(points[i], points, weights)[None], k, exclude=[i])
        near, d = near[0], d[0] + epsilon
        slopes, loss = slopes_of(d, labels[near], labels[i], temperature, n_classes)
        total += loss
        for j, slope in zip(near, slopes, strict=True):
            root = np.sqrt(weights[j]) * (1.0 - 2.0 * (rate * slope) * (points[i] - points[j]) ** 2)
            moved = root * root
            size = sum(moved)
            if not 0 < size < np.inf:
                continue
            if norm:
                weights[j] = moved * (norm / size)
            else:
                weights[j] = np.clip(moved, np.exp(-6.0), np.exp(6.0))
    return total / len(rows)


def batch_loss(points, weights, labels, batch, settings, matrices=None, row_weights=None):
    """The mean loss of training points among the candidates that are not dropped.

    weights : (n_points, n_axes); matrices : (n_points, n_axes, rank), None is I
    row_weights : (n_points,) factors of the support and of the loss of each point, None is 1
    """
    row_weights = np.ones(len(points)) if row_weights is None else row_weights
    matrices = np.tile(np.eye(points.shape[1]), (len(points), 1, 1)) if matrices is None else matrices
    rows, candidates, scales, epsilon = batch
    total = 0.0
    for i, own in zip(rows, candidates, strict=True):
        d = {
            j: epsilon
            + np.sum((matrices[j].T @ (np.sqrt(weights[j]) * scales * (points[i] - points[j]))) ** 2)
            for j in own
            if j >= 0
        }
        near = sorted(d, key=lambda j, d=d: (d[j], j))[: settings.n_neighbors]
        if near:
            squared = np.array([d[j] for j in near])
            total += row_weights[i] * weighted_loss(
                "shares", squared, labels[near], labels[i], settings.power, settings.floor,
                row_weights[near], labels.max() + 1,
            )  # fmt: skip
    return total / len(rows)


def matrix_distances(queries, points, matrices):
    """d_j(x) = ‖Ω_jᵀ (x − p_j)‖² for every query and point: (n_queries, n_points)."""
    return np.array(
        [
            [np.sum((m.T.astype(float) @ (x - p)) ** 2) for p, m in zip(points, matrices, strict=True)]
            for x in queries
        ]
    )
