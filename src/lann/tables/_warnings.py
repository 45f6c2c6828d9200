"""The warning of this package."""

from __future__ import annotations


class TableWarning(UserWarning):
    """A warning about a table or a model; the work continues.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from lann.tables import TableWarning, TrainingTable
    >>> frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 1, 1, 1], "y": ["u", "v", "u", "v"]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     table = TrainingTable.from_frame(frame, "y")
    >>> print(caught[0].message)
    Column 'b' is ignored: it has the same value in every row.
    """
