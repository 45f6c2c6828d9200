"""A fitted model in the columns and rows of the user's tables."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_regressor

from lann._base import NeighborEstimator
from lann._support.inputs import get_feature_names
from lann._support.types import Floats, Indices
from lann._support.validation import OneOf, validate
from lann.columns.inputs import as_fitted, read_rows
from lann.columns.schema import TableSchema, TableValues
from lann.columns.text import (
    Column,
    TableWarning,
    apply_columns,
    check_has_columns,
    column_texts,
    shown_values,
)
from lann.persist import TableRecord, read_model_file, save
from lann.tables import _counterfactuals, _cross_validation, _embedding, _predict_file, _rows
from lann.tables._rows import known_labels, numbers_in, row_names, same_training_rows
from lann.tables._values import SCORED_LEVELS, score_distribution, score_values

if TYPE_CHECKING:
    from lann.explain import Explanation
    from lann.reject import RejectOption

# New categories of a column that a warning lists, and that are kept while a file is read.
MOST_LISTED, MOST_NEW = 3, 1000


class TableModel:
    """A fitted classifier with what is known about its table: it takes and explains tables as they are.

    `TableModel.fit` and `TableModel.load` return it. Rows of the training table go by their position in it,
    row numbers, also if rows without a label were left out.

    Parameters
    ----------
    classifier : estimator
        A fitted LANNClassifier, LANNRegressor, or a baseline with neighbors.
    record : TableRecord or None, default=None
        What is known about the training table. None is a classifier that was fitted in Python: text of tables
        is then read by plain rules.

    Attributes
    ----------
    classifier : estimator
    record : TableRecord or None
    columns : tuple of Column
        What the columns have that are used.
    row_numbers : ndarray of shape (n_train,)
        Positions of the training rows in their table.

    Raises
    ------
    ValueError
        If the classifier keeps no training rows, or the record is of another model.

    See Also
    --------
    lann.report.save_report : A page about the model and the rows that it explains.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import TableModel
    >>> frame = pd.DataFrame({"age": [20, 21, 22, 61, 62, 63] * 2, "city": ["Ulm", "Bonn", None] * 4})
    >>> frame["retired"] = frame["age"].map(lambda age: "yes" if age > 60 else "no")
    >>> model = TableModel.fit(frame, "retired")
    >>> model.target, model.feature_names
    ('retired', ['age', 'city'])
    >>> model.predict(frame[:2]).round(2)
      label prediction  probability of no  probability of yes
    0    no         no               0.99                0.01
    1    no         no               0.99                0.01
    >>> explanation = model.explain(frame, rows=[4])
    >>> print(explanation.row(0).prediction, explanation.feature_names)
    yes ['age' 'city']
    """

    def __init__(self, classifier: Any, record: TableRecord | None = None) -> None:
        if not isinstance(classifier, NeighborEstimator):
            hint = " Give its last step, and rows transformed by the others."
            raise ValueError(
                f"The model is a {type(classifier).__name__}, which is no classifier with neighbors; give a "
                f"LANNClassifier, a LANNRegressor or a baseline with neighbors."
                f"{hint if hasattr(classifier, 'steps') else ''}"
            )
        self.classifier: Any = classifier
        self.record, n_rows = record, len(classifier.model_.X)
        self.columns: tuple[Column, ...] = tuple(map(Column.from_feature, self.schema.features))
        self.row_numbers: Indices = np.arange(n_rows)
        if record is None:
            return
        plain, self.columns = self.columns, tuple(map(Column.from_dict, record.columns))
        self.row_numbers, features = record.row_numbers, self.schema.features
        fits = [column.name for column in self.columns] == [feature.name for feature in features] and all(
            column.kind == known.kind or feature.kind == "empty"  # without any value in the training rows
            for column, known, feature in zip(self.columns, plain, features, strict=True)
        )
        if not fits:
            raise ValueError("The columns of the table in the model file are not the features of the model.")
        if len(self.row_numbers) != n_rows or (np.diff(self.row_numbers) <= 0).any():
            raise ValueError("The row numbers in the model file are not those of the training rows.")

    def __repr__(self) -> str:
        target = "" if self.target is None else f" of {self.target!r}"
        return f"<TableModel{target}: {len(self.row_numbers)} training rows, {len(self.columns)} features>"

    # Each of these has a module of its own.
    embed = _embedding.embed
    labeled_rows = _rows.labeled_rows
    new_rows = _rows.new_rows
    predict_file = _predict_file.predict_file
    reject_option = _cross_validation.reject_option
    counterfactuals = _counterfactuals.counterfactuals
    counterfactuals_of_explanation = _counterfactuals.counterfactuals_of_explanation
    suspicious_rows = _counterfactuals.suspicious_rows
    relevant_values = _counterfactuals.relevant_values

    @property
    def schema(self) -> TableSchema:
        """What the features of the classifier have; numbers if it does not take tables."""
        schema: TableSchema | None = getattr(self.classifier, "schema_", None)
        return schema or TableSchema.numeric(list(get_feature_names(self.classifier)), has_names=True)

    @property
    def target(self) -> str | None:
        """Name of the column with the labels; None if it is unknown."""
        return None if self.record is None else self.record.target

    @property
    def has_values(self) -> bool:
        """Whether numbers are predicted, and not labels."""
        return is_regressor(self.classifier)

    def check_labels(self, what: str) -> None:
        """Raise ValueError if numbers are predicted.

        Parameters
        ----------
        what : str
            What needs labels, as the subject of a sentence.
        """
        if self.has_values:
            raise ValueError(f"{what} needs a model of labels; this one predicts numbers.")

    @property
    def id_column(self) -> str | None:
        """Name of the column that names the rows; None if there is none."""
        return None if self.record is None else self.record.id_column

    @property
    def ids(self) -> NDArray[Any] | None:
        """Names of the training rows: (n_train,); None if they go by their row numbers."""
        if self.record is not None and self.record.id_column is None:
            return None
        return getattr(self.classifier, "ids_", None)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns that are used."""
        return [column.name for column in self.columns]

    @classmethod
    def fit(
        cls,
        frame: pd.DataFrame,
        target: str,
        *,
        classifier: Any = None,
        id: str | None = None,
        drop: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        sample_weight: str | None = None,
        name: str = "the table",
    ) -> TableModel:
        """Fit a classifier to a table as it is: numbers, text, bools, dates and missing values.

        Parameters
        ----------
        frame : DataFrame
        target : str
            Name of the column with the labels; rows without one are left out.
        classifier : LANNClassifier, LANNRegressor or None, default=None
            It is cloned; None is one with ``random_state=0``.
        id : str or None, default=None
            Name of a column that names the rows; explanations show these names.
        drop : sequence of str, default=()
            Names of columns not to use.
        kinds : mapping of str to str or None, default=None
            What columns have, if it is not to be inferred: "category", "number", "date", or the format of
            dates, such as "%d/%m/%Y". For the target, "category" is classification, and "number" regression,
            which more than 20 different numbers are by default, or more than 10 that are not all integers.
        sample_weight : str or None, default=None
            Name of the column with sample weights; a weight of 2 is the same as the row twice, and rows of
            weight 0 are left out.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        model : TableModel

        Raises
        ------
        ValueError
            If there is no such column, no column to learn from, the target does not have classes, a column
            does not have what it must have, a weight is invalid, or there are too few rows.

        Warns
        -----
        TableWarning
            If rows or columns are left out.
        """
        from lann.tables._training_table import TrainingTable

        if classifier is not None:
            kinds = dict(kinds or {}) | {target: "number" if is_regressor(classifier) else "category"}
        table = TrainingTable.from_frame(
            frame, target, id=id, drop=drop, kinds=kinds, sample_weight=sample_weight, name=name
        )
        return table.fit(classifier)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TableModel:
        """Load a model that `save`, `lann.save` or the command ``lann fit`` has written.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        model : TableModel

        Raises
        ------
        ValueError
            If the file is not a model file, or the model is no classifier with neighbors.
        OSError
            If there is no such file.
        """
        file = read_model_file(path)
        return cls(file.model, file.table)

    def training_rows(self) -> pd.DataFrame:
        """Return the training rows in their values.

        Returns
        -------
        rows : DataFrame of shape (n_train, n_features)
            Numbers, text, bools and dates, as `apply_columns` returns them.
        """
        classifier = self.classifier
        frame = pd.DataFrame(as_fitted(classifier, classifier.model_.X)).set_axis(self.feature_names, axis=1)
        return apply_columns(frame, list(map(Column.from_feature, self.schema.features)), "the training data")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the classifier and the record of its table, as `lann.save` does.

        `lann.load` returns the classifier, which takes tables, too. On failure nothing is written.

        Parameters
        ----------
        path : str or path-like
            By convention ``*.lann``; an existing file is replaced.

        Raises
        ------
        ValueError
            If the model has a part that cannot be saved.
        OSError
            If the file cannot be written.
        """
        save(self.classifier, path, table=self.record)

    def predict(
        self,
        frame: pd.DataFrame,
        *,
        id: str | None = None,
        reject: RejectOption | None = None,
        name: str = "the table",
    ) -> pd.DataFrame:
        """Predict labels and probabilities.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order; others are ignored.
        id : str or None, default=None
            Name of a column to keep beside the predictions. None is that of the training table, if `frame`
            has it.
        reject : RejectOption or None, default=None
            Of `reject_option`: it decides which predictions are accepted.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        predictions : DataFrame
            With the index of `frame` and the columns ``prediction`` and ``probability of ...`` for every
            class, or ``low`` and ``high``, the ends of the interval of 90%, for numbers; after the column of
            `id` and, if `frame` has the target, ``label``. With a reject option, the column ``decision``
            ("accepted", "ambiguous" or "far") stands after the prediction; that of a rejected row remains the
            label with the largest probability.

        Raises
        ------
        ValueError
            If a column is missing, or a cell is not what its column must have.

        Warns
        -----
        TableWarning
            If a column has categories that the training data do not have.
        """
        return self._predict(frame, id, reject, name)

    def _predict(
        self, frame: pd.DataFrame, id: str | None, reject: RejectOption | None, name: str, **options: Any
    ) -> pd.DataFrame:
        """Return predictions; options are those of `_read`."""
        rows = self._as_fitted(self._read(frame, name=name, **options))
        if self.has_values:
            low, high = self.classifier.predict_interval(rows).T
            columns = {"prediction": self.classifier.predict(rows), "low": low, "high": high}
        else:
            probabilities = self.classifier.predict_proba(rows)
            classes = self.classifier.classes_
            columns = {"prediction": classes[probabilities.argmax(axis=1)]}
            if reject is not None:
                columns["decision"] = reject.decision(rows)
            columns |= {f"probability of {label}": probabilities[:, j] for j, label in enumerate(classes)}
        predictions = pd.DataFrame(columns, index=frame.index)
        if self.target in frame:
            predictions.insert(0, "label", self.labels_in(frame))
        id = self._id_of(frame, id)
        if id is not None:
            predictions.insert(0, id, row_names(frame, id, name), allow_duplicates=True)
        return predictions

    def evaluate(
        self, frame: pd.DataFrame, target: str | None = None, *, name: str = "the table"
    ) -> dict[str, float]:
        """Return scores on rows with labels.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order, and labels.
        target : str or None, default=None
            Name of the column with the labels; None is that of the training table.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        scores : dict of str to float
            ``accuracy``, ``balanced_accuracy``, ``auc``, ``log_loss`` and ``recall of ...`` for every class,
            as in a cross-validation; of numbers, ``r2``, ``rmse``, ``mae``, ``median_error``, ``crps``, and
            ``coverage`` and ``width`` of 90% intervals.

        Raises
        ------
        ValueError
            If a column is missing, a cell is not what its column must have, no row has a label, or a label is
            not among the classes.

        See Also
        --------
        lann.report.evaluate : Scores with intervals, calibration, mistakes, and a page of them.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann.tables import TableModel
        >>> frame = load_iris(as_frame=True).frame
        >>> round(TableModel.fit(frame[::2], "target").evaluate(frame[1::2])["accuracy"], 2)
        0.96
        """
        rows = self.labeled_rows(frame, target, name=name)
        if self.has_values:
            quantiles = self.classifier.predict_quantiles(rows.X, SCORED_LEVELS)
            scores = score_values(rows.labels, self.classifier.predict(rows.X), rows.weights)
            return scores | score_distribution(rows.labels, quantiles, rows.weights)
        classes = self.classifier.classes_
        unknown = [label for label in rows.labels.tolist() if label not in classes]
        if unknown:
            raise ValueError(f"The label {unknown[0]!r} in {name} is not among the classes of the model.")
        probabilities = self.classifier.predict_proba(rows.X)
        return _cross_validation.scores_of(classes, rows.labels, probabilities, rows.weights)

    def kneighbors(
        self, frame: pd.DataFrame, n_neighbors: int | None = None, *, name: str = "the table"
    ) -> pd.DataFrame:
        """Find the nearest training rows, as each of them measures.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order; others are ignored.
        n_neighbors : int or None, default=None
            None is the number of neighbors that vote.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        neighbors : DataFrame
            With a line per row and neighbor, nearest first: ``row``, ``neighbor_row`` (the row number in the
            training table), ``neighbor_id`` (if rows have names), ``neighbor_label``, ``distance``, and the
            values of the neighbor as the table writes them.

        Raises
        ------
        ValueError
            If there are not so many training rows, a column is missing, or a cell is not what its column must
            have.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lann.tables import TableModel
        >>> frame = load_iris(as_frame=True).frame
        >>> TableModel.fit(frame, "target").kneighbors(frame[:1], 2).iloc[:, :4].round(2)
           row  neighbor_row  neighbor_label  distance
        0    0             0               0      0.00
        1    0            27               0      0.11
        """
        values = self._read(frame, name=name)
        distances, positions = self.classifier.kneighbors(self._as_fitted(values), n_neighbors)
        flat, k = positions.ravel(), positions.shape[1]
        rows, shown = self.row_numbers[flat], self._training_values()[self.row_numbers[flat]]
        columns = {"row": np.repeat(np.arange(len(frame)), k), "neighbor_row": rows}
        if self.ids is not None:
            columns["neighbor_id"] = self.ids[flat]
        columns["neighbor_label"] = self.classifier.classes_[self.classifier.model_.labels[flat]]
        columns["distance"] = distances.ravel()
        of_neighbors = pd.DataFrame(shown, columns=self.feature_names)
        return pd.concat([pd.DataFrame(columns), of_neighbors], axis=1)

    def explain(
        self,
        frame: pd.DataFrame,
        rows: Sequence[int] | Indices | None = None,
        *,
        id: str | None = None,
        leave_out: str | None = "auto",
        reject: RejectOption | None = None,
        name: str = "the table",
    ) -> Explanation:
        """Explain predictions in the user's columns, rows and values.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order; others are ignored.
        rows : sequence of int or None, default=None
            Positions of the rows to explain; None is all rows.
        id : str or None, default=None
            Name of a column that names the rows. None is that of the training table, if `frame` has it.
        leave_out : {"auto"} or None, default="auto"
            "auto" explains training rows without themselves: the rows of the training table by their row
            numbers; of other tables, rows that have the name and the values of a training row, or, without
            names, the values of exactly one. None lets all training rows vote.
        reject : RejectOption or None, default=None
            Of `reject_option`: the explanation says which predictions are rejected, and why. All training
            rows vote then, as in the predictions on which it decides.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        explanation : Explanation
            Its neighbors, and the rows that were left out, are row numbers of the training table, and values
            are shown as the table writes them. If `frame` has the target, it has the labels of the rows, too.

        Raises
        ------
        ValueError
            If there is no such row, a column is missing, or a cell is not what its column must have.

        Warns
        -----
        TableWarning
            If a column has categories that the training data do not have.
        """
        validate("leave_out", leave_out, OneOf("auto", None))
        from lann.explain import with_decisions

        values, exclude = self._read(frame, rows, name=name), None
        if leave_out and reject is None:
            exclude = same_training_rows(self, frame, values, id, name)
        X = self._as_fitted(values)
        explanation = self.classifier.explain(X, leave_out=exclude)
        if self.has_values and self.target is not None:
            explanation = replace(explanation, target_name=self.target, classes=np.array([self.target]))
        if reject is not None:
            explanation = with_decisions(explanation, reject.reasons(X))
        positions, rows = explanation.neighbors, frame.iloc[values.index]
        left_out = explanation.left_out
        id = self._id_of(frame, id)
        return replace(
            explanation,
            true_labels=self.labels_in(rows),
            neighbors=self.row_numbers[positions],
            neighbor_ids=None if self.ids is None else self.ids[positions],
            left_out=np.where(left_out < 0, -1, self.row_numbers[left_out]),
            query_ids=None if id is None else row_names(rows, id, name),
            _query_rows=values.index.to_numpy(),
            _query_values=shown_values(self.columns, values.to_numpy(dtype=object)),
            _training_values=self._training_values(),
        )

    def explain_blocks(
        self,
        frame: pd.DataFrame,
        rows: Sequence[int] | Indices | None = None,
        *,
        block_size: int = 500,
        **options: Any,
    ) -> Iterator[Explanation]:
        """Explain predictions block by block: in bounded memory, and with a chance to report the progress.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order; others are ignored.
        rows : sequence of int or None, default=None
            Positions of the rows to explain; None is all rows.
        block_size : int, default=500
            Number of rows of a block.
        **options : object
            ``id``, ``leave_out``, ``reject`` and ``name``, as for `explain`.

        Yields
        ------
        explanation : Explanation
            Of the rows of a block, as `explain` returns it for them.

        Raises
        ------
        ValueError
            If there is no such row, a column is missing, or a cell is not what its column must have.

        Warns
        -----
        TableWarning
            If a column has categories that the training data do not have.
        """
        numbers = np.arange(len(frame)) if rows is None else rows
        for start in range(0, len(numbers), block_size):
            part = numbers[start : start + block_size]
            yield self.explain(frame, part, **options)

    def labels_in(
        self, frame: pd.DataFrame, target: str | None = None, *, name: str = "the table"
    ) -> NDArray[Any] | None:
        """Return the labels of rows: the classes of the model by the text of the target column.

        Parameters
        ----------
        frame : DataFrame
        target : str or None, default=None
            Name of the column with the labels; None is that of the training table, if `frame` has it.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        labels : ndarray of shape (n_rows,) or None
            None in place of a missing label, and text for a label that no training row has. None if there is
            no such column, or all its cells are missing.

        Raises
        ------
        ValueError
            If `target` is given and there is no such column.
        """
        if target is not None:
            check_has_columns(frame, [target], name, "target")
        elif self.target is None or self.target not in frame:
            return None
        texts = column_texts(frame[target or self.target])
        if pd.isna(texts).all():
            return None
        if self.has_values:
            values = numbers_in(frame, np.arange(len(frame)), str(target or self.target), name)
            if not np.isnan(values).any():
                return values
            return np.array([None if value != value else value for value in values.tolist()], object)
        return known_labels(texts, self.classifier.classes_)

    def _read(
        self,
        frame: pd.DataFrame,
        rows: Sequence[int] | Indices | None = None,
        *,
        name: str = "the table",
        row_numbers: Indices | None = None,
        new: dict[str, set[str]] | None = None,
    ) -> pd.DataFrame:
        """Return rows of a table with the values that the columns have.

        The index has the positions of the rows, or `row_numbers`. Categories that the training data do not
        have are added to `new`; if this is None, a warning names them.
        """
        numbers = row_numbers
        if rows is not None:
            numbers = np.asarray(rows, dtype=np.int64)
            outside = numbers[(numbers < 0) | (numbers >= len(frame))]
            if len(outside):
                raise ValueError(
                    f"There is no row {outside[0]} in {name}; its rows are 0 to {len(frame) - 1}."
                )
            frame = frame.iloc[numbers]
        if not hasattr(self.classifier, "feature_names_in_"):
            if len(frame.columns) != len(self.columns):
                raise ValueError(
                    f"There are {len(frame.columns)} columns in {name}; the model was fitted without column "
                    f"names and needs {len(self.columns)}."
                )
            frame = frame.set_axis(self.feature_names, axis=1)
        values = apply_columns(frame, self.columns, name, row_numbers=numbers)
        empty = np.flatnonzero(values.isna().all(axis=1))
        gaps = np.full((1, len(self.columns)), np.nan)
        if len(empty) and self.classifier.model_.unmeasured(gaps).all():
            row = values.index[empty[0]]
            raise ValueError(f"Row {row} of {name} has no value in any of the columns that are used.")
        found: dict[str, set[str]] = {} if new is None else new
        for feature in self.schema.features:
            if feature.kind != "category" or len(found.get(feature.name, ())) > MOST_NEW:
                continue
            if categories := set(values[feature.name].dropna()) - set(feature.categories):
                found.setdefault(feature.name, set()).update(categories)
        if new is None:
            self._warn_of_new(found)
        return values

    def _training_values(self) -> TrainingValues:
        """Return the values of the training rows as the table writes them, by their row numbers."""
        return TrainingValues(self.schema, self.classifier.model_.X, self.columns, self.row_numbers)

    def _id_of(self, frame: pd.DataFrame, id: str | None = None) -> str | None:
        """Return the column that names the rows: the given one, or that of the training table."""
        return self.id_column if id is None and self.id_column in frame else id

    def _as_fitted(self, values: pd.DataFrame) -> Any:
        """Return values as the classifier takes them: without column names if it was fitted without."""
        if hasattr(self.classifier, "feature_names_in_"):
            return values
        return values.to_numpy(dtype=float if all(c.kind == "number" for c in self.columns) else object)

    def _as_numbers(self, values: pd.DataFrame) -> Floats:
        """Return values as the model has them: categories as codes, gaps as NaN."""
        return read_rows(self.classifier, self._as_fitted(values), self.schema)

    def _warn_of_new(self, categories: Mapping[str, set[str]]) -> None:
        for column, new in categories.items():
            listed = ", ".join(map(repr, sorted(new)[:MOST_LISTED]))
            if len(new) > MOST_LISTED:
                listed += f" and {len(new) - MOST_LISTED} more"
            message = f"Column {column!r} has values that the training data do not have: {listed}."
            warnings.warn(message, TableWarning, stacklevel=4)


@dataclass(frozen=True)
class TrainingValues(TableValues):
    """Training rows by their row numbers, as the columns write their values.

    Attributes
    ----------
    columns : tuple of Column
    row_numbers : ndarray of shape (n_rows,)
        Ascending.
    """

    columns: tuple[Column, ...]
    row_numbers: Indices

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self.shown(self.X[np.searchsorted(self.row_numbers, rows)])

    def shown(self, X: Floats) -> NDArray[Any]:
        values = self.schema.values(X)  # (..., n_features)
        return shown_values(self.columns, values.reshape(-1, len(self.columns))).reshape(values.shape)
