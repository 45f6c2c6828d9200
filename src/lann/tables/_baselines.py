"""What a cross-validation compares with: plain kNN behind the usual preparation of tables, and a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from lann.columns.text import Column

if TYPE_CHECKING:
    from lann._support.types import Floats

N_NEIGHBORS = 5
# The rarest categories beyond this number share an encoded feature.
MOST_CATEGORIES = 50


def fit_baselines(
    rows: pd.DataFrame,
    labels: NDArray[Any],
    columns: Sequence[Column],
    *,
    sample_weight: Floats | None = None,
) -> dict[str, Any]:
    """Fit what a model is compared with: plain kNN, and a guess of the largest class.

    kNN has 5 neighbors, weighted by distance, on one-hot encoded categories and scaled numbers, with missing
    values replaced by the median or the most frequent category; it has no sample weights.

    Parameters
    ----------
    rows : DataFrame of shape (n_rows, n_columns)
        Values, as `apply_columns` returns them.
    labels : ndarray of shape (n_rows,)
    columns : sequence of Column
        What the columns have.
    sample_weight : ndarray of shape (n_rows,) or None, default=None
        As how many rows each row counts, for the guess.

    Returns
    -------
    baselines : dict of str to estimator
        Fitted classifiers, "kNN" and "majority".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import fit_baselines, fit_table
    >>> frame = load_iris(as_frame=True).frame
    >>> model = fit_table(frame[::2], "target")
    >>> baselines = fit_baselines(model.training_rows(), frame["target"][::2].to_numpy(), model.columns)
    >>> test, labels = frame[1::2], frame["target"][1::2]
    >>> {name: round(fitted.score(test, labels), 2) for name, fitted in baselines.items()}
    {'kNN': 0.96, 'majority': 0.33}
    """
    return {
        "kNN": plain_knn(list(columns), len(rows)).fit(rows, labels),
        "majority": majority_guess().fit(rows, labels, sample_weight=sample_weight),
    }


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
