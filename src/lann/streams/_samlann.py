"""SAM-LANN: self-adjusting memories with a metric that is learned along the stream."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lann._support.types import Floats, Labels
from lann._support.validation import ParameterTable
from lann.streams._explain_learned import learned_dependence, learned_vote
from lann.streams._explain_one import DecidingVote, Dependence
from lann.streams._memory import new_memories
from lann.streams._metric import (
    N_GROUPS,
    NEXT_REFRESH,
    Metric,
    metric_with_classes,
    metric_with_columns,
    new_metric,
)
from lann.streams._metric_kernels import refresh
from lann.streams._sam import SIZES, SelfAdjustingClassifier
from lann.streams._samlann_kernels import Learned, Votes, learn_rows, new_votes, predict_rows


class SAMLANN(SelfAdjustingClassifier):
    """Nearest neighbors with self-adjusting memories and a learned metric, for streams of rows.

    The memories are those of `SAMKNN`; besides, the newest `window_size` rows are kept. Next to the vote of
    `SAMKNN`, the neighbors in both memories and among the newest rows vote under a metric that is learned
    from every row, by the gradient of its loss: a curve for each feature, weights of the features for each
    class and for each stored row, and a weight for the age of the stored rows. Values are standardized by
    running means and variances. The probabilities are to one half those of the vote with the best recent
    accuracy, and to the other those of all votes, weighted by their recent log-loss. Where `SAMKNN` was
    clearly more accurate of late, its vote decides.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors of the vote of `SAMKNN`, and for the sizes of the memories. The votes under the
        learned metric have 5, 20 and 50 neighbors.
    window_size : int, default=5000
        Largest number of rows in both memories, and number of the newest rows that are kept.
    long_term_share : float, default=0.4
        Share of `window_size` beyond which the long-term memory is compressed, once both memories are full.
    min_window_size : int, default=50
        Smallest size of the short-term memory that is considered; at least `n_neighbors` + 1 is used. With
        more than `window_size`, the memory is never made smaller: no drift is looked for.
    random_state : int, RandomState instance or None, default=None
        Seed of the compression. Pass an int for reproducible results.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    n_seen_ : int
        Number of rows that were learned.
    short_term_size_, long_term_size_ : int
        Number of rows in each memory.
    memory_weights_ : ndarray of shape (3,)
        Recent accuracy of the plain votes of the short-term memory, of the long-term memory and of both.
    drifts_ : list of Drift
        The last times, at most 1000, that the short-term memory was made smaller.
    n_drifts_ : int
        Number of times that the short-term memory was made smaller.
    limits_ : Limits
        The sizes that the parameters had when the first row was learned; other values have an effect after
        `fit` only.
    memories_ : Memories
        Both memories, in arrays.
    metric_ : Metric
        The learned metric, in arrays.
    votes_ : Votes
        Weights of the votes in the mixture; recent accuracy of the votes and of the mixture.

    See Also
    --------
    SAMKNN : The memories with plain distances.

    Notes
    -----
    What is learned from a row takes effect within ten rows. A row that leaves the short-term memory takes its
    weights along; compression averages their logarithms. Missing values (NaN) are skipped as in `SAMKNN`.
    Time per row and memory are bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.streams import SAMLANN
    >>> X = np.random.default_rng(0).uniform(size=(2000, 5)) * [1, 1, 10, 10, 10]
    >>> y = X[:, 0] > X[:, 1]
    >>> y[1000:] = ~y[1000:]  # a drift
    >>> clf = SAMLANN(random_state=0)
    >>> probabilities = clf.test_then_train(X, y)
    >>> bool((probabilities.argmax(axis=1) == y).mean() > 0.85)
    True
    """

    _parameters: ClassVar[ParameterTable] = SIZES
    metric_: Metric
    votes_: Votes

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        window_size: int = 5000,
        long_term_share: float = 0.4,
        min_window_size: int = 50,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.window_size = window_size
        self.long_term_share = long_term_share
        self.min_window_size = min_window_size
        self.random_state = random_state

    def _start(self, n_features: int, seed: int) -> None:
        self.memories_ = new_memories(n_features, 0, self.limits_, seed, n_extras=N_GROUPS * n_features)
        self.metric_ = new_metric(n_features, 0)
        self.votes_ = new_votes()

    @property
    def _learned(self) -> Learned:
        return Learned(self.memories_, self.metric_, self.votes_)

    def _learn(self, X: Floats, labels: Labels, out: Floats) -> None:
        learn_rows(self._learned, self.limits_, X, labels, out)

    def _predict(self, X: Floats, out: Floats) -> None:
        predict_rows(self._learned, self.limits_, X, out)

    def _explained(self, x: Floats) -> tuple[DecidingVote, Dependence]:
        return learned_vote(self._learned, self.limits_, x), learned_dependence(self._learned)

    def _reorder_classes(self, positions: Labels, n_classes: int) -> None:
        super()._reorder_classes(positions, n_classes)
        self.metric_ = metric_with_classes(self.metric_, positions, n_classes)

    def _add_columns(self, n_columns: int, value: float = np.nan) -> None:
        super()._add_columns(n_columns, value)
        self.metric_ = metric_with_columns(self.metric_, n_columns)

        def widened(extras: Floats) -> Floats:
            groups = extras.reshape(N_GROUPS, -1, extras.shape[1])
            return np.pad(groups, ((0, 0), (0, n_columns), (0, 0))).reshape(-1, extras.shape[1])

        self.memories_ = self.memories_._replace(
            short_extras=widened(self.memories_.short_extras), long_extras=widened(self.memories_.long_extras)
        )
        self.metric_.counters[NEXT_REFRESH] = 0
        refresh(self.metric_, self.memories_, self.limits_)
