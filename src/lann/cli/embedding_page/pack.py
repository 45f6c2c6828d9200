"""The points of an embedding in few bytes, for the script of the page: `unpack.js` is the other side."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.cli.account import value_text
from lann.cli.columns import is_numeric
from lann.cli.embedding_page.shapes import SHAPES

if TYPE_CHECKING:
    import pandas as pd

    from lann.cli.embedded import Embedded

# Of more points than the first number, no more columns are told for each than the second.
FEWER_COLUMNS = ((5_000, 3),)
# Beyond this many points the values of columns are not told.
MOST_WITH_VALUES = 20_000
# Bytes of the relevances by which points can be colored, and columns at most.
MOST_RELEVANCES, MOST_COLORINGS = 600_000, 100
# A text value is shown so far.
MOST_LETTERS = 60
# Of a column's largest value, digits that scaling keeps.
DIGITS = 14
# The part of a column's numbers by which it is known.
SOME = 0.05
FULL_16, FULL_8 = 65_535, 255


@dataclass(frozen=True)
class Packed:
    """What the script reads, and sentences about what was left out."""

    text: str
    left_out: list[str]


def pack(embedded: Embedded, n_columns: int) -> Packed:
    """Numbers are base64 of little-endian integers, rounded to what can be seen.

    n_columns : how many columns to tell for each point
    """
    n, n_known = len(embedded), len(embedded.columns)
    n_top = min(n_columns, n_known, *(most for beyond, most in FEWER_COLUMNS if n > beyond))
    top = embedded.top_columns(n_top)
    shown = np.take_along_axis(embedded.relevances, top, axis=1)
    colorings = _colorings(embedded)
    with_values = embedded.values is not None and n <= MOST_WITH_VALUES
    low, span = embedded.places.min(axis=0), float(np.ptp(embedded.places, axis=0).max()) or 1.0
    x, y = ((embedded.places - low) / span).T
    most = float(embedded.relevances.max()) or 1.0
    whole = {
        "n": n,
        "training": embedded.n_train,
        "voters": embedded.neighbors.shape[1],
        "top": n_top,
        "classes": embedded.classes,
        "columns": embedded.columns,
        "shapes": SHAPES,
        "most": most,
        "ids": None if embedded.ids is None else embedded.ids.tolist(),
        "numbers": _bytes(embedded.numbers, "<u4"),
        "x": _shares(x, FULL_16),
        "y": _shares(y, FULL_16),
        "labels": _bytes(embedded.labels + 1, "<u2"),
        "predictions": _bytes(embedded.predictions, "<u2"),
        "pictured": _bytes(embedded.in_picture, "<u2"),
        "confidences": _shares(embedded.confidences, FULL_16),
        "neighbors": _bytes(embedded.neighbors, "<i4"),
        "shares": _shares(embedded.vote_shares, FULL_8),
        "topColumns": _bytes(top, "<u2"),
        "topRelevances": _shares(shown / most, FULL_16),
        "colorings": colorings.tolist(),
        "relevances": _shares(embedded.relevances[:, colorings].T / most, FULL_8),
        "values": _values(embedded.values, top) if with_values else None,
    }
    left_out = _left_out(n, n_top, min(n_columns, n_known), with_values, embedded, len(colorings))
    return Packed(_safe(json.dumps(whole, ensure_ascii=False, separators=(",", ":"))), left_out)


def _colorings(embedded: Embedded) -> Indices:
    """Columns by which points can be colored, the most relevant first, as far as there is room for them."""
    order = np.argsort(-embedded.relevances.mean(axis=0), kind="stable")
    return order[: max(1, min(MOST_COLORINGS, MOST_RELEVANCES // len(embedded)))]


def _values(values: pd.DataFrame | None, top: Indices) -> dict[str, Any] | None:
    """The values of each point's most relevant columns: numbers, or places in a list of texts."""
    if values is None:
        return None
    codes = np.empty(values.shape)
    texts: list[list[str] | None] = []
    for place, name in enumerate(values.columns):
        column = values[name]
        if is_numeric(column):
            codes[:, place] = _as_written(column.astype(float).to_numpy())
            texts.append(None)
            continue
        missing = column.isna()
        known, found = np.unique(column[~missing].map(value_text).to_numpy(dtype=str), return_inverse=True)
        codes[missing, place], codes[~missing, place] = np.nan, found
        texts.append([text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…" for text in known])
    wide = any(_needs_double(codes[:, place]) for place in np.unique(top) if texts[place] is None)
    shown = _bytes(np.take_along_axis(codes, top, axis=1), "<f8" if wide else "<f4")
    return {"wide": wide, "numbers": shown, "texts": texts}


def _needs_double(column: Floats) -> bool:
    """Whether float32, which holds 6 digits and integers to 16 million, would change what is read.

    Numbers that are long even so, of more than 11 digits, are shown with 6: see `numberText`.

    column : (n_points,) NaN where missing
    """
    sizes = np.abs(column[~np.isnan(column) & (column != 0)])
    if len(sizes) == 0:
        return False
    if sizes.max() >= 1e6 or sizes.min() < np.finfo(np.float32).tiny:
        return True
    tens = np.floor(np.log10(sizes))

    def within(digits: int) -> NDArray[np.bool_]:
        units = sizes * 10.0 ** (digits - 1 - tens)
        return np.abs(units - np.rint(units)) < 1e-3

    # Of numbers at random some few seem short.
    return bool(np.mean(within(11) & ~within(6)) > SOME)


def _as_written(column: Floats) -> Floats:
    """Without the rounding that scaling a column and back leaves: 0 among millions stays 0.

    column : (n_points,) NaN where missing
    """
    most = np.abs(column[~np.isnan(column)]).max(initial=0.0)
    if most == 0:
        return column
    decimals = DIGITS - 1 - int(np.floor(np.log10(most)))
    return np.round(column, min(max(decimals, 0), 300))


def _left_out(
    n: int, n_top: int, n_wanted: int, with_values: bool, embedded: Embedded, n_colorings: int
) -> list[str]:
    """What the page does not tell, as there are too many points."""
    said = []
    if n_top < n_wanted:
        said.append(f"{n_top} columns are told for each of the {n:,} points, not {n_wanted}.")
    if embedded.values is not None and not with_values:
        said.append(f"Values are told for up to {MOST_WITH_VALUES:,} points.")
    if n_colorings < len(embedded.columns):
        said.append(
            f"Of {len(embedded.columns)} columns, the {n_colorings} most relevant can color the points."
        )
    return said


def _shares(values: Floats, full: int) -> str:
    """Values from 0 to 1 as integers up to `full`."""
    return _bytes(np.rint(np.clip(values, 0.0, 1.0) * full), "u1" if full == FULL_8 else "<u2")


def _bytes(values: NDArray[Any], kind: str) -> str:
    return b64encode(np.ascontiguousarray(values.astype(kind)).tobytes()).decode()


def _safe(text: str) -> str:
    """JSON that no HTML ends or begins in."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
