"""What an estimator with training rows of their own metrics is made of, whatever it predicts."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lann._base import NeighborEstimator
from lann._row_draw import DrawnRows
from lann._support.compat import FitProgress, unchanged_on_failure
from lann._support.inputs import as_type, check_sample_weight, check_weight_range, get_feature_names
from lann._support.sizes import check_training_values, check_values
from lann._support.types import Floats, Indices, rows_type, weights_type
from lann._support.validation import (
    BOOLEAN,
    N_JOBS,
    POSITIVE_STRENGTH,
    RANDOM_STATE,
    STRENGTH,
    VERBOSE,
    Checked,
    Integer,
    Number,
    OneOf,
    SubsetOf,
    count_dimensions,
    shown,
)
from lann.columns.inputs import find_ids, join_ids, read_training_data, row_ids

# What computes is imported on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.columns.schema import TableSchema
    from lann.metric import Encoding, FeatureCurves, Levels
    from lann.model import LocalModel, RowMemory
    from lann.search import CellIndex
    from lann.training import Epoch, Settings, TrainingResult
    from lann.vote import VoteChoice

LEVELS = ("curves", "map", "class", "point")
METRICS = ("diagonal", "low_rank", "full")
# Share of the training rows that are validation rows for early stopping.
VALIDATION_FRACTION = 0.1
# The typical distances, from which ε follows, are estimated again after this many changes per row.
CHANGES_PER_ROW = 0.5


class UpdateProgress(NamedTuple):
    """What `partial_fit` keeps from call to call, beside the model.

    Attributes
    ----------
    learned : bool
        Whether the levels have been trained, so that further rows are only added.
    loss_epsilon : float or None
        ε of the training loss; None where it is to be estimated.
    n_changes : int
        Number of rows that were added or forgotten since ε of vote and loss were estimated.
    n_rows : int
        Number of rows at that time.
    seed : int or None
        Of the ranks of rows for `forget_policy`; None where they were not needed so far.
    """

    learned: bool = False
    loss_epsilon: float | None = None
    n_changes: int = 0
    n_rows: int = 0
    seed: int | None = None

    def after(self, n_changes: int) -> UpdateProgress:
        """Return the progress after `n_changes` further changes; after many changes, ε is estimated again."""
        total = self.n_changes + n_changes
        if total < CHANGES_PER_ROW * self.n_rows:
            return self._replace(n_changes=total)
        return self._replace(loss_epsilon=None, n_changes=0, n_rows=0)


def _check_categorical_features(categorical_features: Any) -> None:
    is_text = isinstance(categorical_features, str) and categorical_features != "from_dtype"
    is_list = categorical_features is None or count_dimensions(categorical_features) == 1
    # Whether names, positions or a mask fit the features is checked with the data.
    if is_text or not (is_list or isinstance(categorical_features, str)):
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or a list of names or positions of features, "
            f"or a mask; got {shown(categorical_features)}."
        )


# Parameters of all estimators with such rows.
PARAMETERS: dict[str, Any] = {
    "n_neighbors": [Integer(1), OneOf("auto")],
    "metric": [OneOf(*METRICS)],
    "n_components": [Integer(1), OneOf(None)],
    "levels": [SubsetOf(LEVELS)],
    "max_iter": [Integer(0), OneOf(None)],
    "learning_rate": [POSITIVE_STRENGTH, OneOf(None)],
    "alpha": [STRENGTH],
    "power": [Number(0), OneOf("auto")],
    "categorical_features": [Checked(_check_categorical_features)],
    "n_candidates": [Integer(1), OneOf(None)],
    "early_stopping": BOOLEAN,
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
}


class RowEstimator(NeighborEstimator):
    """An estimator whose training rows each own a metric.

    A subclass trains the metrics, and says which model follows from them.
    """

    # Fitted attributes that follow from no levels, and whether y has values instead of labels.
    _kept: ClassVar[tuple[str, ...]]
    _predicts_values: ClassVar[bool] = False
    n_neighbors: Any
    metric: str
    n_components: int | None
    levels: tuple[str, ...]
    max_iter: int | None
    learning_rate: float | None
    alpha: float
    power: Any
    early_stopping: bool
    verbose: int
    random_state: Any
    categorical_features: Any
    n_candidates: int | None
    model_: LocalModel
    schema_: TableSchema
    vote_: VoteChoice
    levels_: tuple[str, ...]
    encoding_: Encoding
    curves_: FeatureCurves
    components_: Floats | None
    n_neighbors_: int
    power_: float
    n_iter_: int
    loss_curve_: list[float]
    validation_curve_: list[float]
    # The number by which sample weights are divided.
    _weight_unit: float = 1.0
    # The index of the tables of training rows, if there is one.
    _names: NDArray[Any] | None = None
    _progress: UpdateProgress = UpdateProgress()

    @property
    def ids_(self) -> NDArray[Any] | None:
        """Names of the training rows, or the numbers of their arrival: (n_rows,) or None."""
        return self._ids_of(self._fitted_model())

    @ids_.setter
    def ids_(self, ids: NDArray[Any] | None) -> None:
        self._names = ids

    def _ids_of(self, model: LocalModel) -> NDArray[Any] | None:  # type: ignore[override]
        names = self._names_of(model)
        return model.arrivals if names is None and model.n_arrived > model.n_rows else names

    def _names_of(self, model: LocalModel) -> NDArray[Any] | None:  # type: ignore[override]
        # `_names` can already be those of the next model, while rows are added.
        return model.names

    @property
    def n_seen_(self) -> int:
        """Number of training rows so far, those that were forgotten included."""
        return self._fitted_model().n_arrived

    def _fitted_model(self) -> LocalModel:
        if "model_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} is not fitted yet.")
        return self.model_

    def forget(self, ids: ArrayLike) -> Self:
        """Remove training rows, as if they had not been among the neighbors.

        What was learned from them stays in the metrics of the other rows. A class can lose all its rows; it
        stays one of `classes_`, and rows of it can be added again.

        Parameters
        ----------
        ids : scalar or array-like of shape (n_ids,)
            The rows, as `ids_` and `Explanation.neighbor_ids` name them: by the index of the table, or by the
            number of their arrival, 0, 1, …, which does not change when others are forgotten. (The positions
            of rows in `model_` do.) All rows of a name that occurs more than once are removed.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If there is no row with one of these ids, or no row would remain; the model is then unchanged.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann import LANNClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = LANNClassifier(random_state=0, max_iter=2).fit(X, y)
        >>> clf.forget([0, 7]).ids_[:7]
        array([1, 2, 3, 4, 5, 6, 8])
        >>> clf.n_seen_, len(clf.model_.X)
        (150, 148)
        """
        check_is_fitted(self)
        with unchanged_on_failure(self):
            rows = find_ids(ids, self._names, self.model_.arrivals)
            if len(rows) == self.model_.n_rows:
                raise ValueError(
                    f"The {len(rows)} ids are those of all training rows; at least one row has to remain."
                )
            if len(rows):
                self._progress = self._progress.after(len(rows))
                self._drop_names(rows)
                self._set_memory(self.model_.memory.without_rows(rows))
        return self

    def _on_epoch_end(self, epoch: Epoch, progress: FitProgress) -> bool:
        """Print a line and call scikit-learn's callbacks; return whether one of these stops the training."""
        if self.verbose:
            print(f"[{type(self).__name__}] {epoch}")

        return progress.epoch(lambda: self._attributes_with(epoch.levels()))

    def _settings(self, class_weight: Floats | None) -> Settings:
        from lann.training import Settings

        return Settings(
            curves="curves" in self.levels,
            linear_map="map" in self.levels,
            class_metrics="class" in self.levels,
            point_metrics="point" in self.levels,
            form=self.metric,
            n_components=self.n_components,
            n_candidates=self.n_candidates or Settings.n_candidates,
            alpha=self.alpha,
            max_iter=self.max_iter,
            learning_rate=self.learning_rate or Settings.learning_rate,
            validation_fraction=VALIDATION_FRACTION if self.early_stopping else None,
            class_weight=class_weight,
            n_jobs=self.n_jobs,
            vote_neighbors=None if self.n_neighbors == "auto" else int(self.n_neighbors),
            vote_power=None if self.power == "auto" else float(self.power),
        )

    def _set_training(self, result: TrainingResult) -> None:
        """Set the fitted attributes that say how a training went."""
        self.loss_curve_, self.validation_curve_ = result.losses, result.validation_losses
        self.n_iter_, self.vote_ = len(result.losses), result.vote
        self.levels_ = tuple(level for level in result.levels.in_use if level not in result.dropped_levels)

    def _copy_with(self, vote: VoteChoice) -> Self:
        """Return a copy in which neighbors vote in another way."""
        other, model = copy(self), self.model_
        other.vote_, other._names = vote, self._names_of(model)
        other._set_model(model.memory)
        return other

    def _drop_names(self, rows: Indices) -> None:
        if self._names is not None and len(rows):
            self._names = np.delete(self._names, rows)

    def _set_levels(
        self, levels: Levels, index: CellIndex | None = None, arrived: tuple[Indices, int] | None = None
    ) -> None:
        """Set the fitted attributes that follow from levels of all rows.

        `index` has the cells of the rows under their class metric, `arrived` the order in which the rows have
        arrived, and how many have.
        """
        from lann.model import RowMemory

        arrivals, n_arrived = (None, None) if arrived is None else arrived
        stored = levels.stored_as(levels.X.dtype, weights_type(len(levels.X)))
        self._progress = self._progress._replace(loss_epsilon=None, n_changes=0)
        self._set_model(RowMemory(stored, arrivals=arrivals, n_arrived=n_arrived, index=index))

    def _attributes_with(self, levels: Levels) -> dict[str, Any]:
        """Return the fitted attributes of an estimator with these levels."""
        other = self.__class__(**self.get_params(deep=False))
        other.__dict__.update({name: value for name, value in vars(self).items() if name in self._kept})
        other._set_levels(levels)
        return {name: value for name, value in vars(other).items() if name.endswith("_")}

    def _set_memory(self, memory: RowMemory) -> None:
        """Set the fitted attributes that follow from rows that were added or forgotten."""
        is_due = self._progress.n_rows == 0
        self._set_model(memory, epsilon=None if is_due else self.model_.vote_rule.epsilon)

    def _make_model(self, memory: RowMemory, epsilon: float | None) -> LocalModel:
        """Return the model of rows and their metrics; ε is estimated if it is None."""
        raise NotImplementedError

    def _set_model(self, memory: RowMemory, *, epsilon: float | None = None) -> None:
        """Set the fitted attributes that follow from rows and their metrics; ε is estimated if it is None."""
        vote, model = self.vote_, self._make_model(memory, epsilon)
        model.names = self._names
        self.model_ = model.to(self.model_.device) if "model_" in vars(self) else model
        if epsilon is None:
            self._progress = self._progress._replace(n_rows=memory.n_rows)
        self.n_neighbors_, self.power_ = vote.n_neighbors, vote.power
        levels = memory.shared
        self.encoding_, self.curves_, self.components_ = levels.encoding, levels.curves, levels.components

    def _read_training_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        schema: TableSchema | None,
        adds: bool = False,
        drawn: DrawnRows | None = None,
    ) -> tuple[Floats, NDArray[Any], Floats | None]:
        """Return the training rows as numbers, their labels and weights; set the schema and the names.

        Rows of weight 0 are left out. The rows are to fit the schema, if there is one; `adds` says that they
        are added to those of a previous call. If rows were drawn, only these are read.
        """
        has_names = row_ids(X) is not None
        if drawn is not None:
            X, y, sample_weight = drawn.X, drawn.y, drawn.sample_weight
        rows, labels, new_schema = read_training_data(
            self, X, y, self.categorical_features, schema, keep_single=True, has_values=self._predicts_values
        )
        names = row_ids(X) if has_names else None
        if adds:
            check_values(rows, lambda: get_feature_names(self))
            rows = as_type(rows, self.model_.memory.shared.X.dtype)
        else:
            check_training_values(rows, lambda: get_feature_names(self))
            rows = as_type(rows, rows_type(rows.dtype, len(rows)))
        weights = self._relative_weights(sample_weight, len(rows), first=not adds)
        if sample_weight is not None and weights is not None:
            counts = weights > 0
            rows, labels, weights = rows[counts], labels[counts], weights[counts]
            names = None if names is None else names[counts]
            weights = None if np.all(weights == 1.0) else weights
        if schema is None:
            new_schema, rows = new_schema.without_empty(rows)
            new_schema, rows = new_schema.without_unused(rows)
        self.schema_ = new_schema
        if adds and (names is not None or self._names is not None):
            new = np.arange(self.model_.n_arrived, self.model_.n_arrived + len(rows))
            known = self.model_.arrivals if self._names is None else self._names
            names = join_ids(known, new if names is None else names)
        self._names = names
        return rows, labels, weights

    def _relative_weights(
        self, sample_weight: ArrayLike | None, n_rows: int, *, first: bool
    ) -> Floats | None:
        """Return the weights of rows, divided by the mean of the first call if that is below 1."""
        if first:
            self._weight_unit = 1.0
        if sample_weight is None:
            return None if self._weight_unit == 1.0 else np.full(n_rows, 1.0 / self._weight_unit)
        weights = check_sample_weight(sample_weight, n_rows)
        if first:
            positive = weights[weights > 0]
            # The exact sum does not depend on the order of the rows.
            is_constant = positive.max() == positive.min()
            mean = positive[0] if is_constant else math.fsum(positive) / len(positive)
            self._weight_unit = float(min(mean, 1.0))
        with np.errstate(over="ignore"):
            weights = weights / self._weight_unit
        check_weight_range(weights[weights > 0])
        return weights
