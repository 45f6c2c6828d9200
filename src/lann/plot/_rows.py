"""The rows that a display shows, as the model sees them, and what the model says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.format import counted
from lann._support.inputs import check_columns, get_feature_names
from lann._support.rows import stratified_rows
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import OneOf, validate
from lann.columns.inputs import as_fitted, read_rows
from lann.columns.schema import TableSchema
from lann.explain import Explanation
from lann.plot._axes import split_unit

# More rows do not change a plot of their distribution visibly.
MAX_ROWS = 2000


def last_step(estimator: Any) -> Any:
    """Return the last step of a fitted pipeline, or the fitted estimator itself."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


@dataclass(frozen=True)
class Rows:
    """Rows in the features of the model, after the transformers of a pipeline.

    Attributes
    ----------
    model : estimator
        The fitted model, without the steps before it in a pipeline.
    X : ndarray of shape (n_rows, n_features)
        The rows as the model sees them.
    labels : ndarray of shape (n_rows,)
        The class indices: of the given labels, of the training labels or of the predictions.
    indices : ndarray of shape (n_rows,)
        The positions of the rows in the given data, or in the training data.
    feature_names : ndarray of shape (n_features,)
        The names of the features.
    X_given : ndarray of shape (n_rows, n_features)
        The rows before the transformers of a pipeline if these keep the columns, otherwise `X`.
    is_transformed : bool
        Whether a pipeline transforms the rows before the model.
    table : DataFrame or None
        The rows as a table of the user's values; None if they are numbers, or unknown.
    source : {"row", "training row", "prototype"}
        What the rows are.
    n_source : int
        How many there are of them, before a sample was drawn.
    """

    model: Any
    X: Floats
    labels: Labels
    indices: Indices
    feature_names: NDArray[Any]
    X_given: Floats
    is_transformed: bool
    table: Any = None
    source: str = "row"
    n_source: int = 0

    def describe(self, data_name: str = "") -> str:
        """Return a line about the rows for the title of a figure, such as "Iris: 150 training rows"."""
        n_rows = len(self.X)
        text = counted(n_rows, self.source)
        if n_rows < self.n_source:
            text = f"{n_rows:,} of {counted(self.n_source, self.source)}"
        return f"{data_name}: {text}" if data_name else text

    @property
    def axis_labels(self) -> NDArray[Any]:
        """The feature names as axis labels: without units if a pipeline has transformed the values."""
        if not self.is_transformed:
            return self.feature_names
        return np.array([f"{split_unit(name)[0]}, scaled" for name in self.feature_names], dtype=object)

    def explain(self) -> Explanation:
        """Return the explanation of the rows; raise ValueError if the model has none."""
        if not hasattr(self.model, "explain"):
            raise ValueError(f"This display needs a model with `explain`; got {type(self.model).__name__}.")
        return self.model.explain(as_fitted(self.model, self.X) if self.table is None else self.table)

    @property
    def schema(self) -> TableSchema | None:
        """What the numbers in `X` mean; None if all are numbers."""
        return _schema_of(self.model)


def _schema_of(model: Any) -> TableSchema | None:
    schema: TableSchema | None = getattr(model, "schema_", None)
    return None if schema is None or schema.is_numeric else schema


