"""Fill the gaps of a table."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin


class TableImputer(TransformerMixin, BaseEstimator):
    """Replace missing numbers by the median of the training rows, and categories by the most frequent one."""

    def fit(self, X: Any, y: Any = None) -> TableImputer:
        numeric = X.select_dtypes("number")
        self.values_ = numeric.median().to_dict()
        for column in X.columns.difference(numeric.columns):
            levels = X[column].mode()  # empty if all cells are missing; sorted if several are as frequent
            if len(levels):
                self.values_[column] = levels.iloc[0]
        return self

    def transform(self, X: Any) -> Any:
        """Return the table without gaps; its types are unchanged."""
        return X.fillna(self.values_)
