"""LANNClassifier: nearest neighbors in which every training point owns its metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from lann._choices import LEVELS, check_parameters, power_of, settings_of
from lann._compat import CallbackSupportMixin, FitProgress, unchanged_on_failure, with_callbacks
from lann._inputs import (
    check_enough_points,
    check_ids,
    check_two_classes,
    check_wanted_neighbors,
    class_votes,
    encode,
    feature_names,
)
from lann.explain.aggregate import mean_by_class
from lann.explain.build import build_explanation
from lann.explain.explanation import Explanation

# numba is imported with the modules that compute, on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.metrics.levels import Levels
    from lann.model import LocalModel
    from lann.training.monitor import Epoch


# `partial_fit` waits for this many points before it learns.
FEWEST_TO_LEARN_FROM = 30


class LANNClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Locally adaptive nearest neighbors: every training point measures in its own way.

    A query's distance to a training point is measured by that point:

        d_j(x) = Σ_a w_ja z_a²,    z = M (φ(x_j) − φ(x)),    log w_ja = v_{y_j a} + u_ja

    with feature curves φ shared by all points (where along a feature do differences matter?), a map M shared
    by all (which features are seen together?), weights v per class and weights u per point. The nearest
    points vote for their labels. All four levels are learned, so that training points are classified rightly
    by their neighbors; each can be left out, and one that does not help is left out by itself.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        How many neighbors vote. "auto" chooses 5, 10 or 20 by leave-one-out.
    metric : {"diagonal", "low_rank", "full"}, default="diagonal"
        The form of a point's own metric: a weight per axis, or a matrix, d_j(x) = ‖Ω_jᵀ (√w_j ⊙ z)‖². "full"
        matrices measure across all axes, and take n_features² numbers per point. For "low_rank" the map M has
        only `n_components` axes, and matrices are of that size: smaller and faster where features are many.
        "full" pays where features work together differently in different places, and there are some dozens
        of points per class; see the table in the README.
    n_components : int or None, default=None
        The number of axes for ``metric="low_rank"``; None is 16, or twice the square
        root of n_features where that is more. As many as there are features are the same as "full".
    levels : tuple of {"curves", "map", "class", "point"}, default=("curves", "map", "class", "point")
        Which levels of the metric are learned. ``("point",)`` is the published method. With "curves" the
        model finds the scale of every feature by itself; without, scale the data beforehand. Without "map"
        every feature is measured by itself ("low_rank" metrics then have a map that is not learned).
    weights : {"distance", "uniform"}, default="distance"
        Whether a neighbor's vote is ``1 / d**power`` or the same for all.
    power : float or "auto", default=1.0
        How steeply votes fall with the (squared) distance d. "auto" is 1 for two classes and 2 for more.
    class_weight : dict, "balanced" or None, default=None
        How many votes the points of each class have, and how much their errors count in training. "balanced"
        is inversely proportional to how frequent classes are: rare ones are heard.
    n_candidates : int or None, default=50
        Neighbors are the nearest, by their own metrics, of this many candidates, which are the nearest by
        the metrics of their classes. None asks all points, as published.
    solver : {"staged", "online"}, default="staged"
        How the points' metrics are learned: in batches after the shared levels, or one point at a time by
        plain gradient steps, as published.
    loss : {"shares", "softmax"}, default="shares"
        What is minimized: −log of the label's share of its neighbors' support, which knows no scale; or
        −log of a softmax of the supports, as published.
    temperature : float or "auto", default="auto"
        β of the softmax; only ``loss="softmax"`` uses it. "auto" takes it from the scale of the data.
    constraint : {"bounded", "norm", "determinant"}, default="bounded"
        What keeps a point's metric in bounds: e^-6 ≤ w ≤ e^6 (for matrices: the mean of the squared singular
        values); the norm, Σ_a w_ja = n_axes, as published (for matrices: the trace); or the determinant, so
        that no axis can be ignored (Π_a w_ja = 1; for matrices a pull that keeps them from losing an axis).
    drop_levels : bool, default=True
        Whether a level is left out without which the model is clearly better, from 2000 points on: a
        twentieth of them, from which it has not learned so far, judge that when it is well on its way. The
        online solver leaves out none.
    n_bins : int, default=16
        Stretches of a feature curve; 1 makes the curves straight, a weight per feature.
    max_iter : int or None, default=None
        How long to learn; 0 learns nothing and is plain kNN. An epoch is one pass over the points for the
        online solver, 50 batches of queries otherwise. None is 12 for the shared levels, and for the points
        2 (staged) or 20 (online).
    learning_rate : float or None, default=None
        First step size; falls to 0 over the epochs. None is what suits the solver: 0.05, of which the
        staged solver takes 3/5 for the points' weights (6/5 for their matrices), and 1/5 for the map.
    alpha : float, default=1.0
        Strength of the pull toward equal weights, straight curves and axes that are the features.
    smoothing : float, default=0.06
        How much of a point's metric is replaced by those of its neighbors of the same class in the first
        step; falls to 0 over the epochs, as the learning rate does.
    candidate_dropout : float, default=0.7
        Share of the candidates that a query does not see in a training step.
    feature_dropout : float, default=0.25
        Share of the axes that a batch does not see, for up to 500 points; falls as 500/n beyond.
    early_stopping : bool, default=False
        Whether to end a stage when the loss of held-out queries has stopped falling, and keep its best.
    validation_fraction : float, default=0.1
        Training points held out as queries for that; they still serve as neighbors.
    n_iter_no_change : int, default=3
        Epochs without a better loss before a stage ends.
    warm_start : bool, default=False
        Whether `fit` starts from what an earlier `fit` has learned.
    verbose : int, default=0
        1 prints a line per epoch.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Order of the queries, and dropout.

    Attributes
    ----------
    classes_ : (n_classes,)
    n_features_in_, feature_names_in_ : what the model was fitted with
    feature_weights_ : (n_train, n_features)
        How much a difference from each training point counts there: the diagonal of its metric times the
        squared slope of the curves, per standard deviation of a feature (with curves) or in the units of the
        data (without).
    class_feature_weights_ : (n_classes, n_features)
        Their mean over the points of each class; NaN for a class that has no point yet.
    mean_feature_weights_ : (n_features,)
        Their mean over all points.
    curves_ : FeatureCurves
    components_ : (n_axes, n_features) or None
        M; None where the axes are the features.
    levels_ : tuple of str
        The levels that are in use: `levels` without those that did not help. (Curves that are left out are
        straight: a weight per feature.)
    n_neighbors_, power_ : what the vote uses
    temperature_ : β, where the loss is the softmax
    n_iter_ : int
    loss_curve_ : list of float
        Mean training loss of every epoch.
    validation_curve_ : list of float
        Mean loss of the held-out queries, with early stopping.

    See Also
    --------
    as_published : The algorithm of the paper, to the letter.

    References
    ----------
    J. P. Göpfert, H. Wersing, B. Hammer: Interpretable Locally Adaptive Nearest Neighbors.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from lann import LANNClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = LANNClassifier(random_state=0).fit(X_train, y_train)
    >>> clf.score(X_test, y_test) > 0.9
    True
    >>> explanation = clf.explain(X_test[:1])
    >>> explanation.neighbor_labels
    array([[2, 2, 2, 2, 2]])
    """

    classes_: NDArray[Any]
    levels_: tuple[str, ...]
    n_iter_: int
    loss_curve_: list[float]
    validation_curve_: list[float]
    _model: LocalModel

    def __init__(
        self,
        n_neighbors=5,
        *,
        metric="diagonal",
        n_components=None,
        levels=LEVELS,
        weights="distance",
        power=1.0,
        class_weight=None,
        n_candidates=50,
        solver="staged",
        loss="shares",
        temperature="auto",
        constraint="bounded",
        drop_levels=True,
        n_bins=16,
        max_iter=None,
        learning_rate=None,
        alpha=1.0,
        smoothing=0.06,
        candidate_dropout=0.7,
        feature_dropout=0.25,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=3,
        warm_start=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_components = n_components
        self.levels = levels
        self.weights = weights
        self.power = power
        self.class_weight = class_weight
        self.n_candidates = n_candidates
        self.solver = solver
        self.loss = loss
        self.temperature = temperature
        self.constraint = constraint
        self.drop_levels = drop_levels
        self.n_bins = n_bins
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.smoothing = smoothing
        self.candidate_dropout = candidate_dropout
        self.feature_dropout = feature_dropout
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def as_published(cls, n_neighbors: int = 5, **parameters: Any) -> Self:
        """The algorithm of the paper, to the letter: scale the data first.

        Point weights alone, learned one point at a time by plain gradient steps on λ (w = λ²) against the
        softmax loss with one β, the norm of the weights fixed, all points searched before every step, votes
        1/d. Any parameter can be given; `temperature` (β) and `learning_rate` are the ones to tune.
        """
        published: dict[str, Any] = {
            "levels": ("point",),
            "solver": "online",
            "loss": "softmax",
            "temperature": 1.0,
            "constraint": "norm",
            "n_candidates": None,
            "smoothing": 0.0,
            "power": 1.0,
        }
        return cls(n_neighbors, **(published | parameters))

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metrics of the training points.

        Parameters
        ----------
        X : (n_samples, n_features), numeric, finite
        y : (n_samples,) labels of at least two classes
        """
        with unchanged_on_failure(self):
            return self._fit(X, y)

    def _fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        check_parameters(self)
        earlier = self._model.levels if self.warm_start and hasattr(self, "_model") else None
        points, y = self._check_training_data(X, y, reset=earlier is None)
        classes, labels = np.unique(y, return_inverse=True)
        if earlier is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start needs the classes of the earlier fit, {self.classes_.tolist()}; "
                f"got {classes.tolist()}."
            )
        check_two_classes(classes)
        check_enough_points(self.n_neighbors, len(points))
        self.classes_ = classes
        self._learn(points, labels, y, earlier)
        return self

    @with_callbacks
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Let new points join.

        The first call learns like `fit`: give it enough points to learn from, a few hundred if possible, and
        announce in `classes` what will come later. (Until there are 30 points of two classes, nothing is
        learned and the vote is that of plain kNN.) From then on new points take over the metrics of their
        neighbors and each is learned from once, by bounded steps on its neighbors among its candidates;
        the curves and class weights stay, and so do `n_iter_` and `loss_curve_`.

        Parameters
        ----------
        X : (n_samples, n_features)
        y : (n_samples,)
        classes : (n_classes,) all classes that will ever come; needed only in the first call
        """
        with unchanged_on_failure(self):
            return self._partial_fit(X, y, classes)

    def _partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None) -> Self:
        from lann.metrics.levels import Levels
        from lann.training import join

        check_parameters(self)
        first = not hasattr(self, "_model")
        points, y = self._check_training_data(X, y, reset=first)
        if first:
            self.classes_ = unique_labels(y if classes is None else classes)
        elif classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError(
                f"classes={unique_labels(classes).tolist()} differ from those of the first call, "
                f"{self.classes_.tolist()}."
            )
        labels = encode(y, self.classes_)
        if not first and self.levels_:
            earlier = self._model.levels
            settings = settings_of(self).replace(
                point_weights="point" in self.levels_,
                votes=class_votes(self.class_weight, self.classes_, np.concatenate([earlier.labels, labels])),
            )
            self._settle(join(earlier, points, labels, settings))
            return self
        if not first:  # nothing could be learned from the points so far
            earlier = self._model.levels
            points = np.concatenate([earlier.X, points])
            labels = np.concatenate([earlier.labels, labels])
        if len(np.unique(labels)) > 1 and len(points) >= FEWEST_TO_LEARN_FROM:
            self._learn(points, labels, self.classes_[labels], None)
        else:
            self.n_iter_, self.loss_curve_, self.validation_curve_, self.levels_ = 0, [], [], ()
            self._settle(Levels.plain(points, labels, len(self.classes_)))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label with the most support among each query's neighbors."""
        votes = self.predict_proba(X)
        return self.classes_[votes.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Each class's share of the neighbors' votes: (n_queries, n_classes)."""
        queries = self._check_queries(X)
        model = self._model
        indices, distances = model.nearest(model.place(queries), model.n_voters, n_jobs=self.n_jobs)
        return model.votes(model.shares(indices, distances), indices)

    def kneighbors(
        self, X: ArrayLike | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]] | NDArray[np.int64]:
        """The nearest training points, as each of them measures.

        Parameters
        ----------
        X : (n_queries, n_features), or None for the training points, each without itself
        n_neighbors : how many; by default as many as vote
        return_distance : whether to return lengths, too

        Returns
        -------
        lengths : (n_queries, n_neighbors) square roots of d, ascending
        indices : (n_queries, n_neighbors) rows of the training data
        """
        check_is_fitted(self)
        own = X is None
        queries = self._model.levels.points if X is None else self._model.place(self._check_queries(X))
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        check_wanted_neighbors(k, len(self._model.levels.X), own=own)
        exclude = np.arange(len(queries)) if own else None
        indices, distances = self._model.nearest(queries, k, exclude=exclude, n_jobs=self.n_jobs)
        return (np.sqrt(distances), indices) if return_distance else indices

    def explain(self, X: ArrayLike, *, ids: ArrayLike | None = None) -> Explanation:
        """The neighbors behind each prediction, and what every feature had to do with it.

        The first call looks closely at some hundred training points, which takes about as long as a fit
        (longer with hundreds of features); further calls cost little more than predicting.

        Parameters
        ----------
        X : (n_queries, n_features)
        ids : (n_train,) what the training points are called: names, numbers, dates
        """
        queries = self._check_queries(X)
        return build_explanation(
            self._model,
            queries,
            classes=self.classes_,
            point_relevances=self.feature_weights_,
            feature_names=feature_names(self),
            ids=None if ids is None else check_ids(ids, len(self._model.levels.X)),
            n_jobs=self.n_jobs,
        )

    def _learn(self, X: NDArray, labels: NDArray, y: NDArray, earlier: Levels | None) -> None:
        """Train on all points, and say how it went in the fitted attributes."""
        from lann.metrics.levels import Levels
        from lann.training import planned_epochs, train, warm_start

        self.__dict__.pop("temperature_", None)
        settings = settings_of(self).replace(votes=class_votes(self.class_weight, self.classes_, labels))
        start = Levels.plain(X, labels, len(self.classes_))
        if earlier is not None:
            start = warm_start(start, earlier, settings)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        n_epochs = sum(planned_epochs(settings, self.max_iter))
        progress = FitProgress(self, n_epochs, X, y)
        outcome = train(
            start,
            settings,
            rng,
            max_iter=self.max_iter,
            validation_fraction=self.validation_fraction if self.early_stopping else None,
            patience=self.n_iter_no_change,
            listener=lambda epoch: self._hear(epoch, progress),
        )
        monitor = outcome.monitor
        self.loss_curve_, self.validation_curve_ = monitor.losses, monitor.held_out_losses
        self.n_iter_ = len(monitor.losses)
        if outcome.temperature is not None:
            self.temperature_ = outcome.temperature
        self._settle(outcome.levels)
        used = outcome.levels.in_use
        self.levels_ = tuple(level for level in used if level not in monitor.left_out)
        progress.end()

    def _hear(self, epoch: Epoch, progress: FitProgress) -> bool:
        """Tell the user and scikit-learn's callbacks about an epoch; True if one of these says stop."""
        if self.verbose:
            held_out = "" if epoch.held_out_loss is None else f", held-out loss {epoch.held_out_loss:.4f}"
            print(
                f"[LANNClassifier] epoch {epoch.number}/{epoch.n_epochs}, {epoch.stage}: "
                f"loss {epoch.loss:.4f}{held_out}"
            )

        def fitted_now() -> dict[str, Any]:
            model = self.__class__(**self.get_params(deep=False))
            model.classes_ = self.classes_
            model._settle(epoch.snapshot())
            return {
                name: value for name, value in vars(model).items() if name.endswith("_") or name == "_model"
            }

        return progress.epoch(fitted_now)

    def _settle(self, levels: Levels) -> None:
        """Derive the fitted attributes from what was learned."""
        from lann.model import LocalModel

        self._model = LocalModel(
            levels,
            n_candidates=self.n_candidates,
            weights=self.weights,
            n_neighbors=self.n_neighbors,
            power=power_of(self),
            class_votes=class_votes(self.class_weight, self.classes_, levels.labels),
            n_jobs=self.n_jobs,
        )
        self.n_neighbors_, self.power_ = self._model.n_neighbors, self._model.power
        self.curves_, self.components_ = levels.curves, levels.map
        self.feature_weights_ = self._model.relevances()
        self.mean_feature_weights_ = self.feature_weights_.mean(axis=0)
        self.class_feature_weights_ = mean_by_class(self.feature_weights_, levels.labels, len(self.classes_))

    def _check_training_data(
        self, X: ArrayLike, y: ArrayLike, *, reset: bool
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        # A copy: the points are the model, whatever becomes of X.
        points, labels = validate_data(self, X, y, dtype=np.float64, order="C", copy=True, reset=reset)
        check_classification_targets(labels)
        return points, labels

    def _check_queries(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        queries: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return queries
