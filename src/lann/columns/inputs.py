"""Tables and arrays as estimators are given them: rows as numbers, labels, and names of rows."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from lann._support.inputs import check_one_type, get_feature_names, on_host
from lann._support.sizes import LARGEST_VALUE, check_values
from lann._support.types import Floats
from lann.columns.schema import (
    TableSchema,
    array_as_table,
    as_table,
    extend_schema,
    infer_schema,
    names_none,
    read,
)
from lann.columns.text import TableWarning

# More different numbers as labels are hardly classes.
MOST_NUMBERS = 100


def read_training_data(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    categorical_features: Any,
    schema: TableSchema | None,
    *,
    keep_single: bool = False,
    has_values: bool = False,
) -> tuple[Floats, NDArray[Any], TableSchema]:
    """Return training rows as numbers, their targets, and their schema; check them as scikit-learn does.

    Parameters
    ----------
    estimator : estimator
        Its number of features and feature names are set, or compared if there is a schema.
    X : array-like or table of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    categorical_features : "from_dtype", array-like or None
    schema : TableSchema or None
        That of rows to which these are added: categories can be new, kinds cannot.
    keep_single : bool, default=False
        Whether an array of float32 stays float32; everything else is float64.
    has_values : bool, default=False
        Whether y has numbers to predict, and not labels.
    """
    if schema is not None and not has_values and _is_plain(estimator, X, schema):
        known = _plain_labels(y, len(X), estimator.classes_)
        if known is not None:
            return X.copy(), known, schema
    reset = schema is None
    table = _table_of(X, categorical_features, schema)
    if table is None:
        # A copy: the rows are part of the model, even if X changes later.
        rows, labels = validate_data(
            estimator,
            X,
            y,
            dtype=(np.float64, np.float32) if keep_single else np.float64,
            order="C",
            copy=True,
            ensure_all_finite="allow-nan",
            reset=reset,
            y_numeric=has_values,
        )
        if schema is None:
            schema = TableSchema.numeric(list(get_feature_names(estimator)), has_names=_has_names(estimator))
    else:
        check_table(estimator, X, table, reset=reset)
        if schema is None:
            schema = infer_schema(table, categorical_features, has_names=_has_names(estimator))
        else:
            schema = extend_schema(schema, table)
        labels = check_labels(table, y)
        rows = read(table, schema)
    if has_values:
        return rows, check_target_values(labels), schema
    check_one_type("y", labels)
    check_classification_targets(labels)
    if reset and labels.dtype.kind in "iuf" and len(np.unique(labels)) > MOST_NUMBERS:
        warnings.warn(
            f"The labels are more than {MOST_NUMBERS} different numbers, and each is a class of its own; if "
            "they are amounts, group them first, as by pandas.qcut(y, 5, labels=False).",
            TableWarning,
            stacklevel=2,
        )
    return rows, labels, schema


def read_queries(estimator: Any, X: Any, *, first_row: int = 0) -> Floats:
    """Return queries as numbers; check them as scikit-learn does.

    Parameters
    ----------
    estimator : estimator
        Fitted. If it has a schema, it takes tables and gaps; otherwise numbers only.
    X : array-like or table of shape (n_queries, n_features)
    first_row : int, default=0
        Number of the first row in messages.
    """
    X, schema = on_host(X), getattr(estimator, "schema_", None)
    if schema is None:
        queries: Floats = validate_data(estimator, X, dtype=np.float64, order="C", reset=False)
        check_values(queries, lambda: get_feature_names(estimator))
        return queries
    queries = read_rows(estimator, X, schema)
    if not np.abs(queries).max(initial=0.0) <= LARGEST_VALUE:  # too large, or with gaps
        check_values(queries, lambda: get_feature_names(estimator))
    check_some_value(estimator.model_.unmeasured(queries), first_row)
    return queries


def read_rows(estimator: Any, X: Any, schema: TableSchema) -> Floats:
    """Return rows as numbers by the schema of the training rows; a row can have no value to measure.

    Parameters
    ----------
    estimator : estimator
    X : array-like or table of shape (n_rows, n_features)
    schema : TableSchema
    """
    if _is_plain(estimator, X, schema):
        return X
    table = _table_of(X, None, schema)
    if table is None:
        rows: Floats = validate_data(
            estimator, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False
        )
        return rows
    check_table(estimator, X, table, reset=False)
    return read(table, schema)


def _is_plain(estimator: Any, X: Any, schema: TableSchema) -> bool:
    """Return whether X is an array that scikit-learn's checks would return as it is.

    They take longer than the prediction of a row. Whatever else it may be is for them to convert or report.
    """
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and X.flags.c_contiguous
        and schema.is_numeric
        and not _has_names(estimator)
        and not np.isinf(X).any()
    )


def _plain_labels(y: Any, n_rows: int, classes: NDArray[Any]) -> NDArray[Any] | None:
    """Return the labels of some rows; None where it takes scikit-learn's checks to validate them."""
    if not isinstance(y, np.ndarray | list):
        return None
    labels = np.asarray(y)
    kind = labels.dtype.kind
    return labels if kind in "iubU" and kind == classes.dtype.kind and labels.shape == (n_rows,) else None


