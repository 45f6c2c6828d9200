"""The steps of a pipeline before its classifier: from a table to encoded features, and back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lann._types import Floats
from lann.tables._columns import ColumnTypes, check_columns_present, convert_columns, is_numeric

NUMERIC, TEXT = "numeric", "text"
# The rarest categories beyond this number share an encoded feature.
MOST_CATEGORIES = 50
RARE = "(rare)"


def make_pipeline(columns: ColumnTypes, classifier: Any = None) -> Pipeline:
    """Return an unfitted pipeline: impute missing values, scale numbers, one-hot encode text, classify."""
    from lann.classifier import LANNClassifier

    classifier = LANNClassifier(random_state=0) if classifier is None else clone(classifier)
    numeric = Pipeline([("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())])
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    text = Pipeline([("impute", SimpleImputer(strategy="most_frequent")), ("one_hot", one_hot)])
    parts = [(NUMERIC, numeric, columns.numeric), (TEXT, text, columns.text)]
    return Pipeline(
        [("columns", ColumnTransformer([part for part in parts if part[2]])), ("classifier", classifier)]
    )


def fit_pipeline(
    pipeline: Pipeline, rows: pd.DataFrame, labels: NDArray[Any], weights: Floats | None
) -> Pipeline:
    """Fit a pipeline whose classifier takes the weights of the rows, if there are any; its encoding does not.

    Parameters
    ----------
    pipeline : Pipeline
        Of `make_pipeline`.
    rows : DataFrame of shape (n_rows, n_columns)
    labels : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,) or None
    """
    if weights is None:
        return pipeline.fit(rows, labels)
    with config_context(enable_metadata_routing=False):
        return pipeline.fit(rows, labels, classifier__sample_weight=weights)


class FittedEncoding:
    """How a fitted estimator encodes a table for its classifier.

    Parameters
    ----------
    estimator : estimator
        A pipeline of `make_pipeline`, another pipeline that ends in a classifier, or a classifier.

    Attributes
    ----------
    is_own : bool
        Whether it is a pipeline of `make_pipeline`, whose encoding can be reversed.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._steps = estimator[:-1] if isinstance(estimator, Pipeline) else None
        transformer: Any = getattr(estimator, "named_steps", {}).get("columns")
        self.is_own = transformer is not None and hasattr(estimator, "training_rows_")
        if self.is_own:
            columns = {kind: list(names) for kind, _, names in transformer.transformers_}
            self._numeric, self._text = columns.get(NUMERIC, []), columns.get(TEXT, [])
            self._transformers = transformer.named_transformers_

    def convert(self, frame: pd.DataFrame, table: str) -> pd.DataFrame | NDArray[Any]:
        """Return the columns that the estimator uses, with values that it accepts."""
        if self.is_own:
            return convert_columns(frame, self._numeric, self._text, table)
        names = getattr(self._estimator, "feature_names_in_", None)
        if names is None:
            if len(frame.columns) != self._estimator.n_features_in_:
                raise ValueError(
                    f"There are {len(frame.columns)} columns in {table}; the model was fitted without column "
                    f"names and needs {self._estimator.n_features_in_}."
                )
            return convert_columns(frame, list(frame.columns), [], table).to_numpy()
        known = [str(name) for name in names]
        check_columns_present(frame, known, table)
        text = [name for name in known if self._steps is not None and not is_numeric(frame[name])]
        return convert_columns(frame, [name for name in known if name not in text], text, table)[known]

    def transform(self, rows: pd.DataFrame | NDArray[Any]) -> Any:
        """Return converted rows as the classifier takes them."""
        if self._steps is None:
            return rows
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Found unknown categories")
            return self._steps.transform(rows)

    def new_categories(self, rows: pd.DataFrame | NDArray[Any]) -> dict[str, list[str]]:
        """Return the values of converted text columns that the training data do not have, by column."""
        if not self.is_own or not self._text or isinstance(rows, np.ndarray):
            return {}
        known = zip(self._text, self._one_hot.categories_, strict=True)
        found = {name: sorted(set(rows[name].dropna()) - set(categories)) for name, categories in known}
        return {name: values for name, values in found.items() if values}

    def columns_of_encoded(self) -> list[str]:
        """Return the user's column of each encoded feature; of other pipelines, the features' own names."""
        if self.is_own:
            if not self._text:
                return self._numeric
            # Named by position, "0_red", because the names of the columns may contain underscores.
            encoded = self._one_hot.get_feature_names_out([str(j) for j in range(len(self._text))])
            return [*self._numeric, *(self._text[int(name.split("_", 1)[0])] for name in encoded)]
        classifier = self._estimator if self._steps is None else self._estimator[-1]
        names = getattr(classifier, "feature_names_in_", None)
        if names is None and self._steps is not None and hasattr(self._steps, "get_feature_names_out"):
            names = self._steps.get_feature_names_out()
        if names is None:
            return [f"x{feature}" for feature in range(classifier.n_features_in_)]
        return list(names)

    def decode(self, features: Floats) -> pd.DataFrame | None:
        """Return encoded features in the user's columns; None if the encoding cannot be reversed."""
        if not self.is_own:
            if self._steps is not None:
                return None
            return pd.DataFrame(features, columns=self.columns_of_encoded())
        values = pd.DataFrame(index=range(len(features)))
        n_numeric = len(self._numeric)
        if self._numeric:
            scaler = self._transformers[NUMERIC].named_steps["scale"]
            values[self._numeric] = scaler.inverse_transform(features[:, :n_numeric])
        if self._text:
            decoded = self._one_hot.inverse_transform(features[:, n_numeric:])
            values[self._text] = np.where(decoded == "infrequent_sklearn", RARE, decoded)
        return values

    @property
    def _one_hot(self) -> OneHotEncoder:
        return self._transformers[TEXT].named_steps["one_hot"]
