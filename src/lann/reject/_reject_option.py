"""RejectOption: a classifier that declines to predict rows that are ambiguous or far from all it has seen."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from lann._support.compat import unchanged_on_failure
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
from lann.explain import Decision
from lann.reject._held_out import (
    Fitted,
    HeldOut,
    RowReader,
    check_folds,
    fit_estimators,
    labels_with_marker,
    marker_of,
    read_training_data,
    take_fitted,
    take_rows,
    vote_as,
)
from lann.reject._plain_rows import PlainRows
from lann.reject._row_evidence import (
    CERTAINTIES,
    Needs,
    NoveltyScale,
    Reader,
    Reading,
    Regions,
    compute_certainties,
    find_regions,
    neighbor_model,
    novelty_threshold,
)
from lann.reject._thresholds import Target, choose_thresholds, merge_groups

if TYPE_CHECKING:
    from lann.explain import Explanation

BY = ("global", "class", "local")
THRESHOLDS = ("greedy", "exact")
TARGETS = ("cost", "coverage", "risk")
DEFAULT_TARGET = Target("cost", 0.2)
PREFIT = "prefit"


def _check_estimator(estimator: Any) -> None:
    if estimator is None:
        return
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise ValueError(f"estimator must be a classifier, or None; got {shown(estimator)}.")
    if not is_classifier(estimator):
        raise ValueError(f"estimator must be a classifier, which {type(estimator).__name__} is not.")
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must have predict_proba, which {type(estimator).__name__} has not; put it into "
            "sklearn.calibration.CalibratedClassifierCV."
        )


def _check_reject_label(reject_label: Any) -> None:
    if not (reject_label is None or isinstance(reject_label, str | bool | int | float | np.generic)):
        raise ValueError(f"reject_label must be a text or a number, or None; got {shown(reject_label)}.")


PARAMETERS: ParameterTable = {
    "estimator": [Checked(_check_estimator)],
    "cost": [Number(0, 1), OneOf(None)],
    "coverage": [Number(0, 1), OneOf(None)],
    "risk": [Number(0, 1), OneOf(None)],
    "by": [OneOf(*BY)],
    "certainty": [OneOf(*CERTAINTIES)],
    "thresholds": [OneOf(*THRESHOLDS)],
    "cv": [Integer(2), Number(0, 1, closed="neither"), OneOf(PREFIT)],
    "novelty_share": [Number(0, 1, closed="left")],
    "reject_label": [Checked(_check_reject_label)],
    "random_state": RANDOM_STATE,
    "n_jobs": N_JOBS,
}


def check_parameters(reject: Any) -> Target:
    """Validate the parameters of a reject option; return its target."""
    validate_parameters(reject, PARAMETERS)
    values = {kind: getattr(reject, kind) for kind in TARGETS}
    given = [Target(kind, float(value)) for kind, value in values.items() if value is not None]
    if len(given) > 1:
        names = " and ".join(f"{kind}={value:g}" for kind, value in given)
        raise ValueError(f"At most one of cost, coverage and risk can be given; got {names}.")
    return given[0] if given else DEFAULT_TARGET


class _Read(NamedTuple):
    """What is decided about queries, (n_queries,) each."""

    predicted: Labels
    certainties: Floats
    novelties: Floats
    groups: Labels
    is_far: NDArray[np.bool_]
    is_ambiguous: NDArray[np.bool_]

    @property
    def decisions(self) -> NDArray[np.str_]:
        """What is decided: (n_queries,)."""
        return np.where(self.is_far, "far", np.where(self.is_ambiguous, "ambiguous", "accepted"))


class DecidesOnRows(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A fitted classifier with thresholds, which accepts and rejects rows."""

    by: str
    certainty: str
    estimator_: Any
    classes_: NDArray[Any]
    reject_label_: Any
    thresholds_: Floats
    novelty_threshold_: float
    reader_: Reader
    novelty_scale_: NoveltyScale | None
    regions_: Regions | None

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
        return labels_with_marker(
            self.classes_[read.predicted], self.reject_label_, read.is_far | read.is_ambiguous
        )

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
        """Return how many times as far from its nearest rows each row is as held-out rows usually are.

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
            NaN if it is not measured: with `novelty_share=0`, unless the certainty is the novelty.
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
        read = self._read(X)
        decisions = read.decisions.tolist()
        names: Sequence[Any] = self.classes_.tolist() if self.by == "class" else range(len(self.thresholds_))
        return [
            Decision(
                decisions[row],
                float(read.certainties[row]),
                float(self.thresholds_[group]),
                float(read.novelties[row]),
                self.novelty_threshold_ if np.isfinite(read.novelties[row]) else np.nan,
                None if self.by == "global" else names[group],
                self.certainty,
                self.by,
            )
            for row, group in enumerate(read.groups)
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
        check_is_fitted(self)
        self.reader_.check_unchanged()
        if not hasattr(self.estimator_, "explain"):
            raise ValueError(
                f"{type(self.estimator_).__name__} has no explanations; `reasons` has the decisions."
            )
        return self.estimator_.explain(X).with_decisions(self.reasons(X))

    def _novelties(self, reading: Reading) -> Floats:
        if reading.novelty is None or self.novelty_scale_ is None:
            return np.full(len(reading.probabilities), np.nan)
        return self.novelty_scale_.novelties(reading.novelty)

    def _read(self, X: Any) -> _Read:
        check_is_fitted(self)
        self.reader_.check_unchanged()
        reading = self.reader_.read(X)
        novelties = self._novelties(reading)
        predicted = reading.probabilities.argmax(axis=1)
        groups = np.zeros(len(predicted), np.int64)
        if self.by == "class":
            groups = predicted
        elif self.regions_ is not None:
            groups = self.regions_.of(self.reader_, X)
        certainties = compute_certainties(reading, novelties, self.certainty)
        is_far = novelties > self.novelty_threshold_
        is_ambiguous = certainties < self.thresholds_[groups]
        return _Read(predicted, certainties, novelties, groups, is_far, is_ambiguous)


class LearnsThresholds(DecidesOnRows):
    """A reject option whose thresholds are chosen on held-out rows."""

    thresholds: str
    cv: int | float | str
    novelty_share: float
    reject_label: Any
    n_jobs: int | None
    target_: Target
    held_out_: HeldOut
    coverage_: float
    risk_: float

    def _learn(self, X: Any, y: NDArray[Any], fitted: Fitted, target: Target, seed: int) -> None:
        """Set the classifier, and what is learned of held-out rows."""
        folds = fitted.folds
        self.estimator_, self.classes_ = fitted.estimator, fitted.estimator.classes_
        self.reject_label_ = marker_of(self.classes_, self.reject_label)
        labels = _class_indices(y, self.classes_)
        row_reader = RowReader(X, labels, self.classes_, *self._needs(), self.n_jobs)
        reading, rows = row_reader.read(vote_as(folds, self.estimator_))
        fitted_on = np.arange(len(y)) if len(folds) > 1 or isinstance(self.cv, str) else folds[0].train
        self.reader_ = row_reader.reader(self.estimator_, fitted_on)
        self.novelty_scale_ = None if reading.novelty is None else NoveltyScale.fit(reading.novelty)
        novelties = self._novelties(reading)
        predicted = reading.probabilities.argmax(axis=1)
        groups = np.zeros(len(rows), np.int64)
        self.regions_ = None
        if self.by == "class":
            groups = predicted
        elif self.by == "local":
            rng = np.random.default_rng(seed)
            self.regions_, groups = find_regions(self.reader_, take_rows(X, rows), rng)
        self.held_out_ = HeldOut(
            y[rows],
            self.classes_[predicted],
            compute_certainties(reading, novelties, self.certainty),
            novelties,
            groups,
            rows,
        )
        self._choose_thresholds(target)

    def _needs(self) -> tuple[Needs, frozenset[str]]:
        """Return what is needed of rows, and what plain rows are needed for."""
        needs = Needs(self.certainty == "combined", self.novelty_share > 0 or self.certainty == "novelty")
        plain_for = {"novelty"} if needs.novelty else set()
        if needs.separation or self.by == "local":
            plain_for.add("others")
        return needs, frozenset(plain_for)

    def _choose_thresholds(self, target: Target, known: Floats | None = None) -> None:
        """Set the thresholds, unless they are known, and what is reached by them on the held-out rows."""
        held_out = self.held_out_
        self.target_ = target
        share = min(self.novelty_share, 1.0 - target.value if target.kind == "coverage" else 1.0)
        self.novelty_threshold_ = novelty_threshold(held_out.novelties, share)
        near = ~(held_out.novelties > self.novelty_threshold_)
        wrong = held_out.y_true != held_out.y_pred
        self.thresholds_ = self._best_thresholds(target, near, wrong) if known is None else known
        accepted = near & (held_out.certainties >= self.thresholds_[held_out.groups])
        self.coverage_ = float(accepted.mean())
        self.risk_ = float(wrong[accepted].mean()) if accepted.any() else np.nan

    def _best_thresholds(self, target: Target, near: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> Floats:
        """Return the best thresholds for held-out rows: near ones, and those predicted wrongly."""
        held_out = self.held_out_
        n_groups = {"global": 1, "class": len(self.classes_)}.get(self.by)
        if n_groups is None:
            assert self.regions_ is not None
            n_groups = len(self.regions_.landmarks)
        threshold_of = merge_groups(held_out.certainties, wrong, held_out.groups, n_groups)
        thresholds = choose_thresholds(
            held_out.certainties[near],
            wrong[near],
            threshold_of[held_out.groups][near],
            int(threshold_of.max()) + 1,
            target,
            exact=self.thresholds == "exact",
            n_total=len(wrong),
        )
        return thresholds[threshold_of]


def _class_indices(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the class index of each label, -1 for one that is not a class; some have to be."""
    position = {label: index for index, label in enumerate(classes.tolist())}
    labels = np.array([position.get(label, -1) for label in y.tolist()], np.int64)
    if (labels < 0).all():
        shown = ", ".join(map(repr, classes.tolist()[:5])) + (", …" if len(classes) > 5 else "")
        raise ValueError(
            f"No label of y is a class of the classifier: y has {y.tolist()[0]!r}, the classes are {shown}."
        )
    return labels


