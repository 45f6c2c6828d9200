"""From the user's columns to numbers: which column is what, and the steps before the classifier."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

NUMERIC, TEXT = "numeric", "text"

# A text column with more values than this, and different in most rows, names the rows.
MOST_NAMES = 20
# More values of a text column than this share a column of zeros and ones, the rarest first.
MOST_CATEGORIES = 50


@dataclass
class Columns:
    """What to do with each column: use it as numbers, use it as text, or ignore it for a reason."""

    numeric: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    ignored: dict[str, str] = field(default_factory=dict)

    @property
    def used(self) -> list[str]:
        return [*self.numeric, *self.text]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Columns:
        """Decide by the values."""
        columns = cls()
        for name in frame.columns:
            n_values = frame[name].nunique(dropna=True)
            if n_values == 0:
                columns.ignored[name] = "empty"
            elif n_values == 1:
                columns.ignored[name] = "the same in every row"
            elif is_numeric(frame[name]):
                columns.numeric.append(name)
            elif n_values > max(MOST_NAMES, len(frame) / 2):
                columns.ignored[name] = f"text that differs in most rows ({n_values} values)"
            else:
                columns.text.append(name)
        return columns


def is_numeric(column: pd.Series) -> bool:
    """Whether every cell that is not missing is a number; true and false are none."""
    import pandas as pd

    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return False
    return bool((as_numbers(column).notna() | column.isna()).all())


def as_numbers(column: pd.Series) -> pd.Series:
    """Float cells, NaN where there is no number."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    return pd.to_numeric(column, errors="coerce").astype("float64")


def as_text(column: pd.Series) -> pd.Series:
    """Text cells, NaN where missing; 1.0 is "1", as it would be in a CSV file."""
    import pandas as pd

    if pd.api.types.is_float_dtype(column):
        present = column.dropna()
        if ((present == present.round()) & (present.abs() < 2**53)).all():
            column = column.astype("Int64")
    missing = column.isna()
    return column.astype(object).map(str).where(~missing, np.nan).astype(object)


def prepare(frame: pd.DataFrame, numeric: list[str], text: list[str], source: str) -> pd.DataFrame:
    """The columns in use, as floats and as text; `source` is the table's name in messages."""
    import pandas as pd

    if missing := [name for name in [*numeric, *text] if name not in frame]:
        several = "the columns" if len(missing) > 1 else "the column"
        raise ValueError(f"{source} lacks {several} {', '.join(map(repr, missing))}.")
    prepared: dict[str, Any] = {}
    for name in numeric:
        numbers = as_numbers(frame[name])
        wrong = np.flatnonzero((numbers.isna() & frame[name].notna()) | np.isinf(numbers))
        if len(wrong):
            value = frame[name].iloc[wrong[0]]
            raise ValueError(
                f"Column {name!r} of {source} must hold finite numbers; row {wrong[0]} has {str(value)!r}."
            )
        prepared[name] = numbers
    prepared |= {name: as_text(frame[name]) for name in text}
    return pd.DataFrame(prepared)


def make_pipeline(columns: Columns, classifier: Any) -> Pipeline:
    """Fill gaps, scale numbers, turn text into columns of zeros and ones; then the classifier."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numeric = Pipeline([("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())])
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    text = Pipeline([("impute", SimpleImputer(strategy="most_frequent")), ("one_hot", one_hot)])
    parts = [(NUMERIC, numeric, columns.numeric), (TEXT, text, columns.text)]
    return Pipeline(
        [("columns", ColumnTransformer([part for part in parts if part[2]])), ("classifier", classifier)]
    )
