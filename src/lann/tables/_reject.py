"""Reject options of models of tables: thresholds from the held-out rows of a cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from numpy.typing import NDArray

from lann._support.types import Indices

if TYPE_CHECKING:
    from lann.reject import RejectOption, RejectState
    from lann.tables._table_model import TableModel

# Held-out rows that are kept with a model, at most: thresholds of more hardly differ.
MOST_HELD_OUT = 10_000


class FittedFold(NamedTuple):
    """A classifier of a cross-validation.

    Attributes
    ----------
    classifier : LANNClassifier
        Fitted to the training rows.
    train, test : ndarray
        Positions of the training rows and of the test rows in the training table; test rows without any
        value are left out.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import TrainingTable, cross_validate
    >>> table, folds = TrainingTable.from_frame(load_wine(as_frame=True).frame, "target"), []
    >>> scores = cross_validate(table, n_folds=2, folds=folds)
    >>> len(folds), len(folds[0].test)
    (2, 89)
    >>> reject = table.fit(folds=folds).reject_option(coverage=0.9)
    >>> reject.target_.kind, bool(reject.coverage_ >= 0.9)
    ('coverage', True)
    """

    classifier: Any
    train: Indices
    test: Indices


def learn_reject_state(
    classifier: Any, rows: pd.DataFrame, labels: NDArray[Any], folds: Sequence[FittedFold]
) -> RejectState | None:
    """Return what a reject option learns from the test rows of a cross-validation, for any target.

    Parameters
    ----------
    classifier : LANNClassifier
        Fitted to all rows.
    rows : DataFrame of shape (n_rows, n_columns)
    labels : ndarray of shape (n_rows,)
    folds : sequence of FittedFold
        Those whose classifier does not use all columns, which are constant in its training rows, are left
        out.

    Returns
    -------
    state : RejectState or None
        None if no fold is left.
    """
    from lann.reject import RejectOption, RejectState

    columns = list(rows.columns)
    usable = [
        tuple(fold) for fold in folds if len(fold.test) and list(fold.classifier.feature_names_in_) == columns
    ]
    if not usable:
        return None
    reject = RejectOption.from_folds(classifier, rows, labels, usable, random_state=0)
    return RejectState.of(reject).without_thresholds(MOST_HELD_OUT)


def reject_option(
    model: TableModel,
    *,
    cost: float | None = None,
    coverage: float | None = None,
    risk: float | None = None,
) -> RejectOption:
    """Return a reject option around the classifier, with thresholds for a target.

    They are chosen from the test rows of the cross-validation before the fit, which are kept with the model.

    Parameters
    ----------
    model : TableModel
    cost : float or None, default=None
        What a rejection costs, if an error costs 1. At most one of the three can be given; none is a cost of
        0.2.
    coverage : float or None, default=None
        The share of rows to accept.
    risk : float or None, default=None
        The largest share of the accepted rows that may be wrong.

    Returns
    -------
    reject : RejectOption
        Fitted; for `predict` and `explain`.

    Raises
    ------
    ValueError
        If the model has no held-out rows, or a target is invalid.
    """
    from lann.reject import RejectOption

    state = None if model.record is None else model.record.reject
    if state is None:
        raise ValueError(
            "The model has no held-out rows, from which thresholds for rejecting rows are chosen; fit it "
            "again by `lann fit` with its cross-validation, or by TrainingTable.fit(folds=...)."
        )
    option = RejectOption(model.classifier, cost=cost, coverage=coverage, risk=risk, cv="prefit")
    return state.restore(option, model.classifier)
