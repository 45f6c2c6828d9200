"""A classifier whose training rows can be added one by one, and forgotten: what surrounds the training."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from lann._base import NeighborClassifier
from lann._row_draw import DrawnRows, draw_training_rows, rows_to_forget
from lann._row_estimator import RowEstimator, UpdateProgress
from lann._support.compat import unchanged_on_failure, with_callbacks
from lann._support.inputs import (
    class_indices,
    get_feature_names,
)
from lann._support.sizes import check_training_values
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import shown

# What computes is imported on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.model import LocalModel, RowMemory
    from lann.vote import VoteChoice

# `partial_fit` learns nothing before it has this many rows.
FEWEST_ROWS = 30


class UpdatableClassifier(RowEstimator, NeighborClassifier):
    """A classifier with local metrics to which rows can be added, and that can forget rows.

    A subclass trains the metrics of many rows, chooses the vote, and sets the model.
    """

    max_points: int | None
    forget_policy: str
    class_weight: Any

    # Methods of the subclass.
    _train: Any
    _keep_vote: Any
    _class_weights: Any

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
        return self._copy_with(vote)

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

    def _make_model(self, memory: RowMemory, epsilon: float | None) -> LocalModel:
        from lann.model import LocalModel

        vote, class_weight = self.vote_, None
        if self.class_weight is not None:
            class_weight = self._class_weights(memory.values("labels"), memory.values("row_weights"))
        return LocalModel(
            memory,
            n_candidates=vote.shortlist_size(self.n_candidates, self.n_neighbors),
            n_neighbors=vote.n_neighbors,
            **vars(vote.rule(class_weight)) | {"epsilon": epsilon},
            n_jobs=self.n_jobs,
        )

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
