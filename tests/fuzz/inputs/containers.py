"""Containers and types for a matrix, those with the same numbers and those without."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

from tests.fuzz.inputs.source import Source

Make = Callable[[np.ndarray, Source], Any]


def _reversed(X: np.ndarray, source: Source) -> np.ndarray:
    return X[::-1, ::-1].copy()[::-1, ::-1] if X.ndim == 2 else X


def _strided(X: np.ndarray, source: Source) -> np.ndarray:
    return np.repeat(X, 2, axis=-1)[..., ::2]


def _read_only(X: np.ndarray, source: Source) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _unaligned(X: np.ndarray, source: Source) -> np.ndarray:
    buffer = np.zeros(X.nbytes + 1, np.uint8)
    view = buffer[1:].view(X.dtype).reshape(X.shape)
    view[...] = X
    return view


def _mapped(X: np.ndarray, source: Source) -> np.ndarray:
    if not X.size:
        return X
    with tempfile.NamedTemporaryFile() as file:
        mapped = np.memmap(file.name, X.dtype, "w+", shape=X.shape)
        mapped[...] = X
        return mapped


def _frame(X: np.ndarray, source: Source, **options: Any) -> Any:
    return pd.DataFrame(X, columns=[f"c{n}" for n in range(X.shape[1])], **options) if X.ndim == 2 else X


def _odd_index(X: np.ndarray, source: Source) -> Any:
    if X.ndim != 2:
        return X
    indices: list[Any] = [
        np.zeros(len(X)), [None] * len(X), np.full(len(X), np.nan), pd.date_range("2020", periods=len(X)),
        pd.MultiIndex.from_product([range(len(X)), ["x"]]), [("a", n) for n in range(len(X))],
        pd.interval_range(0, len(X)), pd.Index([f"r\x00{n}" for n in range(len(X))]),
        pd.Index([1, "a", 2.5, None] * len(X), dtype=object)[: len(X)], pd.RangeIndex(len(X))[::-1],
    ]  # fmt: skip
    return _frame(X, source).set_axis(source.choose(indices), axis=0)


def _odd_names(X: np.ndarray, source: Source) -> Any:
    if X.ndim != 2:
        return X
    width = X.shape[1]
    names: list[Any] = [
        ["same"] * width, list(range(width)), [*"ab", 1, 2.5, None][:width], [None] * width,
        pd.MultiIndex.from_product([["a"], range(width)]), pd.date_range("2020", periods=width),
        [np.nan] * width, [""] * width, [b"x"] * width, [f"c{n}\n\x1b[31m" for n in range(width)],
        [f"\ud800{n}" for n in range(width)], [("t", n) for n in range(width)], ["x" * 5000] * width,
    ]  # fmt: skip
    chosen = source.choose(names)
    if isinstance(chosen, list):  # as objects: pandas has no text with surrogates
        chosen = pd.Index(chosen, dtype=object, tupleize_cols=False)
    return pd.DataFrame(X).set_axis(chosen, axis=1) if len(chosen) == width else pd.DataFrame(X)


def _nullable(X: np.ndarray, source: Source) -> Any:
    return pd.DataFrame(X).astype("Float64").add_prefix("c") if X.ndim == 2 else X


def _polars(X: np.ndarray, source: Source) -> Any:
    return pl.DataFrame(X, schema=[f"c{n}" for n in range(X.shape[1])]) if X.ndim == 2 and X.size else X


def _arrow(X: np.ndarray, source: Source) -> Any:
    return pa.table({f"c{n}": X[:, n] for n in range(X.shape[1])}) if X.ndim == 2 and X.size else X


def _masked(X: np.ndarray, source: Source, *, n_masked: int) -> Any:
    mask = np.zeros(X.shape, bool)
    mask.ravel()[:n_masked] = True
    return np.ma.MaskedArray(X, mask)


class Subclass(np.ndarray):
    """An array of another class."""


class ArrayLike:
    """An object that has nothing but numbers."""

    def __init__(self, X: np.ndarray) -> None:
        self._X = X

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._X, dtype=dtype)


# The same numbers as float64: the results have to be the same, to the bit.
EQUAL: dict[str, Make] = {
    "array": lambda X, s: X,
    "Fortran order": lambda X, s: np.asfortranarray(X),
    "negative strides": _reversed,
    "strides": _strided,
    "read-only": _read_only,
    "unaligned": _unaligned,
    "big-endian": lambda X, s: X.astype(">f8"),
    "mapped": _mapped,
    "longdouble": lambda X, s: X.astype(np.longdouble),
    "objects": lambda X, s: X.astype(object),
    "lists": lambda X, s: X.tolist(),
    "tuples": lambda X, s: tuple(map(tuple, X.tolist())) if X.ndim == 2 else X,
    "list of arrays": lambda X, s: list(X) if X.ndim else X,
    "subclass": lambda X, s: X.view(Subclass),
    "array-like": lambda X, s: ArrayLike(X),
    "DataFrame": _frame,
    "DataFrame, odd index": _odd_index,
    "DataFrame of objects": partial(_frame, dtype=object),
    "DataFrame, nullable": _nullable,
    "polars": _polars,
    "nothing masked": partial(_masked, n_masked=0),
}
# Others, whose numbers can be rounded, or that are no matrix of numbers.
OTHER: dict[str, Make] = {
    "float16": lambda X, s: _cast(X, np.float16),
    "float32": lambda X, s: _cast(X, np.float32),
    "int8": lambda X, s: _cast(X * 40, np.int8),
    "int64": lambda X, s: _cast(X * 9, np.int64),
    "uint64": lambda X, s: _cast(np.abs(X), np.uint64) + np.uint64(2**63),
    "bool": lambda X, s: X > 0,
    "complex": lambda X, s: X.astype(complex),
    "text": lambda X, s: X.astype(str),
    "bytes": lambda X, s: X.astype("S"),
    "words": lambda X, s: np.full(X.shape, s.choose(("a", "", "\x00", "nan", "1,5", "\ud800"))),
    "dates": lambda X, s: _cast(X, np.int64).astype("M8[s]"),
    "durations": lambda X, s: _cast(X, np.int64).astype("m8[D]"),
    "void": lambda X, s: np.zeros(X.shape, "V8"),
    "structured": lambda X, s: np.zeros(len(np.atleast_1d(X)), [("a", float), ("b", int)]),
    "zero strides": lambda X, s: np.broadcast_to(X[:1], X.shape) if X.ndim and len(X) else X,
    "matrix": lambda X, s: np.asmatrix(X) if X.ndim == 2 else X,
    "masked": partial(_masked, n_masked=3),
    "sparse": lambda X, s: s.choose((sp.csr_matrix, sp.coo_matrix, sp.csc_array))(X) if X.ndim == 2 else X,
    "sparse DataFrame": lambda X, s: _frame(X, s).astype(pd.SparseDtype(float)) if X.ndim == 2 else X,
    "DataFrame, odd names": _odd_names,
    "DataFrame of words": lambda X, s: _frame(X, s).astype(str) if X.ndim == 2 else X,
    "DataFrame of categories": lambda X, s: _frame(X, s).astype("category") if X.ndim == 2 else X,
    "DataFrame, mixed": lambda X, s: _mixed(X, s),
    "arrow": _arrow,
    "polars lazy": lambda X, s: _polars(X, s).lazy() if X.ndim == 2 and X.size else X,
    "Series": lambda X, s: pd.Series(X.ravel()),
    "dask array": lambda X, s: dask.array.from_array(X, chunks=10) if X.ndim else X,
    "dask DataFrame": lambda X, s: dask.dataframe.from_pandas(_frame(X, s), 2) if X.ndim == 2 else X,
    "generator": lambda X, s: (row for row in np.atleast_1d(X)),
    "dict": lambda X, s: {"a": X},
    "set": lambda X, s: {1.0, 2.0},
    "None": lambda X, s: None,
    "number": lambda X, s: s.choose((1, 0.5, np.nan, True)),
    "string": lambda X, s: s.choose(("", "x", b"x", "1 2\n3 4")),
    "object": lambda X, s: object(),
    "estimator": lambda X, s: np,
    "ragged": lambda X, s: [[1.0], [1.0, 2.0], []],
    "nested objects": lambda X, s: _with_object(X, s.choose(([], {}, None, object(), "x", pd.NA, pd.NaT))),
    "odd numbers": lambda X, s: _with_object(
        X, s.choose((10**400, 2**70, 2**63, Decimal("1.5"), Decimal("NaN"), Fraction(1, 3), 1j, True, "7"))
    ),
    "all Decimal": lambda X, s: _each(X, lambda x: Decimal(float(x))),
    "longdouble, large": lambda X, s: X.astype(np.longdouble) * np.longdouble("1e400"),
}


def _cast(X: np.ndarray, dtype: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return X.astype(dtype)


def _with_object(X: np.ndarray, value: Any) -> np.ndarray:
    """Return objects, of which the first is another one."""
    objects = X.astype(object)
    if objects.size:
        objects[(0,) * objects.ndim] = value
    return objects


def _each(X: np.ndarray, function: Callable[[Any], Any]) -> np.ndarray:
    objects = np.empty(X.shape, object)
    objects.ravel()[:] = [function(x) for x in X.ravel()]
    return objects


def _repeated(items: list[Any], n_rows: int, dtype: Any = object) -> Any:
    """Return a column of items that are repeated."""
    return pd.Series([items[row % len(items)] for row in range(n_rows)], dtype=dtype)


# Columns of other types, by the number of rows.
COLUMNS: tuple[Callable[[int], Any], ...] = (
    lambda n: _repeated(["a", "b", None], n),
    lambda n: _repeated([True, False], n, bool),
    lambda n: _repeated([pd.NaT], n),
    lambda n: pd.Series(pd.date_range("2020", periods=n, tz="UTC")),
    lambda n: _repeated([1, None, 3], n, "Int64"),
    lambda n: _repeated([True, None], n, "boolean"),
    lambda n: pd.Series(pd.Categorical.from_codes(np.arange(n) % 2, [1.5, 2.5])),
    lambda n: pd.Series(pd.Categorical.from_codes(np.full(n, -1), ["a"])),
    lambda n: _repeated([1, "a", 2.5, (1, 2)], n),
    lambda n: _repeated([b"a", b"b"], n),
    lambda n: pd.Series(pd.period_range("2020", periods=n, freq="D")),
    lambda n: pd.Series(np.arange(n) * (1 + 1j)),
    lambda n: _repeated([[1], [2]], n),
    lambda n: pd.Series([f"w{row}" for row in range(n)], dtype=object),
    lambda n: pd.Series(pd.to_timedelta(np.arange(n), unit="h")),
    lambda n: _repeated(["\ud800", "\x00", ""], n),
    lambda n: _repeated([pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01")], n, "M8[ns]"),
    lambda n: pd.Series(pd.arrays.IntervalArray.from_breaks(np.arange(n + 1))),
    lambda n: _repeated([np.inf, 1.0], n, float),
    lambda n: _repeated(["a", "b"], n, "string"),
    lambda n: _repeated(["a", "b"], n, "string[pyarrow]"),
    lambda n: _repeated([2**64, 1], n),
    lambda n: _repeated([10**400, 1], n),
)


def _mixed(X: np.ndarray, source: Source) -> Any:
    """Return a table whose last column is of another type."""
    if X.ndim != 2 or not X.shape[1]:
        return X
    frame = _frame(X, source)
    return frame.assign(**{frame.columns[-1]: source.choose(COLUMNS)(len(X))})
