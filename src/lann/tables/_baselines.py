"""What a cross-validation compares with: plain kNN behind the usual preparation of tables, and a guess."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from lann.tables._column import Column

N_NEIGHBORS = 5
# The rarest categories beyond this number share an encoded feature.
MOST_CATEGORIES = 50


def plain_knn(columns: list[Column], n_train: int) -> Pipeline:
    """Return kNN on one-hot encoded categories and scaled numbers, missing values replaced.

    Parameters
    ----------
    columns : list of Column
        Those that are used.
    n_train : int
        Number of training rows.
    """
    text = [column.name for column in columns if column.kind == "category"]
    others = [column.name for column in columns if column.kind != "category"]
    numbers = make_pipeline(
        FunctionTransformer(as_floats), SimpleImputer(strategy="median"), StandardScaler()
    )
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    categories = make_pipeline(SimpleImputer(strategy="most_frequent"), one_hot)
    steps = [(numbers, others), (categories, text)]
    return make_pipeline(
        make_column_transformer(*[step for step in steps if step[1]]),
        KNeighborsClassifier(min(N_NEIGHBORS, n_train), weights="distance"),
    )


def as_floats(frame: pd.DataFrame) -> pd.DataFrame:
    """Return bools and dates as numbers, missing ones as NaN."""
    return frame.apply(_floats)


def _floats(column: pd.Series) -> pd.Series:
    if pd.api.types.is_datetime64_any_dtype(column):
        column = (column - pd.Timestamp(0)).dt.total_seconds()
    return column.astype("float64")


def majority_guess() -> Any:
    """Return a classifier that predicts the largest class, and the shares of the classes."""
    return DummyClassifier(strategy="prior")
