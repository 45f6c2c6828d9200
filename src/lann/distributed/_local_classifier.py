"""The ordinary classifier of some of the rows of a cluster, in the memory of one process."""

from __future__ import annotations

from typing import Any, NamedTuple

import lann.classifier
from lann._updatable import mark_as_learned
from lann.distributed._shard import SearchPlan, Shard
from lann.model import LocalModel
from lann.vote import VoteRule

# Fitted attributes that both classifiers have.
SHARED_ATTRIBUTES = (
    "classes_", "n_features_in_", "feature_names_in_", "schema_", "vote_", "levels_", "n_iter_",
    "loss_curve_", "validation_curve_", "n_neighbors_", "power_", "encoding_", "curves_", "components_",
)  # fmt: skip


class FittedParts(NamedTuple):
    """What the ordinary classifier of any rows of a cluster has, beside these rows.

    Attributes
    ----------
    parameters, attributes : dict
    plan : SearchPlan
    rule : VoteRule
    """

    parameters: dict[str, Any]
    attributes: dict[str, Any]
    plan: SearchPlan
    rule: VoteRule

    def classifier(self, rows: Shard) -> lann.classifier.LANNClassifier:
        """Return the ordinary classifier of some rows, which searches and votes as the cluster does.

        Parameters
        ----------
        rows : Shard
            Their numbers become the order of their arrival, and by that their names.
        """
        local = lann.classifier.LANNClassifier(**self.parameters)
        for name, value in self.attributes.items():
            setattr(local, name, value)
        local.model_ = LocalModel(
            rows.levels,
            n_candidates=self.plan.n_candidates,
            n_neighbors=self.attributes["vote_"].n_neighbors,
            power=self.rule.power,
            floor=self.rule.floor,
            class_weight=self.rule.class_weight,
            epsilon=self.rule.epsilon,
            index=self.plan.index_of(rows.cells),
            arrivals=rows.numbers,
            n_arrived=self.plan.n_rows,
        )
        mark_as_learned(local)
        return local
