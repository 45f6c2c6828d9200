"""Self-adjusting memories, slow and obvious: lists of rows, and every distance computed when it is needed."""

import math

import numpy as np

HUGE = 1e300
FLOOR = 0.02
MASK = 2**64 - 1


def distances_to(x, rows):
    """Return squared distances over common features, scaled up to all."""
    found = []
    for row in rows:
        common = [f for f in range(len(x)) if not (math.isnan(x[f]) or math.isnan(row[f]))]
        total = 0.0
        for f in common:
            total += (row[f] - x[f]) * (row[f] - x[f])
        if not common:
            total = HUGE
        elif len(common) < len(x):
            total *= len(x) / len(common)
        found.append(total)
    return np.array(found)


def nearest_rows(x, rows, k):
    """Return the positions and squared distances of the k nearest; on a tie, the lower position."""
    distances = distances_to(x, rows)
    order = np.argsort(distances, kind="stable")[:k]
    return order, distances[order]


def vote_weights(distances):
    lengths = np.sqrt(distances)
    if lengths[-1] == 0:
        return np.ones(len(lengths))
    return lengths[-1] / np.maximum(lengths, lengths[-1] / 1e9)


def class_votes(x, rows, labels, k, n_classes):
    """Return the sum of the weights of the neighbors of each class."""
    votes = np.zeros(n_classes)
    if rows:
        order, distances = nearest_rows(x, rows, k)
        for position, weight in zip(order, vote_weights(distances), strict=True):
            votes[labels[position]] += weight
    return votes


