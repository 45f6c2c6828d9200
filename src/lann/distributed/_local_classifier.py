"""The ordinary classifier of some of the rows of a cluster, in the memory of one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lann.classifier
from lann.distributed._shard import Shard
from lann.model import LocalModel
from lann.vote import VoteRule

if TYPE_CHECKING:
    from lann.distributed._classifier import LANNClassifier


def local_classifier(fitted: LANNClassifier, rows: Shard, rule: VoteRule) -> lann.classifier.LANNClassifier:
    """Return the ordinary classifier of some rows, which searches, measures and votes as the cluster does.

    Parameters
    ----------
    fitted : LANNClassifier
        That of the cluster.
    rows : Shard
        The numbers of the rows become the order of their arrival, and by that their names.
    rule : VoteRule
        That of the cluster.
    """
    left_out = {"rows_per_shard"}
    parameters = {k: v for k, v in fitted.get_params(deep=False).items() if k not in left_out}
    local = lann.classifier.LANNClassifier(**parameters)
    vote, plan = fitted.vote_, fitted.model_.plan
    local.model_ = LocalModel(
        rows.levels,
        n_candidates=plan.n_candidates,
        n_neighbors=vote.n_neighbors,
        power=rule.power,
        floor=rule.floor,
        class_weight=rule.class_weight,
        epsilon=rule.epsilon,
        index=plan.index_of(rows.cells),
        arrivals=rows.numbers,
        n_arrived=plan.n_rows,
    )
    same = (
        "classes_", "n_features_in_", "feature_names_in_", "schema_", "vote_", "levels_", "n_iter_",
        "loss_curve_", "validation_curve_", "n_neighbors_", "power_", "encoding_", "curves_", "components_",
    )  # fmt: skip
    for name in same:
        if hasattr(fitted, name):
            setattr(local, name, getattr(fitted, name))
    return local
