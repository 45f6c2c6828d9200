"""Cross-validation on a table, beside plain kNN and a guess."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from lann._support.compat import reported_epochs
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, validate
from lann.columns.text import TableWarning
from lann.tables._baselines import majority_guess, plain_knn
from lann.tables._reject import FittedFold
from lann.tables._training_table import TrainingTable

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier

METHODS = ("LANN", "kNN", "majority")


def cross_validate(
    table: TrainingTable,
    classifier: LANNClassifier | None = None,
    *,
    n_folds: int = 5,
    random_state: int = 0,
    callback: Callable[[float, int], object] | None = None,
    folds: list[FittedFold] | None = None,
) -> pd.DataFrame:
    """Cross-validate a classifier on a table, and for comparison plain kNN and a guess of the largest class.

    kNN has 5 neighbors, weighted by distance, on one-hot encoded categories and scaled numbers, with missing
    values replaced by the median or the most frequent category. Where rows have weights, LANN is fitted with
    them, and they count in the scores of all methods.

    Parameters
    ----------
    table : TrainingTable
    classifier : LANNClassifier or None, default=None
        It is cloned; None is ``LANNClassifier(random_state=0)``.
    n_folds : int, default=5
        Number of stratified folds; fewer if the largest class has fewer rows.
    random_state : int, default=0
        Determines the folds.
    callback : callable or None, default=None
        Called with the number of folds that are done, and of all folds: after every fold, and with fractions
        of a fold after every epoch of a fit (where scikit-learn has callbacks, from 1.9 on).
    folds : list or None, default=None
        The classifier of every fold is added to it, with its training rows and test rows. With these,
        `TrainingTable.fit` learns what a reject option needs.

    Returns
    -------
    scores : DataFrame
        A row for each fold and method, with the columns ``fold``, ``method`` ("LANN", "kNN" or "majority"),
        ``accuracy``, ``balanced_accuracy``, ``auc``, ``log_loss`` and ``recall of ...`` for every class.
        Balanced accuracy and AUC are means over the classes that the fold has; the AUC of a class is that of
        its probability against all other classes. NaN for a class that the fold does not have.
        `TrainingTable.fit` can keep their means with the model.

    Raises
    ------
    ValueError
        If no class has two rows, or there are more neighbors than rows to train on.

    Warns
    -----
    TableWarning
        If a class has one row only: it is then always trained on, and never predicted.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import TrainingTable, cross_validate
    >>> table = TrainingTable.from_frame(load_wine(as_frame=True).frame, "target")
    >>> scores = cross_validate(table, n_folds=3)
    >>> scores.groupby("method")["accuracy"].mean().round(2).to_dict()
    {'LANN': 0.98, 'kNN': 0.96, 'majority': 0.4}
    """
    from lann.classifier import LANNClassifier

    validate("n_folds", n_folds, Integer(2))
    classifier = LANNClassifier(random_state=0) if classifier is None else classifier
    splits = _splits(table, n_folds, random_state)
    n_train = min(len(train) for train, _ in splits)
    n_neighbors = classifier.n_neighbors
    if n_neighbors != "auto" and table.weights is None and n_neighbors > n_train:
        raise ValueError(
            f"n_neighbors={n_neighbors} is more than the {n_train} rows that each fold trains on; use fewer "
            "neighbors, or do not cross-validate."
        )
    scores = []
    for fold, (train, test) in enumerate(splits):
        weights = None if table.weights is None else table.weights[test]
        report = None if callback is None else _fold_report(callback, fold, len(splits))
        fitted, predictions = _predictions(table, classifier, train, test, report)
        if folds is not None:
            folds.append(fitted)
        for method, probabilities in predictions.items():
            found = _scores(table.classes, table.labels[test], probabilities, weights)
            scores.append({"fold": fold, "method": method} | found)
        if callback is not None:
            callback(fold + 1, len(splits))
    table_of_scores = pd.DataFrame(scores)
    table_of_scores.attrs["random_state"] = random_state
    return table_of_scores


def _fold_report(
    callback: Callable[[float, int], object], fold: int, n_folds: int
) -> Callable[[int, int], object]:
    """Return a function from the epochs of a fold to the folds that are done."""
    return lambda done, total: callback(fold + done / max(total, 1), n_folds)


def _splits(table: TrainingTable, n_folds: int, random_state: int) -> list[tuple[Indices, Indices]]:
    """Return the training and the test rows of each fold; the only row of a class is not tested."""
    sizes = table.class_sizes
    if sizes.max() < 2:
        raise ValueError("Every class has one row only; cross-validation needs at least two rows of a class.")
    if (sizes == 1).any():
        alone = ", ".join(repr(str(label)) for label in table.classes[sizes == 1])
        classes, have, are = ("Class", "has", "is") if (sizes == 1).sum() == 1 else ("Classes", "have", "are")
        warnings.warn(
            f"{classes} {alone} {have} one row only and {are} left out of the test rows.",
            TableWarning,
            stacklevel=3,
        )
    is_alone = np.isin(table.labels, table.classes[sizes == 1])
    rows, alone_rows = np.flatnonzero(~is_alone), np.flatnonzero(is_alone)
    folds = StratifiedKFold(min(n_folds, int(sizes.max())), shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        parts = list(folds.split(rows, table.labels[rows]))
    return [(np.sort(np.concatenate([rows[train], alone_rows])), rows[test]) for train, test in parts]


def _predictions(
    table: TrainingTable,
    classifier: LANNClassifier,
    train: Indices,
    test: Indices,
    report: Callable[[int, int], object] | None = None,
) -> tuple[FittedFold, dict[str, Floats]]:
    """Return the fitted classifier, and the probabilities of the test rows by method: (n_test, n_classes)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        training = table._subset(train)
    rows, labels = training.rows, training.labels
    used = [column for column in training.columns if column.is_used]
    ours = clone(classifier)
    with reported_epochs(ours, report):
        ours.fit(rows, labels, sample_weight=training.weights)
    guess = majority_guess().fit(rows, labels, sample_weight=training.weights)
    plain = plain_knn(used, len(train)).fit(rows, labels)
    tested = table.rows.iloc[test][rows.columns]
    has_value = tested.notna().any(axis=1).to_numpy()
    shares = guess.predict_proba(tested)
    found = shares.copy()  # of rows without any value, too, whose distances cannot be measured
    if has_value.any():
        found[has_value] = ours.predict_proba(tested[has_value])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found unknown categories")
        parts = {"LANN": found, "kNN": plain.predict_proba(tested), "majority": shares}
    columns = np.searchsorted(table.classes, ours.classes_)
    aligned = {method: np.zeros((len(test), len(table.classes))) for method in METHODS}
    for method, probabilities in parts.items():
        aligned[method][:, columns] = probabilities
    return FittedFold(ours, train, test[has_value]), aligned


