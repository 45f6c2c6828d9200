"""Generalized learning vector quantization: what GRLVQ, GMLVQ and their local relatives share."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lann._inputs import feature_names
from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann._validation import Integer, Number, OneOf, validate
from lann.baselines._estimator import Baseline
from lann.baselines._glvq_cost import Cost
from lann.baselines._glvq_metrics import DiagonalForm, Form, MatrixForm, of_trace_one
from lann.baselines._glvq_model import Prototypes, inverse_shares
from lann.baselines._glvq_solvers import solve
from lann.baselines._glvq_start import starting_axes, starting_prototypes
from lann.explain.aggregate import mean_by_class
from lann.explain.explanation import Explanation

# The norm that maps start with. Only their direction matters, so the larger they are, the slower they turn,
# compared with how fast prototypes move.
START_NORM = 3.0


class GeneralizedLVQ(Baseline):
    """Prototypes and their metrics, learned together; the nearest prototype gives the label.

    Subclasses say whose the metrics are (`_owners`), and of what form.
    """

    _form: ClassVar[Form]
    _model: Prototypes

    def _owners(self, labels: Labels) -> Indices:
        """Which metric each prototype measures with: one for all.

        labels : (n_prototypes,) ascending
        """
        return np.zeros(len(labels), np.int64)

    def _check_parameters(self) -> None:
        validate("prototypes_per_class", self.prototypes_per_class, Integer(1))
        validate("squashing", self.squashing, OneOf("sigmoid", "identity"))
        validate("steepness", self.steepness, Number(0, closed="right"))
        validate("alpha", self.alpha, Number(0))
        validate("solver", self.solver, OneOf("lbfgs", "stochastic"))
        validate("max_iter", self.max_iter, Integer(0))
        validate("tol", self.tol, Number(0))

    def _n_axes(self) -> int:
        return self.n_features_in_

    def _learn(self, points: Floats, labels: Labels) -> None:
        rank, rng = self._n_axes(), self._rng()
        # Learned around zero and at a spread of one, so that the steps suit data of any unit.
        center = points.mean(axis=0)
        points = points - center
        spread = float(np.sqrt(np.square(points).mean())) or 1.0
        points /= spread
        with single_threaded_blas():
            places, owned = starting_prototypes(points, labels, self.prototypes_per_class, rng)
            owners = self._owners(owned)
            raw, _ = of_trace_one(self._form.start(int(owners[-1]) + 1, starting_axes(points, rank)))
            cost = Cost(
                points, labels, owned, owners, self._form,
                steepness=self.steepness if self.squashing == "sigmoid" else None,
                alpha=self.alpha, n_jobs=self.n_jobs,
            )  # fmt: skip
            found = solve(
                self.solver, cost, places, START_NORM * raw,
                max_iter=self.max_iter, tol=self.tol, rng=rng,
                name=type(self).__name__, verbose=self.verbose,
            )  # fmt: skip
        places, (maps, _) = found.arrays[0] * spread + center, of_trace_one(found.arrays[1])
        self._model = Prototypes(places, owned, owners, maps, self._form)
        self.prototypes_, self.prototype_labels_ = places, self.classes_[owned]
        self.n_iter_, self.loss_curve_ = found.n_iter, found.losses
        self.feature_weights_ = self._model.relevances()
        self.class_feature_weights_ = mean_by_class(self.feature_weights_, owned, len(self.classes_))
        self.mean_feature_weights_ = self.feature_weights_.mean(axis=0)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Each class's share of 1/d, with d the squared distance to its nearest prototype.

        (n_queries, n_classes)
        """
        distances = self._model_distances(self._check_queries(X))
        return inverse_shares(self._model.nearest_of_classes(distances)[1])

    def explain(self, X: ArrayLike) -> Explanation:
        """The prototypes behind each prediction, and what every feature had to do with it.

        The "neighbors" are the nearest prototype of every class, as rows of `prototypes_`, nearest first;
        their vote shares are the probabilities of their classes. The relevances are those of the nearest.
        """
        queries = self._check_queries(X)
        nearest, distances = self._model.nearest_of_classes(self._model_distances(queries))
        shares = inverse_shares(distances)
        order = np.argsort(distances, axis=1, kind="stable")
        indices = np.take_along_axis(nearest, order, axis=1)
        contributions = self._model.contributions(queries, indices)
        relevances = self.feature_weights_[indices[:, 0]]
        return Explanation(
            queries=queries,
            predictions=self.classes_[shares.argmax(axis=1)],
            probabilities=shares,
            neighbors=indices,
            neighbor_ids=np.array([f"prototype {place}" for place in range(len(self.prototypes_))])[indices],
            neighbor_labels=self.prototype_labels_[indices],
            distances=contributions.sum(axis=2),
            vote_shares=np.take_along_axis(shares, order, axis=1),
            contributions=contributions,
            relevances=relevances,
            feature_weights=relevances,
            feature_names=feature_names(self),
            classes=self.classes_,
        )

    def _model_distances(self, queries: Floats) -> Floats:
        return self._model.distances(queries, n_jobs=self.n_jobs)


class DiagonalLVQ(GeneralizedLVQ):
    """Metrics that are a weight per feature."""

    _form = DiagonalForm


class MatrixLVQ(GeneralizedLVQ):
    """Metrics that are matrices. Subclasses have the parameter `n_components`."""

    _form = MatrixForm

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validate("n_components", self.n_components, Integer(1), OneOf(None))

    def _n_axes(self) -> int:
        if self.n_components is not None and self.n_components > self.n_features_in_:
            raise ValueError(
                f"n_components={self.n_components} exceeds the {self.n_features_in_} features; "
                "None takes all."
            )
        return self.n_features_in_ if self.n_components is None else self.n_components


class LocalLVQ(GeneralizedLVQ):
    """Metrics of the prototypes' own. Subclasses have the parameter `metric_per`."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validate("metric_per", self.metric_per, OneOf("prototype", "class"))

    def _owners(self, labels: Labels) -> Indices:
        return labels if self.metric_per == "class" else np.arange(len(labels))
