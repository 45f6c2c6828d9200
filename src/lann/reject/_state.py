"""What a fitted reject option has learned, apart from its classifier: to save it, and to restore it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lann._types import Floats, Indices
from lann.reject._certainty import NoveltyScale
from lann.reject._held_out import HeldOut
from lann.reject._parameters import check_parameters
from lann.reject._plain_rows import PlainRows
from lann.reject._reading import Reader, neighbor_model
from lann.reject._regions import Regions
from lann.reject._reject_option import RejectOption
from lann.reject._rows import marker_of


class RejectState(NamedTuple):
    """What a fitted reject option has learned, apart from its classifier.

    Attributes
    ----------
    held_out : HeldOut
        The held-out rows, from which thresholds are chosen.
    thresholds : ndarray of shape (n_groups,) or None
        The thresholds that were chosen; None chooses them from the held-out rows.
    novelty_scale : NoveltyScale or None
        The scale of novelties; None if they are not measured.
    plain : PlainRows or None
        The training rows in all features, if they are needed.
    spacing : ndarray of shape (n_rows,) or None
        Distances between the training rows of a classifier with neighbors, if they are needed.
    landmarks : ndarray of shape (n_groups,) or None
        Training rows whose neighborhoods are regions.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNClassifier
    >>> from lann.reject import RejectOption, RejectState
    >>> X, y = load_wine(return_X_y=True)
    >>> reject = RejectOption(LANNClassifier(max_iter=1), cv=2, random_state=0).fit(X, y)
    >>> state = RejectState.of(reject)
    >>> other = state.restore(RejectOption(coverage=0.8), reject.estimator_)
    >>> bool(other.coverage_ >= 0.8), other.estimator_ is reject.estimator_
    (True, True)
    """

    held_out: HeldOut
    thresholds: Floats | None
    novelty_scale: NoveltyScale | None
    plain: PlainRows | None
    spacing: Floats | None
    landmarks: Indices | None

    @classmethod
    def of(cls, reject: RejectOption) -> RejectState:
        """Return the state of a fitted reject option.

        Parameters
        ----------
        reject : RejectOption

        Returns
        -------
        state : RejectState

        Raises
        ------
        ValueError
            If the classifier has changed since.
        """
        check_is_fitted(reject)
        reject.reader_.check_unchanged()
        return cls(
            reject.held_out_,
            reject.thresholds_,
            reject.novelty_scale_,
            reject.reader_.plain,
            reject.reader_.spacing,
            None if reject.regions_ is None else reject.regions_.landmarks,
        )

    def without_thresholds(self, n_held_out: int) -> RejectState:
        """Return the state for another target: without thresholds, and with so many held-out rows at most.

        Parameters
        ----------
        n_held_out : int
            Of more rows, some are kept that are evenly spaced.

        Returns
        -------
        state : RejectState
        """
        n_rows = len(self.held_out.rows)
        kept = np.linspace(0, n_rows - 1, min(n_rows, n_held_out)).astype(np.int64)
        held_out = self.held_out
        fewer = HeldOut(**{name: getattr(held_out, name)[kept] for name in HeldOut._fields})
        return self._replace(held_out=fewer, thresholds=None)

    def restore(self, reject: RejectOption, estimator: Any) -> RejectOption:
        """Set what was learned in a reject option.

        Parameters
        ----------
        reject : RejectOption
            With the parameters `certainty`, `by` and `novelty_share` of the one whose state it is.
        estimator : classifier
            The fitted classifier.

        Returns
        -------
        reject : RejectOption
            The one that was given, fitted.
        """
        target = check_parameters(reject)
        classes = estimator.classes_
        reject.estimator_, reject.classes_ = estimator, classes
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name) and not hasattr(reject, name):
                setattr(reject, name, getattr(estimator, name))
        reject.reject_label_ = marker_of(classes, reject.reject_label)
        reject.held_out_, reject.novelty_scale_ = self.held_out, self.novelty_scale
        reject.regions_ = None if self.landmarks is None else Regions(self.landmarks)
        needs, _ = reject._needs()
        columns = np.arange(len(classes))
        reject.reader_ = Reader(
            estimator,
            len(classes),
            columns,
            self.plain,
            self.spacing,
            needs,
            reject.n_jobs,
            neighbor_model(estimator),
        )
        reject._choose_thresholds(target, self.thresholds)
        return reject
