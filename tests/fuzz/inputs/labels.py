"""Hostile labels and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from tests.fuzz.inputs.source import Source

Make = Callable[[np.ndarray, Source], Any]
WORDS = np.array(["u", "v", "w"])


def _objects(items: list[Any]) -> np.ndarray:
    objects = np.empty(len(items), object)
    objects[:] = items
    return objects


def _named(*names: Any) -> Make:
    """Return labels, as objects, by the names of the classes."""
    return lambda y, source: _objects([names[label % len(names)] for label in y])


# Three classes as they are, in other words: the probabilities have to be the same.
EQUAL: dict[str, Make] = {
    "integers": lambda y, s: y,
    "list": lambda y, s: y.tolist(),
    "words": lambda y, s: WORDS[y],
    "objects": lambda y, s: WORDS[y].astype(object),
    "Series": lambda y, s: pd.Series(WORDS[y], index=np.arange(len(y)) * 7),
    "Categorical": lambda y, s: pd.Series(pd.Categorical(WORDS[y])),
    "polars": lambda y, s: pl.Series(WORDS[y]),
    "int8": lambda y, s: y.astype(np.int8) - 2,
    "huge integers": lambda y, s: y + 2**62,
    "uint64": lambda y, s: y.astype(np.uint64) + np.uint64(2**63),
    "float integers": lambda y, s: y.astype(float),
    "NUL and escapes": lambda y, s: _objects([("\x1b[31m", "a\x00b", "a\x00c")[n] for n in y]),
    "long words": lambda y, s: np.array(["x" * 3000, "y" * 3000, "z" * 3000])[y],
    "read-only": lambda y, s: np.broadcast_to(y, y.shape),
    "big-endian": lambda y, s: y.astype(">i8"),
}
OTHER: dict[str, Make] = {
    "surrogates": lambda y, s: np.array(["\ud800", "\ud801", "\ud802"])[y],
    "mixed": lambda y, s: _objects([("a", 1, 2.5)[n] for n in y]),
    "with None": _named("a", None, "b"),
    "with NaN": lambda y, s: _objects([("a", np.nan, "b")[n] for n in y]),
    "with pd.NA": _named("a", pd.NA, "b"),
    "NaN": lambda y, s: np.where(y == 0, np.nan, y),
    "inf": lambda y, s: np.where(y == 0, np.inf, y),
    "bytes": lambda y, s: np.array([b"a", b"b", b"c"])[y],
    "bytes as objects": _named(b"a", b"b", b"c"),
    "bool": lambda y, s: y == 0,
    "bools as objects": _named(True, False),
    "floats": lambda y, s: y + 0.5,
    "numbers": lambda y, s: np.linspace(0, 1, len(y)),
    "complex": lambda y, s: y * 1j,
    "tuples": lambda y, s: _objects([(n, n) for n in y.tolist()]),
    "lists": lambda y, s: _objects([[n] for n in y.tolist()]),
    "dicts": lambda y, s: _objects([{} for _ in y]),
    "dates": lambda y, s: y.astype("M8[D]"),
    "Timestamps": lambda y, s: pd.Series(pd.to_datetime(y, unit="D")),
    "one class": lambda y, s: np.zeros_like(y),
    "one class of words": lambda y, s: np.full(len(y), "a"),
    "a class per row": lambda y, s: np.arange(len(y)),
    "one row of a class": lambda y, s: np.where(np.arange(len(y)) == 0, 7, y % 2),
    "enormous integers": lambda y, s: _objects([10**30 + int(n) for n in y]),
    "negative": lambda y, s: -y - 2**62,
    "shorter": lambda y, s: y[:-1],
    "longer": lambda y, s: np.append(y, 0),
    "empty": lambda y, s: y[:0],
    "column": lambda y, s: y[:, None],
    "two columns": lambda y, s: np.column_stack([y, y]),
    "matrix": lambda y, s: np.eye(3)[y],
    "None": lambda y, s: None,
    "number": lambda y, s: 1,
    "string": lambda y, s: "abc",
    "generator": lambda y, s: (label for label in y),
    "DataFrame": lambda y, s: pd.DataFrame({"y": y}),
    "nullable integers": lambda y, s: pd.Series(y, dtype="Int64"),
    "nullable with NA": lambda y, s: pd.Series(y, dtype="Int64").mask(y == 1),
    "strings with NA": lambda y, s: pd.Series(WORDS[y], dtype="string").mask(y == 1),
    "unused category": lambda y, s: pd.Series(pd.Categorical(WORDS[y], categories=[*"wvuz"])),
    "masked": lambda y, s: np.ma.MaskedArray(y, y == 1),
    "words and ''": lambda y, s: np.array(["", " ", "a"])[y],
    "numeric words": lambda y, s: np.array(["1", "1.0", "01"])[y],
    "words by case": lambda y, s: np.array(["a", "A", "ä"])[y],
    "large floats": lambda y, s: y * 2.0**53,
}

ODD_WEIGHTS = (5e-324, 1e-300, 1e-100, 1e-99, 1e-10, 0.01, 1e10, 1e99, 1e100, 1e300)
WEIGHTS: dict[str, Make] = {
    "ones": lambda y, s: np.ones(len(y)),
    "ones as a list": lambda y, s: [1] * len(y),
    "integers": lambda y, s: 1 + np.arange(len(y)) % 3,
    "few zeros": lambda y, s: (np.arange(len(y)) % 5 > 0).astype(float),
    "one positive": lambda y, s: (np.arange(len(y)) == 0).astype(float),
    "a class without weight": lambda y, s: (y > 0).astype(float),
    "one class with weight": lambda y, s: (y == 0).astype(float),
    "zeros": lambda y, s: np.zeros(len(y)),
    "negative": lambda y, s: np.where(np.arange(len(y)) == 0, -1.0, 1.0),
    "one NaN": lambda y, s: np.where(np.arange(len(y)) == 0, np.nan, 1.0),
    "one inf": lambda y, s: np.where(np.arange(len(y)) == 0, np.inf, 1.0),
    "one odd": lambda y, s: np.where(np.arange(len(y)) == 0, s.choose(ODD_WEIGHTS), 1.0),
    "all odd": lambda y, s: np.full(len(y), s.choose(ODD_WEIGHTS)),
    "two sizes": lambda y, s: np.where(y == 0, 1e-90, 1e90),
    "shorter": lambda y, s: np.ones(max(len(y) - 1, 0)),
    "matrix": lambda y, s: np.ones((len(y), 1)),
    "words": lambda y, s: np.full(len(y), "1"),
    "number": lambda y, s: 1.0,
    "complex": lambda y, s: np.ones(len(y)) * 1j,
    "objects": lambda y, s: _objects([1.0] * (len(y) - 1) + [None]) if len(y) else [],
    "bool": lambda y, s: np.arange(len(y)) % 3 > 0,
    "Series": lambda y, s: pd.Series(np.ones(len(y)), index=np.arange(len(y))[::-1]),
    "generator": lambda y, s: (1.0 for _ in y),
    "string": lambda y, s: "balanced",
    "float16": lambda y, s: np.full(len(y), 0.1, np.float16),
}
