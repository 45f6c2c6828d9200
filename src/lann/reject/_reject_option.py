"""RejectOption: a classifier that declines to predict rows that are ambiguous or far from all it has seen."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from lann._compat import unchanged_on_failure
from lann._validation import ParameterTable
from lann.reject._fitting import Fitted, fit_estimators, read_training_data, take_fitted
from lann.reject._held_out import check_folds
from lann.reject._learning import LearnsThresholds
from lann.reject._parameters import PARAMETERS, PREFIT, check_parameters


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
