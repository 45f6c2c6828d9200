"""The encoder for methods that take neither categories nor missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.common.arrays import Floats

MISSING = "missing"


class TableEncoder(TransformerMixin, BaseEstimator):
    """
    Encode a table as numbers without gaps, by its training rows.

    Numbers: the median for missing values, then z-scores. Categories, the columns of any other type: a level
    of its own for missing values, then one column of 0 and 1 for each level; a level that the training rows
    do not have is all 0. The columns of numbers come first.
    """

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        numeric = list(X.select_dtypes("number").columns)
        categorical = [column for column in X.columns if column not in numeric]
        numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
        levels = make_pipeline(
            SimpleImputer(strategy="constant", fill_value=MISSING),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        self.categorical_ = categorical
        self.transformer_ = ColumnTransformer(
            [("numbers", numbers, numeric), ("levels", levels, categorical)]
        ).fit(self._as_objects(X))
        return self

    def transform(self, X: Any) -> Floats:
        """Return the encoded rows, (n_rows, n_encoded)."""
        return np.ascontiguousarray(self.transformer_.transform(self._as_objects(X)), dtype=np.float64)

    def encoded_columns(self) -> list[str]:
        """Return the column of the table that each encoded column belongs to."""
        numbers, levels = (list(columns) for _, _, columns in self.transformer_.transformers_[:2])
        if not levels:
            return numbers
        one_hot = self.transformer_.named_transformers_["levels"][-1]
        sizes = [len(categories) for categories in one_hot.categories_]
        return [*numbers, *(name for name, n in zip(levels, sizes, strict=True) for _ in range(n))]

    def _as_objects(self, X: Any) -> Any:
        # SimpleImputer cannot fill a pandas category with a value that is not among its levels.
        return X.astype(dict.fromkeys(self.categorical_, object))
