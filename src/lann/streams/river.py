"""Classifiers for river: rows as dictionaries, one at a time, whose features can come and go.

Needs the package river: ``pip install 'lann[streams]'``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats
from lann._support.validation import Integer, validate
from lann.streams._dict_classifier import DictClassifier, Row
from lann.streams._feature_columns import NewColumn
from lann.streams._growing_memories import GrowingMemories
from lann.streams._refitted_lann import RefittedLANN

try:
    from river.base import MiniBatchClassifier
except ImportError as error:
    raise ImportError("lann.streams.river needs the package river: pip install 'lann[streams]'.") from error

if TYPE_CHECKING:
    from lann.streams._explanation import StreamExplanation
    from lann.streams._sam import SelfAdjustingClassifier

__all__ = ["LANNClassifier", "SAMKNNClassifier", "SAMLANNClassifier"]


class _MemoryClassifier(DictClassifier, MiniBatchClassifier):
    """What the classifiers with self-adjusting memories have in common."""

    def __init__(
        self,
        n_neighbors: int = 5,
        window_size: int = 5000,
        long_term_share: float = 0.4,
        min_window_size: int = 50,
        max_categories: int = 50,
        seed: int | None = None,
    ) -> None:
        super().__init__(max_categories)
        self.n_neighbors = n_neighbors
        self.window_size = window_size
        self.long_term_share = long_term_share
        self.min_window_size = min_window_size
        self.seed = seed
        self._model = GrowingMemories(
            self._estimator_class()(
                n_neighbors,
                window_size=window_size,
                long_term_share=long_term_share,
                min_window_size=min_window_size,
                random_state=seed,
            )
        )

    @classmethod
    @abstractmethod
    def _estimator_class(cls) -> type[SelfAdjustingClassifier]:
        """Return the classifier in scikit-learn's form."""

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"window_size": 100, "min_window_size": 20}

    def explain_one(self, x: Row) -> StreamExplanation:
        """Explain the prediction for one row by the memories as they are now.

        Parameters
        ----------
        x : dict
            As in `learn_one`; features that have not been learned are ignored.

        Returns
        -------
        explanation : StreamExplanation
            The rows that voted, their age and memory, and the features in which the classes differ, now and
            before the last drift. A category is a feature of its own, such as ``color=red``.

        Raises
        ------
        ValueError
            If no row with a value has been learned.
        """
        if not self._model.is_started:
            raise ValueError("Nothing has been learned that could explain a prediction.")
        labels = _as_objects(self._classes)
        found = self._model.estimator.explain_one(self._columns.row(x)[None])
        return replace(
            found,
            prediction=labels[found.prediction],
            classes=labels[found.classes],
            neighbor_labels=labels[found.neighbor_labels],
            feature_names=np.array(self._columns.names, object),
        )

    def debug_one(self, x: Row) -> str:
        """Return the explanation of a prediction as text; `debug_one` of pipelines shows it.

        Parameters
        ----------
        x : dict

        Returns
        -------
        text : str
        """
        return str(self.explain_one(x)) if self._model.is_started else "Nothing has been learned."

    @property
    def _n_learned(self) -> int:
        return self._model.n_learned

    def _learn(self, rows: Floats, classes: Sequence[int], new: Sequence[NewColumn]) -> None:
        self._model.learn(rows, classes, new)

    def _probabilities(self, rows: Floats) -> Floats:
        return self._model.probabilities(rows)

    def _can_measure(self, rows: Floats) -> NDArray[np.bool_]:
        if not self._model.is_started:
            return np.zeros(len(rows), np.bool_)
        return super()._can_measure(rows)


def _as_objects(labels: Iterable[Any]) -> NDArray[Any]:
    """Return labels as an array, each as it is."""
    found = list(labels)
    objects = np.empty(len(found), object)
    objects[:] = found
    return objects


