"""The rows of an embedding in few bytes, as JSON that `data.js` reads."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
import pandas as pd
from jinja2.utils import htmlsafe_json_dumps
from numpy.typing import NDArray

from lann._markup import Html
from lann._support.format import value_text
from lann._support.types import Floats, Indices
from lann.tables import EmbeddedTable

# A shape for each class, as SVG paths within about ±1.2, in the order of `lann.plot`.
# Seven, which has no common divisor with the ten colors: 70 classes have different marks.
SHAPES = (
    "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",  # circle
    "M-.9-.9H.9V.9H-.9Z",  # square
    "M0-1.15 1.1.8H-1.1Z",  # triangle
    "M0-1.25 1.25 0 0 1.25-1.25 0Z",  # diamond
    "M0 1.15 1.1-.8H-1.1Z",  # triangle, pointing down
    "M-.4-1.15H.4V-.4H1.15V.4H.4V1.15H-.4V.4H-1.15V-.4H-.4Z",  # plus
    "M.53-1.1 1.1-.53.57 0 1.1.53.53 1.1 0 .57-.53 1.1-1.1.53-.57 0-1.1-.53-.53-1.1 0-.57Z",  # cross
)
# With more rows than the first number, at most the second number of columns is listed for each row.
MANY_ROWS, FEW_COLUMNS = 5_000, 3
# With more rows than this, the values of the columns are left out.
MOST_WITH_VALUES = 20_000
# Bytes of the relevances by which rows can be colored, and the number of such columns, at most.
MOST_RELEVANCES, MOST_COLORINGS = 600_000, 100
# Neighbors of a row that are listed.
MOST_NEIGHBORS = 10
# Characters of a text value that are shown.
MOST_CHARACTERS = 60
# Digits of a column, counted from its largest value, that scaling preserves.
DIGITS = 14
# The share of the numbers of a column that have to be long before all are stored with more bytes.
LONG_SHARE = 0.05
MAX_16, MAX_8 = 65_535, 255
# What pandas infers for a column of numbers.
NUMBERS = ("floating", "integer", "mixed-integer-float", "empty")


def page_data(embedded: EmbeddedTable, n_features: int) -> tuple[Html, list[str]]:
    """Return the rows as JSON, and sentences about what is left out because there are many rows.

    Arrays are little-endian integers in base64, rounded to what can be seen.

    Parameters
    ----------
    embedded : EmbeddedTable
    n_features : int
        Number of columns to list for each row.
    """
    n_wanted = min(n_features, len(embedded.feature_names))
    n_listed = min(n_wanted, FEW_COLUMNS) if len(embedded) > MANY_ROWS else n_wanted
    top = embedded.most_relevant(n_listed)
    by_relevance = np.argsort(-embedded.relevances.mean(axis=0), kind="stable")
    colorings = by_relevance[: max(1, min(MOST_COLORINGS, MOST_RELEVANCES // len(embedded)))]
    values = embedded.values if len(embedded) <= MOST_WITH_VALUES else None
    low, span = embedded.coordinates.min(axis=0), float(np.ptp(embedded.coordinates, axis=0).max()) or 1.0
    x, y = ((embedded.coordinates - low) / span).T
    largest = float(embedded.relevances.max()) or 1.0
    data = {
        "nRows": len(embedded),
        "nTraining": embedded.n_train,
        "nNeighbors": min(embedded.neighbors.shape[1], MOST_NEIGHBORS),
        "nTop": n_listed,
        "classes": embedded.classes,
        "columns": embedded.feature_names,
        "shapes": SHAPES,
        "largestRelevance": largest,
        "ids": None if embedded.ids is None else embedded.ids.tolist(),
        "rowNumbers": _encoded(embedded.row_numbers, "<u4"),
        "x": _encoded_shares(x, MAX_16),
        "y": _encoded_shares(y, MAX_16),
        "labels": _encoded(embedded.labels + 1, "<u2"),
        "predictions": _encoded(embedded.predictions, "<u2"),
        "embeddingPredictions": _encoded(embedded.embedding_predictions, "<u2"),
        "confidences": _encoded_shares(embedded.confidences, MAX_16),
        "neighbors": _encoded(embedded.neighbors[:, :MOST_NEIGHBORS], "<i4"),
        "voteShares": _encoded_shares(embedded.vote_shares[:, :MOST_NEIGHBORS], MAX_8),
        "otherVoters": _encoded((embedded.vote_shares[:, MOST_NEIGHBORS:] > 0).sum(axis=1), "<u2"),
        "otherShares": _encoded_shares(embedded.vote_shares[:, MOST_NEIGHBORS:].sum(axis=1), MAX_8),
        "topColumns": _encoded(top, "<u2"),
        "topRelevances": _encoded_shares(
            np.take_along_axis(embedded.relevances, top, axis=1) / largest, MAX_16
        ),
        "colorings": colorings.tolist(),
        "relevances": _encoded_shares(embedded.relevances[:, colorings].T / largest, MAX_8),
        "values": None if values is None else _values(values, top),
    }
    left_out = []
    if n_listed < n_wanted:
        left_out.append(
            f"{n_listed} columns are listed for each of the {len(embedded):,} rows, not {n_wanted}."
        )
    if embedded.values is not None and values is None:
        left_out.append(f"Values are left out, as there are more than {MOST_WITH_VALUES:,} rows.")
    if len(colorings) < len(embedded.feature_names):
        n_columns = len(embedded.feature_names)
        left_out.append(f"Rows can be colored by the {len(colorings)} most relevant of {n_columns} columns.")
    return htmlsafe_json_dumps(data, ensure_ascii=False, separators=(",", ":")), left_out


def _values(values: pd.DataFrame, top: Indices) -> dict[str, Any]:
    """Return the values of the top columns of each row: numbers, or positions in a list of texts."""
    codes = np.empty(values.shape)
    texts: list[list[str] | None] = []
    for j, name in enumerate(values.columns):
        column = values[name]
        if pd.api.types.infer_dtype(column, skipna=True) in NUMBERS:
            codes[:, j] = _without_rounding(column.astype(float).to_numpy())
            texts.append(None)
            continue
        missing = column.isna()
        known, inverse = np.unique(column[~missing].map(value_text).to_numpy(dtype=str), return_inverse=True)
        codes[missing, j], codes[~missing, j] = np.nan, inverse
        texts.append([text[:MOST_CHARACTERS] + "…" * (len(text) > MOST_CHARACTERS) for text in known])
    is_double = any(_needs_double(codes[:, j]) for j in np.unique(top) if texts[j] is None)
    shown = _encoded(np.take_along_axis(codes, top, axis=1), "<f8" if is_double else "<f4")
    return {"isDouble": is_double, "numbers": shown, "texts": texts}


def _needs_double(column: Floats) -> bool:
    """Return whether float32, which has 6 digits and integers to 16 million, changes the numbers as shown.

    Numbers of more than 11 digits are shown with 6: see `numberText` in data.js.

    Parameters
    ----------
    column : (n_rows,)
        NaN where missing.
    """
    sizes = np.abs(column[~np.isnan(column) & (column != 0)])
    if len(sizes) == 0:
        return False
    if sizes.max() >= 1e6 or sizes.min() < np.finfo(np.float32).tiny:
        return True
    magnitudes = np.floor(np.log10(sizes))

    def has_at_most(digits: int) -> NDArray[np.bool_]:
        units = sizes * 10.0 ** (digits - 1 - magnitudes)
        return np.abs(units - np.rint(units)) < 1e-3

    # A few random numbers have few digits by chance.
    return bool(np.mean(has_at_most(11) & ~has_at_most(6)) > LONG_SHARE)


def _without_rounding(column: Floats) -> Floats:
    """Return numbers without the rounding errors of scaling a column and back: 0 among millions stays 0.

    Parameters
    ----------
    column : (n_rows,)
        NaN where missing.
    """
    largest = np.abs(column[~np.isnan(column)]).max(initial=0.0)
    if largest == 0:
        return column
    decimals = DIGITS - 1 - int(np.floor(np.log10(largest)))
    return np.round(column, min(max(decimals, 0), 300))


def _encoded_shares(values: Floats, maximum: int) -> str:
    """Return values from 0 to 1 as integers from 0 to a maximum."""
    return _encoded(np.rint(np.clip(values, 0.0, 1.0) * maximum), "u1" if maximum == MAX_8 else "<u2")


def _encoded(values: NDArray[Any], dtype: str) -> str:
    return b64encode(np.ascontiguousarray(values.astype(dtype)).tobytes()).decode()