def _scores(
    classes: NDArray[Any], labels: NDArray[Any], probabilities: Floats, weights: Floats | None
) -> dict[str, float]:
    """Return the scores of some test rows.

    Parameters
    ----------
    classes : (n_classes,)
    labels : (n_rows,)
    probabilities : (n_rows, n_classes)
    weights : (n_rows,) or None
    """
    truth: Labels = np.searchsorted(classes, labels)
    correct = probabilities.argmax(axis=1) == truth
    counts = np.ones(len(labels)) if weights is None else weights
    recalls, areas = np.full(len(classes), np.nan), np.full(len(classes), np.nan)
    for index in np.unique(truth):
        own = truth == index
        recalls[index] = np.average(correct[own], weights=counts[own])
        if not own.all():
            areas[index] = roc_auc_score(own, probabilities[:, index], sample_weight=counts)
    return {
        "accuracy": float(np.average(correct, weights=counts)),
        "balanced_accuracy": float(np.nanmean(recalls)),
        "auc": float(np.nanmean(areas)) if not np.isnan(areas).all() else np.nan,
        "log_loss": float(log_loss(truth, probabilities, labels=range(len(classes)), sample_weight=counts)),
        **{f"recall of {label}": recall for label, recall in zip(classes, recalls.tolist(), strict=True)},
    }