class RejectOption(LearnsThresholds):
    """A classifier that rejects rows that it may predict wrongly, or that are unlike all it has seen.

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
        How held-out rows come about. An int is the number of folds: each is predicted by a classifier
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

    _parameters: ClassVar[ParameterTable] = PARAMETERS

    def __init__(
        self,
        estimator=None,
        *,
        cost=None,
        coverage=None,
        risk=None,
        by="global",
        certainty="combined",
        thresholds="greedy",
        cv=5,
        novelty_share=0.01,
        reject_label=None,
        random_state=None,
        n_jobs=None,
    ):
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

    def __sklearn_tags__(self):
        from lann.classifier import LANNClassifier

        tags = super().__sklearn_tags__()
        try:
            own = get_tags(LANNClassifier() if self.estimator is None else self.estimator)
        except (AttributeError, TypeError):  # no estimator, which fit says
            return tags
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        return tags

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
            target = check_parameters(self)
            X, y, fit_params = read_training_data(self, X, y, fit_params)
            for_folds, for_estimator, for_regions = _seeds(self.random_state)
            if isinstance(self.cv, str):
                fitted = take_fitted(self.estimator, len(y), for_folds)
            else:
                estimator = self._make_estimator(for_estimator)
                fitted = fit_estimators(
                    estimator, X, y, fit_params, cv=self.cv, seed=for_folds, n_jobs=self.n_jobs
                )
            self._learn(X, y, fitted, target, for_regions)
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
        target = check_parameters(reject)
        X, y, _ = read_training_data(reject, X, y, {})
        check_is_fitted(estimator)
        fitted = Fitted(estimator, check_folds(folds, len(y)))
        reject._learn(X, y, fitted, target, _seeds(reject.random_state)[2])
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
        other._choose_thresholds(check_parameters(other))
        return other

    def _make_estimator(self, seed: int) -> Any:
        if self.estimator is not None:
            return self.estimator
        from lann.classifier import LANNClassifier

        return LANNClassifier(random_state=seed, n_jobs=self.n_jobs)


def _seeds(random_state: Any) -> tuple[int, int, int]:
    """Return seeds of the folds, of the default estimator and of the regions."""
    folds, estimator, regions = check_random_state(random_state).randint(2**31 - 1, size=3)
    return int(folds), int(estimator), int(regions)


class RejectState(NamedTuple):
    """What a fitted reject option has learned, apart from its classifier.

    Attributes
    ----------
    held_out : HeldOut
        The held-out rows, from which thresholds are chosen.
    thresholds : ndarray of shape (n_groups,) or None
        The thresholds that were chosen; None chooses them from the held-out rows.
    novelty_scale : NoveltyScale or None
        The scale of novelties; None if they are not measured.
    plain : PlainRows or None
        The training rows in all features, if they are needed.
    spacing : ndarray of shape (n_rows,) or None
        Distances between the training rows of a classifier with neighbors, if they are needed.
    landmarks : ndarray of shape (n_groups,) or None
        Training rows whose neighborhoods are regions.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNClassifier
    >>> from lann.reject import RejectOption, RejectState
    >>> X, y = load_wine(return_X_y=True)
    >>> reject = RejectOption(LANNClassifier(max_iter=1), cv=2, random_state=0).fit(X, y)
    >>> state = RejectState.of(reject)
    >>> other = state.restore(RejectOption(coverage=0.8), reject.estimator_)
    >>> bool(other.coverage_ >= 0.8), other.estimator_ is reject.estimator_
    (True, True)
    """

    held_out: HeldOut
    thresholds: Floats | None
    novelty_scale: NoveltyScale | None
    plain: PlainRows | None
    spacing: Floats | None
    landmarks: Indices | None

    @classmethod
    def of(cls, reject: RejectOption) -> RejectState:
        """Return the state of a fitted reject option.

        Parameters
        ----------
        reject : RejectOption

        Returns
        -------
        state : RejectState

        Raises
        ------
        ValueError
            If the classifier has changed since.
        """
        check_is_fitted(reject)
        reject.reader_.check_unchanged()
        return cls(
            reject.held_out_,
            reject.thresholds_,
            reject.novelty_scale_,
            reject.reader_.plain,
            reject.reader_.spacing,
            None if reject.regions_ is None else reject.regions_.landmarks,
        )

    def without_thresholds(self, n_held_out: int) -> RejectState:
        """Return the state for another target: without thresholds, and with so many held-out rows at most.

        Parameters
        ----------
        n_held_out : int
            Of more rows, some are kept that are evenly spaced.

        Returns
        -------
        state : RejectState
        """
        n_rows = len(self.held_out.rows)
        kept = np.linspace(0, n_rows - 1, min(n_rows, n_held_out)).astype(np.int64)
        held_out = self.held_out
        fewer = HeldOut(**{name: getattr(held_out, name)[kept] for name in HeldOut._fields})
        return self._replace(held_out=fewer, thresholds=None)

    def restore(self, reject: RejectOption, estimator: Any) -> RejectOption:
        """Set what was learned in a reject option.

        Parameters
        ----------
        reject : RejectOption
            With the parameters `certainty`, `by` and `novelty_share` of the one whose state it is.
        estimator : classifier
            The fitted classifier.

        Returns
        -------
        reject : RejectOption
            The one that was given, fitted.
        """
        target = check_parameters(reject)
        classes = estimator.classes_
        reject.estimator_, reject.classes_ = estimator, classes
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name) and not hasattr(reject, name):
                setattr(reject, name, getattr(estimator, name))
        reject.reject_label_ = marker_of(classes, reject.reject_label)
        reject.held_out_, reject.novelty_scale_ = self.held_out, self.novelty_scale
        reject.regions_ = None if self.landmarks is None else Regions(self.landmarks)
        needs, _ = reject._needs()
        columns = np.arange(len(classes))
        reject.reader_ = Reader(
            estimator,
            len(classes),
            columns,
            self.plain,
            self.spacing,
            needs,
            reject.n_jobs,
            neighbor_model(estimator),
        )
        reject._choose_thresholds(target, self.thresholds)
        return reject
