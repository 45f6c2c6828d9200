"""The check that the arrays of a loaded model are consistent."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._inputs import LARGEST_WEIGHT
from lann._types import Floats
from lann.persist._errors import InvalidModelFile

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.embedding import LANNEmbedding, NeighborEmbedding
    from lann.model import LocalModel

# Its square is not 0.
SMALLEST_SCALE = 1e-6
KINDS = "a LANNClassifier, a LANNEmbedding, a NeighborEmbedding or a Pipeline that ends in one"


def fitted_part(model: Any) -> LANNClassifier | LANNEmbedding | NeighborEmbedding | None:
    """Return the fitted part of a model: itself, or the last step of a pipeline."""
    from sklearn.pipeline import Pipeline

    from lann.classifier import LANNClassifier
    from lann.embedding import LANNEmbedding, NeighborEmbedding

    if isinstance(model, Pipeline) and getattr(model, "steps", None):
        model = model.steps[-1][1]
    return model if isinstance(model, LANNClassifier | LANNEmbedding | NeighborEmbedding) else None


def without_callbacks(model: Any) -> Any:
    """Return the model without callbacks, which are not saved."""
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import Pipeline

    if isinstance(model, FrozenEstimator):
        return FrozenEstimator(without_callbacks(model.estimator))
    if hasattr(model, "set_callbacks"):
        model = copy(model).set_callbacks()
    if getattr(model, "classifier", None) is not None or hasattr(model, "classifier_"):  # an embedding
        model = copy(model)
        for name in ("classifier", "classifier_"):
            setattr(model, name, without_callbacks(getattr(model, name, None)))
    if isinstance(model, Pipeline):
        model = copy(model)
        model.steps = [(name, without_callbacks(step)) for name, step in model.steps]
    return model


def check_model(model: Any) -> None:
    """Raise InvalidModelFile unless the arrays of the model are consistent.

    The compiled functions do not check bounds: an index out of range would read arbitrary memory.
    """
    part = fitted_part(model)
    if part is None:
        raise InvalidModelFile(f"it holds {type(model).__name__}, not {KINDS}")
    if not _fits(part):
        raise InvalidModelFile(f"its {type(part).__name__} is incomplete, or its parts do not fit together")


def _fits(part: LANNClassifier | LANNEmbedding | NeighborEmbedding) -> bool:
    from lann.classifier import LANNClassifier

    try:
        return _classifier_fits(part) if isinstance(part, LANNClassifier) else _embedding_fits(part)
    except (AttributeError, TypeError, ValueError, IndexError):
        return False


def _classifier_fits(classifier: LANNClassifier) -> bool:
    from lann.vote import VoteChoice

    model, vote = classifier.model_, classifier.vote_
    return bool(
        classifier.classes_.shape == (len(model.levels.class_log_weights),)
        and classifier.n_features_in_ == model.levels.X.shape[1]
        and isinstance(classifier._weight_unit, float)
        and 0 < classifier._weight_unit <= 1
        and _model_fits(model)
        and isinstance(vote, VoteChoice)
        and vote.n_neighbors == model.n_neighbors
        and (vote.power, vote.floor) == (model.vote_rule.power, model.vote_rule.floor)
    )


def _embedding_fits(embedding: LANNEmbedding | NeighborEmbedding) -> bool:
    from lann.classifier import LANNClassifier
    from lann.embedding import LANNEmbedding

    model, coordinates = embedding.model_, embedding.embedding_
    n_rows = len(model.X)
    lists = embedding.neighbors_
    return bool(
        _model_fits(model)
        and embedding.n_features_in_ == model.X.shape[1]
        and coordinates.shape == (n_rows, embedding.n_components)
        and coordinates.dtype == np.float64
        and np.isfinite(coordinates).all()
        and lists.dtype == np.int64
        and lists.shape == embedding.distances_.shape == (n_rows, lists.shape[1])
        and embedding.distances_.dtype == np.float64
        and np.isfinite(embedding.distances_).all()
        and lists.min() >= 0
        and lists.max() < n_rows
        and _is_count(embedding.n_neighbors)
        and isinstance(embedding._scale, float)
        and SMALLEST_SCALE < embedding._scale < np.inf
        and embedding._n_features_out == embedding.n_components
        and (
            not isinstance(embedding, LANNEmbedding)
            or (
                _classifier_fits(embedding.classifier_)
                and isinstance(_thawed(embedding.classifier), LANNClassifier | None)
                and np.array_equal(embedding.classifier_.model_.X, model.X)
            )
        )
    )


def _thawed(classifier: Any) -> Any:
    """Return the estimator that is frozen, if there is one."""
    from sklearn.frozen import FrozenEstimator

    return classifier.estimator if isinstance(classifier, FrozenEstimator) else classifier


def _model_fits(model: Any) -> bool:
    from lann.model import LocalModel

    if not isinstance(model, LocalModel):
        return False
    levels, curves, rule = model.levels, model.levels.curves, model.vote_rule
    n_rows, n_features = levels.X.shape
    n_classes, n_bins, n_steps = len(levels.class_log_weights), curves.n_bins, curves.thresholds.shape[1]
    n_axes = n_features if levels.components is None else len(levels.components)
    floats = (
        (levels.X, (n_rows, n_features)),
        (levels.point_log_weights, (n_rows, n_axes)),
        (levels.class_log_weights, (n_classes, n_axes)),
        (curves.slopes, (n_features, n_bins)),
        (curves.edges, (n_features, n_bins - 1)),
        (curves.thresholds, (n_features, n_steps)),
        (curves.jumps, (n_features, n_steps)),
    )
    return bool(
        all(array.shape == shape and array.dtype == np.float64 for array, shape in floats)
        and all(np.isfinite(array).all() for array in (levels.X, levels.weights, curves.slopes, curves.jumps))
        and (curves.jumps >= 0).all()
        and n_axes >= 1
        and _fits_or_none(levels.components, (n_axes, n_features), (np.float64,))
        and _fits_or_none(levels.point_matrices, (n_rows, n_axes, n_axes), (np.float64, np.float32))
        and _fits_or_none(rule.class_weight, (n_classes,), (np.float64,))
        and (rule.class_weight is None or rule.class_weight.min() > 0)
        and _fits_or_none(levels.row_weights, (n_rows,), (np.float64,))
        and (levels.row_weights is None or _are_weights(levels.row_weights))
        and levels.labels.dtype == np.int64
        and levels.labels.shape == (n_rows,)
        and n_rows >= 1
        and levels.labels.min() >= 0
        and levels.labels.max() < n_classes
        and _is_count(model.n_neighbors)
        and (model.n_candidates is None or _is_count(model.n_candidates))
        and model.n_classes == n_classes
        and model.X is levels.X
        and model.labels is levels.labels
        and model.row_weights is levels.row_weights
        and rule.power >= 0
        and rule.epsilon > 0
        and 0 <= rule.floor < np.inf
        and _derived_fits(model)
    )


def _derived_fits(model: LocalModel) -> bool:
    """Return whether nothing was derived from the model, or landmarks that fit it."""
    from lann.explain import Landmarks

    if model.derived == {}:
        return True
    landmarks = model.derived.get("landmarks")
    if not isinstance(landmarks, Landmarks) or len(model.derived) > 1:
        return False
    rows, readings = landmarks.rows, landmarks.readings
    n_landmarks, n_features = len(rows), model.X.shape[1]
    shapes = {
        "votes": (n_landmarks, model.n_classes),
        "relevances": (n_landmarks, n_features),
        "supports": (n_landmarks, model.n_classes, n_features),
    }
    return bool(
        rows.dtype == np.int64
        and n_landmarks >= 1
        and rows.shape == (n_landmarks,)
        and rows.min() >= 0
        and rows.max() < len(model.X)
        and all(
            _fits_or_none(getattr(readings, name), shape, (np.float64,)) for name, shape in shapes.items()
        )
        and all(type(f) is int and 0 <= f < n_features for group in landmarks.correlated for f in group)
    )


def _fits_or_none(array: Any, shape: tuple[int, ...], kinds: tuple[type, ...]) -> bool:
    """Return whether there is no array, or a finite one of this shape and one of these dtypes."""
    return array is None or (array.dtype in kinds and array.shape == shape and bool(np.isfinite(array).all()))


def _are_weights(weights: Floats) -> bool:
    """Return whether `fit` accepts these weights of the rows."""
    return bool(weights.min() > 0 and weights.max() <= LARGEST_WEIGHT)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
