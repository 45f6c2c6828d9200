"""SAM-kNN: nearest neighbors with self-adjusting memories, for streams that drift."""

from __future__ import annotations

from typing import Any, ClassVar

from lann._support.types import Floats, Labels
from lann._support.validation import ParameterTable
from lann.streams._memory import new_memories
from lann.streams._sam import SIZES, SelfAdjustingClassifier
from lann.streams._sam_kernels import learn_rows, predict_rows


class SAMKNN(SelfAdjustingClassifier):
    """Nearest neighbors with self-adjusting memories, for streams of rows whose distribution changes.

    The short-term memory has the newest rows. After every row its size is chosen among n, n/2, n/4, …: that
    at which rows are best predicted by those before them. Rows that it drops go to the long-term memory,
    which keeps what the short-term memory does not contradict and is compressed when it is full. The
    neighbors in the short-term memory, in the long-term memory, or in both vote: those whose votes were right
    most often of late.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote, weighted by 1/distance.
    window_size : int, default=5000
        Largest number of rows in both memories.
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
        Recent accuracy of the votes of the short-term memory, of the long-term memory and of both.
    drifts_ : list of Drift
        The last times, at most 1000, that the short-term memory was made smaller.
    n_drifts_ : int
        Number of times that the short-term memory was made smaller.
    limits_ : Limits
        The sizes that the parameters had when the first row was learned; other values have an effect after
        `fit` only.
    memories_ : Memories
        Both memories, in arrays.

    See Also
    --------
    lann.LANNClassifier : Learned metrics, for data that do not drift.

    Notes
    -----
    Distances are Euclidean in the units of X, as published. Missing values (NaN) are skipped: a distance is
    that over the features that both rows have, scaled up to all features. Of rows at the same distance, the
    older is nearer, and those in the short-term memory are nearer than those in the long-term memory.
    Distances below 1e-9 of the farthest neighbor's count as that much. The probability of a class is (share
    of the vote + 0.02/n_classes) / 1.02, as elsewhere in this package. Time per row and memory are bounded.

    References
    ----------
    V. Losing, B. Hammer, H. Wersing: KNN Classifier with Self Adjusting Memory for Heterogeneous Concept
    Drift. IEEE International Conference on Data Mining (ICDM), 2016.

    V. Losing, B. Hammer, H. Wersing: Tackling heterogeneous concept drift with the Self-Adjusting Memory
    (SAM). Knowledge and Information Systems 54, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.streams import SAMKNN
    >>> X = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> y = X[:, 0] > 0.5
    >>> y[1000:] = ~y[1000:]  # a drift
    >>> clf = SAMKNN(random_state=0)
    >>> probabilities = clf.test_then_train(X, y)
    >>> bool((probabilities.argmax(axis=1) == y).mean() > 0.9)
    True
    >>> any(1000 < drift.row < 1100 for drift in clf.drifts_)
    True
    """

    _parameters: ClassVar[ParameterTable] = SIZES

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
        self.memories_ = new_memories(n_features, 0, self.limits_, seed)

    def _learn(self, X: Floats, labels: Labels, out: Floats) -> None:
        learn_rows(self.memories_, self.limits_, X, labels, out)

    def _predict(self, X: Floats, out: Floats) -> None:
        predict_rows(self.memories_, self.limits_, X, out)
