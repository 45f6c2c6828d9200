"""A classifier whose training rows can be added one by one, and forgotten: what surrounds the training."""

from __future__ import annotations

import math
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from lann._base import NeighborClassifier
from lann._row_draw import DrawnRows, draw_training_rows, rows_to_forget
from lann._support.compat import unchanged_on_failure, with_callbacks
from lann._support.inputs import (
    as_type,
    check_sample_weight,
    check_weight_range,
    class_indices,
    get_feature_names,
)
from lann._support.sizes import check_training_values, check_values
from lann._support.types import Floats, Indices, Labels, rows_type, weights_type
from lann._support.validation import shown
from lann.columns.inputs import (
    find_ids,
    join_ids,
    read_training_data,
    row_ids,
)

# What computes is imported on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.columns.schema import TableSchema
    from lann.metric import Encoding, FeatureCurves, Levels
    from lann.model import LocalModel, RowMemory
    from lann.search import CellIndex
    from lann.vote import VoteChoice

# `partial_fit` learns nothing before it has this many rows.
FEWEST_ROWS = 30
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


class UpdatableClassifier(NeighborClassifier):
    """A classifier with local metrics to which rows can be added, and that can forget rows.

    A subclass trains the metrics of many rows, chooses the vote, and sets the model.
    """

    max_points: int | None
    forget_policy: str
    random_state: Any
    categorical_features: Any
    class_weight: Any
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

    # Methods of the subclass.
    _validate_parameters: Any
    _train: Any
    _keep_vote: Any
    n_neighbors: Any
    n_candidates: int | None
    _class_weights: Any
    _settings: Any

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

    def with_vote(self, vote: VoteChoice) -> Self:
        """Return a classifier with the same metrics in which neighbors vote in another way.

        Probabilities of classifiers that were fitted to parts of the data can be compared if all vote in the
        same way.

        Parameters
        ----------
        vote : VoteChoice
            Such as the attribute `vote_` of another classifier.

        Returns
        -------
        classifier : LANNClassifier
            A fitted one; this one is not changed.
        """
        from lann.vote import VoteChoice

        check_is_fitted(self)
        if not isinstance(vote, VoteChoice):
            raise ValueError(f"vote must be a VoteChoice, such as vote_ of a classifier; got {shown(vote)}.")
        other, model = copy(self), self.model_
        other.vote_, other._names = vote, self._names_of(model)
        other._set_model(model.memory)
        return other

    @with_callbacks
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add training rows, and adapt the metrics of their neighbors.

        The first call learns as `fit` does; give it some hundred rows if possible, and in `classes` all
        labels that will follow. (Before there are 30 rows of two classes, nothing is learned and the vote is
        that of plain kNN.) Afterwards, new rows start with the metrics of their same-class neighbors, and
        each is trained on once, by bounded steps on the metrics of its neighbors. The shared levels and the
        vote stay as they are, and so do `n_iter_` and `loss_curve_`. Rows beyond `max_points` are forgotten
        at the end of the call.

        Adding a row takes constant time, apart from two passes over the rows in memory; the typical
        distances of the vote are estimated again after half as many rows as there were at the last estimate.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            As in `fit`. A category that is new is at the mean of the others, and so is a gap in a feature
            without gaps in the first call.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that will ever occur; used in the first call only, where None is those of y.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Sample weights: see `fit`; in every call, at least one is above 0. If the
            weights of the first call are divided by their mean, those of later calls are divided by the same
            number.

        Returns
        -------
        self : LANNClassifier

        Raises
        ------
        ValueError
            If a parameter or the data are invalid, or `classes` differ from those of the first call; the
            model is then unchanged.
        """
        with unchanged_on_failure(self):
            return self._partial_fit(X, y, classes, sample_weight)

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
        self : LANNClassifier

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

    def _partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Self:
        self._validate_parameters()
        first = not hasattr(self, "model_")
        drawn, seed = self._draw_rows(X, y, sample_weight) if first else (None, None)
        rows, y, weights = self._read_training_data(
            X, y, sample_weight, schema=None if first else self.schema_, adds=not first, drawn=drawn
        )
        given: Any = None
        if classes is not None:
            with np.errstate(invalid="ignore"):  # NaN, which the sentence is about
                given = unique_labels(classes)
            if len(given) == 0:
                raise ValueError("classes must have at least one label; got none.")
        if first:
            seen = y if drawn is None else drawn.classes
            self.classes_ = unique_labels(seen) if given is None else given
        elif given is not None and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"classes={given.tolist()} differ from those of the first call, {self.classes_.tolist()}."
            )
        labels = class_indices(y, self.classes_)
        if not first and (self._progress.learned or self._has_one_class_of_many(labels)):
            self._extend(rows, labels, weights)
        else:
            if first:
                self._progress = UpdateProgress(seed=seed)
            self._start(rows, labels, weights, first=first, arrived=None if drawn is None else drawn.arrived)
        return self

    def _has_one_class_of_many(self, labels: Labels) -> bool:
        """Return whether nothing can be learned, although there are rows enough: all have the same label."""
        model = self.model_
        counts = model.memory.class_counts + np.bincount(labels, minlength=model.n_classes)
        return model.n_rows >= FEWEST_ROWS and int((counts > 0).sum()) == 1

    def _start(
        self,
        rows: Floats,
        labels: Labels,
        weights: Floats | None,
        *,
        first: bool,
        arrived: tuple[Indices, int] | None = None,
    ) -> None:
        """Learn from all rows so far, if there are enough of them."""
        from lann.metric import Encoding, Levels, join_weights
        from lann.training import default_vote

        if not first:
            model, n_new = self.model_, len(rows)
            weights = join_weights((model.row_weights, model.n_rows), (weights, n_new))
            rows = np.concatenate([model.X, rows])
            check_training_values(rows, lambda: get_feature_names(self))
            labels = np.concatenate([model.labels, labels])
            new = np.arange(model.n_arrived, model.n_arrived + n_new)
            arrived = np.concatenate([model.arrivals, new]), model.n_arrived + n_new
        encoding = Encoding.plain(rows, self.schema_.n_categories, weights)
        start = Levels.plain(rows, labels, len(self.classes_), encoding=encoding, row_weights=weights)
        n_rows = len(rows) if weights is None else weights.sum()
        if len(np.unique(labels)) > 1 and n_rows >= FEWEST_ROWS:
            self._train(start, None, arrived)
        else:
            self.n_iter_, self.loss_curve_, self.validation_curve_, self.levels_ = 0, [], [], ()
            self.vote_ = default_vote(start, self._settings(None))
            self._set_levels(start, arrived=arrived)
        self._forget_beyond_limit()

    def _extend(self, rows: Floats, labels: Labels, weights: Floats | None) -> None:
        """Add rows to the model, and train on each of them once."""
        from lann.metric import join_weights
        from lann.training import extend

        self._keep_vote()
        memory = self.model_.memory
        if not self.schema_.is_numeric:
            memory = memory.with_encoding(memory.shared.encoding.extended(self.schema_.n_categories))
        class_weight = None
        if self.class_weight is not None:
            old_weights = memory.values("row_weights"), memory.n_rows
            class_weight = self._class_weights(
                np.concatenate([memory.values("labels"), labels]),
                join_weights(old_weights, (weights, len(labels))),
            )
        settings = self._settings(class_weight).replace(point_metrics="point" in self.levels_)
        if self.vote_.is_for_noise:
            settings = settings.for_noise()
        progress = self._progress.after(len(rows))
        memory, epsilon = extend(
            memory, rows, labels, settings, row_weights=weights, epsilon=progress.loss_epsilon
        )
        self._progress = progress._replace(loss_epsilon=epsilon)
        lost = self._rows_beyond_limit(memory)
        self._drop_names(lost)
        self._set_memory(memory.without_rows(lost) if len(lost) else memory)

    def _forget_beyond_limit(self) -> None:
        """Forget rows after all of them were learned from, if there are more than `max_points`."""
        if self.max_points is not None and self.model_.n_rows > self.max_points:
            lost = self._rows_beyond_limit(self.model_.memory)
            # Typical distances are larger among fewer rows: they are estimated again.
            self._progress = self._progress._replace(n_rows=0)
            self._drop_names(lost)
            self._set_memory(self.model_.memory.without_rows(lost))

    def _rows_beyond_limit(self, memory: RowMemory) -> Indices:
        """Return the rows to forget, so that no more than `max_points` remain."""
        n_lost = 0 if self.max_points is None else max(memory.n_rows - int(self.max_points), 0)
        if n_lost == 0 or self.forget_policy == "recent":
            return np.arange(n_lost)
        seed = self._progress.seed
        if seed is None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            self._progress = self._progress._replace(seed=seed)
        return rows_to_forget(
            self.forget_policy,
            memory.values("labels"),
            memory.values("arrivals"),
            memory.n_rows - n_lost,
            seed=seed,
        )

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
        """Return the fitted attributes of a classifier with these levels."""
        other = self.__class__(**self.get_params(deep=False))
        other.classes_, other.vote_ = self.classes_, self.vote_
        other._set_levels(levels)
        return {name: value for name, value in vars(other).items() if name.endswith("_")}

    def _set_memory(self, memory: RowMemory) -> None:
        """Set the fitted attributes that follow from rows that were added or forgotten."""
        is_due = self._progress.n_rows == 0
        self._set_model(memory, epsilon=None if is_due else self.model_.vote_rule.epsilon)

    def _set_model(self, memory: RowMemory, *, epsilon: float | None = None) -> None:
        """Set the fitted attributes that follow from rows and their metrics; ε is estimated if it is None."""
        from lann.model import LocalModel

        vote, class_weight = self.vote_, None
        if self.class_weight is not None:
            class_weight = self._class_weights(memory.values("labels"), memory.values("row_weights"))
        model = LocalModel(
            memory,
            n_candidates=vote.shortlist_size(self.n_candidates, self.n_neighbors),
            n_neighbors=vote.n_neighbors,
            **vars(vote.rule(class_weight)) | {"epsilon": epsilon},
            n_jobs=self.n_jobs,
        )
        model.names = self._names
        self.model_ = model
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
            self, X, y, self.categorical_features, schema, keep_single=True
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

    def _draw_rows(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[DrawnRows | None, int | None]:
        """Draw the rows to learn from, if there are many more than `max_points`; return the seed, too."""
        if self.max_points is None:
            return None, None
        seed = int(check_random_state(copy(self.random_state)).randint(2**31 - 1))
        drawn = draw_training_rows(
            X, y, sample_weight, policy=self.forget_policy, n_kept=int(self.max_points), seed=seed
        )
        return drawn, None if drawn is None else seed


def mark_as_learned(classifier: UpdatableClassifier) -> None:
    """Let further rows be added to what a model that was set has learned, as after a fit."""
    classifier._progress = UpdateProgress(learned=True, n_rows=classifier.model_.n_rows)
