"""LANNClassifier for arrays and tables of Dask: training and search by tasks, on one or more machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

import lann.classifier
from lann._support.compat import unchanged_on_failure
from lann._support.inputs import (
    check_enough_rows,
    check_n_neighbors,
    check_two_classes,
    class_weight_array,
    get_feature_names,
)
from lann._support.sizes import check_training_values
from lann._support.types import Floats, Indices, rows_type, weights_type
from lann._support.validation import Integer, ParameterTable, shown, validate_parameters
from lann.columns.inputs import read_queries, read_training_data
from lann.columns.schema import TableSchema
from lann.distributed._blocks import Blocks, array_of_blocks, blocks_of_labels, blocks_of_rows, is_of_dask
from lann.distributed._fit import (
    DrawnRows,
    RowTasks,
    ShardPlan,
    TrainingBlocks,
    assign_cells,
    calibrate_cells,
    estimate_epsilon,
    fetch_rows,
    plan_shards,
    read_features,
    read_labels,
    rows_with_values,
    train_shards,
)
from lann.distributed._local_classifier import SHARED_ATTRIBUTES, FittedParts
from lann.distributed._queries import Neighbors, predictions, probabilities
from lann.distributed._rows import Reader
from lann.distributed._sample_classifier import SampleClassifier, SharedResult
from lann.distributed._schemas import merge_features, needs_values
from lann.distributed._shard import SearchPlan
from lann.distributed._sharded_model import ShardedModel
from lann.distributed._tasks import TaskGraph, compute
from lann.explain import Explanation
from lann.metric import FeatureCurves
from lann.search import CellIndex
from lann.training import (
    Epoch,
    draw_calibration_rows,
    fit_partition,
    mean_class_weights,
    n_reached_of,
    plan_tiles,
)
from lann.vote import VoteChoice, VoteRule

# Parameters of the ordinary classifier that have no meaning for rows that are added all at once.
LEFT_OUT = ("warm_start", "max_points", "forget_policy")
# Training rows that represent all of them in an explanation.
ROWS_FOR_EXPLANATIONS = 5_000


class Output(NamedTuple):
    """What is returned for the neighbors of queries.

    Attributes
    ----------
    function : callable
        From the `Neighbors` of a block of queries to an array.
    width : tuple of int
        The shape of a row of this array, () for one value.
    dtype : dtype
    """

    function: Callable[[Neighbors], Any]
    width: tuple[int, ...]
    dtype: Any


class LANNClassifier(ClassifierMixin, BaseEstimator):
    """Locally adaptive nearest neighbors on arrays and tables of Dask.

    The shared levels of the metric, and the vote, are learned from a sample of the rows. The rows are then
    divided into cells on the axes of these levels, and groups of neighboring cells, the shards, are trained
    by tasks and stay on the workers. A query is searched in the shards that hold its nearest cells. The
    result is that of the ordinary `lann.LANNClassifier` with the same cells, which `gather` returns.

    Tasks run where those of Dask run by default: on the workers of the current `distributed.Client`, or on
    threads of this process. A worker that is lost costs time, not the result.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        Number of neighbors that vote: as all parameters but the last, see `lann.LANNClassifier`.
    metric : {"diagonal", "low_rank", "full"}, default="diagonal"
        Form of the point metrics.
    n_components : int or None, default=None
        Number of axes for ``metric="low_rank"``.
    levels : tuple of {"curves", "map", "class", "point"}, default=("curves", "map", "class", "point")
        Levels of the metric that are learned.
    max_iter : int or None, default=None
        Number of epochs.
    learning_rate : float or None, default=None
        Initial step size.
    alpha : float, default=1.0
        Strength of the regularization.
    power : float or "auto", default="auto"
        Exponent of the vote.
    class_weight : dict, "balanced" or None, default=None
        Weight of the votes, and of the training loss, of each class.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features that are categories.
    n_candidates : int or None, default=50
        Size of the shortlist. None searches all rows of all shards.
    early_stopping : bool, default=False
        Whether to end a stage of training early; this is decided on the sample.
    n_jobs : int or None, default=None
        Number of threads of this process that train on the sample. Tasks use one thread each.
    random_state : int, RandomState instance or None, default=None
        Determines the sample, the cells, the order of the rows in training, and dropout.
    verbose : int, default=0
        1 prints a line per epoch of the sample, and per step.
    rows_per_shard : int, default=100000
        Number of training rows of a shard, about. A worker needs memory for a few shards at a time.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    n_samples_fit_ : int
        Number of training rows.
    n_shards_ : int
        Number of shards.
    schema_ : TableSchema
        The kind of each feature, and its categories.
    model_ : ShardedModel
        The shards and what they share.
    levels_ : tuple of str
        The levels in use.
    encoding_ : Encoding
        Curves of the numbers, positions of categories and gaps.
    curves_ : FeatureCurves
    components_ : ndarray of shape (n_axes, n_coordinates) or None
        The linear map.
    vote_ : VoteChoice
        The vote that was chosen.
    n_neighbors_ : int
    power_ : float
    n_iter_ : int
        Number of epochs of the sample.
    loss_curve_ : list of float
        Mean training loss of every epoch of the sample.
    validation_curve_ : list of float
        Mean loss of the validation rows after every epoch, with early stopping.
    tile_losses_ : ndarray of shape (n_tiles, n_epochs)
        Mean training loss of every epoch of each tile, a group of neighboring cells that is trained at once.

    See Also
    --------
    lann.LANNClassifier : The classifier for rows in the memory of one process.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_wine
    >>> from lann.distributed import LANNClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(60, 13)), da.from_array(y, chunks=60)
    >>> clf = LANNClassifier(random_state=0, max_iter=2).fit(X, y)
    >>> labels = clf.predict(X)
    >>> labels.chunks
    ((60, 60, 58),)
    >>> labels[:3].compute()
    array([0, 0, 0])
    """

    _parameters: ClassVar[ParameterTable] = {
        **{
            name: constraints
            for name, constraints in lann.classifier.LANNClassifier._parameters.items()
            if name not in LEFT_OUT
        },
        "rows_per_shard": [Integer(1)],
    }

    classes_: NDArray[Any]
    schema_: TableSchema
    model_: ShardedModel
    vote_: VoteChoice
    curves_: FeatureCurves
    _vote_rule: VoteRule

    def __init__(
        self,
        n_neighbors="auto",
        *,
        metric="diagonal",
        n_components=None,
        levels=lann.classifier.LEVELS,
        max_iter=None,
        learning_rate=None,
        alpha=1.0,
        power="auto",
        class_weight=None,
        categorical_features="from_dtype",
        n_candidates=50,
        early_stopping=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        rows_per_shard=100_000,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.rows_per_shard = rows_per_shard

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metrics of the training rows, which stay on the workers.

        Blocks of rows are read twice, and once more if there are columns of text or categories, or if a
        feature has no value in the sample. Persist them before if reading takes long and the workers have the
        memory.

        Parameters
        ----------
        X : dask array, dask DataFrame, array-like or table of shape (n_samples, n_features)
            Chunks may have unknown lengths. Rows in the memory of this process are sent to the workers.
        y : dask array, dask Series or array-like of shape (n_samples,)
            Labels of at least two classes, in the blocks of X.

        Returns
        -------
        self : LANNClassifier

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; a previous fit is then kept.
        """
        with unchanged_on_failure(self):
            validate_parameters(self, self._parameters)
            blocks, reader = self._read_training_data(X, y)
            check_two_classes(blocks.classes)
            check_enough_rows(self.n_neighbors, blocks.n_rows)
            self.classes_, self.schema_ = blocks.classes, reader.schema
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
            rngs = rng.spawn(3)
            drawn = DrawnRows.draw(blocks.codes, rngs[0], rngs[1])
            rows_at = self._fetch(blocks, drawn, reader)
            empty = np.flatnonzero(np.isnan(rows_at(drawn.sample)).all(axis=0))
            if len(empty):
                drawn = drawn.with_sampled(rows_with_values(blocks, empty, reader))
                rows_at = self._fetch(blocks, drawn, reader)
                self.schema_, _ = self.schema_.without_empty(rows_at(drawn.sample))
                reader = reader._replace(schema=self.schema_)
                rows_at = self._fetch(blocks, drawn, reader)
            check_training_values(rows_at(drawn.sample), self.schema_.names)
            self._report(f"training on a sample of {len(drawn.sample)} of {blocks.n_rows} rows")
            result = self._train_sample(blocks, drawn.sample, rows_at(drawn.sample), rngs[0])
            rows_with_cells, plan = self._plan(blocks, reader, result, drawn, rows_at)
            self._train_shards(rows_with_cells, plan, result, rngs[2])
            self._estimate_epsilon(rows_at(drawn.for_scale), drawn.for_scale)
        return self

    def _fetch(self, blocks: TrainingBlocks, drawn: DrawnRows, reader: Reader) -> Callable[[Indices], Floats]:
        """Fetch rows that were drawn; return a function from numbers of some of them to these rows."""
        numbers = drawn.all
        rows = fetch_rows(blocks, numbers, reader)
        return lambda wanted: rows[np.searchsorted(numbers, wanted)]

    def _report(self, text: str) -> None:
        if self.verbose:
            print(f"[LANNClassifier] {text}", flush=True)

    def _read_training_data(self, X: Any, y: Any) -> tuple[TrainingBlocks, Reader]:
        """Return the training data in blocks, and how they are read; set the number and names of features."""
        if not is_of_dask(X):
            labels = y.compute() if is_of_dask(y) else y
            given = getattr(X, "dtype", None)
            rows, labels, schema = read_training_data(self, X, labels, self.categorical_features, None)
            schema, rows = schema.without_empty(rows)
            schema, rows = schema.without_unused(rows)
            blocks = blocks_of_rows(rows)
            reader = Reader(None, schema, rows_type(given, len(rows)))
            return read_labels(blocks, blocks_of_labels(labels, blocks)), reader
        blocks = blocks_of_rows(X)
        validate_data(self, blocks.sample, skip_check_array=True, reset=True)
        has_names = hasattr(self, "feature_names_in_")
        training = read_labels(blocks, blocks_of_labels(y, blocks))
        if needs_values(blocks.sample, self.categorical_features):
            features = read_features(blocks, self.categorical_features, has_names=has_names)
            schema = merge_features(features, has_names=has_names)
            schema.without_empty(np.zeros((1, len(schema.features))))  # a warning
        else:
            schema = TableSchema.numeric(list(get_feature_names(self)), has_names=has_names)
        stored = rows_type(getattr(X, "dtype", None), training.n_rows)
        return training, self._reader(schema)._replace(stored=stored)

    def _reader(self, schema: TableSchema) -> Reader:
        """Return how blocks of Dask are read, without the model."""
        estimator = lann.classifier.LANNClassifier()
        estimator.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            estimator.feature_names_in_ = self.feature_names_in_
        return Reader(estimator, schema)

    def _train_sample(
        self, blocks: TrainingBlocks, numbers: Indices, rows: Floats, rng: np.random.Generator
    ) -> SharedResult:
        """Train all levels on a sample, and set the fitted attributes that follow from it."""
        class_weight = class_weight_array(
            self.class_weight, self.classes_, np.arange(len(self.classes_)), blocks.class_counts.astype(float)
        )
        labels = blocks.codes[numbers].astype(np.int64)
        result = SampleClassifier(**self._local_parameters()).train(
            rows, labels, self.classes_, self.schema_, class_weight, rng, callback=self._on_epoch_end
        )
        trained, vote = result.trained, result.vote
        self.loss_curve_, self.validation_curve_ = trained.losses, trained.validation_losses
        self.n_iter_ = len(trained.losses)
        self.vote_, self.n_neighbors_, self.power_ = vote, vote.n_neighbors, vote.power
        levels = trained.levels
        self.levels_ = tuple(level for level in levels.in_use if level not in trained.dropped_levels)
        self.encoding_, self.curves_, self.components_ = levels.encoding, levels.curves, levels.components
        self._vote_rule = VoteRule(vote.power, class_weight=class_weight, floor=vote.floor)
        return result

    def _local_parameters(self) -> dict[str, Any]:
        """Return the parameters that the ordinary classifier has, too."""
        parameters = self.get_params(deep=False)
        del parameters["rows_per_shard"]
        return parameters

    def _on_epoch_end(self, epoch: Epoch) -> bool:
        self._report(str(epoch))
        return False

    def _plan(
        self,
        blocks: TrainingBlocks,
        reader: Reader,
        result: SharedResult,
        drawn: DrawnRows,
        rows_at: Callable[[Indices], Floats],
    ) -> tuple[RowTasks, ShardPlan]:
        """Divide the rows into cells, and these into tiles and shards."""
        shared = result.shared
        weights = mean_class_weights(shared.class_log_weights, blocks.class_counts)
        points = shared.transform(rows_at(drawn.for_cells))
        partition = fit_partition(points, blocks.n_rows, weights, drawn.index_rng, n_jobs=self.n_jobs)
        rows = assign_cells(blocks, reader, shared, partition)
        for_probes = draw_calibration_rows(blocks.n_rows, drawn.index_rng)
        n_probed = calibrate_cells(rows, for_probes, shared, partition)
        index = CellIndex(partition, np.empty(0, np.int32), n_probed, blocks.n_rows)
        reached = n_reached_of(n_probed, result.settings)
        tiles = plan_tiles(partition.centers, rows.counts, n_reached=reached)
        return rows, plan_shards(index, tiles, rows.counts, self.rows_per_shard)

    def _train_shards(
        self, rows: RowTasks, plan: ShardPlan, result: SharedResult, rng: np.random.Generator
    ) -> None:
        """Regroup the rows into shards, and train their point metrics."""
        n_epochs, index = result.trained.n_point_epochs, plan.index
        self._report(
            f"training {len(plan.tiles)} tiles" if n_epochs else f"regrouping {rows.counts.sum()} rows"
        )
        kept_as = weights_type(int(rows.counts.sum()))
        shards, losses = train_shards(rows, plan, result.shared, result.settings, n_epochs, kept_as, rng)
        self.tile_losses_ = np.array(losses, np.float64).reshape(len(losses), n_epochs)
        search = SearchPlan(
            index.partition,
            rows.counts,
            plan.shard_of_cell,
            plan.n_shards,
            index.n_probed,
            result.n_candidates,
        )
        self.set_model(ShardedModel(result.shared, search, tuple(shards)), self._vote_rule)
        self._report(
            f"{plan.n_shards} shards; {index.n_probed} of {index.partition.n_cells} cells are searched"
        )

    def _estimate_epsilon(self, rows: Floats, numbers: Indices) -> None:
        """Set ε of the vote, from the neighbors of some training rows."""
        epsilon = estimate_epsilon(self.model_, rows, numbers, Reader(None, self.schema_))
        self._vote_rule = replace(self._vote_rule, epsilon=epsilon)

    def predict(self, X: Any) -> Any:
        """Predict the class with the largest probability.

        Parameters
        ----------
        X : dask array, dask DataFrame, array-like or table of shape (n_queries, n_features)

        Returns
        -------
        labels : dask array or ndarray of shape (n_queries,)
            Of Dask, and not yet computed, if X is of Dask.
        """
        check_is_fitted(self)
        function = partial(predictions, rule=self._vote_rule, classes=self.classes_)
        return self._search(X, [Output(function, (), self.classes_.dtype)])[0]

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class: its share of the vote, with the floor.

        Parameters
        ----------
        X : dask array, dask DataFrame, array-like or table of shape (n_queries, n_features)

        Returns
        -------
        probabilities : dask array or ndarray of shape (n_queries, n_classes)
            Columns are in the order of `classes_`. Of Dask, and not yet computed, if X is of Dask.
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        function = partial(probabilities, rule=self._vote_rule, n_classes=n_classes)
        return self._search(X, [Output(function, (n_classes,), np.dtype(np.float64))])[0]

    def kneighbors(self, X: Any, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest training rows, as each of them measures.

        Parameters
        ----------
        X : dask array, dask DataFrame, array-like or table of shape (n_queries, n_features)
        n_neighbors : int or None, default=None
            None is the number of neighbors that vote.
        return_distance : bool, default=True
            Whether distances are returned, too.

        Returns
        -------
        distances : dask array or ndarray of shape (n_queries, n_neighbors)
            Lengths, ascending; only if `return_distance`.
        indices : dask array or ndarray of shape (n_queries, n_neighbors)
            Numbers of the training rows, in the order of their blocks.
        """
        check_is_fitted(self)
        k = min(self.n_neighbors_, self.n_samples_fit_) if n_neighbors is None else n_neighbors
        check_n_neighbors(k, self.n_samples_fit_, exclude_self=False)
        indices, distances = Output(row_numbers, (k,), np.int64), Output(lengths, (k,), np.float64)
        if not return_distance:
            return self._search(X, [indices], k=k)[0]
        return tuple(self._search(X, [distances, indices], k=k))

    def _search(self, X: Any, outputs: Sequence[Output], *, k: int | None = None) -> list[Any]:
        """Search the neighbors of queries once, and return each of the outputs that follow from them.

        Parameters
        ----------
        X : dask array, dask DataFrame, array-like or table
        outputs : sequence of Output
        k : int or None
            Number of neighbors; None is those that vote.

        Returns
        -------
        arrays : list of dask array or ndarray
            Of Dask, and not yet computed, if X is of Dask.
        """
        k = min(self.n_neighbors_, self.n_samples_fit_) if k is None else k
        if is_of_dask(X):
            blocks, reader = self._blocks_of_queries(X), self._reader(self.schema_)
        else:
            blocks, reader = blocks_of_rows(read_queries(self, X)), Reader(None, self.schema_)
        graph, found = TaskGraph(), self.model_.search(blocks.parts, reader, k)
        keys = [[graph.add(output.function, part) for part in found] for output in outputs]
        results = [graph.results(part) for part in keys]
        if blocks.in_memory:
            return [np.concatenate(arrays) for arrays in compute(results)]
        return [
            array_of_blocks(parts, blocks.lengths, output.width, output.dtype)
            for parts, output in zip(results, outputs, strict=True)
        ]

    def _blocks_of_queries(self, X: Any) -> Blocks:
        blocks = blocks_of_rows(X)
        validate_data(self, blocks.sample, skip_check_array=True, reset=False)
        return blocks

    def explain(self, X: ArrayLike, *, leave_out: str | None = "auto") -> Explanation:
        """Explain predictions of selected rows: the neighbors that voted, and the features that matter.

        The candidates of the rows, and a sample of the training rows, come to this process, and the ordinary
        classifier of these rows explains the predictions. Neighbors, distances, vote shares, probabilities
        and contributions are those of all rows; relevances, typical values and whether a row is far from the
        training rows are judged by the sample.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)
            In the memory of this process.
        leave_out : "auto" or None, default="auto"
            "auto" leaves out, for a query that is a training row, this row; None leaves out no row.

        Returns
        -------
        explanation : Explanation
            `neighbor_ids` are the numbers of the training rows, in the order of their blocks.

        Raises
        ------
        ValueError
            If X is of Dask, or does not have the features of the fit.
        """
        check_is_fitted(self)
        if is_of_dask(X):
            raise ValueError("explain takes rows in memory; select some rows of X and compute them.")
        if leave_out is not None and not (isinstance(leave_out, str) and leave_out == "auto"):
            raise ValueError(f"leave_out must be 'auto' or None; got {shown(leave_out)}.")
        queries = read_queries(self, X)
        plan = self.model_.plan
        # One more, in case that one is left out.
        k = min(plan.n_listed(self.n_neighbors_) + 1, self.n_samples_fit_)
        listed = self.model_.candidates_of(queries, Reader(None, self.schema_), k)
        context = np.linspace(0, self.n_samples_fit_ - 1, ROWS_FOR_EXPLANATIONS).astype(np.int64)
        numbers = np.unique(np.concatenate([listed[listed >= 0], context]))
        rows = self.model_.take(numbers)
        return self.parts.classifier(rows).explain(X, ids=rows.numbers, leave_out=leave_out)

    def gather(self) -> lann.classifier.LANNClassifier:
        """Return the ordinary classifier with all training rows, in the memory of this process.

        It predicts the same, with the same neighbors. The names of its rows, `ids_`, are their numbers.

        Returns
        -------
        classifier : lann.LANNClassifier
        """
        check_is_fitted(self)
        return self.parts.classifier(self.model_.take_all())

    @property
    def parts(self) -> FittedParts:
        """What the ordinary classifier of any of the rows has, beside these rows."""
        found = {name: getattr(self, name) for name in SHARED_ATTRIBUTES if hasattr(self, name)}
        return FittedParts(self._local_parameters(), found, self.model_.plan, self._vote_rule)

    def set_model(self, model: ShardedModel, rule: VoteRule) -> None:
        """Set the fitted attributes that follow from a model.

        Parameters
        ----------
        model : ShardedModel
        rule : VoteRule
            How neighbors vote.
        """
        self.model_, self._vote_rule = model, rule
        self.n_samples_fit_, self.n_shards_ = model.n_rows, model.plan.n_shards


def row_numbers(neighbors: Neighbors) -> Indices:
    """Return the numbers of the neighbors: (n_queries, k)."""
    return neighbors.numbers


def lengths(neighbors: Neighbors) -> Floats:
    """Return the distances of the neighbors: (n_queries, k)."""
    return np.sqrt(neighbors.distances)
