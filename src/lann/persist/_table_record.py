"""What is known about the table of which a model was fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lann._types import Indices as Positions
from lann.persist._kinds import Indices, Maybe, PlainDicts, Text, TextDict
from lann.persist._records import Record


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
    """

    target: str
    id_column: str | None
    sample_weight_column: str | None
    row_numbers: Positions
    ignored: dict[str, str]
    columns: list[dict[str, Any]]


TABLE = Record(
    TableRecord,
    {
        "target": Text(),
        "id_column": Maybe(Text()),
        "sample_weight_column": Maybe(Text()),
        "row_numbers": Indices("n_rows", below=None),
        "ignored": TextDict(),
        "columns": PlainDicts(),
    },
)
