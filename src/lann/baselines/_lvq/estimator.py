"""Generalized learning vector quantization: what GRLVQ, GMLVQ and their local variants share."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann._validation import RANDOM_STATE, Integer, Number, OneOf, ParameterTable
from lann.baselines._baseline import COMMON, Baseline
from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.initial import starting_axes, starting_prototypes
from lann.baselines._lvq.metric_forms import DiagonalForm, Form, MatrixForm, of_trace_one
from lann.baselines._lvq.model import Prototypes
from lann.baselines._lvq.solvers import solve
from lann.explain import Explanation

# The norm that maps start with. Only their direction matters, so the larger they are, the slower they change
# compared with the prototypes.
START_NORM = 3.0

LVQ: ParameterTable = {
    "prototypes_per_class": [Integer(1)],
    "squashing": [OneOf("sigmoid", "identity")],
    "steepness": [Number(0, closed="right")],
    "alpha": [Number(0)],
    "solver": [OneOf("lbfgs", "stochastic")],
    "max_iter": [Integer(0)],
    "tol": [Number(0)],
    "random_state": RANDOM_STATE,
    **COMMON,
}
MATRIX: ParameterTable = {"n_components": [Integer(1), OneOf(None)]}
LOCAL: ParameterTable = {"metric_per": [OneOf("prototype", "class")]}


class GeneralizedLVQ(Baseline):
    """Prototypes and their metrics, learned together; the nearest prototype gives the label.

    Subclasses define which metric each prototype has (`_owners`), and its form.
    """

    _form: ClassVar[Form]
    model_: Prototypes

    def _owners(self, labels: Labels) -> Indices:
        """Return the metric of each prototype, (n_prototypes,): one for all."""
        return np.zeros(len(labels), np.int64)

    def _n_axes(self) -> int:
        return self.n_features_in_

    def _fit_model(self, X: Floats, labels: Labels) -> Prototypes:
        n_axes, rng = self._n_axes(), self._rng()
        # Learned around zero and at unit scale, so that step sizes suit data in any units.
        center = X.mean(axis=0)
        points = X - center
        scale = float(np.sqrt(np.square(points).mean())) or 1.0
        points /= scale
        with single_threaded_blas():
            prototypes, prototype_labels = starting_prototypes(points, labels, self.prototypes_per_class, rng)
            owners = self._owners(prototype_labels)
            raw, _ = of_trace_one(self._form.start(int(owners[-1]) + 1, starting_axes(points, n_axes)))
            cost = Cost(
                points, labels, prototype_labels, owners, self._form,
                steepness=self.steepness if self.squashing == "sigmoid" else None,
                alpha=self.alpha, n_jobs=self.n_jobs,
            )  # fmt: skip
            minimum = solve(
                self.solver, cost, prototypes, START_NORM * raw,
                max_iter=self.max_iter, tol=self.tol, rng=rng,
                name=type(self).__name__, verbose=self.verbose,
            )  # fmt: skip
        prototypes, (maps, _) = minimum.arrays[0] * scale + center, of_trace_one(minimum.arrays[1])
        self.prototypes_, self.prototype_labels_ = prototypes, self.classes_[prototype_labels]
        self.n_iter_, self.loss_curve_ = minimum.n_iter, minimum.losses
        return Prototypes(prototypes, prototype_labels, owners, maps, self._form, training_rows=X)

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

    def _n_axes(self) -> int:
        if self.n_components is not None and self.n_components > self.n_features_in_:
            raise ValueError(
                f"n_components={self.n_components} exceeds the {self.n_features_in_} features; "
                "None takes all."
            )
        return self.n_features_in_ if self.n_components is None else self.n_components


class LocalLVQ(GeneralizedLVQ):
    """Metrics that prototypes own. Subclasses have the parameter `metric_per`."""

    def _owners(self, labels: Labels) -> Indices:
        return labels if self.metric_per == "class" else np.arange(len(labels))
