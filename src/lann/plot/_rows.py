"""The rows that a display is about, and what a fitted model says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._inputs import as_fitted, check_columns, feature_names
from lann._types import Floats, Indices, Labels
from lann._validation import OneOf, validate
from lann.explain.explanation import Explanation
from lann.explain.landmarks import spread
from lann.plot._style import name_and_unit

# More rows than that change no picture of their distribution.
MOST_ROWS = 2000
# What relevances are, as an axis says it.
UNITS = {
    "votes": "share of the vote that hangs on the feature",
    "weights": "share of a point's weights",
}


@dataclass(frozen=True)
class Rows:
    """Some rows, as the model sees them.

    Attributes
    ----------
    model : fitted, without the steps before it in a pipeline
    X : (n_rows, n_features)
    labels : (n_rows,) places among the model's classes: those given, or of training, or predicted
    places : (n_rows,) where the rows stand in the data that was given
    feature_names : (n_features,)
    as_given : (n_rows, n_features) before a pipeline scaled them, where its steps keep the columns
    as_model_sees : whether no step of a pipeline comes before the model
    """

    model: Any
    X: Floats
    labels: Labels
    places: Indices
    feature_names: NDArray[Any]
    as_given: Floats
    as_model_sees: bool

    @property
    def axis_names(self) -> NDArray[Any]:
        """The features for an axis: their units are not those of the data once a pipeline has scaled them."""
        if self.as_model_sees:
            return self.feature_names
        return np.array([f"{name_and_unit(name)[0]}, scaled" for name in self.feature_names], dtype=object)

    def explain(self) -> Explanation:
        if not hasattr(self.model, "explain"):
            raise ValueError(f"{type(self.model).__name__} has no `explain`; this display needs one.")
        return self.model.explain(as_fitted(self.model, self.X))

    def relevances(self, reading: str, *, of_training: bool) -> tuple[Floats, str]:
        """How relevant each feature is to each row, (n_rows, n_features), and which reading that is.

        reading : "votes", "weights", or "auto" for the former where the model tells it
        of_training : whether the rows are the training points
        """
        validate("reading", reading, OneOf("auto", "votes", "weights"))
        if reading == "weights" and of_training:
            weights = np.asarray(self.model.feature_weights_)[self.places]
        else:
            explanation = self.explain()
            tells = explanation.readings is not None
            if tells and reading != "weights":
                return explanation.relevances, "votes"
            if reading == "votes":
                raise ValueError(
                    f"{type(self.model).__name__} does not tell what its votes hang on; reading='votes' is "
                    "for LANNClassifier, 'weights' for all."
                )
            weights = explanation.feature_weights if tells else explanation.relevances
        return weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny), "weights"


def rows_of(estimator: Any, X: ArrayLike | None, y: ArrayLike | None, *, at_most: int | None) -> Rows:
    """The rows given, or the training points, or as many as are wanted of them, spread over the classes.

    Parameters
    ----------
    estimator
        Fitted, or a pipeline that ends in one: its features are those that the last step sees.
    X : (n_rows, n_features), or None for the training points
    y : (n_rows,) or None
    at_most
        How many rows are enough; None takes all.
    """
    model = last_step(estimator)
    before = None if model is estimator or len(estimator) == 1 else estimator[:-1]
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; give both, or none for the training points.")
        points, labels = training_points(model)
    else:
        check_columns(model if before is None else before, X)
        seen = X if before is None else before.transform(X)
        points = np.asarray(seen, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != model.n_features_in_:
            raise ValueError(f"X must have {model.n_features_in_} columns; got an array of {points.shape}.")
        wanted = model.predict(as_fitted(model, points)) if y is None else np.asarray(y)
        if len(wanted) != len(points):
            raise ValueError(f"X has {len(points)} rows, and y {len(wanted)}; they must be as many.")
        labels = _places(wanted, model.classes_)
    names = _names(model, before)
    # A scaler leaves the columns what they are; then the user's own values are the ones to show.
    kept = X is not None and list(getattr(before, "feature_names_in_", [])) == list(names)
    given = np.asarray(X, dtype=np.float64) if kept else points
    places = np.arange(len(points)) if at_most is None else spread(labels, min(at_most, len(points)))
    return Rows(model, points[places], labels[places], places, names, given[places], before is None)


def last_step(estimator: Any) -> Any:
    """The classifier itself, that of a pipeline too; fitted."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


def training_points(model: Any) -> tuple[Floats, Labels]:
    """What a model keeps of its training data: points or prototypes, and their places among the classes."""
    if hasattr(model, "prototypes_"):
        return model.prototypes_, _places(model.prototype_labels_, model.classes_)
    from lann.explain.voters import voters_of

    voters = voters_of(model)
    return voters.X, voters.labels


def names_of_classes(classes: NDArray[Any], class_names: ArrayLike | None) -> list[str]:
    """What the classes are called: the names given, in the order of `classes_`, or the labels."""
    if class_names is None:
        return [str(label) for label in classes]
    names = [str(name) for name in np.asarray(class_names)]
    if len(names) != len(classes):
        raise ValueError(f"class_names must name the {len(classes)} classes; got {len(names)} names.")
    return names


def _places(y: NDArray[Any], classes: NDArray[Any]) -> Labels:
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = y[classes[places] != y].tolist()
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}; known are {classes.tolist()}.")
    return places


def _names(model: Any, before: Any) -> NDArray[Any]:
    if before is not None and not hasattr(model, "feature_names_in_"):
        try:
            return np.asarray(before.get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # a step that does not tell
            pass
    return feature_names(model)
