"""Cross-validation on a table, beside plain kNN on the same columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
from sklearn.base import clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from lann._validation import Integer, validate
from lann.tables._pipeline import fit_pipeline, make_pipeline
from lann.tables._training_table import TrainingTable

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier

N_PLAIN_NEIGHBORS = 5


def cross_validate(
    table: TrainingTable,
    classifier: LANNClassifier | None = None,
    *,
    n_folds: int = 5,
    random_state: int = 0,
    callback: Callable[[int, int], object] | None = None,
) -> pd.DataFrame:
    """Cross-validate a classifier on a table, and plain kNN on the same columns for comparison.

    Where rows have weights, LANN is fitted with them, and they count in the scores of both.

    Parameters
    ----------
    table : TrainingTable
    classifier : LANNClassifier or None, default=None
        It is cloned; None is ``LANNClassifier(random_state=0)``.
    n_folds : int, default=5
        Number of stratified folds; fewer if the smallest class has fewer rows.
    random_state : int, default=0
        Determines the folds.
    callback : callable or None, default=None
        Called after every fold with the number of folds that are done, and of all folds.

    Returns
    -------
    scores : DataFrame
        A row for each fold and method, with the columns ``fold``, ``method`` ("LANN" or "kNN"), ``accuracy``
        and ``balanced_accuracy``.

    Raises
    ------
    ValueError
        If a class has one row only, or there are more neighbors than rows to train on.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import TrainingTable, cross_validate
    >>> table = TrainingTable.from_frame(load_wine(as_frame=True).frame, "target")
    >>> scores = cross_validate(table, n_folds=3)
    >>> scores.groupby("method")["accuracy"].mean().round(2).to_dict()
    {'LANN': 0.98, 'kNN': 0.96}
    """
    validate("n_folds", n_folds, Integer(2))
    if table.class_sizes.min() < 2:
        rare = table.classes[table.class_sizes.argmin()]
        raise ValueError(f"Class {str(rare)!r} has one row only; cross-validation needs at least two.")
    n_folds = min(n_folds, int(table.class_sizes.min()))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    splits = list(folds.split(table.rows, table.labels))
    n_train = min(len(train) for train, _ in splits)
    model = make_pipeline(table.columns, classifier)
    n_neighbors = model[-1].n_neighbors
    if n_neighbors != "auto" and table.weights is None and n_neighbors > n_train:
        raise ValueError(
            f"n_neighbors={n_neighbors} is more than the {n_train} rows that each fold trains on; use fewer "
            "neighbors, or do not cross-validate."
        )
    plain = KNeighborsClassifier(min(N_PLAIN_NEIGHBORS, n_train), weights="distance")
    models = {"LANN": model, "kNN": make_pipeline(table.columns, plain)}
    scores, weights = [], table.weights
    for fold, (train, test) in enumerate(splits):
        for method, candidate in models.items():
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Found unknown categories")
                own = weights[train] if weights is not None and method == "LANN" else None
                fitted = fit_pipeline(clone(candidate), table.rows.iloc[train], table.labels[train], own)
                predicted = fitted.predict(table.rows.iloc[test])
            labels, counted = table.labels[test], None if weights is None else weights[test]
            accuracies = (
                accuracy_score(labels, predicted, sample_weight=counted),
                balanced_accuracy_score(labels, predicted, sample_weight=counted),
            )
            scores.append((fold, method, *accuracies))
        if callback is not None:
            callback(fold + 1, n_folds)
    return pd.DataFrame(scores, columns=["fold", "method", "accuracy", "balanced_accuracy"])
