"""Rows on which the classifier was not trained: how they come about, and what is known of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from lann._types import Floats, Indices, Labels
from lann.reject._plain_rows import PlainRows
from lann.reject._reading import Needs, Reader, Reading, model_spacing, neighbor_model
from lann.reject._rows import take_parameters, take_rows

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
