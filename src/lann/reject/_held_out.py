"""Rows on which the classifier was not trained: how they come about, and what is known of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from lann._support.inputs import check_one_type, check_sample_weight, check_two_classes
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import check_not_dask
from lann.columns.reader import as_table
from lann.reject._plain_rows import PlainRows
from lann.reject._row_evidence import Needs, Reader, Reading, model_spacing, neighbor_model


def take_rows(X: Any, rows: Indices) -> Any:
    """Return some rows of an array, or of a table of pandas, polars or pyarrow."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and not isinstance(X, np.ndarray):  # pyarrow
        return X.take(rows)
    return X[rows]


def take_parameters(parameters: dict[str, Any], rows: Indices, n_rows: int) -> dict[str, Any]:
    """Return the parameters of a fit; those with a value for each of the rows are taken for some of them."""
    return {name: _take(value, rows, n_rows) for name, value in parameters.items()}


def _take(value: Any, rows: Indices, n_rows: int) -> Any:
    if isinstance(value, str | dict) or not hasattr(value, "__len__") or len(value) != n_rows:
        return value
    return take_rows(value if hasattr(value, "shape") else np.asarray(value), rows)


def marker_of(classes: NDArray[Any], reject_label: Any) -> Any:
    """Return what stands for a rejected row among predicted labels.

    Parameters
    ----------
    classes : (n_classes,)
    reject_label : object or None
        None is "rejected" among text and other labels, and among numbers -1, or one less than the smallest
        where labels are negative.

    Raises
    ------
    ValueError
        If it is one of the classes.
    """
    if reject_label is None:
        if classes.dtype.kind in "iuf":
            reject_label = min(-1, int(np.floor(classes.min())) - 1)
        else:
            reject_label = "rejected"
    if reject_label in classes.tolist():
        raise ValueError(f"{reject_label!r} is one of the classes; give another reject_label.")
    return reject_label


def labels_with_marker(labels: NDArray[Any], marker: Any, rejected: NDArray[np.bool_]) -> NDArray[Any]:
    """Return labels in which a marker takes the position of those that are rejected.

    The type of the result has both, whether rows are rejected or not.
    """
    marked = np.asarray(marker)
    numbers = labels.dtype.kind in "iuf" and marked.dtype.kind in "iuf"
    texts = labels.dtype.kind == "U" and marked.dtype.kind == "U"
    dtype = np.result_type(labels.dtype, marked.dtype) if numbers or texts else np.dtype(object)
    out = labels.astype(dtype)
    out[rejected] = marker
    return out


# Folds of given rows for the distances between plain rows, if the classifier is already fitted.
N_PLAIN_FOLDS = 5


class HeldOut(NamedTuple):
    """What is known of the held-out rows, in the order of the rows.

    Attributes
    ----------
    y_true, y_pred : ndarray of shape (n_held_out,)
        Labels, and labels that were predicted by a classifier without the row.
    certainties : ndarray of shape (n_held_out,)
        How certain the predictions are.
    novelties : ndarray of shape (n_held_out,)
        How many times as far from its nearest rows each row is as held-out rows usually are; NaN if it is
        not measured.
    groups : ndarray of shape (n_held_out,)
        Number of the class that was predicted, or of the region; 0 if there is one threshold.
    rows : ndarray of shape (n_held_out,)
        Positions of the rows in the data of the fit, ascending.
    """

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    certainties: Floats
    novelties: Floats
    groups: Labels
    rows: Indices


class Fold(NamedTuple):
    """A classifier, the rows on which it was trained, and the rows that were held out.

    Attributes
    ----------
    estimator : classifier
        Fitted.
    train, held_out : ndarray
        Positions of rows.
    """

    estimator: Any
    train: Indices
    held_out: Indices


