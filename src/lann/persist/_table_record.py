"""What is known about the table of which a model was fitted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lann._types import Indices as Positions
from lann.persist._kinds import (
    Float,
    Indices,
    Int,
    Json,
    Kind,
    ListOf,
    Maybe,
    PlainDicts,
    Reader,
    Text,
    TextDict,
    Writer,
    invalid,
)
from lann.persist._records import Record

if TYPE_CHECKING:
    from lann.reject import RejectState


@dataclass(frozen=True)
class CrossValidatedMethod:
    """The scores of a method in a cross-validation: means over the folds, and standard deviations.

    Attributes
    ----------
    method : str
        "LANN", "kNN" or "majority".
    n_folds : int
    random_state : int or None
        The seed of the folds; None if it is unknown.
    accuracy, balanced_accuracy, auc, log_loss : float or None
        Means over the folds; None if no fold has the score.
    accuracy_std, balanced_accuracy_std, auc_std, log_loss_std : float or None
        Standard deviations over the folds.

    Examples
    --------
    >>> from lann.persist import CrossValidatedMethod
    >>> scores = CrossValidatedMethod("LANN", 5, 0, 0.96, 0.02, 0.95, 0.02, 0.98, 0.01, 0.12, 0.03)
    >>> scores.accuracy, scores.accuracy_std, scores.log_loss
    (0.96, 0.02, 0.12)
    """

    method: str
    n_folds: int
    random_state: int | None
    accuracy: float | None
    accuracy_std: float | None
    balanced_accuracy: float | None
    balanced_accuracy_std: float | None
    auc: float | None
    auc_std: float | None
    log_loss: float | None
    log_loss_std: float | None


@dataclass(frozen=True, eq=False)
class TableRecord:
    """What is known about the table to which a model was fitted; it is saved with the model.

    Attributes
    ----------
    target : str
        Name of the column with the labels.
    id_column : str or None
        Name of the column with the names of the rows.
    sample_weight_column : str or None
        Name of the column with the weights of the rows.
    row_numbers : ndarray of shape (n_rows,)
        Positions of the training rows in the table.
    ignored : dict of str to str
        The columns that are not used, and why.
    columns : list of dict
        How each column was read, in values that JSON can express: None, bool, int, finite float, str, and
        lists and dictionaries with text as keys. It is loaded as it stands in the file.
    data_sha256 : str or None
        SHA-256 of the file with the table, as 64 hexadecimal digits; None if it is unknown.
    cross_validation : list of CrossValidatedMethod or None
        The scores of the methods in a cross-validation on the table; None if there was none.
    reject : RejectState or None
        What a reject option has learned from the held-out rows of the cross-validation, without thresholds,
        which can be chosen for any target; None if there are no held-out rows.
    """

    target: str
    id_column: str | None
    sample_weight_column: str | None
    row_numbers: Positions
    ignored: dict[str, str]
    columns: list[dict[str, Any]]
    data_sha256: str | None = None
    cross_validation: list[CrossValidatedMethod] | None = None
    reject: RejectState | None = None


class _Sha256(Text):
    """A SHA-256 as text."""

    def _checked(self, value: Any, name: str) -> str:
        if type(value) is not str or not re.fullmatch("[0-9a-f]{64}", value):
            invalid(name, value, "64 hexadecimal digits")
        return value


class LazyState(Kind):
    """A `RejectState`; estimators are imported when there is one."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        from lann.persist._reject import STATE

        return STATE.write(value, name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        from lann.persist._reject import STATE

        return STATE.read(data, name, reader)


_SCORE = Maybe(Float(low=0.0))
_METHOD = Record(
    CrossValidatedMethod,
    {
        "method": Text(),
        "n_folds": Int(1),
        "random_state": Maybe(Int(0)),
        "accuracy": _SCORE,
        "accuracy_std": _SCORE,
        "balanced_accuracy": _SCORE,
        "balanced_accuracy_std": _SCORE,
        "auc": _SCORE,
        "auc_std": _SCORE,
        "log_loss": _SCORE,
        "log_loss_std": _SCORE,
    },
)

TABLE = Record(
    TableRecord,
    {
        "target": Text(),
        "id_column": Maybe(Text()),
        "sample_weight_column": Maybe(Text()),
        "row_numbers": Indices("n_rows", below=None),
        "ignored": TextDict(),
        "columns": PlainDicts(),
        "data_sha256": Maybe(_Sha256()),
        "cross_validation": Maybe(ListOf("n_methods", _METHOD)),
        "reject": Maybe(LazyState()),
    },
    optional=("data_sha256", "cross_validation", "reject"),
)