class SAMKNNClassifier(_MemoryClassifier):
    """Nearest neighbors with self-adjusting memories, for river.

    Distances are measured in the units of the features: scale these beforehand if they differ, for instance
    by ``preprocessing.StandardScaler() | SAMKNNClassifier()``. A category of a feature with text is a column
    of its own; two rows of different categories are as far apart as the numbers 0 and 1. A missing value is
    skipped: a distance is that over the features that both rows have, scaled up to all features.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote, weighted by 1/distance.
    window_size : int, default=5000
        Largest number of rows in both memories.
    long_term_share : float, default=0.4
        Share of `window_size` beyond which the long-term memory is compressed, once both memories are full.
    min_window_size : int, default=50
        Smallest size of the short-term memory that is considered.
    max_categories : int, default=50
        Number of categories of a feature that have a column of their own; all others share one.
    seed : int or None, default=None
        Of the compression.

    See Also
    --------
    lann.streams.SAMKNN : The classifier in scikit-learn's form.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from lann.streams.river import SAMKNNClassifier
    >>> model = preprocessing.StandardScaler() | SAMKNNClassifier(seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.85
    True
    """

    @classmethod
    def _estimator_class(cls) -> type[SelfAdjustingClassifier]:
        from lann.streams._samknn import SAMKNN

        return SAMKNN


class SAMLANNClassifier(_MemoryClassifier):
    """Nearest neighbors with self-adjusting memories and a learned metric, for river.

    Features need not be scaled: they are standardized by running means and variances inside. A category of a
    feature with text is a column of its own.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors of the plain vote, and for the sizes of the memories.
    window_size : int, default=5000
        Largest number of rows in both memories.
    long_term_share : float, default=0.4
        Share of `window_size` beyond which the long-term memory is compressed, once both memories are full.
    min_window_size : int, default=50
        Smallest size of the short-term memory that is considered.
    max_categories : int, default=50
        Number of categories of a feature that have a column of their own; all others share one.
    seed : int or None, default=None
        Of the compression.

    See Also
    --------
    lann.streams.SAMLANN : The classifier in scikit-learn's form.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from lann.streams.river import SAMLANNClassifier
    >>> model = SAMLANNClassifier(seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.85
    True
    """

    @classmethod
    def _estimator_class(cls) -> type[SelfAdjustingClassifier]:
        from lann.streams._samlann import SAMLANN

        return SAMLANN


class LANNClassifier(DictClassifier, MiniBatchClassifier):
    """Locally adaptive nearest neighbors over the newest rows, for river.

    Every new row is added by `partial_fit` of `lann.LANNClassifier`, which adapts the metrics of its
    neighbors. All metrics are learned again from the rows that are kept when their number has doubled since
    the last time, at the latest after `refit_every` rows, and at once when a label or a feature is new. Plain
    kNN votes before there are 50 rows.

    A category of a feature with text is a column of its own. There is no need to scale numbers.

    Parameters
    ----------
    max_points : int, default=1000
        Number of the newest rows that are kept.
    refit_every : int, default=1000
        Largest number of rows after which all metrics are learned again.
    max_categories : int, default=50
        Number of categories of a feature that have a column of their own; all others share one.
    seed : int or None, default=None
        Determines the order of the rows in training, and dropout.
    **parameters : dict
        Further parameters of `lann.LANNClassifier`, such as ``n_neighbors=5``.

    See Also
    --------
    lann.LANNClassifier : The classifier in scikit-learn's form.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from lann.streams.river import LANNClassifier
    >>> model = LANNClassifier(max_points=200, max_iter=2, seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy()).get() > 0.8
    True
    """

    def __init__(
        self,
        max_points: int = 1000,
        refit_every: int = 1000,
        max_categories: int = 50,
        seed: int | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__(max_categories)
        validate("max_points", max_points, Integer(10))
        validate("refit_every", refit_every, Integer(1))
        self.max_points = max_points
        self.refit_every = refit_every
        self.seed = seed
        self.parameters = parameters
        for name in ("forget_policy", "random_state"):
            if name in parameters:
                raise ValueError(f"{name} cannot be given: the newest rows are kept, and seed is the seed.")
        self._model = RefittedLANN(max_points, refit_every, {**parameters, "random_state": seed})

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"max_points": 60, "refit_every": 500, "max_iter": 1}

    @property
    def _n_learned(self) -> int:
        return self._model.n_learned

    def _learn_part(self, names: list[Any], values: Floats, labels: Sequence[Any]) -> None:
        # Row by row, so that an interrupt leaves no row half-learned.
        for row, label in zip(values, labels, strict=True):
            super()._learn_part(names, row[None], [label])

    def _learn(self, rows: Floats, classes: Sequence[int], new: Sequence[NewColumn]) -> None:
        self._model.learn(rows[0], classes[0], new)

    def _probabilities(self, rows: Floats) -> Floats:
        return self._model.probabilities(rows)

    def _can_measure(self, rows: Floats) -> NDArray[np.bool_]:
        return self._model.can_measure(rows)
