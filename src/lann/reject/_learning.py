"""What a reject option learns of held-out rows: groups of rows, and their thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats
from lann.reject._certainty import NoveltyScale, compute_certainties, novelty_threshold
from lann.reject._decisions import DecidesOnRows
from lann.reject._fitting import Fitted
from lann.reject._fold_votes import vote_as
from lann.reject._groups import merge_groups
from lann.reject._held_out import HeldOut, RowReader
from lann.reject._reading import Needs
from lann.reject._regions import find_regions
from lann.reject._rows import marker_of, take_rows
from lann.reject._thresholds import Target, choose_thresholds


class LearnsThresholds(DecidesOnRows):
    """A reject option whose thresholds are chosen on held-out rows."""

    thresholds: str
    cv: int | float | str
    novelty_share: float
    reject_label: Any
    n_jobs: int | None
    target_: Target
    held_out_: HeldOut
    coverage_: float
    risk_: float

    def _learn(self, X: Any, y: NDArray[Any], fitted: Fitted, target: Target, seed: int) -> None:
        """Set the classifier, and what is learned of held-out rows."""
        folds = fitted.folds
        self.estimator_, self.classes_ = fitted.estimator, fitted.estimator.classes_
        self.reject_label_ = marker_of(self.classes_, self.reject_label)
        labels = _class_indices(y, self.classes_)
        row_reader = RowReader(X, labels, self.classes_, *self._needs(), self.n_jobs)
        reading, rows = row_reader.read(vote_as(folds, self.estimator_))
        fitted_on = np.arange(len(y)) if len(folds) > 1 or isinstance(self.cv, str) else folds[0].train
        self.reader_ = row_reader.reader(self.estimator_, fitted_on)
        self.novelty_scale_ = None if reading.novelty is None else NoveltyScale.fit(reading.novelty)
        novelties = self._novelties(reading)
        predicted = reading.probabilities.argmax(axis=1)
        groups = np.zeros(len(rows), np.int64)
        self.regions_ = None
        if self.by == "class":
            groups = predicted
        elif self.by == "local":
            rng = np.random.default_rng(seed)
            self.regions_, groups = find_regions(self.reader_, take_rows(X, rows), rng)
        self.held_out_ = HeldOut(
            y[rows],
            self.classes_[predicted],
            compute_certainties(reading, novelties, self.certainty),
            novelties,
            groups,
            rows,
        )
        self._choose_thresholds(target)

    def _needs(self) -> tuple[Needs, frozenset[str]]:
        """Return what is needed of rows, and what plain rows are needed for."""
        needs = Needs(self.certainty == "combined", self.novelty_share > 0 or self.certainty == "novelty")
        plain_for = {"novelty"} if needs.novelty else set()
        if needs.separation or self.by == "local":
            plain_for.add("others")
        return needs, frozenset(plain_for)

    def _choose_thresholds(self, target: Target, known: Floats | None = None) -> None:
        """Set the thresholds, unless they are known, and what is reached by them on the held-out rows."""
        held_out = self.held_out_
        self.target_ = target
        share = min(self.novelty_share, 1.0 - target.value if target.kind == "coverage" else 1.0)
        self.novelty_threshold_ = novelty_threshold(held_out.novelties, share)
        near = ~(held_out.novelties > self.novelty_threshold_)
        wrong = held_out.y_true != held_out.y_pred
        self.thresholds_ = self._best_thresholds(target, near, wrong) if known is None else known
        accepted = near & (held_out.certainties >= self.thresholds_[held_out.groups])
        self.coverage_ = float(accepted.mean())
        self.risk_ = float(wrong[accepted].mean()) if accepted.any() else np.nan

    def _best_thresholds(self, target: Target, near: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> Floats:
        """Return the best thresholds for held-out rows: near ones, and those predicted wrongly."""
        held_out = self.held_out_
        n_groups = {"global": 1, "class": len(self.classes_)}.get(self.by)
        if n_groups is None:
            assert self.regions_ is not None
            n_groups = len(self.regions_.landmarks)
        threshold_of = merge_groups(held_out.certainties, wrong, held_out.groups, n_groups)
        thresholds = choose_thresholds(
            held_out.certainties[near],
            wrong[near],
            threshold_of[held_out.groups][near],
            int(threshold_of.max()) + 1,
            target,
            exact=self.thresholds == "exact",
            n_total=len(wrong),
        )
        return thresholds[threshold_of]


def _class_indices(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the class index of each label, -1 for one that is not a class; some have to be."""
    position = {label: index for index, label in enumerate(classes.tolist())}
    labels = np.array([position.get(label, -1) for label in y.tolist()], np.int64)
    if (labels < 0).all():
        shown = ", ".join(map(repr, classes.tolist()[:5])) + (", …" if len(classes) > 5 else "")
        raise ValueError(
            f"No label of y is a class of the classifier: y has {y.tolist()[0]!r}, the classes are {shown}."
        )
    return labels
