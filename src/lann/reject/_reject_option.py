"""RejectOption: a classifier that rejects rows that are ambiguous or far from all training rows."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, check_is_fitted, validate_data

from lann._support.compat import unchanged_on_failure
from lann._support.doc_links import DocumentedEstimator
from lann._support.inputs import check_one_type, check_sample_weight, check_two_classes
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import (
    N_JOBS,
    RANDOM_STATE,
    Checked,
    Integer,
    Number,
    OneOf,
    ParameterTable,
    shown,
    validate_parameters,
)
from lann.classifier import LANNClassifier
from lann.columns.inputs import check_in_memory, check_labels, check_table
from lann.columns.schema import as_table
from lann.explain import Decision, Explanation, with_decisions
from lann.reject._plain_rows import PlainRows
from lann.reject._row_evidence import (
    CERTAINTIES,
    NoveltyScale,
    Reader,
    Reading,
    compute_certainties,
    find_landmarks,
    neighbor_model,
    novelty_threshold,
)
from lann.reject._thresholds import Target, choose_thresholds, merge_groups

TARGETS = ("cost", "coverage", "risk")
DEFAULT_TARGET = Target("cost", 0.2)
PREFIT = "prefit"
# Folds of given rows for the distances between plain rows, if the classifier is already fitted.
N_PLAIN_FOLDS = 5
# A fitted classifier, and the positions of its training rows and of the rows that were held out.
Fold = tuple[Any, Indices, Indices]


def _check_estimator(estimator: Any) -> None:
    is_estimator = hasattr(estimator, "get_params") and not isinstance(estimator, type)
    is_usable = is_estimator and is_classifier(estimator) and hasattr(estimator, "predict_proba")
    if not (estimator is None or is_usable):
        raise ValueError(
            "estimator must be a classifier with predict_proba, such as CalibratedClassifierCV, or None; "
            f"got {shown(estimator)}."
        )


def _check_reject_label(reject_label: Any) -> None:
    if not (reject_label is None or isinstance(reject_label, str | bool | int | float | np.generic)):
        raise ValueError(f"reject_label must be a text or a number, or None; got {shown(reject_label)}.")


class HeldOut(NamedTuple):
    """What is known of the held-out rows, in the order of the rows.

    Attributes
    ----------
    y_true, y_pred : ndarray of shape (n_held_out,)
        Labels, and labels that were predicted by a classifier without the row.
    certainties : ndarray of shape (n_held_out,)
        How certain the predictions are.
    novelties : ndarray of shape (n_held_out,)
        Distance to the nearest rows, relative to a typical held-out row.
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


class _Read(NamedTuple):
    """What is decided about queries, (n_queries,) each."""

    predicted: Labels
    certainties: Floats
    novelties: Floats
    groups: Labels
    decisions: NDArray[np.str_]