def select_rows(
    estimator: Any, X: ArrayLike | None, y: ArrayLike | None, *, max_rows: int | None = None
) -> Rows:
    """Return the given rows or the training rows; a stratified sample if there are too many.

    Parameters
    ----------
    estimator : estimator
        A fitted model, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features) or None
        The rows; None for the training rows.
    y : array-like of shape (n_samples,) or None
        The labels of X; None for the predictions.
    max_rows : int or None, default=None
        The maximum number of rows; None for all.

    Returns
    -------
    rows : Rows

    Raises
    ------
    ValueError
        If X and y do not fit the estimator or each other.
    """
    model = last_step(estimator)
    transformers = None if model is estimator or len(estimator) == 1 else estimator[:-1]
    schema, table = _schema_of(model), None
    if X is None:
        if y is not None:
            raise ValueError("y was given without X; pass both, or neither for the training rows.")
        transformed, labels = stored_rows(model)
    else:
        check_columns(model if transformers is None else transformers, X)
        given_rows = X if transformers is None else transformers.transform(X)
        if schema is None:
            transformed = np.asarray(given_rows, dtype=np.float64)
            given_rows = as_fitted(model, transformed)
        else:
            transformed = read_rows(model, given_rows, schema)
            table = given_rows if hasattr(given_rows, "iloc") else None
        given_labels = model.predict(given_rows) if y is None else np.asarray(y)
        if len(given_labels) != len(transformed):
            raise ValueError(
                f"X and y must have the same number of rows; got {len(transformed)} and {len(given_labels)}."
            )
        labels = _class_indices(given_labels, model.classes_)
    names = _feature_names(model, transformers)
    # If the transformers keep the columns, as a scaler does, the user's own values can be shown.
    keeps_columns = list(getattr(transformers, "feature_names_in_", [])) == list(names)
    keeps_numbers = X is not None and keeps_columns and schema is None
    given = np.asarray(X, dtype=np.float64) if keeps_numbers else transformed
    n_rows = len(transformed)
    stored = "prototype" if hasattr(model, "prototypes_") else "training row"
    indices = np.arange(n_rows) if max_rows is None else stratified_rows(labels, min(max_rows, n_rows))
    return Rows(
        model, transformed[indices], labels[indices], indices, names, given[indices],
        is_transformed=transformers is not None, table=None if table is None else table.iloc[indices],
        source=stored if X is None else "row", n_source=n_rows,
    )  # fmt: skip


def stored_rows(model: Any) -> tuple[Floats, Labels]:
    """Return the prototypes of a fitted model, or else its training rows, and their class indices."""
    if hasattr(model, "prototypes_"):
        return model.prototypes_, _class_indices(model.prototype_labels_, model.classes_)
    stored = getattr(model, "model_", None)
    if stored is None or not stored.has_training_rows:
        raise ValueError(f"{type(model).__name__} does not keep its training rows; pass X.")
    return stored.X, stored.labels


def check_class_names(classes: NDArray[Any], class_names: ArrayLike | None) -> list[str]:
    """Return the names of the classes: those given, in the order of `classes`, or the labels."""
    if class_names is None:
        return [str(label) for label in classes]
    names = [str(name) for name in np.asarray(class_names)]
    if len(names) != len(classes):
        raise ValueError(f"class_names must have {len(classes)} names, one per class; got {len(names)}.")
    return names


def _class_indices(y: NDArray[Any], classes: NDArray[Any]) -> Labels:
    indices = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = y[classes[indices] != y].tolist()
    if unknown:
        raise ValueError(f"y must have labels of the model, {classes.tolist()}; got {unknown[0]!r}.")
    return indices


def _feature_names(model: Any, transformers: Any) -> NDArray[Any]:
    if transformers is not None and not hasattr(model, "feature_names_in_"):
        try:
            return np.asarray(transformers.get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # a transformer without output names
            pass
    return get_feature_names(model)


class Quantity(NamedTuple):
    """How a measure of the importance of features is named in a figure."""

    title: str
    axis_label: str


QUANTITIES = {
    "relevances": Quantity("Relevance of the features", "share of the vote that depends on the feature"),
    "feature_weights": Quantity("Feature weights", "share of a row's feature weights"),
}


def row_quantities(
    estimator: Any, X: ArrayLike | None, y: ArrayLike | None, *, quantity: str, max_rows: int
) -> tuple[Rows, Floats]:
    """Compute the importance of every feature to the given rows or the training rows.

    Parameters
    ----------
    estimator, X, y, max_rows
        As in `select_rows`.
    quantity : {"relevances", "feature_weights"}
        The feature weights of each row are scaled to sum to 1.

    Returns
    -------
    rows : Rows
    values : ndarray of shape (n_rows, n_features)
    """
    validate("quantity", quantity, OneOf(*QUANTITIES))
    rows = select_rows(estimator, X, y, max_rows=max_rows)
    if quantity == "feature_weights" and X is None:
        weights = np.asarray(rows.model.feature_weights_)[rows.indices]
    else:
        explanation = rows.explain()
        if quantity == "relevances":
            return rows, explanation.relevances
        weights = explanation.feature_weights
    return rows, weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
