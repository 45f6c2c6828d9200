"""What LMNN and MultiMetricLMNN share: parameters, initialization and loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lann._types import Floats, Indices, Labels
from lann._validation import STRENGTH, Array, Integer, Number, OneOf, ParameterTable
from lann.baselines._baseline import NEIGHBORS, NeighborBaseline
from lann.baselines._class_neighbors import nearest_same_class
from lann.baselines._large_margin.initial import Initialization, initial_components, mean_target_distance
from lann.baselines._large_margin.loss import LargeMarginLoss


class LargeMarginEstimator(NeighborBaseline):
    """Nearest neighbors under linear maps that are learned by a large-margin loss."""

    _parameters: ClassVar[ParameterTable] = {
        **NEIGHBORS,
        "n_targets": [Integer(1)],
        "n_components": [Integer(1), OneOf(None)],
        "init": [OneOf("pca", "identity"), Array(2, "(n_components, n_features)")],
        "push_weight": [Number(0, 1)],
        "alpha": [STRENGTH],
        "max_iter": [Integer(0)],
        "tol": [Number(0)],
    }

    def _initialize(self, X: Floats, labels: Labels) -> Initialization:
        components = initial_components(X, self.init, self.n_components)
        mapped = X @ components.T
        targets = nearest_same_class(mapped, labels, self.n_targets, n_jobs=self.n_jobs)
        return Initialization(components, targets, mean_target_distance(mapped, targets))

    def _loss(
        self, X: Floats, labels: Labels, groups: Indices, initialization: Initialization
    ) -> LargeMarginLoss:
        """Return the loss with distances in units of the margin."""
        return LargeMarginLoss(
            X / np.sqrt(initialization.margin),
            labels,
            initialization.targets,
            groups,
            push_weight=self.push_weight,
            n_jobs=self.n_jobs,
        )
