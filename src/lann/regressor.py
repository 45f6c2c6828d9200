"""LANNRegressor: numbers predicted from nearest neighbors in which every training row owns its metric."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from lann._row_estimator import LEVELS, PARAMETERS, RowEstimator, UpdateProgress
from lann._support.compat import CallbackSupportMixin, FitProgress, unchanged_on_failure, with_callbacks
from lann._support.inputs import check_enough_rows, weighted_moments
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Number, OneOf, ParameterTable, validate, validate_parameters
from lann.columns.inputs import as_fitted
from lann.explain import ValueExplanation, build_value_explanation
from lann.vote import ends_of

# What computes is imported on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.metric import Levels
    from lann.model import RowMemory, ValueModel
    from lann.training import Epoch
    from lann.vote import ValueReading, ValueRule

# Groups of rows with similar values, which have the weights of classes.
N_GROUPS = 6
# Number of neighbors and power of the training loss.
LOSS_NEIGHBORS, LOSS_POWER = 20, 2.0


class LANNRegressor(CallbackSupportMixin, RegressorMixin, RowEstimator):
    """Locally adaptive nearest neighbors for regression: every training row owns its metric.

    Distances are those of `LANNClassifier`, with weights for each sixth of the target in place of classes.
    They are learned such that the values of the neighbors of training rows, weighted by d^(−power), have a
    distribution close to the rows' own values (the continuous ranked probability score). The prediction is
    the weighted mean of the neighbors' values, each adjusted by local slopes to the row that is asked about,
    as far as held-out training rows confirm these slopes.

    With more than 50 000 distinct rows, training is on a sample and in tiles, as for `LANNClassifier`.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Number of neighbors whose values are averaged. "auto" chooses it together with `power` by the squared
        error of held-out training rows, of 5 to 100; the result is a weighted mean of the choices that are
        about as good; see `vote_`. With fewer than 30 rows, 7 neighbors count with power 3.
    metric : {"diagonal", "low_rank", "full"}, default="diagonal"
        Form of the point metrics: see `LANNClassifier`.
    n_components : int or None, default=None
        Number of axes: see `LANNClassifier`.
    levels : tuple of {"curves", "map", "class", "point"}, default=("curves", "map", "class", "point")
        Levels of the metric that are learned; "class" has weights for each sixth of the target.
    slopes : "auto" or float, default="auto"
        Share, from 0 to 1, of what local slopes add to the values of the neighbors. The slopes are those of a
        ridge regression over the 100 nearest rows. "auto" chooses the share by held-out training rows; with
        0, the prediction is the weighted mean of the neighbors' values.
    max_iter : int or None, default=None
        Number of epochs, of 50 batches each; 0 learns no metric. None is 12 for the shared levels and 2 for
        the point metrics.
    learning_rate : float or None, default=None
        Initial step size; None is 0.05.
    alpha : float, default=1.0
        Strength of the regularization toward equal weights, straight curves and axes that are the features.
    power : float or "auto", default="auto"
        A neighbor at squared distance d counts d^(−power); 0 counts all neighbors alike.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that are categories: see `LANNClassifier`.
    n_candidates : int or None, default=50
        Size of the shortlist, at least one and a half times the number of rows that count. None searches all
        rows.
    early_stopping : bool, default=False
        Whether to end a stage of training once the loss of the validation rows, a tenth of the training rows,
        has not decreased for three epochs, and keep its best model.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the rows in training, and dropout.
    verbose : int, default=0
        1 prints a line per epoch.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    schema_ : TableSchema
        The kind of each feature, and its categories.
    ids_ : ndarray of shape (n_rows,) or None
        Names of the training rows: see `LANNClassifier`.
    n_seen_ : int
        Number of training rows so far, those that were forgotten included.
    model_ : ValueModel
        The fitted model: training rows, metrics, search, vote and distribution.
    levels_ : tuple of str
        The levels in use: `levels` without those that were dropped.
    encoding_ : Encoding
        Curves of the numbers, positions of categories and gaps.
    curves_ : FeatureCurves
    components_ : ndarray of shape (n_axes, n_coordinates) or None
        The linear map; None where the axes are the coordinates.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        How much a difference in each feature counts for each training row.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.
    vote_ : VoteChoice
        The weights of neighbors that were chosen, and those they were compared with.
    value_rule_ : ValueRule
        The share of local slopes, and the distribution of the errors of held-out rows.
    n_neighbors_ : int
        Number of neighbors whose values are averaged, at most.
    power_ : float
        Mean power of the vote.
    n_iter_ : int
        Number of epochs.
    loss_curve_ : list of float
        Mean training loss of every epoch.
    validation_curve_ : list of float
        Mean loss of the validation rows after every epoch, with early stopping.

    See Also
    --------
    LANNClassifier : The same for labels.
    sklearn.compose.TransformedTargetRegressor : Predict the logarithm of a target, or another function of it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from lann import LANNRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> reg = LANNRegressor(random_state=0).fit(X_train, y_train)
    >>> reg.score(X_test, y_test) > 0.3
    True
    >>> intervals = reg.predict_interval(X_test, coverage=0.9)
    >>> covered = (intervals[:, 0] <= y_test) & (y_test <= intervals[:, 1])
    >>> bool(0.8 < covered.mean() < 1.0)
    True
    """

    _parameters: ClassVar[ParameterTable] = PARAMETERS | {"slopes": [Number(0, 1), OneOf("auto")]}
    _kept = ("vote_", "value_rule_")
    _predicts_values = True
    model_: ValueModel
    value_rule_: ValueRule

    def __init__(
        self,
        n_neighbors="auto",
        *,
        metric="diagonal",
        n_components=None,
        levels=LEVELS,
        slopes="auto",
        max_iter=None,
        learning_rate=None,
        alpha=1.0,
        power="auto",
        categorical_features="from_dtype",
        n_candidates=50,
        early_stopping=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_components = n_components
        self.levels = levels
        self.slopes = slopes
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.power = power
        self.categorical_features = categorical_features
        self.n_candidates = n_candidates
        self.early_stopping = early_stopping
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __getattr__(self, name: str) -> Any:
        if name == "classes_":
            raise AttributeError(f"{type(self).__name__} predicts numbers; this needs a classifier.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the metrics of the training rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            As for `LANNClassifier.fit`.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Sample weights: finite, at least 0, not all 0; None is 1 for all. A row of weight 2 is the same as
            the row twice, except that it is one row of the shortlist; a row of weight 0 is left out.

        Returns
        -------
        self : LANNRegressor

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; a previous fit is then kept.
        """
        from lann.metric import Encoding, Levels

        with unchanged_on_failure(self):
            validate_parameters(self, self._parameters)
            rows, values, weights = self._read_training_data(X, y, sample_weight, schema=None)
            if len(rows) < 2:
                raise ValueError("A regressor needs at least two training rows; got n_samples=1.")
            check_enough_rows(self.n_neighbors, len(rows), weights)
            encoding = Encoding.plain(rows, self.schema_.n_categories, weights)
            labels = group_values(values, weights)
            options: dict[str, Any] = {"encoding": encoding, "row_weights": weights, "values": values}
            self._progress = UpdateProgress()
            self._train(Levels.plain(rows, labels, int(labels.max()) + 1, **options))
        return self

    def _train(self, start: Levels) -> None:
        """Train on all rows and set the fitted attributes."""
        from lann.training import default_vote, n_epochs_of, train
        from lann.vote import ValueRule

        values: Any = start.values
        mean, variance = weighted_moments(values[:, None], start.row_weights)
        scale = math.sqrt(variance[0]) or 1.0
        start = start.replace(values=(values - mean) / scale)
        settings = self._settings(None).replace(
            n_neighbors=LOSS_NEIGHBORS,
            power=LOSS_POWER,
            slope_share=None if self.slopes == "auto" else float(self.slopes),
        )
        if start.labels.max() == 0:  # all values are the same
            settings = settings.replace(max_iter=0)
        self.vote_, self.value_rule_ = default_vote(start, settings), ValueRule.of_normal(scale)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        progress = FitProgress(self, n_epochs_of(settings, len(start.X)), as_fitted(self, start.X), values)

        def on_epoch_end(epoch: Epoch) -> bool:
            own = replace(epoch, levels=lambda: epoch.levels().replace(values=values))
            return self._on_epoch_end(own, progress)

        result = train(start, settings, rng, callback=on_epoch_end)
        assert result.value_rule is not None
        self._set_training(result)
        self.value_rule_ = result.value_rule.in_units(scale)
        # Training is in float64; the rows are those that were given.
        self._set_levels(result.levels.replace(X=start.X, values=values), result.index)
        progress.end()

    def _make_model(self, memory: RowMemory, epsilon: float | None) -> ValueModel:
        from lann.model import SLOPE_NEIGHBORS, ValueModel
        from lann.vote import CANDIDATES_PER_NEIGHBOR

        vote, rule = self.vote_, self.vote_.rule()
        n_neighbors, unit = vote.n_neighbors, max(vote.mean_weight, 1.0)
        if self.value_rule_.slope_share > 0.0:
            n_neighbors = max(n_neighbors, round(SLOPE_NEIGHBORS * unit))
        n_candidates = self.n_candidates
        if n_candidates is not None:
            n_candidates = max(n_candidates, math.ceil(CANDIDATES_PER_NEIGHBOR * n_neighbors / unit))
        return ValueModel(
            memory,
            value_rule=self.value_rule_,
            n_candidates=n_candidates,
            n_neighbors=n_neighbors,
            **vars(rule) | {"epsilon": epsilon, "mixture": rule.votes(vote.n_neighbors)},
            n_jobs=self.n_jobs,
        )

    def predict(self, X: ArrayLike, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predict values.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            An array is read block by block, so that it can be mapped from a file that is larger than memory.
        return_std : bool, default=False
            Whether to return the standard deviations, too.

        Returns
        -------
        values : ndarray of shape (n_queries,)
        deviations : ndarray of shape (n_queries,)
            Standard deviations of the values around the predictions; only if `return_std`.
        """
        readings = list(self._readings(X))
        predictions = np.concatenate([reading.predictions for reading in readings])
        if not return_std:
            return predictions
        spreads = np.concatenate([reading.spreads for reading in readings])
        return predictions, self.value_rule_.standard_deviations(spreads)

    def predict_quantiles(self, X: ArrayLike, quantiles: ArrayLike) -> Floats:
        """Predict quantiles of the values.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        quantiles : float or array-like of shape (n_quantiles,)
            From 0 to 1; quantiles below 0.005 and above 0.995 are those of these levels.

        Returns
        -------
        values : ndarray of shape (n_queries, n_quantiles)
        """
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if levels.ndim != 1 or not ((levels >= 0.0) & (levels <= 1.0)).all():
            raise ValueError(f"quantiles must be numbers from 0 to 1; got {quantiles!r}.")
        readings = list(self._readings(X))
        rule = self.value_rule_
        return np.concatenate([rule.quantiles(r.predictions, r.spreads, levels) for r in readings])

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> Floats:
        """Predict intervals that the values of a share of all rows are in.

        The share was right for held-out training rows; rows that are unlike these have no such guarantee. For
        intervals with a guarantee, calibrate `predict` with `return_std` on further rows, by MAPIE or crepes.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        coverage : float, default=0.9
            The share of the values within the intervals.

        Returns
        -------
        intervals : ndarray of shape (n_queries, 2)
            Lower and upper ends.
        """
        validate("coverage", coverage, Number(0, 1))
        return self.predict_quantiles(X, ends_of(coverage))

    def _build_explanation(self, model: Any, queries: Floats, **options: Any) -> ValueExplanation:
        return build_value_explanation(model, queries, **options)

    def _readings(self, X: Any) -> Iterator[ValueReading]:
        """Yield what the neighbors of blocks of queries predict."""

        def read(model: ValueModel, queries: Floats) -> ValueReading:
            return model.read(queries, *model.voters(queries, n_jobs=self.n_jobs), n_jobs=self.n_jobs)

        yield from self._by_block(X, read)

    def kneighbors(
        self, X: ArrayLike | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Floats, Indices] | Indices:
        if n_neighbors is None and "model_" in vars(self) and self.model_.row_weights is None:
            n_neighbors = min(self.n_neighbors_, self.model_.n_rows - (X is None))
        return super().kneighbors(X, n_neighbors, return_distance)

    kneighbors.__doc__ = RowEstimator.kneighbors.__doc__


def group_values(values: Floats, weights: Floats | None) -> Labels:
    """Return for each row which part of the values it is in, of parts of about the same weight: (n_rows,)."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    at = np.searchsorted(total, np.arange(1, N_GROUPS) / N_GROUPS * total[-1])
    edges = np.unique(values[order[at]])
    labels: Labels = np.unique(np.searchsorted(edges, values), return_inverse=True)[1].astype(np.int64)
    return labels
