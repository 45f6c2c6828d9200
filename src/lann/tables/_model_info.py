"""What is in a model file."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lann._base import NeighborClassifier
from lann._support.inputs import get_feature_names
from lann._support.types import Floats
from lann._support.validation import changed_parameters
from lann.columns.schema import Feature
from lann.columns.text import Column, shown_values
from lann.persist import CrossValidatedMethod, ModelFile, TableRecord, read_model_file
from lann.tables._table_model import TableModel

COUNTED_KINDS = ("bool", "ordered", "category")


@dataclass(frozen=True)
class ColumnInfo:
    """What a column of the training rows has.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "bool", "date"}
    low, high : object
        Smallest and largest value of numbers and dates, as the table writes them; None for other kinds, and
        where the values are unknown.
    categories : tuple of (str, int)
        The values of other kinds, with the number of training rows that have them, the most frequent first.
    missing : float or None
        Share of the training rows without a value; None where the values are unknown.

    Examples
    --------
    >>> from lann.tables import ColumnInfo
    >>> ColumnInfo("city", "category", None, None, (("Ulm", 7), ("Bonn", 3)), 0.0).categories[0]
    ('Ulm', 7)
    """

    name: str
    kind: str
    low: Any = None
    high: Any = None
    categories: tuple[tuple[str, int], ...] = ()
    missing: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the description as a dictionary.

        Returns
        -------
        values : dict
        """
        counts = [{"value": value, "n_rows": n_rows} for value, n_rows in self.categories]
        return asdict(self) | {"categories": counts}


@dataclass(frozen=True, eq=False)
class ModelInfo:
    """What is in a model file.

    Attributes
    ----------
    file : ModelFile
        The file: its model, size and hash, and the version that wrote it.
    estimator : str
        Name of the class of the model.
    parameters : dict
        Parameters that are not the defaults.
    n_rows : int or None
        Number of training rows; None if the model does not keep them.
    columns : tuple of ColumnInfo
        The columns that are used.
    classes : tuple of (label, int or None)
        The classes, with their numbers of training rows; empty if the model is no classifier.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import ModelInfo, TableModel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "wine.lann")
    ...     TableModel.fit(load_wine(as_frame=True).frame, "target").save(file)
    ...     info = ModelInfo.from_file(file)
    >>> info.estimator, info.target, info.n_rows, info.classes
    ('LANNClassifier', 'target', 178, ((0, 59), (1, 71), (2, 48)))
    >>> info.columns[0].name, float(info.columns[0].low), float(info.columns[0].high)
    ('alcohol', 11.03, 14.83)
    """

    file: ModelFile
    estimator: str
    parameters: dict[str, Any]
    n_rows: int | None
    columns: tuple[ColumnInfo, ...]
    classes: tuple[tuple[Any, int | None], ...]

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ModelInfo:
        """Read a model file; nothing in it can run.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        info : ModelInfo

        Raises
        ------
        ValueError
            If the file is damaged, or contains anything but a model of lann.
        OSError
            If there is no such file.
        """
        file = read_model_file(path)
        model, table = file.model, file.table
        keeps_rows = isinstance(model, NeighborClassifier) and model.model_.has_training_rows
        n_rows: int | None = None
        if keeps_rows:
            fitted = TableModel(model, table)
            X, n_rows = fitted.classifier.model_.X, len(fitted.row_numbers)
            columns = tuple(map(_column_info, fitted.columns, fitted.schema.features, X.T))
        else:
            n_rows = len(model.embedding_) if hasattr(model, "embedding_") else None
            columns = tuple(ColumnInfo(str(name), "number") for name in get_feature_names(model))
        labels = getattr(model, "classes_", np.empty(0)).tolist()
        counts: list[int | None] = [None] * len(labels)
        if keeps_rows:
            counts = np.bincount(model.model_.labels, minlength=len(labels)).tolist()
        classes = tuple(zip(labels, counts, strict=True))
        return cls(file, type(model).__name__, changed_parameters(model), n_rows, columns, classes)

    @property
    def target(self) -> str | None:
        """Name of the column with the labels; None if it is unknown."""
        return None if self.file.table is None else self.file.table.target

    @property
    def ignored(self) -> dict[str, str]:
        """The columns of the table that are not used, and why."""
        return {} if self.file.table is None else self.file.table.ignored

    @property
    def cross_validation(self) -> list[CrossValidatedMethod]:
        """The scores of the cross-validation on the training table; empty if they are unknown."""
        return [] if self.file.table is None else self.file.table.cross_validation or []

    @property
    def vote(self) -> str | None:
        """How training rows vote, in words; None if they do not."""
        vote = getattr(self.file.model, "vote_", None)
        if vote is not None:
            return str(vote)
        is_classifier = isinstance(self.file.model, NeighborClassifier)
        return f"{self.file.model.model_.n_neighbors} neighbors" if is_classifier and self.n_rows else None

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The levels of the metric that were learned; None if the model has none."""
        return getattr(self.file.model, "levels_", None)

    def to_dict(self) -> dict[str, Any]:
        """Return what is in the file as a dictionary, with keys in snake_case.

        Returns
        -------
        values : dict
        """
        table: TableRecord | None = self.file.table
        known = {} if table is None else vars(table)
        vote = getattr(self.file.model, "vote_", None)
        return {
            **{key: getattr(self.file, key) for key in ("version", "format", "n_bytes", "sha256")},
            "estimator": self.estimator,
            "parameters": self.parameters,
            "levels": self.levels,
            "n_rows": self.n_rows,
            "n_columns": len(self.columns),
            "target": self.target,
            "id_column": known.get("id_column"),
            "sample_weight_column": known.get("sample_weight_column"),
            "classes": [{"label": label, "n_rows": n_rows} for label, n_rows in self.classes],
            "columns": [column.to_dict() for column in self.columns],
            "ignored": [{"name": name, "reason": reason} for name, reason in self.ignored.items()],
            "vote": vote and {key: getattr(vote, key) for key in ("n_neighbors", "power", "floor")},
            "cross_validation": [asdict(scores) for scores in self.cross_validation],
            "data_sha256": known.get("data_sha256"),
        }


def _column_info(column: Column, feature: Feature, numbers: Floats) -> ColumnInfo:
    """Describe a column of training rows.

    Parameters
    ----------
    column : Column
    feature : Feature
    numbers : ndarray of shape (n_rows,)
        As the model has them: codes of categories, NaN for gaps.
    """
    known = numbers[~np.isnan(numbers)]
    missing = 1.0 - len(known) / len(numbers)
    if len(known) == 0:
        return ColumnInfo(column.name, column.kind, missing=missing)
    if feature.kind in COUNTED_KINDS:
        codes, counts = np.unique(known, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        texts = [column.format(feature.value(code)) for code in codes[order]]
        categories = tuple(zip(texts, counts[order].tolist(), strict=True))
        return ColumnInfo(column.name, column.kind, categories=categories, missing=missing)
    ends = np.array([[feature.value(known.min())], [feature.value(known.max())]], dtype=object)
    low, high = shown_values([column], ends)[:, 0]
    return ColumnInfo(column.name, column.kind, low, high, missing=missing)
