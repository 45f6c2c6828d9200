"""Cross-validation on a table, beside plain kNN and a guess."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from lann._support.compat import reported_epochs
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, validate
from lann.columns.text import Column, TableWarning
from lann.persist import CrossValidatedMethod
from lann.tables._reading import Progress

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.reject import RejectOption
    from lann.tables._table_model import TableModel
    from lann.tables._training_table import TrainingTable


def cross_validate(
    table: TrainingTable,
    classifier: LANNClassifier | None = None,
    *,
    n_folds: int = 5,
    random_state: int = 0,
    callback: Progress | None = None,
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
    report = callback or (lambda done, total: None)
    scores = []
    for fold, (train, test) in enumerate(splits):
        on_epoch = partial(lambda fold, done, total: report(fold + done / max(total, 1), len(splits)), fold)
        fitted, predictions = _predictions(table, classifier, train, test, callback and on_epoch)
        if folds is not None:
            folds.append(fitted)
        weights = None if table.weights is None else table.weights[fitted.test]
        for method, probabilities in predictions.items():
            found = scores_of(table.classes, table.labels[fitted.test], probabilities, weights)
            scores.append({"fold": fold, "method": method, **found})
        report(fold + 1, len(splits))
    table_of_scores = pd.DataFrame(scores)
    table_of_scores.attrs["random_state"] = random_state
    return table_of_scores


def _splits(table: TrainingTable, n_folds: int, random_state: int) -> list[tuple[Indices, Indices]]:
    """Return the training and the test rows of each fold; the only row of a class is not tested."""
    from sklearn.model_selection import StratifiedKFold

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
    table: TrainingTable, classifier: LANNClassifier, train: Indices, test: Indices, report: Progress | None
) -> tuple[FittedFold, dict[str, Floats]]:
    """Return the fitted classifier, and the probabilities of the test rows by method: (n_test, n_classes)."""
    training, used = table.subset(train), [column for column in table.columns if column.is_used]
    rows, labels = training.rows, training.labels
    ours = clone(classifier)
    with reported_epochs(ours, report):
        ours.fit(rows, labels, sample_weight=training.weights)
    fitted = {"LANN": ours, **fit_baselines(rows, labels, used, sample_weight=training.weights)}
    tested = table.rows.iloc[test]
    has_value = tested.notna().any(axis=1).to_numpy()  # the distances of other rows cannot be measured
    columns, aligned = np.searchsorted(table.classes, ours.classes_), {}
    for method, estimator in fitted.items():
        aligned[method] = np.zeros((has_value.sum(), len(table.classes)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Found unknown categories")
            aligned[method][:, columns] = estimator.predict_proba(tested[has_value])
    return FittedFold(ours, train, test[has_value]), aligned


def scores_of(
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
    from sklearn.metrics import log_loss, roc_auc_score

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


SCORES = ("accuracy", "balanced_accuracy", "auc", "log_loss")


def summarize_folds(scores: pd.DataFrame) -> list[CrossValidatedMethod]:
    """Return the means and standard deviations over the folds, as a model file has them."""
    methods = []
    for method, part in scores.groupby("method", sort=False):
        found: dict[str, float | None] = {}
        for score in SCORES:
            values = part[score].dropna().to_numpy()
            found[score] = float(values.mean()) if len(values) else None
            found[f"{score}_std"] = float(values.std()) if len(values) else None
        seed = scores.attrs.get("random_state")
        methods.append(CrossValidatedMethod(str(method), part["fold"].nunique(), seed, **found))
    return methods


N_NEIGHBORS = 5
# The rarest categories beyond this number share an encoded feature.
MOST_CATEGORIES = 50


def fit_baselines(
    rows: pd.DataFrame,
    labels: NDArray[Any],
    columns: Sequence[Column],
    *,
    sample_weight: Floats | None = None,
    has_values: bool = False,
) -> dict[str, Any]:
    """Fit what a model is compared with: plain kNN, and a guess of the largest class, or of the mean.

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
        Sample weights, for the guess.
    has_values : bool, default=False
        Whether numbers are predicted.

    Returns
    -------
    baselines : dict of str to estimator
        Fitted classifiers, "kNN" and "majority", or regressors, "kNN" and "mean".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import TableModel, fit_baselines
    >>> frame = load_iris(as_frame=True).frame
    >>> model = TableModel.fit(frame[::2], "target")
    >>> baselines = fit_baselines(model.training_rows(), frame["target"][::2].to_numpy(), model.columns)
    >>> test, labels = frame[1::2], frame["target"][1::2]
    >>> {name: round(fitted.score(test, labels), 2) for name, fitted in baselines.items()}
    {'kNN': 0.96, 'majority': 0.33}
    """
    from sklearn.compose import make_column_transformer
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    text = [column.name for column in columns if column.kind == "category"]
    others = [column.name for column in columns if column.kind != "category"]
    median, most_frequent = (
        SimpleImputer(strategy=strategy, keep_empty_features=True) for strategy in ("median", "most_frequent")
    )
    numbers = make_pipeline(FunctionTransformer(as_floats), median, StandardScaler())
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    categories = make_pipeline(most_frequent, one_hot)
    encoder = make_column_transformer(*(step for step in ((numbers, others), (categories, text)) if step[1]))
    of_labels = KNeighborsClassifier, DummyClassifier(strategy="prior"), "majority"
    of_values = KNeighborsRegressor, DummyRegressor(), "mean"
    kind, guess, name = of_values if has_values else of_labels
    knn = make_pipeline(encoder, kind(min(N_NEIGHBORS, len(rows)), weights="distance"))
    return {"kNN": knn.fit(rows, labels), name: guess.fit(rows, labels, sample_weight=sample_weight)}


def as_floats(frame: pd.DataFrame) -> pd.DataFrame:
    """Return bools and dates as numbers, missing ones as NaN."""
    dates = frame.select_dtypes("datetime")
    seconds = {name: (dates[name] - pd.Timestamp(0)).dt.total_seconds() for name in dates}
    return frame.assign(**seconds).astype("float64")


# Held-out rows that are kept with a model, at most: thresholds of more hardly differ.
MOST_HELD_OUT = 10_000


class FittedFold(NamedTuple):
    """A classifier of a cross-validation.

    Attributes
    ----------
    classifier : LANNClassifier
        Fitted to the training rows.
    train, test : ndarray
        Positions of the training rows and of the test rows in the training table; test rows without any
        value are left out.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import TrainingTable, cross_validate
    >>> table, folds = TrainingTable.from_frame(load_wine(as_frame=True).frame, "target"), []
    >>> scores = cross_validate(table, n_folds=2, folds=folds)
    >>> len(folds), len(folds[0].test)
    (2, 89)
    >>> reject = table.fit(folds=folds).reject_option(coverage=0.9)
    >>> reject.target_.kind, bool(reject.coverage_ >= 0.9)
    ('coverage', True)
    """

    classifier: Any
    train: Indices
    test: Indices


def learn_reject_option(
    classifier: Any, rows: pd.DataFrame, labels: NDArray[Any], folds: Sequence[FittedFold]
) -> RejectOption:
    """Return a reject option that learns from the test rows of a cross-validation.

    Parameters
    ----------
    classifier : LANNClassifier
        Fitted to all rows.
    rows : DataFrame of shape (n_rows, n_columns)
    labels : ndarray of shape (n_rows,)
    folds : sequence of FittedFold

    Returns
    -------
    reject : RejectOption
        With the default target, and some of the held-out rows if there are many.
    """
    from lann.reject import HeldOut, RejectOption

    usable = [tuple(fold) for fold in folds if len(fold.test)]
    reject = RejectOption.from_folds(classifier, rows, labels, usable, random_state=0)
    n_rows = len(reject.held_out_.rows)
    kept = np.linspace(0, n_rows - 1, min(n_rows, MOST_HELD_OUT)).astype(np.int64)
    fewer: Any = [values[kept] for values in reject.held_out_]
    reject.held_out_ = HeldOut(*fewer)
    return reject.with_target()


def reject_option(
    model: TableModel, *, cost: float | None = None, coverage: float | None = None, risk: float | None = None
) -> RejectOption:
    """Return a reject option around the classifier, with thresholds for a target.

    They are chosen from the test rows of the cross-validation before the fit, which are kept with the model.

    Parameters
    ----------
    model : TableModel
    cost : float or None, default=None
        What a rejection costs, if an error costs 1. At most one of the three can be given; none is a cost of
        0.2.
    coverage : float or None, default=None
        The share of rows to accept.
    risk : float or None, default=None
        The largest share of the accepted rows that may be wrong.

    Returns
    -------
    reject : RejectOption
        Fitted; for `predict` and `explain`.

    Raises
    ------
    ValueError
        If the model has no held-out rows, or a target is invalid.
    """
    reject = None if model.record is None else model.record.reject
    if reject is None:
        raise ValueError(
            "The model has no held-out rows, from which thresholds for rejecting rows are chosen; fit it "
            "again by `lann fit` with its cross-validation, or by TrainingTable.fit(folds=...)."
        )
    return reject.with_target(cost=cost, coverage=coverage, risk=risk)