def split_folds(labels: Labels, n_folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    """Return the training and held-out rows of folds, which have the same share of each class.

    Parameters
    ----------
    labels : (n_rows,)
        Class indices.
    n_folds : int
        Fewer if no class has so many rows.
    seed : int

    Raises
    ------
    ValueError
        If the training rows of a fold would have one class only.
    """
    counts = np.bincount(labels)
    n_used = min(n_folds, int(counts.max()))
    if n_used < 2:
        raise ValueError(
            f"Cross-fitting needs two rows of a class at least; got n_samples={len(labels)} with one row of "
            "each class."
        )
    splitter = StratifiedKFold(n_used, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        folds = list(splitter.split(np.zeros(len(labels)), labels))
    for train, _ in folds:
        if len(np.unique(labels[train])) < 2:
            raise ValueError(
                f"A fold of cv={n_folds} has one class only to train on; give at least two rows of two "
                "classes."
            )
    return folds


def split_part(labels: Labels, share: float, seed: int) -> list[tuple[Indices, Indices]]:
    """Return the training rows and the held-back rows: the given share of each class.

    Parameters
    ----------
    labels : (n_rows,)
        Class indices.
    share : float
    seed : int

    Raises
    ------
    ValueError
        If no row can be held back without all rows of a class.
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    counts = np.bincount(labels)
    # Rounded sums, so that rare classes together have their share, too.
    held_back = np.diff(np.round(share * np.cumsum(counts)), prepend=0.0)
    held_back = np.minimum(held_back, np.maximum(counts - 1, 0)).astype(np.int64)
    position = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    is_held_out = position < np.repeat(held_back, counts)
    if not is_held_out.any():
        raise ValueError(f"cv={share:g} of n_samples={len(labels)} holds back no row; give more rows.")
    return [(np.sort(order[~is_held_out]), np.sort(order[is_held_out]))]


def fit_folds(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    splits: Sequence[tuple[Indices, Indices]],
    parameters: dict[str, Any],
    n_jobs: int | None,
) -> list[Fold]:
    """Return a classifier for every fold, fitted on its training rows.

    Parameters
    ----------
    estimator : classifier
        Not fitted.
    X : array-like or table of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    splits : sequence of (train, held_out)
    parameters : dict
        Of the fit; those with a value for each row are split, too.
    n_jobs : int or None
        Number of threads.
    """

    def fit(train: Indices, held_out: Indices) -> Fold:
        own = take_parameters(parameters, train, len(y))
        return Fold(clone(estimator).fit(take_rows(X, train), y[train], **own), train, held_out)

    n_threads = n_jobs if n_jobs is None else min(n_jobs, len(splits))  # joblib has a largest number
    return list(Parallel(n_jobs=n_threads, prefer="threads")(delayed(fit)(*split) for split in splits))


def check_folds(folds: Sequence[tuple[Any, Any, Any]], n_rows: int) -> list[Fold]:
    """Return given folds; raise ValueError unless each has training rows and held-out rows."""
    checked = [Fold(estimator, np.asarray(train), np.asarray(held)) for estimator, train, held in folds]
    if not checked:
        raise ValueError("folds must have at least one fold; got none.")
    for fold in checked:
        for rows in (fold.train, fold.held_out):
            if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows):
                raise ValueError("A fold needs positions of training rows and of held-out rows.")
            if rows.min() < 0 or rows.max() >= n_rows:
                raise ValueError(f"The positions of a fold must be those of the {n_rows} rows.")
    return checked


class RowReader(NamedTuple):
    """How held-out rows are read: with the labels of all rows, and what is needed of them.

    Attributes
    ----------
    X : array-like or table of shape (n_rows, n_features)
    labels : (n_rows,)
        Class indices; -1 for a label that the classifier does not know.
    classes : (n_classes,)
    needs : Needs
    plain_for : frozenset of str
        What plain rows are needed for: "novelty", "others" (where the classifier has no neighbors).
    n_jobs : int or None
    """

    X: Any
    labels: Labels
    classes: NDArray[Any]
    needs: Needs
    plain_for: frozenset[str]
    n_jobs: int | None

    def reader(self, estimator: Any, train: Indices) -> Reader:
        """Return the reader of a fitted classifier, with these rows as plain rows."""
        model = neighbor_model(estimator)
        needs_plain = "novelty" in self.plain_for or ("others" in self.plain_for and model is None)
        plain = PlainRows.fit(take_rows(self.X, train), self.labels[train]) if needs_plain else None
        spacing = None
        if model is not None and self.needs.novelty:
            spacing = model_spacing(model, n_jobs=self.n_jobs)
        columns = np.searchsorted(self.classes, estimator.classes_).astype(np.int64)
        return Reader(estimator, len(self.classes), columns, plain, spacing, self.needs, self.n_jobs, model)

    def read(self, folds: Sequence[Fold]) -> tuple[Reading, Indices]:
        """Return what is known of the held-out rows, in their order, and their positions."""
        parts = [
            self.reader(fold.estimator, fold.train).read(take_rows(self.X, fold.held_out)) for fold in folds
        ]
        rows = np.concatenate([fold.held_out for fold in folds])
        order = np.argsort(rows, kind="stable")
        return Reading(*(_join(values, order) for values in zip(*parts, strict=True))), rows[order]


def _join(parts: Sequence[Floats | None], order: Indices) -> Any:
    known = [part for part in parts if part is not None]
    return np.concatenate(known)[order] if len(known) == len(parts) else None


def plain_folds(estimator: Any, n_rows: int, seed: int) -> Iterator[Fold]:
    """Yield folds for a classifier that was fitted on other rows: all of the given rows are held out.

    The plain rows of a fold are the other given rows.

    Parameters
    ----------
    estimator : classifier
        Fitted.
    n_rows : int
    seed : int
    """
    n_folds = min(N_PLAIN_FOLDS, n_rows)
    for train, held_out in KFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(n_rows)):
        yield Fold(estimator, train, held_out)


def vote_as(folds: Sequence[Fold], estimator: Any) -> list[Fold]:
    """Return folds whose classifiers vote as that of all rows does, which may have chosen another vote.

    Otherwise their certainties could not be compared: with more neighbors, fewer votes are unanimous.

    Parameters
    ----------
    folds : sequence of Fold
    estimator : classifier
        Fitted to all rows.
    """
    vote = getattr(_last_step(estimator), "vote_", None)
    return [fold._replace(estimator=_with_vote(fold.estimator, vote)) for fold in folds]


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _with_vote(estimator: Any, vote: Any) -> Any:
    """Return a fitted classifier, also at the end of a pipeline, with another vote if it can have one."""
    own = _last_step(estimator)
    if vote is None or not hasattr(own, "with_vote") or _figures(own.vote_) == _figures(vote):
        return estimator
    changed = own.with_vote(vote)
    if own is estimator:
        return changed
    pipeline = copy(estimator)
    pipeline.steps = [*estimator.steps[:-1], (estimator.steps[-1][0], changed)]
    return pipeline


def _figures(vote: Any) -> tuple[int, float, float]:
    return vote.n_neighbors, vote.power, vote.floor


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