def check_some_value(unmeasured: NDArray[np.bool_], first_row: int = 0) -> None:
    """Raise ValueError if a query has no value to measure.

    Parameters
    ----------
    unmeasured : ndarray of shape (n_queries, n_features)
        Where queries have gaps that no training row has.
    first_row : int, default=0
        Number of the first query in the message.
    """
    empty = np.flatnonzero(unmeasured.all(axis=1))
    if len(empty):
        raise ValueError(f"Row {first_row + empty[0]} of X has no value to measure: all of them are missing.")


def _table_of(X: Any, categorical_features: Any, schema: TableSchema | None) -> nw.DataFrame[Any] | None:
    """Return X as a table; None where it is, and has to be, an array of numbers."""
    needs_numbers = names_none(categorical_features) if schema is None else schema.is_numeric
    check_in_memory(X)
    if issparse(X):
        n_bytes = 8 * X.shape[0] * X.shape[-1]
        raise TypeError(
            f"X is sparse, and rows are measured in all features: reduce it first, as in "
            f"make_pipeline(TruncatedSVD(100), LANNClassifier()), or convert it by X.toarray(), "
            f"which takes {n_bytes / 1e6:,.1f} MB."
        )
    table = as_table(X)
    if table is None and needs_numbers and _has_text(X):
        return array_as_table(X)
    if needs_numbers and (table is None or all(dtype.is_numeric() for dtype in table.schema.values())):
        return None
    if table is not None:
        return table
    if not isinstance(X, list | tuple):  # lists can have values of several types
        X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0)
    return array_as_table(X)


def _has_text(X: Any) -> bool:
    """Return whether X is an array of objects, as of ColumnTransformer, with text that is no number."""
    if not isinstance(X, np.ndarray) or X.dtype != object or X.ndim != 2:
        return False
    try:
        X.astype(np.float64)
    except ValueError:
        return any(isinstance(value, str) for value in X.flat)
    except TypeError:  # other objects
        pass
    return False


def check_in_memory(X: Any) -> None:
    """Raise TypeError if X is a table of Dask, or a lazy one."""
    if hasattr(X, "dask") and hasattr(X, "iloc"):
        raise TypeError(
            "X is a table of Dask: give it to lann.distributed.DaskLANN, or give X.compute() in place of it."
        )
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError("X is a lazy table, whose rows have not been computed: give X.collect().")


def check_table(estimator: Any, X: Any, table: nw.DataFrame[Any], *, reset: bool) -> None:
    """Raise ValueError if a table is empty or has other columns; set the feature names of the estimator."""
    n_rows, n_columns = table.shape
    if n_rows == 0 or n_columns == 0:
        raise ValueError(f"A table needs rows and columns; got {n_rows} rows and {n_columns} columns.")
    names = list(X.columns) if hasattr(X, "iloc") else []  # other tables have different names
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"Column {repeated!r} occurs {names.count(repeated)} times; give the columns different names."
        )
    validate_data(estimator, X, skip_check_array=True, reset=reset)


def check_labels(table: nw.DataFrame[Any], y: ArrayLike) -> NDArray[Any]:
    """Return the labels of the rows of a table."""
    if y is None:
        raise ValueError("y is None; a target is needed for each row.")
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_consistent_length(np.empty(len(table)), labels)
    return labels


def check_target_values(y: NDArray[Any]) -> Floats:
    """Return the numbers to predict in float64; raise ValueError if they are none, or too large."""
    try:
        values = np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must be numbers for regression; use LANNClassifier for labels.") from None
    if not np.abs(values).max(initial=0.0) <= LARGEST_VALUE:
        raise ValueError(f"y must be finite numbers within ±{LARGEST_VALUE:g}.")
    return values


def _has_names(estimator: Any) -> bool:
    return hasattr(estimator, "feature_names_in_")


