"""PublishedLANN: locally adaptive nearest neighbors exactly as published."""

from __future__ import annotations

from typing import ClassVar

from lann._base import NeighborClassifier
from lann._support.inputs import check_enough_rows
from lann._support.types import Floats, Labels
from lann._support.validation import POSITIVE_STRENGTH, Number, OneOf, ParameterTable, store_parameters
from lann.baselines._baseline import Baseline
from lann.metric import Levels
from lann.model import LocalModel
from lann.training import Epoch, OnlineSettings, train_online


class PublishedLANN(Baseline, NeighborClassifier):
    """Locally adaptive nearest neighbors exactly as published: every training row owns its metric.

    The distance of a query x to a training row j is measured by that row, with w_jl = λ_jl²:

        d_j(x) = Σ_l w_jl (x_jl − x_l)²    or, with matrices,    d_j(x) = ‖Ω_jᵀ (x_j − x)‖²

    The k nearest rows vote with 1/d_j. Training minimizes −Σ_i log P(y_i | x_i) one row at a time, by
    gradient steps on the λ_j or Ω_j of its k nearest rows (among all rows, itself excluded), with P(y | x) =
    softmax(S(y | x) / β) of the votes S(y | x) = Σ_{j: y_j = y} 1/d_j(x). The constraint is restored after
    every step.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote, in training and prediction.
    metric : {"diagonal", "low_rank", "full"}, default="diagonal"
        Form of the point metrics: weights, or matrices. With "low_rank", matrices are learned on
        `n_components` discriminant axes, which stay fixed.
    n_components : int or None, default=None
        Number of axes for ``metric="low_rank"``; None is 16, or twice the square root of n_features where
        that is more.
    temperature : float or "auto", default="auto"
        Temperature β of the softmax; "auto" is the typical vote of a neighbor, divided by
        log(n_classes - 1) + 1.
    learning_rate : float, default=0.02
        Initial step size; it falls to 0 over the epochs. For weights, it is that of λ_j if Σ_l w_jl = 1
        initially; as all are 1 here, steps are n_features times as large, which is the same.
    constraint : {"norm", "determinant", "bounded"}, default="bounded"
        What keeps a point metric bounded: its norm, Σ_l w_jl = n_features (for matrices the trace); its
        determinant, Π_l w_jl = 1; or bounds of the weights, e^-6 ≤ w ≤ e^6 (for matrices of the mean squared
        singular value).
    max_iter : int, default=20
        Number of epochs, each a pass over all rows; 0 learns nothing and is plain kNN.
    verbose : int, default=0
        1 prints a line per epoch.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the rows in training.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    model_ : NeighborModel
        The fitted model: training rows, metrics, search and vote.
    components_ : ndarray of shape (n_components, n_features) or None
        The axes of "low_rank" metrics; None otherwise.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        The diagonals of the point metrics.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the rows of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.
    temperature_ : float
        β.
    n_iter_ : int
        Number of epochs.
    loss_curve_ : list of float
        Mean loss of every epoch.

    See Also
    --------
    lann.LANNClassifier : More accurate, faster, and without scaling.

    References
    ----------
    J. P. Göpfert, H. Wersing, B. Hammer: Interpretable Locally Adaptive Nearest Neighbors.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import PublishedLANN
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = make_pipeline(StandardScaler(), PublishedLANN(random_state=0)).fit(X_train, y_train)
    >>> clf.score(X_test, y_test) > 0.9
    True
    """

    _own_parameters: ClassVar[ParameterTable] = {
        "metric": [OneOf("diagonal", "low_rank", "full")],
        "temperature": [Number(0, closed="right"), OneOf("auto")],
        "learning_rate": [POSITIVE_STRENGTH],
        "constraint": [OneOf("norm", "determinant", "bounded")],
    }

    def __init__(
        self, n_neighbors=5, *, metric="diagonal", n_components=None, temperature="auto", learning_rate=0.02,
        constraint="bounded", max_iter=20, verbose=0, n_jobs=None, random_state=None,
    ):  # fmt: skip
        store_parameters(self, locals())

    def _fit_model(self, X: Floats, labels: Labels) -> LocalModel:
        check_enough_rows(self.n_neighbors, len(X))
        settings = OnlineSettings(
            n_neighbors=self.n_neighbors,
            temperature=None if self.temperature == "auto" else float(self.temperature),
            learning_rate=self.learning_rate,
            constraint=self.constraint,
            form=self.metric,
            n_components=self.n_components,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        )
        levels = Levels.plain(X, labels, len(self.classes_))
        trained, losses, temperature = train_online(
            levels, settings, self._rng(), callback=self._on_epoch_end
        )
        self.components_, self.temperature_ = trained.components, temperature
        self.loss_curve_, self.n_iter_ = losses, len(losses)
        return LocalModel(
            trained, n_candidates=None, n_neighbors=self.n_neighbors, power=1.0, n_jobs=self.n_jobs
        )

    def _on_epoch_end(self, epoch: Epoch) -> bool:
        if self.verbose:
            print(f"[PublishedLANN] {epoch}")
        return False