class Random:
    def __init__(self, seed, n_compressions):
        self.state = (seed * 0x2545F4914F6CDD1D + n_compressions) & MASK

    def __call__(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        bits = self.state
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
        return ((bits ^ (bits >> 31)) >> 11) / 2**53


def start_centers(rows, n_centers, random):
    """Return the rows that k-means++ draws."""
    drawn = []
    for _ in range(n_centers):
        number = random()
        left = [r for r in range(len(rows)) if r not in drawn]
        weights = np.ones(len(left))
        if drawn:
            nearest = np.array([distances_to(rows[r], [rows[d] for d in drawn]).min() for r in left])
            if nearest.sum() > 0:
                weights = nearest
        left = [r for r, w in zip(left, weights, strict=True) if w > 0]
        passed = np.cumsum(weights[weights > 0])
        beyond = np.flatnonzero(passed > number * passed[-1])
        drawn.append(left[beyond[0]] if len(beyond) else left[-1])
    return drawn


def k_means(rows, n_centers, random):
    """Return centers of Lloyd's algorithm, and the center of each row."""
    rows = np.array(rows)
    drawn = start_centers(list(rows), n_centers, random)
    centers = rows[drawn].copy()
    members = np.array([distances_to(row, centers).argmin() for row in rows])
    members[drawn] = np.arange(n_centers)
    for _ in range(100):
        before = members.copy()
        for c in range(n_centers):
            own = rows[members == c]
            for f in range(rows.shape[1]):
                values = [v for v in own[:, f] if not math.isnan(v)]
                centers[c, f] = sum(values) / len(values) if values else math.nan
        nearest = np.empty(len(rows))
        for r, row in enumerate(rows):
            distances = distances_to(row, centers)
            if distances.min() < distances[members[r]]:
                members[r] = distances.argmin()
            nearest[r] = distances[members[r]]
        if np.array_equal(before, members):
            break
        for c in range(n_centers):
            if not (members == c).any():
                sizes = np.bincount(members, minlength=n_centers)
                candidates = np.flatnonzero(sizes[members] > 1)
                farthest = candidates[nearest[candidates].argmax()]
                members[farthest], nearest[farthest] = c, np.inf
    return centers, members


class SelfAdjustingMemories:
    """SAM-kNN on lists.

    Attributes
    ----------
    short, long : lists of (row, label)
    hits : list of three booleans for each short-term row
    windows : for each candidate window, (number of its first row, hits of its rows but the first k)
    """

    def __init__(self, n_classes, *, k=5, total=100, long=40, smallest=20, seed=0):
        self.n_classes, self.k, self.total, self.long_limit = n_classes, k, total, long
        self.smallest, self.seed = smallest, seed
        self.short, self.long, self.hits, self.windows = [], [], [], []
        self.known, self.n_seen, self.n_compressions, self.resets = set(), 0, 0, []

    def votes(self, x):
        """Return the votes of the classes by the short-term rows, the long-term rows and both: (3, C)."""
        found = []
        for rows in (self.short, self.long, self.short + self.long):
            found.append(class_votes(x, [r for r, _ in rows], [y for _, y in rows], self.k, self.n_classes))
        return np.array(found)

    def predict_proba(self, x):
        if not self.known:
            return np.full(self.n_classes, 1 / self.n_classes)
        number = 0
        if len(self.long) >= self.k:
            number = int(np.sum(self.hits, axis=0).argmax())
        votes = self.votes(x)[number]
        known = np.isin(np.arange(self.n_classes), list(self.known))
        return np.where(known, (votes / votes.sum() + FLOOR / known.sum()) / (1 + FLOOR), 0)

    def learn(self, x, y):
        votes = self.votes(x)
        hits = [bool(v.any() and v.argmax() == y) for v in votes]
        hits[1] &= len(self.long) >= self.k
        self.short.append((x, y))
        self.hits.append(hits)
        self.known.add(y)
        self.n_seen += 1
        self.limit_sizes()
        if len(self.short) > self.k:
            self.long = self.cleaned(self.long, len(self.short) - 1)
        self.update_windows()
        if len(self.windows) > 1:
            self.choose_window()

    def limit_sizes(self):
        if len(self.short) + len(self.long) <= self.total:
            return
        if len(self.long) <= self.long_limit:
            n_moved = self.long_limit - len(self.long) + 1
            self.long += self.short[:n_moved]
            self.short, self.hits, self.windows = self.short[n_moved:], self.hits[n_moved:], []
        random = Random(self.seed, self.n_compressions)
        self.n_compressions += 1
        compressed = []
        for label in sorted({y for _, y in self.long}):
            rows = [r for r, y in self.long if y == label]
            centers, _ = k_means(rows, max(len(rows) // 2, 1), random)
            compressed += [(center, label) for center in centers]
        self.long = compressed

    def cleaned(self, rows, position):
        """Return the rows without those that a short-term row removes."""
        x, y = self.short[position]
        others = self.short[:position] + self.short[position + 1 :]
        order, distances = nearest_rows(x, [r for r, _ in others], self.k)
        same = [d for p, d in zip(order, distances, strict=True) if others[p][1] == y]
        if not same or not rows:
            return rows
        order, distances = nearest_rows(x, [r for r, _ in rows], self.k)
        wrong = {p for p, d in zip(order, distances, strict=True) if rows[p][1] != y and d <= max(same)}
        return [row for p, row in enumerate(rows) if p not in wrong]

    def replayed(self, size):
        """Return whether each row of the newest `size`, but the first k, is predicted by those before it."""
        rows = self.short[len(self.short) - size :]
        found = []
        for i in range(self.k, size):
            before = rows[:i]
            votes = class_votes(
                rows[i][0], [r for r, _ in before], [y for _, y in before], self.k, self.n_classes
            )
            found.append(votes.argmax() == rows[i][1])
        return found

    def sizes(self):
        sizes = [len(self.short)]
        while sizes[-1] // 2 >= self.smallest:
            sizes.append(sizes[-1] // 2)
        return sizes

    def update_windows(self):
        updated = []
        for j, size in enumerate(self.sizes()):
            first = self.n_seen - size
            if j >= len(self.windows):
                updated.append((first, self.replayed(size)))
                continue
            before, hits = self.windows[j]
            if first == before + 1:
                hits = hits[1:]
            if size > self.k:
                rows = self.short[len(self.short) - size : -1]
                x, y = self.short[-1]
                votes = class_votes(x, [r for r, _ in rows], [y for _, y in rows], self.k, self.n_classes)
                hits = [*hits, votes.argmax() == y]
            updated.append((first, hits))
        self.windows = updated

    def choose_window(self):
        accuracies = np.round([np.mean(hits) for _, hits in self.windows], 4)
        if accuracies.argmax() == 0:
            return
        for j, size in enumerate(self.sizes()):
            if accuracies[j] > accuracies[0]:
                self.windows[j] = (self.windows[j][0], self.replayed(size))
        best = int(np.round([np.mean(hits) for _, hits in self.windows], 4).argmax())
        if best > 0:
            size = self.sizes()[best]
            self.resets.append((self.n_seen - 1, len(self.short), size))
            dropped, self.short = self.short[:-size], self.short[-size:]
            self.hits, self.windows = self.hits[-size:], self.windows[best:]
            if len(self.short) > self.k:
                for position in range(size):
                    dropped = self.cleaned(dropped, position)
            self.long += dropped
