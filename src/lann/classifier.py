"""LANNClassifier: nearest neighbors in which every training row owns its metric."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from lann._row_estimator import LEVELS, PARAMETERS, UpdateProgress
from lann._support.compat import CallbackSupportMixin, FitProgress, unchanged_on_failure, with_callbacks
from lann._support.inputs import (
    LARGEST_WEIGHT,
    check_enough_rows,
    check_two_classes,
    class_indices,
    class_weight_array,
)
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import (
    BOOLEAN,
    Checked,
    Integer,
    OneOf,
    ParameterTable,
    shown,
    validate_parameters,
)
from lann._updatable import UpdatableClassifier
from lann.columns.inputs import (
    as_fitted,
)

# What computes is imported on first use: `import lann` stays cheap.
if TYPE_CHECKING:
    from lann.metric import Levels

FORGET_POLICIES = ("recent", "reservoir", "balanced")


def _check_class_weight(class_weight: Any) -> None:
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dictionary of weights; got {shown(class_weight)}."
        )
    for label, weight in class_weight.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not (is_number and 1.0 / LARGEST_WEIGHT <= weight <= LARGEST_WEIGHT):
            raise ValueError(
                f"class_weight must be between {1.0 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g} for every "
                f"label; got {shown(weight)} for {shown(label)}."
            )


class LANNClassifier(CallbackSupportMixin, UpdatableClassifier):
    """Locally adaptive nearest neighbors: every training row owns the metric by which it measures.

    The distance of a query x to a training row j is measured by that row:

        d_j(x) = Σ_a w_ja z_a²,    z = M (φ(x_j) − φ(x)),    log w_ja = v_ca + u_ja for the class c of row j

    with feature curves φ shared by all rows (where along a feature differences matter), a linear map M shared
    by all rows (which features are measured together), weights v per class and weights u per row. The nearest
    rows vote for their labels. All four levels are learned such that the neighbors of training rows predict
    their labels. Each level can be left out, and one that does not help is dropped automatically.

    With more than 50 000 distinct rows, the shared levels are learned on a sample of 40 000, which decides on
    dropped levels and early stopping, too; the weights of the rows are learned in tiles of about 20 000. The
    model then keeps these weights, and rows of an array of float32, in float32; distances are computed in
    float64.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Number of neighbors that vote. "auto" chooses it together with `power` and the floor of the
        probabilities, by the log-loss of held-out training rows: the noisier the labels, the more neighbors,
        from 5 to 100. The result is a weighted mean of the best votes; see `vote_`. With
        fewer than 30 rows, 7 neighbors vote with power 3.
    metric : {"diagonal", "low_rank", "full"}, default="diagonal"
        Form of the point metrics: a weight per axis, or a matrix, d_j(x) = ‖Ω_jᵀ (√w_j ⊙ z)‖². "full"
        matrices cover all axes and take n_features² numbers per row. With "low_rank", the linear map has only
        `n_components` axes and matrices are of that size, which is smaller and faster with many features.
        "full" helps where features interact differently in different regions, given some dozens of rows per
        class.
    n_components : int or None, default=None
        Number of axes for ``metric="low_rank"``; None is 16, or twice the square root of n_features where
        that is more. At most n_features, which is the same as "full". With more than 200 features, it is also
        the number of axes of the linear map for "diagonal", 32 by default: time and memory are then linear in
        the number of features. There are fewer axes where fewer features separate the classes.
    levels : tuple of {"curves", "map", "class", "point"}, default=("curves", "map", "class", "point")
        Levels of the metric that are learned. With "curves" the data need no scaling; without, scale them
        beforehand. Without "map" the axes are the features ("low_rank" then keeps the initial linear map). A
        level without which the model is significantly better is dropped, from 2000 rows on; this is decided
        late in training on a twentieth of the rows, which the level has not been trained on so far.
    max_iter : int or None, default=None
        Number of epochs, of 50 batches each; 0 learns nothing and is plain kNN. None is 12 for the shared
        levels and 2 for the point metrics.
    learning_rate : float or None, default=None
        Initial step size; it falls to 0 over the epochs. None is 0.05. The linear map uses a fifth of it,
        point weights three fifths and point matrices six fifths.
    alpha : float, default=1.0
        Strength of the regularization toward equal weights, straight curves and axes that are the features.
    power : float or "auto", default="auto"
        Exponent of the vote: a neighbor at squared distance d counts d^(−power); 0 counts all neighbors
        alike. "auto" chooses it together with the number of neighbors, of 0.5 to 4.
    class_weight : dict, "balanced" or None, default=None
        Weight of the votes, and of the training loss, of each class. "balanced" is inversely proportional to
        the class frequencies.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that are categories: a mask, positions or names. "from_dtype" takes the columns of a table
        that have text or categories; None treats all features as numbers, and text is an error. Of the other
        columns of a table, ordered categories, bools and dates are numbers.
    n_candidates : int or None, default=50
        Size of the shortlist: the neighbors are the nearest, under their point metrics, of this many rows
        that are nearest under the class metrics; where the number of neighbors was chosen, it is at least
        one and a half times that. None searches all rows.
    early_stopping : bool, default=False
        Whether to end a stage of training once the loss of the validation rows, a tenth of the training rows,
        has not decreased for three epochs, and keep its best model. Validation rows still serve as neighbors.
    warm_start : bool, default=False
        Whether `fit` starts from the metrics of the previous `fit`.
    max_points : int or None, default=None
        Largest number of training rows that the model keeps; None keeps all. It applies after `fit` and after
        every `partial_fit`; with fewer than 30, `partial_fit` of single rows learns nothing and is plain kNN.
        Further rows are learned from, too, before they are forgotten. `fit`, and the first `partial_fit`,
        learn from as many further rows as are kept, at least from 10 000: beyond that, the rows that are kept
        are drawn first, and further ones uniformly from all others. Only the drawn rows are read into memory,
        so that it is bounded by `max_points` if X is mapped from a file (`numpy.load(..., mmap_mode="r")`);
        arrays of numbers are validated block by block.
    forget_policy : {"recent", "reservoir", "balanced"}, default="recent"
        Which rows are kept, if there are more than `max_points`: the last ones; a uniform sample of all rows
        so far; or a sample of each class, of sizes as equal as possible.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the rows in training, and dropout.
    verbose : int, default=0
        1 prints a line per epoch; with more than 50 000 rows also one per tile, with the time that is left.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    schema_ : TableSchema
        The kind of each feature, and its categories.
    ids_ : ndarray of shape (n_rows,) or None
        Names of the training rows: the index of the table, unless it is 0, 1, …. Otherwise, rows are
        numbered in the order of their arrival, 0, 1, …, those that were forgotten included; it is None as
        long as these are their positions.
    n_seen_ : int
        Number of training rows so far, those that were forgotten included.
    model_ : NeighborModel
        The fitted model: training rows, metrics, search and vote.
    levels_ : tuple of str
        The levels in use: `levels` without those that were dropped. (Dropped curves are straight: a weight
        per feature.)
    encoding_ : Encoding
        Curves of the numbers, positions of categories and gaps.
    curves_ : FeatureCurves
    components_ : ndarray of shape (n_axes, n_coordinates) or None
        The linear map; None where the axes are the coordinates, which are the features if all are numbers
        without gaps. With more than 200 coordinates there are fewer axes: see `n_components`.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        How much a difference in each feature counts for each training row: the diagonal of its metric times
        the squared slope of the curves, per standard deviation of the feature (with curves) or in the units
        of the data (without).
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the rows of each class; NaN for a class without rows.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.
    vote_ : VoteChoice
        The vote that was chosen, and the votes it was compared with.
    n_neighbors_ : int
        Number of neighbors that vote, at most.
    power_ : float
        Mean power of the vote.
    n_iter_ : int
        Number of epochs; with more than 50 000 rows, of those on a sample and of tiles.
    loss_curve_ : list of float
        Mean training loss of every epoch; with more than 50 000 rows followed by that of every tile.
    validation_curve_ : list of float
        Mean loss of the validation rows after every epoch, with early stopping.

    See Also
    --------
    lann.baselines.PublishedLANN : The algorithm exactly as published.

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
    >>> explanation.neighbor_labels[:, :7]
    array([[2, 2, 2, 2, 2, 2, 2]])
    """

    _parameters: ClassVar[ParameterTable] = PARAMETERS | {
        "class_weight": [Checked(_check_class_weight)],
        "warm_start": BOOLEAN,
        "max_points": [Integer(2), OneOf(None)],
        "forget_policy": [OneOf(*FORGET_POLICIES)],
    }
    _kept = ("classes_", "vote_")

    def __init__(
        self,
        n_neighbors="auto",
        *,
        metric="diagonal",
        n_components=None,
        levels=LEVELS,
        max_iter=None,
        learning_rate=None,
        alpha=1.0,
        power="auto",
        class_weight=None,
        categorical_features="from_dtype",
        n_candidates=50,
        early_stopping=False,
        warm_start=False,
        max_points=None,
        forget_policy="recent",
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_components = n_components
        self.levels = levels
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.power = power
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_candidates = n_candidates
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.max_points = max_points
        self.forget_policy = forget_policy
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
            An array of numbers, or a table of pandas, polars or pyarrow with numbers, text, categories, bools
            and dates. NaN and None are gaps. Sparse matrices raise a TypeError.
        y : array-like of shape (n_samples,)
            Labels of at least two classes.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Sample weights, in votes and in training: finite, at least 0, not all 0; None is 1 for all. A row
            of weight 2 is the same as the row twice, except that it is one row of the shortlist. A row of
            weight 0 is left out: the rows of `model_`, and positions of neighbors, are those of the remaining
            rows. Weights whose mean over the remaining rows is below 1 are divided by that mean.

        Returns
        -------
        self : LANNClassifier

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; a previous fit is then kept.
        """
        from lann.metric import Encoding, Levels

        with unchanged_on_failure(self):
            self._validate_parameters()
            previous = self.model_.levels if self.warm_start and hasattr(self, "model_") else None
            schema = None if previous is None else self.schema_
            drawn, seed = self._draw_rows(X, y, sample_weight)
            rows, y, weights = self._read_training_data(X, y, sample_weight, schema=schema, drawn=drawn)
            classes = np.unique(y) if drawn is None else drawn.classes
            if previous is not None and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    f"warm_start needs the classes of the previous fit, {self.classes_.tolist()}; "
                    f"got {classes.tolist()}."
                )
            check_two_classes(classes)
            check_enough_rows(self.n_neighbors, len(rows), weights)
            self.classes_ = classes
            encoding = Encoding.plain(rows, self.schema_.n_categories, weights)
            labels = class_indices(y, classes)
            start = Levels.plain(rows, labels, len(classes), encoding=encoding, row_weights=weights)
            if previous is not None:
                previous = previous.in_double()
                extended = previous.encoding.extended(self.schema_.n_categories)
                previous = previous.replace(encoding=extended)
            self._progress = UpdateProgress(seed=seed)
            self._train(start, previous, None if drawn is None else drawn.arrived)
            self._forget_beyond_limit()
        return self

    def _validate_parameters(self) -> None:
        validate_parameters(self, self._parameters)
        most, k = self.max_points, self.n_neighbors
        if most is not None and k != "auto" and most < k:
            raise ValueError(
                f"max_points={most} is fewer than n_neighbors={k}; raise it, or lower n_neighbors."
            )

    def _train(
        self, start: Levels, previous: Levels | None, arrived: tuple[Indices, int] | None = None
    ) -> None:
        """Train on all rows and set the fitted attributes."""
        from lann.training import default_vote, for_noisy_labels, n_epochs_of, train, warm_start

        settings = self._settings(self._class_weights(start.labels, start.row_weights))
        self.vote_ = default_vote(start, settings)
        settings = for_noisy_labels(start, settings)
        if previous is not None:
            start = warm_start(start, previous, settings)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        rows = as_fitted(self, start.X)  # callbacks can score them
        progress = FitProgress(self, n_epochs_of(settings, len(start.X)), rows, self.classes_[start.labels])
        result = train(start, settings, rng, callback=lambda epoch: self._on_epoch_end(epoch, progress))
        self._set_training(result)
        # Training is in float64; the rows are those that were given.
        self._set_levels(result.levels.replace(X=start.X), result.index, arrived)
        self._progress = self._progress._replace(learned=True)
        progress.end()

    def _keep_vote(self) -> None:
        """Keep the vote when rows are added, except for parameters that have been given since."""
        from lann.vote import VoteChoice

        vote = self.vote_
        n_neighbors = vote.n_neighbors if self.n_neighbors == "auto" else int(self.n_neighbors)
        power = vote.power if self.power == "auto" else float(self.power)
        if (n_neighbors, power) != (vote.n_neighbors, vote.power):
            self.vote_ = VoteChoice.fixed(n_neighbors, power, vote.floor)

    def _class_weights(self, labels: Labels, row_weights: Floats | None) -> Floats | None:
        return class_weight_array(self.class_weight, self.classes_, labels, row_weights)
