"""From a table to a fitted model, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from lann.tables._table_model import TableModel
from lann.tables._training_table import TrainingTable

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier


def fit_table(
    frame: pd.DataFrame,
    target: str,
    *,
    classifier: LANNClassifier | None = None,
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
    classifier : LANNClassifier or None, default=None
        It is cloned; None is ``LANNClassifier(random_state=0)``.
    id : str or None, default=None
        Name of a column that names the rows; explanations show these names.
    drop : sequence of str, default=()
        Names of columns not to use.
    kinds : mapping of str to str or None, default=None
        What columns have, if it is not to be inferred: "category", "number", "date", or the format of dates,
        such as "%d/%m/%Y".
    sample_weight : str or None, default=None
        Name of a column that tells as how many rows each row counts; rows of weight 0 are left out.
    name : str, default="the table"
        Name of the table in messages.

    Returns
    -------
    model : TableModel

    Raises
    ------
    ValueError
        If there is no such column, no column to learn from, the target does not have classes, a column does
        not have what it must have, a weight is invalid, or there are too few rows.

    Warns
    -----
    TableWarning
        If rows or columns are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import fit_table
    >>> frame = pd.DataFrame({"age": [20, 21, 22, 61, 62, 63] * 2, "city": ["Ulm", "Bonn", None] * 4})
    >>> frame["retired"] = frame["age"].map(lambda age: "yes" if age > 60 else "no")
    >>> model = fit_table(frame, "retired")
    >>> model.predict(pd.DataFrame({"age": [23, 60], "city": ["Bonn", "Ulm"]}))["prediction"].tolist()
    ['no', 'yes']
    """
    table = TrainingTable.from_frame(
        frame, target, id=id, drop=drop, kinds=kinds, sample_weight=sample_weight, name=name
    )
    return table.fit(classifier)
