"""What a page needs to predict: the arrays of a fitted model, which `model.js` reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann.explorer._pack import Pack, rounded
from lann.metric import Encoding, MatrixMetric
from lann.model import LocalModel, NeighborModel
from lann.search import FAR, N_NEIGHBORS


def add_model(pack: Pack, model: NeighborModel, *, single: bool) -> dict[str, Any] | None:
    """Add the arrays of a model, without its rows, and return the header; None if the page cannot predict.

    Parameters
    ----------
    pack : Pack
    model : NeighborModel
    single : bool
        Whether the metrics of rows are rounded to float32.
    """
    if isinstance(model, LocalModel):
        header = _add_local(pack, model, single=single)
    elif hasattr(model, "maps") and (hasattr(model, "groups") or hasattr(model, "metric_indices")):
        header = _add_groups(pack, model)
    else:
        return None
    rule = model.vote_rule
    pack.add("rowWeights", model.row_weights)
    return header | {
        "nRows": model.n_rows,
        "nClasses": model.n_classes,
        "nNeighbors": model.n_neighbors,
        "nVoters": model.n_voters,
        "power": rule.power,
        "epsilon": rule.epsilon,
        "floor": rule.floor,
        "mixture": None if rule.mixture is None else rule.mixture.tolist(),
        "classWeight": None if rule.class_weight is None else rule.class_weight.tolist(),
    }


def _add_local(pack: Pack, model: LocalModel, *, single: bool) -> dict[str, Any]:
    shared, metric = model.memory.shared, model.metric
    if isinstance(metric, MatrixMetric):
        name, own, rank = "matrices", metric.matrices, metric.rank
    else:
        name, own, rank = "weights", metric.weights, 0
    if rank or "point" in model.levels.in_use or own.dtype == np.float32:
        dtype = "f4" if single or own.dtype == np.float32 else "f8"
        pack.add(name, rounded(own), dtype)
    if shared.class_log_weights.any():
        pack.add("classWeights", np.exp(shared.class_log_weights))
    pack.add("maps", shared.components)
    cells = None
    if model.index is not None:
        partition = model.index.partition
        pack.add("cells", model.index.cells, "u2" if partition.n_cells < 2**16 else "u4")
        pack.add("cellCenters", partition.centers)
        pack.add("cellOffset", partition.offset)
        pack.add("cellScale", partition.scale)
        cells = {"nProbed": model.index.n_probed, "usual": 2 * N_NEIGHBORS, "far": FAR}
    return {
        "encoding": _add_encoding(pack, shared.encoding),
        "nAxes": model.n_axes,
        "nMaps": 1,
        "rank": rank,
        "nCandidates": model.n_candidates,
        "pointsAreSingle": metric.points.dtype == np.float32,
        "cells": cells,
    }


def _add_groups(pack: Pack, model: Any) -> dict[str, Any]:
    """Add the maps of groups of rows, or of prototypes: the models of baselines."""
    maps, n_features = model.maps, model.X.shape[1]
    groups = model.groups if hasattr(model, "groups") else model.metric_indices
    if maps.ndim == 2:  # the diagonals of matrices
        maps = maps[:, :, None] * np.eye(n_features)
    pack.add("maps", maps)
    pack.add("groups", groups, "u4")
    return {
        "encoding": _add_encoding(pack, Encoding.identity(n_features)),
        "nAxes": maps.shape[1],
        "nMaps": len(maps),
        "rank": 0,
        "nCandidates": None,
        "pointsAreSingle": False,
        "prototypes": not model.has_training_rows,
    }


def _add_encoding(pack: Pack, encoding: Encoding) -> dict[str, Any]:
    curves, gaps = encoding.curves, encoding.gaps
    for name in ("edges", "slopes", "widths", "thresholds", "jumps"):
        pack.add(name, getattr(curves, name))
    for name in ("heights", "centers", "scales", "precision"):
        pack.add(name, getattr(gaps, name))
    parts = [positions.positions.ravel() for positions in encoding.positions]
    means = [positions.mean for positions in encoding.positions]
    pack.add("positions", np.concatenate([np.empty(0), *parts]))
    pack.add("categoryMeans", np.concatenate([np.empty(0), *means]))
    return {
        "nFeatures": encoding.n_features,
        "numbers": encoding.number_features.tolist(),
        "categories": [
            {
                "feature": feature,
                "nCategories": positions.n_categories,
                "hasGaps": positions.has_gaps,
                "nAxes": positions.n_axes,
            }
            for feature, positions in zip(encoding.category_features, encoding.positions, strict=True)
        ],
    }
