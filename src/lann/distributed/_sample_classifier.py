"""The training on a sample of the rows, which gives what all rows share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lann.classifier
from lann._support.types import Floats, Labels
from lann.columns.schema import TableSchema
from lann.metric import Encoding, Levels
from lann.training import Epoch, Settings, TrainingResult, train_sample
from lann.vote import VoteChoice


class SharedResult(NamedTuple):
    """What the training on a sample gives.

    Attributes
    ----------
    trained : TrainingResult
    vote : VoteChoice
    settings : Settings
        Of the training of the point metrics of all rows.
    n_candidates : int or None
        Size of the shortlist.
    """

    trained: TrainingResult
    vote: VoteChoice
    settings: Settings
    n_candidates: int | None

    @property
    def shared(self) -> Levels:
        """The shared levels, without rows."""
        none = np.empty(0, np.int64)
        return self.trained.levels.subset(none).replace(point_matrices=None)


class SampleClassifier(lann.classifier.LANNClassifier):
    """The ordinary classifier, as far as it is trained on a sample."""

    # Those of all rows, and not of the sample.
    _weights_of_all: Floats | None = None

    def train(
        self,
        rows: Floats,
        labels: Labels,
        classes: NDArray[Any],
        schema: TableSchema,
        class_weight: Floats | None,
        rng: np.random.Generator,
        *,
        callback: Callable[[Epoch], bool],
    ) -> SharedResult:
        """Choose the vote and train all levels on a sample.

        Parameters
        ----------
        rows : (n_rows, n_features)
        labels : (n_rows,)
            Class indices.
        classes : (n_classes,)
        schema : TableSchema
        class_weight : (n_classes,) or None
            That of all rows.
        rng : Generator
        callback : callable
            Called after every epoch; the training stops if it returns True.
        """
        self.classes_, self._weights_of_all = classes, class_weight
        encoding = Encoding.plain(rows, schema.n_categories)
        start = Levels.plain(rows, labels, len(classes), encoding=encoding)
        self._select_vote(start)
        settings = self._settings(class_weight)
        trained = train_sample(start, settings, rng, callback=callback)
        return SharedResult(trained, self.vote_, settings, self._shortlist_size(None))

    def _class_weights(self, labels: Labels, row_weights: Floats | None) -> Floats | None:
        return self._weights_of_all
