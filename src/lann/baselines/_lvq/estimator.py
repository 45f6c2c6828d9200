"""What GRLVQ, GMLVQ and their local variants share: the order of a fit, and explanations."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann._validation import RANDOM_STATE, STRENGTH, Integer, Number, OneOf, ParameterTable
from lann.baselines._baseline import COMMON, Baseline
from lann.baselines._components import check_n_components
from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.initial import initial_axes, initial_prototypes
from lann.baselines._lvq.metric_forms import DiagonalForm, MatrixForm, MetricForm, normalize_trace
from lann.baselines._lvq.model import Prototypes
from lann.baselines._lvq.solvers import minimize_cost
from lann.explain import Explanation

# Norm of the initial maps. Only their direction matters, so the larger they are, the slower they change
# compared with the prototypes.
INITIAL_NORM = 3.0

LVQ: ParameterTable = {
    "prototypes_per_class": [Integer(1)],
    "activation": [OneOf("sigmoid", "identity")],
    "steepness": [Number(0, closed="right")],
    "alpha": [STRENGTH],
    "solver": [OneOf("lbfgs", "stochastic")],
    "max_iter": [Integer(0)],
    "tol": [Number(0)],
    "random_state": RANDOM_STATE,
    **COMMON,
}
MATRIX: ParameterTable = {"n_components": [Integer(1), OneOf(None)]}
LOCAL: ParameterTable = {"metric_per": [OneOf("prototype", "class")]}


class GeneralizedLVQ(Baseline):
    """Generalized learning vector quantization: prototypes and their metrics are learned together.

    Subclasses define the form of the metrics, and which prototypes share one (`_metric_indices`).
    """

    _form: ClassVar[type[MetricForm]]
    model_: Prototypes

    def _metric_indices(self, labels: Labels) -> Indices:
        """Return the position of the metric of each prototype, (n_prototypes,): one metric for all."""
        return np.zeros(len(labels), np.int64)

    def _rank(self) -> int:
        """Return the number of rows of a map."""
        return self.n_features_in_

    def _fit_model(self, X: Floats, labels: Labels) -> Prototypes:
        rank, rng = self._rank(), self._rng()
        # Rows are centered and scaled as a whole, so that step sizes suit data in any units.
        center = X.mean(axis=0)
        scaled = X - center
        scale = float(np.sqrt(np.square(scaled).mean())) or 1.0
        scaled /= scale
        with single_threaded_blas():
            prototypes, prototype_labels = initial_prototypes(scaled, labels, self.prototypes_per_class, rng)
            metric_indices = self._metric_indices(prototype_labels)
            n_metrics = int(metric_indices[-1]) + 1
            maps, _ = normalize_trace(self._form.initial_maps(n_metrics, initial_axes(scaled, rank)))
            cost = Cost(
                scaled,
                labels,
                prototype_labels,
                metric_indices,
                self._form,
                steepness=self.steepness if self.activation == "sigmoid" else None,
                alpha=self.alpha,
                n_jobs=self.n_jobs,
            )
            minimum = minimize_cost(
                cost,
                prototypes,
                INITIAL_NORM * maps,
                solver=self.solver,
                settings=self._iteration_settings(),
                rng=rng,
            )
        prototypes, (maps, _) = minimum.arrays[0] * scale + center, normalize_trace(minimum.arrays[1])
        self.prototypes_, self.prototype_labels_ = prototypes, self.classes_[prototype_labels]
        self.n_iter_, self.loss_curve_ = minimum.n_iter, minimum.losses
        return Prototypes(prototypes, prototype_labels, metric_indices, maps, self._form, training_rows=X)

    def explain(self, X: ArrayLike, *, ids: ArrayLike | None = None) -> Explanation:
        """Explain predictions: the prototypes that voted, and the features that each prediction depends on.

        The neighbors in the explanation are the nearest prototype of every class, as rows of `prototypes_`,
        nearest first; their vote shares are the probabilities of their classes.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        ids : array-like of shape (n_prototypes,) or None, default=None
            Names of the prototypes; None is "prototype 0" and so on.

        Returns
        -------
        explanation : Explanation
        """
        if ids is None and hasattr(self, "prototypes_"):
            ids = np.array([f"prototype {number}" for number in range(len(self.prototypes_))])
        return super().explain(X, ids=ids)


class DiagonalLVQ(GeneralizedLVQ):
    """Metrics that are a weight per feature."""

    _form = DiagonalForm
    _parameters: ClassVar[ParameterTable] = LVQ


class MatrixLVQ(GeneralizedLVQ):
    """Metrics that are matrices. Subclasses have the parameter `n_components`."""

    _form = MatrixForm
    _parameters: ClassVar[ParameterTable] = {**LVQ, **MATRIX}

    def _rank(self) -> int:
        return check_n_components(self.n_components, self.n_features_in_)


class LocalLVQ(GeneralizedLVQ):
    """A metric per prototype or per class. Subclasses have the parameter `metric_per`."""

    def _metric_indices(self, labels: Labels) -> Indices:
        return labels if self.metric_per == "class" else np.arange(len(labels))
