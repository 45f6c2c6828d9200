"""Cells that mean a missing value."""

from __future__ import annotations

# In every column. "None" is not among them, because it is used as a label; "?" is how the UCI repository
# writes a missing value; those that start with "#" are errors of a spreadsheet.
MISSING = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "NaT", "<NA>", "null", "NULL", "?",
    "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!",
)  # fmt: skip
# In columns of numbers and of dates only, where they cannot be a category.
PLACEHOLDERS = ("-", "--", "–", "—", ".", "None", "none", "NONE")
