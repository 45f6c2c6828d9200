"""A fitted model in the columns and rows of the user's tables."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

from lann._neighbor_classifier import NeighborClassifier
from lann._types import Floats, Indices
from lann.tables import _embed
from lann.tables._columns import id_column
from lann.tables._encoded_rows import EncodedRows, check_rows, warn_of_new_categories
from lann.tables._pipeline import FittedEncoding
from lann.tables._warnings import TableWarning

if TYPE_CHECKING:
    from lann.explain import Explanation


class TableModel:
    """A fitted classifier that takes and explains tables of numbers and text, with missing values.

    `fit_table` and `TableModel.load` return it. Rows of the training table go by their position in it, row
    numbers, also if rows without a label were left out.

    Parameters
    ----------
    estimator : estimator
        A fitted LANNClassifier, a baseline with neighbors, or a pipeline that ends in one.

    Attributes
    ----------
    estimator : estimator
        The estimator that was given.
    classifier : estimator
        The fitted classifier: the estimator, or the last step of a pipeline.
    target : str or None
        Name of the column with the labels; None if it is unknown.
    feature_names : list of str
        Names of the columns that are used.
    row_numbers : ndarray of shape (n_train,)
        Positions of the training rows in their table.
    ids : ndarray of shape (n_train,) or None
        Names of the training rows.

    Raises
    ------
    ValueError
        If the estimator does not end in such a classifier.

    See Also
    --------
    fit_table : Fit a classifier to a table.
    lann.report.save_report : A page about the model and the rows that it explains.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import fit_table
    >>> frame = pd.DataFrame({"age": [20, 21, 22, 61, 62, 63] * 2, "city": ["Ulm", "Bonn", None] * 4})
    >>> frame["retired"] = frame["age"].map(lambda age: "yes" if age > 60 else "no")
    >>> model = fit_table(frame, "retired")
    >>> model.target, model.feature_names
    ('retired', ['age', 'city'])
    >>> model.predict(frame[:2]).round(2)
      prediction  probability of no  probability of yes
    0         no               0.99                0.01
    1         no               0.99                0.01
    >>> explanation = model.explain(frame, rows=[4])
    >>> print(explanation.row(0).prediction, explanation.feature_names)
    yes ['age' 'city']
    """

    def __init__(self, estimator: Any) -> None:
        classifier = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if not isinstance(classifier, NeighborClassifier):
            raise ValueError(
                f"The model is a {type(classifier).__name__}, which is no classifier with neighbors; give a "
                "LANNClassifier, a baseline with neighbors, or a pipeline that ends in one."
            )
        self.estimator = estimator
        self.classifier: NeighborClassifier = classifier
        self.target: str | None = getattr(estimator, "target_", None)
        rows = getattr(estimator, "training_rows_", None)
        self.row_numbers: Indices = np.arange(len(classifier.model_.X)) if rows is None else rows
        self.ids: NDArray[Any] | None = getattr(estimator, "training_ids_", None)
        self._encoding = FittedEncoding(estimator)
        self._encoded_from = self._encoding.columns_of_encoded()
        self.feature_names: list[str] = list(dict.fromkeys(self._encoded_from))

    def __repr__(self) -> str:
        target = "" if self.target is None else f" of {self.target!r}"
        return (
            f"<TableModel{target}: {len(self.row_numbers)} training rows, {len(self.feature_names)} features>"
        )

    embed = _embed.embed

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

        Warns
        -----
        TableWarning
            If the model was saved with another version of scikit-learn.
        """
        from lann.persist import load

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = cls(load(path))
        versions = [w.message for w in caught if isinstance(w.message, InconsistentVersionWarning)]
        if versions:  # one for each estimator
            warnings.warn(
                f"The model was saved with scikit-learn {versions[0].original_sklearn_version}; this is "
                f"{versions[0].current_sklearn_version}. If results look wrong, fit the model again.",
                TableWarning,
                stacklevel=2,
            )
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model, as `lann.save` does; on failure nothing is written.

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
        from lann.persist import save

        save(self.estimator, path)

    def predict(self, frame: pd.DataFrame, *, id: str | None = None, name: str = "the table") -> pd.DataFrame:
        """Predict labels and probabilities.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order; others are ignored.
        id : str or None, default=None
            Name of a column to keep beside the predictions.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        predictions : DataFrame
            With the index of `frame` and the columns ``prediction`` and ``probability of ...`` for every
            class, after that of `id`.

        Raises
        ------
        ValueError
            If a column is missing, or a numeric one has a cell that is not a finite number.

        Warns
        -----
        TableWarning
            If a text column has values that the training data do not have.
        """
        probabilities = self.classifier.predict_proba(self.encode(frame, name=name).X)
        classes = self.classifier.classes_
        columns = {"prediction": classes[probabilities.argmax(axis=1)]}
        columns |= {f"probability of {label}": probabilities[:, j] for j, label in enumerate(classes)}
        predictions = pd.DataFrame(columns, index=frame.index)
        if id is not None:
            predictions.insert(0, id, id_column(frame, id, name), allow_duplicates=True)
        return predictions

    def explain(
        self,
        frame: pd.DataFrame,
        rows: Sequence[int] | Indices | None = None,
        *,
        id: str | None = None,
        name: str = "the table",
    ) -> Explanation:
        """Explain predictions in the user's columns and rows.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order; others are ignored.
        rows : sequence of int or None, default=None
            Positions of the rows to explain; None is all rows.
        id : str or None, default=None
            Name of a column that names the rows.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        explanation : Explanation
            Its features are columns of the table, and its neighbors are row numbers of the training table.

        Raises
        ------
        ValueError
            If there is no such row, a column is missing, or a numeric one has a cell that is not a finite
            number.

        Warns
        -----
        TableWarning
            If a text column has values that the training data do not have.
        """
        encoded = self.encode(frame, rows, name=name)
        explanation = self.classifier.explain(encoded.X).group_features(self._encoded_from)
        positions = explanation.neighbors
        return replace(
            explanation,
            neighbors=self.row_numbers[positions],
            neighbor_ids=None if self.ids is None else self.ids[positions],
            query_rows=encoded.rows,
            query_ids=None if id is None else id_column(frame, id, name)[encoded.rows],
        ).with_values(encoded.values.to_numpy(dtype=object), self._values_by_row_number(np.unique(positions)))

    def encode(
        self, frame: pd.DataFrame, rows: Sequence[int] | Indices | None = None, *, name: str = "the table"
    ) -> EncodedRows:
        """Return rows of a table as `classifier` takes them, and their values as they are shown.

        Parameters
        ----------
        frame : DataFrame
            With the columns of the training table, in any order; others are ignored.
        rows : sequence of int or None, default=None
            Positions of the rows; None is all rows.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        encoded : EncodedRows

        Raises
        ------
        ValueError
            If there is no such row, a column is missing, or a numeric one has a cell that is not a finite
            number.

        Warns
        -----
        TableWarning
            If a text column has values that the training data do not have.
        """
        positions = check_rows(rows, len(frame), name)
        converted = self._encoding.convert(frame, name)
        converted = converted[positions] if isinstance(converted, np.ndarray) else converted.iloc[positions]
        warn_of_new_categories(self._encoding.new_categories(converted))
        X = self._encoding.transform(converted)
        return EncodedRows(positions, X, self._shown_values(converted, X))

    def training_values(self, positions: ArrayLike | None = None) -> pd.DataFrame | None:
        """Return the values of training rows in the user's columns.

        Parameters
        ----------
        positions : array-like of shape (n_rows,) or None, default=None
            Positions among the training rows of the model; None is all.

        Returns
        -------
        values : DataFrame of shape (n_rows, n_columns) or None
            NaN where missing; rare categories are "(rare)". None if the values are unknown.
        """
        X = self.classifier.model_.X
        wanted = np.arange(len(X)) if positions is None else np.asarray(positions)
        values = self._encoding.decode(X[wanted])
        pairs = getattr(self.estimator, "training_gaps_", None)  # (n_missing, 2) rows and columns
        if values is None or pairs is None:
            return values
        is_missing = np.zeros((len(X), values.shape[1]), dtype=bool)
        is_missing[pairs[:, 0], pairs[:, 1]] = True
        return values.mask(is_missing[wanted])

    def sum_by_feature(self, values: Floats) -> Floats:
        """Add up values that `classifier` has for the encoded features of each column.

        Parameters
        ----------
        values : ndarray of shape (n_rows, n_encoded)

        Returns
        -------
        sums : ndarray of shape (n_rows, n_features)
        """
        position = {name: feature for feature, name in enumerate(self.feature_names)}
        member = np.zeros((len(self._encoded_from), len(self.feature_names)))
        member[np.arange(len(member)), [position[name] for name in self._encoded_from]] = 1.0
        return values @ member

    def _shown_values(self, converted: pd.DataFrame | NDArray[Any], X: Any) -> pd.DataFrame:
        """Return the values of `feature_names`; where a pipeline computes these features, its output."""
        if isinstance(converted, pd.DataFrame) and set(self.feature_names) <= set(converted.columns):
            return converted[self.feature_names]
        unnamed = isinstance(converted, np.ndarray) and converted.shape[1] == len(self.feature_names)
        return pd.DataFrame(np.asarray(converted if unnamed else X), columns=self.feature_names)

    def _values_by_row_number(self, positions: Indices) -> NDArray[Any] | None:
        """Return the values of some training rows at their row numbers; other rows are None."""
        values = self.training_values(positions)
        if values is None:
            return None
        table = np.full((self.row_numbers.max() + 1, len(self.feature_names)), None, dtype=object)
        table[self.row_numbers[positions]] = values[self.feature_names].to_numpy(dtype=object)
        return table