def as_fitted(clf: Any, rows: Floats) -> Any:
    """Return rows given as numbers as the classifier takes them: as a table if it was fitted to one."""
    schema: TableSchema | None = getattr(clf, "schema_", None)
    if schema is not None and not schema.is_numeric:
        return schema.to_table(rows)
    if not hasattr(clf, "feature_names_in_"):
        return rows
    return pd.DataFrame(rows, columns=clf.feature_names_in_)


def query_values(X: Any, schema: TableSchema, queries: Floats) -> NDArray[Any]:
    """Return queries in the user's values, unseen categories as they are in X: (n_queries, n_features)."""
    values = schema.values(queries)
    unseen = schema.unseen(queries)
    table = as_table(X)
    for feature in np.flatnonzero(unseen.any(axis=0)):
        rows = np.flatnonzero(unseen[:, feature])
        column = np.asarray(X, object)[:, feature] if table is None else table[:, int(feature)].to_list()
        values[rows, feature] = [str(column[row]) for row in rows]
    return values


def row_ids(X: Any) -> NDArray[Any] | None:
    """Return the index of a table of pandas as names of its rows; None if rows go by their position."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not hasattr(X, "iloc"):
        return None
    if isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1:
        return None
    if not isinstance(index, pd.MultiIndex) and index.dtype.kind in "iu":
        return index.to_numpy(dtype=np.int64 if index.dtype.kind == "i" else np.uint64)
    return np.array([_name(key) for key in index], dtype=str)


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array or a table, in memory."""
    if isinstance(X, np.ndarray):
        return np.asarray(X[rows])
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    table = as_table(X)
    return np.asarray(X)[rows] if table is None else table[rows.tolist(), :].to_native()


def join_ids(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Return the names of the rows of two tables; numbers become text where the others are text."""
    if first.dtype.kind != second.dtype.kind:
        first, second = first.astype(str), second.astype(str)
    return np.concatenate([first, second])


def find_ids(ids: Any, names: NDArray[Any] | None, arrivals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the rows with given ids, ascending; raise ValueError if one has no row.

    Parameters
    ----------
    ids : scalar or array-like of shape (n_ids,)
    names : ndarray of shape (n_rows,) or None
        The ids of the rows; None is the numbers of their arrival.
    arrivals : ndarray of shape (n_rows,)
        Ascending.
    """
    known = arrivals if names is None else names
    if known.dtype.kind in "iu":
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.ndim != 1:
            raise ValueError(f"ids must be one id or a list of ids; got an array of shape {wanted.shape}.")
        if wanted.size and wanted.dtype.kind not in "iu":
            raise ValueError(
                f"ids must be integers, as those of the training rows are; got {wanted.tolist()[0]!r}."
            )
    else:
        is_one = isinstance(ids, str) or np.ndim(ids) == 0 or (isinstance(ids, tuple) and _name(ids) in known)
        wanted = np.array([_name(key) for key in ([ids] if is_one else ids)], dtype=str)
    if wanted.size == 0:
        return np.empty(0, np.int64)
    is_known = np.isin(wanted, known)
    if not is_known.all():
        raise ValueError(f"ids has {wanted[~is_known].tolist()[0]!r}, which is not the id of a training row.")
    return np.flatnonzero(np.isin(known, wanted))


def _name(key: Any) -> str:
    """Return the name of a row: the text of its key; the keys of several levels are joined."""
    if isinstance(key, tuple):
        return ", ".join(map(str, key))
    if isinstance(key, np.datetime64):
        return str(pd.Timestamp(key))
    return str(pd.Timedelta(key)) if isinstance(key, np.timedelta64) else str(key)


def frame_of_values(
    schema: TableSchema, values: NDArray[Any], index: NDArray[Any] | None = None
) -> pd.DataFrame:
    """Return values as a table that a classifier with this schema takes.

    Parameters
    ----------
    schema : TableSchema
    values : (n_rows, n_features)
        In the user's values, as `TableSchema.values` returns them.
    index : (n_rows,) or None
        Names of the rows.
    """
    columns = {}
    for number, feature in enumerate(schema.features):
        column = pd.Series(values[:, number], index=index)
        if feature.kind == "number":
            column = column.astype(np.float64)
        elif feature.kind == "date":
            column = pd.to_datetime(column)
        elif feature.kind == "ordered":
            column = column.astype(pd.CategoricalDtype(list(feature.categories), ordered=True))
        elif feature.kind == "bool":
            column = column.astype("boolean" if column.isna().any() else bool)
        columns[feature.name] = column
    return pd.DataFrame(columns)