class RejectOption(DocumentedEstimator, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier that rejects rows that it may predict wrongly, or that are far from all training rows.

    A row is *ambiguous* if its certainty is below a threshold, and *far* if it is farther from its nearest
    training rows than held-out rows are. Thresholds are learned on held-out rows, on which the classifier was
    not trained, for one of three targets: the cost of a rejection, the share of rows to accept, or the error
    of the accepted rows. They belong to the classifier as it was then: after its `partial_fit` or `forget`,
    the reject option has to be fitted again.

    Parameters
    ----------
    estimator : classifier or None, default=None
        With `predict_proba`; None is `lann.LANNClassifier`.
    cost : float or None, default=None
        What a rejection costs, if an error costs 1: the thresholds have the lowest total cost. At most one of
        `cost`, `coverage` and `risk` can be given; if none is, the cost is 0.2, so that rows are rejected
        that are wrong more often than every fifth time, and none where all held-out rows are correct.
    coverage : float or None, default=None
        The share of rows to accept, of rows like the held-out ones.
    risk : float or None, default=None
        The largest share of the accepted rows that may be wrong: the thresholds accept as many rows as
        possible.
    by : {"global", "class", "local"}, default="global"
        Whether there is one threshold, one for each predicted class, or one for each region. A region is the
        neighborhood of a training row, as this row measures (in plain standardized features, if the
        classifier has no neighbors); there are at most 10, with at least 30 held-out rows each. A class or
        region has a threshold of its own only if its held-out rows have significantly more or fewer errors
        than others of the same certainty; the others share one.
    certainty : {"probability", "margin", "novelty", "combined"}, default="combined"
        "probability" is the largest probability of a class, "margin" its lead over the second largest,
        "novelty" the closeness to the training rows. "combined" is the probability and, with a weight of 1%,
        how much nearer the nearest row of the predicted class is than that of any other class, among the 50
        nearest rows, which orders rows of equal probability.
    thresholds : {"greedy", "exact"}, default="greedy"
        How several thresholds are found: in linear time, or by dynamic programming. They are the same for a
        cost, and hardly differ for others.
    cv : int, float or "prefit", default=5
        How rows are held out. An int is the number of folds: each is predicted by a classifier
        trained on the others, and `estimator_` is trained on all rows. A float is the share of the rows that
        is held back; `estimator_` is trained on the others. "prefit" takes the estimator as it is fitted,
        and all given rows as held-out rows.
    novelty_share : float, default=0.01
        The share of rows like the held-out ones that is rejected as far, at most: the false alarms. 0 rejects
        no row as far. It is at most 1 - `coverage`.
    reject_label : str, int, float, bool or None, default=None
        What `predict` returns for a rejected row. None is "rejected" among labels that are text or bools, and
        -1 among numbers, or one less than the smallest label if labels are negative.
    random_state : int, RandomState instance or None, default=None
        Determines the folds and the regions, and the default estimator.
    n_jobs : int or None, default=None
        Number of folds that are fitted at once, and of threads for distances. The result does not depend on
        it.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    reject_label_ : str, int, float or bool
        What `predict` returns for a rejected row.
    target_ : Target
        The target of the thresholds, `kind` and `value`.
    thresholds_ : ndarray of shape (n_groups,)
        The least certainty of accepted rows: of all rows, of each class, or of each region; -inf if no row is
        rejected.
    novelty_threshold_ : float
        The largest novelty of accepted rows; inf if no row is rejected as far.
    held_out_ : HeldOut
        Labels, predicted labels, certainties and novelties of the held-out rows.
    coverage_ : float
        Share of the held-out rows that are accepted.
    risk_ : float
        Share of the accepted held-out rows that are wrong; NaN if none is accepted.

    See Also
    --------
    risk_coverage_curve : The error of the accepted rows for every share of accepted rows.

    References
    ----------
    L. Fischer, B. Hammer, H. Wersing: Optimal local rejection for classifiers, Neurocomputing 2016.

    C. K. Chow: On optimum recognition error and reject tradeoff, IEEE Transactions on Information Theory
    1970.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from lann.reject import RejectOption
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> reject = RejectOption(coverage=0.9, random_state=0).fit(X_train, y_train)
    >>> labels = reject.predict(X_test)
    >>> accepted = labels != reject.reject_label_
    >>> bool((labels == y_test)[accepted].mean() > 0.95)
    True
    >>> reject.decision(1000 * X_test[:1])
    array(['far'], dtype='<U9')
    """

    _parameters: ClassVar[ParameterTable] = {
        "estimator": [Checked(_check_estimator)],
        "cost": [Number(0, 1), OneOf(None)],
        "coverage": [Number(0, 1), OneOf(None)],
        "risk": [Number(0, 1), OneOf(None)],
        "by": [OneOf("global", "class", "local")],
        "certainty": [OneOf(*CERTAINTIES)],
        "thresholds": [OneOf("greedy", "exact")],
        "cv": [Integer(2), Number(0, 1, closed="neither"), OneOf(PREFIT)],
        "novelty_share": [Number(0, 1, closed="left")],
        "reject_label": [Checked(_check_reject_label)],
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    }

    novelty_scale_: NoveltyScale
    landmarks_: Indices | None

    def __init__(
        self, estimator=None, *, cost=None, coverage=None, risk=None, by="global", certainty="combined",
        thresholds="greedy", cv=5, novelty_share=0.01, reject_label=None, random_state=None, n_jobs=None,
    ):  # fmt: skip
        self.estimator = estimator
        self.cost = cost
        self.coverage = coverage
        self.risk = risk
        self.by = by
        self.certainty = certainty
        self.thresholds = thresholds
        self.cv = cv
        self.novelty_share = novelty_share
        self.reject_label = reject_label
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, **fit_params: Any) -> Self:
        """Fit the classifier, and learn the thresholds on held-out rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            What the estimator takes, in two dimensions.
        y : array-like of shape (n_samples,)
            Labels of at least two classes.
        **fit_params : dict
            Passed to the `fit` of the estimator; values with an entry for each row, such as `sample_weight`,
            are split with the rows. Rows with a `sample_weight` of 0 are left out; all others count once for
            the thresholds.

        Returns
        -------
        self : RejectOption

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; a previous fit is then kept.
        """
        with unchanged_on_failure(self):
            target = self._check_parameters()
            X, y, fit_params = self._read_training_data(X, y, fit_params)
            for_folds, for_estimator, for_regions = self._seeds()
            if self.cv == PREFIT:
                check_is_fitted(self.estimator)
                # All rows are held out; the plain rows of a fold are the rows of the others.
                splitter = KFold(min(N_PLAIN_FOLDS, len(y)), shuffle=True, random_state=for_folds)
                folds = [(self.estimator, *split) for split in splitter.split(np.zeros(len(y)))]
                estimator = self.estimator
            else:
                estimator, folds = self._fit_estimators(X, y, fit_params, for_folds, for_estimator)
            self._learn(X, y, estimator, folds, target, for_regions)
        return self

    @classmethod
    def from_folds(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        folds: Sequence[tuple[Any, Any, Any]],
        **parameters: Any,
    ) -> RejectOption:
        """Learn thresholds with classifiers that a cross-validation has fitted; nothing is fitted.

        Parameters
        ----------
        estimator : classifier
            Fitted on all rows.
        X : array-like or table of shape (n_samples, n_features)
            All rows.
        y : array-like of shape (n_samples,)
            Their labels.
        folds : sequence of (classifier, training rows, held-out rows)
            For each fold the classifier that was fitted on its training rows, and the positions of these and
            of its held-out rows.
        **parameters : dict
            Parameters of `RejectOption`, without `estimator` and `cv`.

        Returns
        -------
        reject : RejectOption
            Fitted, around the estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are invalid.
        """
        reject = cls(estimator, cv=PREFIT, **parameters)
        target = reject._check_parameters()
        X, y, _ = reject._read_training_data(X, y, {})
        check_is_fitted(estimator)
        checked = [(fitted, np.asarray(train), np.asarray(held_out)) for fitted, train, held_out in folds]
        reject._learn(X, y, estimator, checked, target, reject._seeds()[2])
        return reject

    def with_target(
        self, *, cost: float | None = None, coverage: float | None = None, risk: float | None = None
    ) -> RejectOption:
        """Return a reject option with another target, around the same fitted classifier.

        The thresholds are chosen anew from the held-out rows; nothing is fitted.

        Parameters
        ----------
        cost : float or None, default=None
            What a rejection costs.
        coverage : float or None, default=None
            The share of rows to accept.
        risk : float or None, default=None
            The largest share of the accepted rows that may be wrong.

        Returns
        -------
        reject : RejectOption
            Fitted.

        Raises
        ------
        ValueError
            If more than one of them is given, or the classifier has changed since.
        """
        check_is_fitted(self)
        self.reader_.check_unchanged()
        other = copy.copy(self).set_params(cost=cost, coverage=coverage, risk=risk)
        other._choose_thresholds(other._check_parameters())
        return other

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels, and reject rows.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            The class with the largest probability, or `reject_label_` for rejected rows.
        """
        read = self._read(X)
        labels, marker = self.classes_[read.predicted], np.asarray(self.reject_label_)
        # The type of the result has both, whether rows are rejected or not.
        kinds = [kind for kind in ("iuf", "U") if labels.dtype.kind in kind and marker.dtype.kind in kind]
        labels = labels.astype(np.result_type(labels, marker.dtype) if kinds else object)
        labels[read.decisions != "accepted"] = self.reject_label_
        return labels

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the probability of each class, for rejected rows, too.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Those of `estimator_`.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def decision(self, X: ArrayLike) -> NDArray[np.str_]:
        """Return whether each row is accepted, and why not.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        decisions : ndarray of shape (n_queries,)
            "accepted", "ambiguous" if the certainty is below its threshold, or "far" if the novelty is above
            its own, whatever the certainty.
        """
        return self._read(X).decisions

    def certainties(self, X: ArrayLike) -> Floats:
        """Return how certain each prediction is.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        certainties : ndarray of shape (n_queries,)
            What the parameter `certainty` says. "combined" is from 0 to 1; "novelty" is minus the novelty.
        """
        return self._read(X).certainties

    def novelties(self, X: ArrayLike) -> Floats:
        """Return the distance of each row to its nearest rows, relative to a typical held-out row.

        The largest of three, each on the scale of the first: the distance to the nearest training row as it
        measures, if the classifier has neighbors; that in all features, standardized and decorrelated; and
        how far the most extreme value is outside the range of the training rows. The first two are relative
        to the distances between the training rows around.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        novelties : ndarray of shape (n_queries,)
        """
        return self._read(X).novelties

    def reasons(self, X: ArrayLike) -> list[Decision]:
        """Return the decision on each row, and the figures that decided.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        reasons : list of Decision
            For each row its decision, certainty and threshold, novelty and its threshold, and the class or
            the number of the region to which the threshold belongs.
        """
        read, thresholds = self._read(X), self.thresholds_.tolist()
        names = {"global": [None], "class": self.classes_.tolist(), "local": range(len(thresholds))}[self.by]
        limit = self.novelty_threshold_ if np.isfinite(self.novelty_threshold_) else np.nan
        _, *by_row = (values.tolist() for values in read)
        return [
            Decision(
                decision, value, thresholds[group], novelty, limit, names[group], self.certainty, self.by
            )
            for value, novelty, group, decision in zip(*by_row, strict=True)
        ]

    def explain(self, X: ArrayLike) -> Explanation:
        """Explain predictions, with the decision on each row and why it was rejected.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        explanation : Explanation
            That of `estimator_`, which has to be a classifier of `lann`.

        Raises
        ------
        ValueError
            If the classifier has no explanations, or has changed since the thresholds were learned.
        """
        reasons = self.reasons(X)
        if not hasattr(self.estimator_, "explain"):
            raise ValueError(
                f"{type(self.estimator_).__name__} has no explanations; `reasons` has the decisions."
            )
        return with_decisions(self.estimator_.explain(X), reasons)

    def _check_parameters(self) -> Target:
        """Validate the parameters; return the target."""
        validate_parameters(self, self._parameters)
        values = {kind: getattr(self, kind) for kind in TARGETS}
        given = [Target(kind, float(value)) for kind, value in values.items() if value is not None]
        if len(given) > 1:
            names = " and ".join(f"{kind}={value:g}" for kind, value in given)
            raise ValueError(f"At most one of cost, coverage and risk can be given; got {names}.")
        return given[0] if given else DEFAULT_TARGET

    def _seeds(self) -> tuple[int, int, int]:
        """Return seeds of the folds, of the default estimator and of the regions."""
        return tuple(check_random_state(self.random_state).randint(2**31 - 1, size=3).tolist())

    def _read_training_data(
        self, X: Any, y: ArrayLike, fit_params: dict[str, Any]
    ) -> tuple[Any, NDArray[Any], dict[str, Any]]:
        """Return the rows, labels and parameters of a fit, without rows of weight 0."""
        check_in_memory(X)
        table = as_table(X)
        if table is not None:
            check_table(self, X, table, reset=True)
            labels = check_labels(table, y)
        else:
            X, labels = validate_data(self, X, y, dtype=None, ensure_all_finite=False)
        check_one_type("y", labels)
        check_classification_targets(labels)
        weights = fit_params.get("sample_weight")
        if weights is not None:
            counts = np.flatnonzero(check_sample_weight(weights, len(labels)) > 0)
            if len(counts) < len(labels):
                fit_params = _check_method_params(labels, fit_params, counts)
                X, labels = _safe_indexing(X, counts), labels[counts]
                if len(np.unique(labels)) < 2:
                    raise ValueError("The rows whose sample_weight is above 0 are of one class; give two.")
        return X, labels, fit_params

    def _fit_estimators(
        self, X: Any, y: NDArray[Any], fit_params: dict[str, Any], for_folds: int, for_estimator: int
    ) -> tuple[Any, list[Fold]]:
        """Return the classifier of all rows, or of those that are not held back, and those of the folds."""
        classes, labels = np.unique(y, return_inverse=True)
        check_two_classes(classes)
        is_folds = isinstance(self.cv, int | np.integer)
        if is_folds:
            n_folds = min(self.cv, int(np.bincount(labels).max()))
            splitter = StratifiedKFold(n_folds, shuffle=True, random_state=for_folds)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The least populated class", UserWarning)
                splits = list(splitter.split(labels, labels))
        else:
            splits = [_split_part(labels, self.cv, for_folds)]
        template = self.estimator
        if template is None:
            template = LANNClassifier(random_state=for_estimator, n_jobs=self.n_jobs)

        def fit(train: Indices) -> Any:
            parameters = _check_method_params(y, fit_params, train)
            return clone(template).fit(_safe_indexing(X, train), y[train], **parameters)

        n_threads = None if self.n_jobs is None else min(self.n_jobs, len(splits))
        fitted = Parallel(n_jobs=n_threads, prefer="threads")(delayed(fit)(train) for train, _ in splits)
        folds = [(estimator, *split) for estimator, split in zip(fitted, splits, strict=True)]
        return (clone(template).fit(X, y, **fit_params) if is_folds else fitted[0]), folds

    def _learn(
        self, X: Any, y: NDArray[Any], estimator: Any, folds: Sequence[Fold], target: Target, seed: int
    ) -> None:
        """Set the classifier, and what is learned of held-out rows."""
        self.estimator_, self.classes_ = estimator, estimator.classes_
        self.reject_label_ = self._find_reject_label()
        labels = pd.Index(self.classes_).get_indexer(y).astype(np.int64)  # -1 for a label that is not a class
        if (labels < 0).all():
            first, known = y.tolist()[0], shown(self.classes_.tolist())
            raise ValueError(
                f"No label of y is a class of the classifier: y has {first!r}, the classes are {known}."
            )

        def reader(fitted: Any, train: Indices) -> Reader:
            return Reader.fit(fitted, _safe_indexing(X, train), labels[train], self.classes_, self.n_jobs)

        readings = [
            reader(_with_vote_of(fitted, estimator), train).read(_safe_indexing(X, held_out))
            for fitted, train, held_out in folds
        ]
        rows = np.concatenate([held_out for _, _, held_out in folds])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        reading = Reading(*(np.concatenate(parts)[order] for parts in zip(*readings, strict=True)))
        is_part = len(folds) == 1 and self.cv != PREFIT
        self.reader_ = reader(estimator, folds[0][1] if is_part else np.arange(len(y)))
        self.novelty_scale_ = NoveltyScale.fit(reading.novelty)
        self.landmarks_ = None
        held_out_rows = _safe_indexing(X, rows)
        if self.by == "local":
            self.landmarks_ = find_landmarks(self.reader_, held_out_rows, np.random.default_rng(seed))
        read = self._judge(held_out_rows, reading)
        self.held_out_ = HeldOut(y[rows], self.classes_[read[0]], *read[1:], rows)
        self._choose_thresholds(target)

    def restore(self, estimator: Any, plain: PlainRows, spacing: Floats | None) -> None:
        """Set the classifier in a reject option that has learned from held-out rows.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        plain : PlainRows
            Its training rows in all features.
        spacing : ndarray of shape (n_rows,) or None
            Distances between its training rows, if it has neighbors.
        """
        target = self._check_parameters()
        self.estimator_, self.classes_ = estimator, estimator.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        self.reject_label_ = self._find_reject_label()
        self.reader_ = Reader(
            estimator, estimator.classes_, self.n_jobs, plain, spacing, neighbor_model(estimator)
        )
        self._choose_thresholds(target, self.thresholds_)

    def _find_reject_label(self) -> Any:
        """Return what `predict` returns for a rejected row."""
        label = self.reject_label
        if label is None:
            are_numbers = self.classes_.dtype.kind in "iuf"
            label = min(-1, int(np.floor(self.classes_.min())) - 1) if are_numbers else "rejected"
        if label in self.classes_.tolist():
            raise ValueError(f"{label!r} is one of the classes; give another reject_label.")
        return label

    def _choose_thresholds(self, target: Target, known: Floats | None = None) -> None:
        """Set the thresholds, unless they are known, and what is reached by them on the held-out rows."""
        held_out = self.held_out_
        self.target_ = target
        share = min(self.novelty_share, 1.0 - target.value if target.kind == "coverage" else 1.0)
        self.novelty_threshold_ = novelty_threshold(held_out.novelties, share)
        near = ~(held_out.novelties > self.novelty_threshold_)
        wrong = held_out.y_true != held_out.y_pred
        if known is None:
            n_groups = len(self.classes_) if self.by == "class" else 1
            n_groups = n_groups if self.landmarks_ is None else len(self.landmarks_)
            threshold_of = merge_groups(held_out.certainties, wrong, held_out.groups, n_groups)
            groups, n_thresholds = threshold_of[held_out.groups][near], int(threshold_of.max()) + 1
            known = choose_thresholds(
                held_out.certainties[near], wrong[near], groups, n_thresholds, target,
                exact=self.thresholds == "exact", n_total=len(wrong),
            )[threshold_of]  # fmt: skip
        self.thresholds_ = known
        accepted = near & (held_out.certainties >= self.thresholds_[held_out.groups])
        self.coverage_ = float(accepted.mean())
        self.risk_ = float(wrong[accepted].mean()) if accepted.any() else np.nan

    def _judge(self, X: Any, reading: Reading) -> tuple[Labels, Floats, Floats, Labels]:
        """Return predicted class indices, certainties, novelties and the positions of thresholds."""
        predicted = reading.probabilities.argmax(axis=1)
        novelties = self.novelty_scale_.novelties(reading.novelty)
        groups = predicted if self.by == "class" else np.zeros(len(predicted), np.int64)
        if self.landmarks_ is not None:
            groups = self.reader_.regions_of(X, self.landmarks_)
        return predicted, compute_certainties(reading, novelties, self.certainty), novelties, groups

    def _read(self, X: Any) -> _Read:
        check_is_fitted(self)
        self.reader_.check_unchanged()
        read = self._judge(X, self.reader_.read(X))
        _, certainties, novelties, groups = read
        decisions = np.where(certainties < self.thresholds_[groups], "ambiguous", "accepted")
        decisions[novelties > self.novelty_threshold_] = "far"
        return _Read(*read, decisions)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.estimator is None or get_tags(self.estimator).input_tags.allow_nan
        return tags


def _split_part(labels: Labels, share: float, seed: int) -> tuple[Indices, Indices]:
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
    return np.sort(order[~is_held_out]), np.sort(order[is_held_out])


def _with_vote_of(estimator: Any, other: Any) -> Any:
    """Return a fitted classifier that votes as another one does, also at the end of a pipeline.

    Otherwise certainties could not be compared: with more neighbors, fewer votes are unanimous.
    """
    if hasattr(estimator, "steps"):
        pipeline, (name, last) = copy.copy(estimator), estimator.steps[-1]
        pipeline.steps = [*estimator.steps[:-1], (name, _with_vote_of(last, other.steps[-1][1]))]
        return pipeline
    vote = getattr(other, "vote_", None)
    if vote is None or not hasattr(estimator, "with_vote"):
        return estimator
    return estimator.with_vote(vote)
