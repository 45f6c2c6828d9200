"""The fit of the classifiers in a reject option, and the rows that are held out of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from lann._inputs import check_one_type, check_sample_weight, check_two_classes, validate_data
from lann._table_inputs import check_not_dask
from lann.encoding import as_table
from lann.reject._held_out import Fold, fit_folds, plain_folds, split_folds, split_part
from lann.reject._rows import take_parameters, take_rows


def read_training_data(
    estimator: Any, X: Any, y: ArrayLike, fit_params: dict[str, Any]
) -> tuple[Any, NDArray[Any], dict[str, Any]]:
    """Return the rows, labels and parameters of a fit, without rows of weight 0.

    Parameters
    ----------
    estimator : estimator
        Its number of features and feature names are set.
    X : array-like or table of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    fit_params : dict
    """
    check_not_dask(X)
    if as_table(X) is not None:
        validate_data(estimator, X, skip_check_array=True)
        if y is None:
            raise ValueError("y is None; a classifier needs a label for each row.")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_consistent_length(X, labels)
    else:
        X, labels = validate_data(estimator, X, y, dtype=None, ensure_all_finite=False)
    check_one_type("y", labels)
    check_classification_targets(labels)
    weights = fit_params.get("sample_weight")
    if weights is not None:
        counts = np.flatnonzero(check_sample_weight(weights, len(labels)) > 0)
        if len(counts) < len(labels):
            fit_params = take_parameters(fit_params, counts, len(labels))
            X, labels = take_rows(X, counts), labels[counts]
            if len(np.unique(labels)) < 2:
                raise ValueError("The rows whose sample_weight is above 0 are of one class; two are needed.")
    return X, labels, fit_params


class Fitted(NamedTuple):
    """A fitted classifier, and what there is to learn thresholds from.

    Attributes
    ----------
    estimator : classifier
        The one that predicts.
    folds : list of Fold
        Classifiers with their held-out rows.
    """

    estimator: Any
    folds: list[Fold]


def take_fitted(estimator: Any, n_rows: int, seed: int) -> Fitted:
    """Return a classifier that was fitted on other rows: all given rows are held out.

    Parameters
    ----------
    estimator : classifier or None
    n_rows : int
    seed : int
    """
    if estimator is None:
        raise ValueError('cv="prefit" needs a fitted estimator; got None.')
    check_is_fitted(estimator)
    if n_rows < 2:
        raise ValueError(f'cv="prefit" needs at least two held-out rows; got n_samples={n_rows}.')
    return Fitted(estimator, list(plain_folds(estimator, n_rows, seed)))


def fit_estimators(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    fit_params: dict[str, Any],
    *,
    cv: int | float,
    seed: int,
    n_jobs: int | None,
) -> Fitted:
    """Fit classifiers on parts of the rows, and on all rows or on those that are not held back.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    X : array-like or table of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    fit_params : dict
        Parameters of the fit.
    cv : int or float
        Number of folds, or the share of the rows that is held back.
    seed : int
        Of the folds.
    n_jobs : int or None
        Number of threads.
    """
    classes, labels = np.unique(y, return_inverse=True)
    check_two_classes(classes)
    if isinstance(cv, int | np.integer):
        folds = fit_folds(estimator, X, y, split_folds(labels, int(cv), seed), fit_params, n_jobs)
        return Fitted(clone(estimator).fit(X, y, **fit_params), folds)
    folds = fit_folds(estimator, X, y, split_part(labels, cv, seed), fit_params, n_jobs)
    return Fitted(folds[0].estimator, folds)
