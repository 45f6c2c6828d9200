"""DaskLANN: the classifier for arrays and tables of Dask, by tasks on one or more machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from dask.delayed import Delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

import lann.classifier
from lann import training
from lann._support.compat import unchanged_on_failure
from lann._support.doc_links import DocumentedEstimator
from lann._support.inputs import (
    check_enough_rows,
    check_n_neighbors,
    check_two_classes,
    class_weight_array,
    get_feature_names,
)
from lann._support.sizes import check_training_values
from lann._support.types import Floats, Indices, rows_type, weights_type
from lann._support.validation import (
    Integer,
    OneOf,
    ParameterTable,
    store_parameters,
    validate,
    validate_parameters,
)
from lann._updatable import mark_as_learned
from lann.columns.inputs import read_queries, read_training_data
from lann.columns.schema import TableSchema
from lann.distributed import _fit, _tasks
from lann.distributed._fit import TrainingBlocks
from lann.distributed._rows import Reader, features_of_block, merge_features, needs_values
from lann.distributed._search import Neighbors, ShardedModel, candidates
from lann.distributed._shard import SearchPlan, Shard, join_shards
from lann.explain import Explanation
from lann.metric import Encoding, Levels
from lann.model import ROWS_FOR_SCALE, LocalModel
from lann.search import Partition, n_cells_of
from lann.training import SAMPLE_ROWS, Epoch, Settings, Tile, TrainingResult
from lann.vote import VoteRule, class_shares

# Parameters of the ordinary classifier that have no meaning for rows that are added all at once.
LEFT_OUT = ("warm_start", "max_points", "forget_policy")
# Fitted attributes that both classifiers have.
SHARED_ATTRIBUTES = (
    "classes_", "n_features_in_", "feature_names_in_", "schema_", "vote_", "levels_", "n_iter_",
    "loss_curve_", "validation_curve_", "n_neighbors_", "power_", "encoding_", "curves_", "components_",
)  # fmt: skip
# Training rows that represent all of them in an explanation.
ROWS_FOR_EXPLANATIONS = 5_000
# What is returned for the neighbors of queries: a function of the `Neighbors` of a block, and the shape of a
# row of the array that it returns, () for one value, and its dtype.
Output = tuple[Callable[[Neighbors], Any], tuple[int, ...], Any]


class DaskLANN(DocumentedEstimator, ClassifierMixin, BaseEstimator):
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
    >>> from lann.distributed import DaskLANN
    >>> X, y = load_wine(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(60, 13)), da.from_array(y, chunks=60)
    >>> clf = DaskLANN(random_state=0, max_iter=2).fit(X, y)
    >>> labels = clf.predict(X)
    >>> labels.chunks
    ((60, 60, 58),)
    >>> labels[:3].compute()
    array([0, 0, 0])
    """

    _parameters: ClassVar[ParameterTable] = {
        "rows_per_shard": [Integer(1)],
        **{n: table for n, table in lann.classifier.LANNClassifier._parameters.items() if n not in LEFT_OUT},
    }

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
        store_parameters(self, locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metrics of the training rows, which stay on the workers.

        Blocks of rows are read twice, and once more if there are columns of text or categories. Persist them
        before if reading takes long and the workers have the memory. A feature without a value in the sample
        is ignored, with a warning.

        Parameters
        ----------
        X : dask array, dask DataFrame, array-like or table of shape (n_samples, n_features)
            Chunks may have unknown lengths. Rows in the memory of this process are sent to the workers.
        y : dask array, dask Series or array-like of shape (n_samples,)
            Labels of at least two classes, in the blocks of X.

        Returns
        -------
        self : DaskLANN

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
            sample_rng, index_rng, tiles_rng = rng.spawn(3)
            sample = training.stratified_sample(blocks.codes, SAMPLE_ROWS, sample_rng)
            for_cells = training.draw_partition_rows(blocks.n_rows, index_rng)
            for_scale = evenly_spaced(blocks.n_rows, ROWS_FOR_SCALE)
            rows = _fit.fetch_rows(blocks, reader, sample, for_cells, for_scale)
            is_empty = np.isnan(rows[0]).all(axis=0)
            if is_empty.any():
                self.schema_, _ = self.schema_.without_empty(rows[0])
                reader = reader._replace(schema=self.schema_)
                rows = [np.where(is_empty, 0.0, part) for part in rows]
            check_training_values(rows[0], self.schema_.names)
            self._report(f"training on a sample of {len(sample)} of {blocks.n_rows} rows")
            trained, settings, n_candidates = self._train_sample(blocks, sample, rows[0], sample_rng)
            shared = trained.levels.subset(np.empty(0, np.int64)).replace(point_matrices=None)
            assigned, plan, tiles = self._plan(
                blocks, reader, shared, settings, n_candidates, rows[1], index_rng
            )
            n_epochs = trained.n_point_epochs
            self._report(f"training {len(tiles)} tiles" if n_epochs else f"regrouping {blocks.n_rows} rows")
            kept_as = weights_type(blocks.n_rows)
            shards, losses = _fit.train_shards(
                assigned, plan, tiles, shared, settings, n_epochs, kept_as, tiles_rng
            )
            self.tile_losses_ = np.array(losses, np.float64).reshape(len(losses), n_epochs)
            rule = self.vote_.rule(settings.class_weight)
            model = ShardedModel(shared, plan, tuple(shards), rule)
            epsilon = _fit.estimate_epsilon(model, rows[2], for_scale, Reader(None, self.schema_))
            self.model_ = replace(model, vote_rule=replace(rule, epsilon=epsilon))
            self.n_samples_fit_, self.n_shards_ = blocks.n_rows, plan.n_shards
            self._report(
                f"{plan.n_shards} shards; {plan.n_probed} of {plan.partition.n_cells} cells are searched"
            )
        return self

    def _report(self, text: str) -> None:
        if self.verbose:
            print(f"[DaskLANN] {text}", flush=True)

    def _read_training_data(self, X: Any, y: Any) -> tuple[TrainingBlocks, Reader]:
        """Return the training data in blocks, and how they are read; set the number and names of features."""
        if not _tasks.is_of_dask(X):
            labels = y.compute() if _tasks.is_of_dask(y) else y
            given = getattr(X, "dtype", None)
            rows, labels, schema = read_training_data(self, X, labels, self.categorical_features, None)
            schema, rows = schema.without_empty(rows)
            schema, rows = schema.without_unused(rows)
            blocks = _tasks.blocks_of_rows(rows)
            reader = Reader(None, schema, rows_type(given, len(rows)))
            return _fit.read_labels(blocks, _tasks.blocks_of_labels(labels, blocks)), reader
        blocks = _tasks.blocks_of_rows(X)
        validate_data(self, blocks.sample, skip_check_array=True, reset=True)
        has_names = hasattr(self, "feature_names_in_")
        labeled = _fit.read_labels(blocks, _tasks.blocks_of_labels(y, blocks))
        if needs_values(blocks.sample, self.categorical_features):
            options = {"categorical_features": self.categorical_features, "has_names": has_names}
            features = _tasks.compute(_tasks.map_tasks(features_of_block, blocks.parts, **options))
            schema = merge_features(features, has_names=has_names)
            schema.without_empty(np.zeros((1, len(schema.features))))  # a warning
        else:
            schema = TableSchema.numeric(list(get_feature_names(self)), has_names=has_names)
        stored = rows_type(getattr(X, "dtype", None), labeled.n_rows)
        return labeled, self._reader(schema)._replace(stored=stored)

    def _reader(self, schema: TableSchema) -> Reader:
        """Return how blocks of Dask are read, without the model."""
        estimator = lann.classifier.LANNClassifier()
        estimator.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            estimator.feature_names_in_ = self.feature_names_in_
        return Reader(estimator, schema)

    def _on_epoch_end(self, epoch: Epoch) -> bool:
        self._report(str(epoch))
        return False

    def _train_sample(
        self, blocks: TrainingBlocks, numbers: Indices, rows: Floats, rng: np.random.Generator
    ) -> tuple[TrainingResult, Settings, int | None]:
        """Train all levels on a sample, and set the fitted attributes that follow from it.

        Returns
        -------
        trained : TrainingResult
        settings : Settings
            Of the training of the point metrics of all rows.
        n_candidates : int or None
            Size of the shortlist.
        """
        class_weight = class_weight_array(
            self.class_weight, self.classes_, np.arange(len(self.classes_)), blocks.class_counts.astype(float)
        )
        labels = blocks.codes[numbers].astype(np.int64)
        encoding = Encoding.plain(rows, self.schema_.n_categories)
        start = Levels.plain(rows, labels, len(self.classes_), encoding=encoding)
        clf = _SampleClassifier(**self._local_parameters())
        if class_weight is not None:  # that of all rows
            clf.class_weight = dict(zip(self.classes_.tolist(), class_weight, strict=True))
        settings = clf.prepare(start, self.classes_)
        # The shared levels are learned from all of the sample.
        on_sample = settings.replace(n_shared_rows=len(rows))
        trained = training.train_distinct(start, on_sample, rng, callback=self._on_epoch_end)
        self.loss_curve_, self.validation_curve_ = trained.losses, trained.validation_losses
        self.n_iter_ = len(trained.losses)
        vote, levels, clf.vote_ = trained.vote, trained.levels, trained.vote
        self.vote_, self.n_neighbors_, self.power_ = vote, vote.n_neighbors, vote.power
        self.levels_ = tuple(level for level in levels.in_use if level not in trained.dropped_levels)
        self.encoding_, self.curves_, self.components_ = levels.encoding, levels.curves, levels.components
        return trained, settings, vote.shortlist_size(self.n_candidates, self.n_neighbors)

    def _local_parameters(self) -> dict[str, Any]:
        """Return the parameters that the ordinary classifier has, too."""
        return {name: self.get_params()[name] for name in self.get_params() if name != "rows_per_shard"}

    def _plan(
        self,
        blocks: TrainingBlocks,
        reader: Reader,
        shared: Levels,
        settings: Settings,
        n_candidates: int | None,
        rows: Floats,
        rng: np.random.Generator,
    ) -> tuple[list[Delayed], SearchPlan, list[Tile]]:
        """Divide the rows into cells, whose centers follow from some rows, and the cells into shards."""
        weights = training.mean_class_weights(shared.class_log_weights, blocks.class_counts)
        points, n_cells = shared.transform(rows), n_cells_of(blocks.n_rows)
        partition = Partition.fit(points, n_cells, rng, weights=weights, n_jobs=self.n_jobs)
        assigned, counts = _fit.assign_cells(blocks, reader, shared, partition)
        for_probes = training.draw_calibration_rows(blocks.n_rows, rng)
        n_probed = _fit.calibrate_cells(assigned, for_probes, shared, partition)
        reached = training.n_reached_of(n_probed, settings)
        tiles = training.plan_tiles(partition.centers, counts, n_reached=reached)
        shard_of_cell = _fit.divide_tiles(tiles, counts, self.rows_per_shard)
        return assigned, SearchPlan(partition, counts, shard_of_cell, n_probed, n_candidates), tiles

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
        function = partial(_predictions, rule=self.model_.vote_rule, classes=self.classes_)
        return self._search(X, [(function, (), self.classes_.dtype)])[0]

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
        function = partial(_probabilities, rule=self.model_.vote_rule, n_classes=n_classes)
        return self._search(X, [(function, (n_classes,), np.float64)])[0]

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
        indices: Output = (_numbers, (k,), np.int64)
        if not return_distance:
            return self._search(X, [indices], k=k)[0]
        return tuple(self._search(X, [(_lengths, (k,), np.float64), indices], k=k))

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
        is_of_dask = _tasks.is_of_dask(X)
        if is_of_dask:
            blocks, reader = _tasks.blocks_of_rows(X), self._reader(self.schema_)
            validate_data(self, blocks.sample, skip_check_array=True, reset=False)
        else:
            blocks, reader = _tasks.blocks_of_rows(read_queries(self, X)), Reader(None, self.schema_)
        graph, neighbors = _tasks.TaskGraph(), self.model_.search(blocks.parts, reader, k)
        arrays = []
        for function, width, dtype in outputs:
            parts = graph.results([graph.add(function, part) for part in neighbors])
            arrays.append(_tasks.array_of_blocks(parts, blocks.lengths, width, dtype))
        return arrays if is_of_dask else _tasks.compute(arrays)

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
        if _tasks.is_of_dask(X):
            raise ValueError("explain takes rows in memory; select some rows of X and compute them.")
        validate("leave_out", leave_out, OneOf("auto", None))
        queries = read_queries(self, X)
        # One more, in case that one is left out.
        k = min(self.model_.plan.n_listed(self.n_neighbors_) + 1, self.n_samples_fit_)
        reader, block = Reader(None, self.schema_), _tasks.constant(queries)
        (listed,) = _tasks.compute(self.model_.search([block], reader, k, join=candidates))
        near = listed.numbers[:, :k]
        context = evenly_spaced(self.n_samples_fit_, ROWS_FOR_EXPLANATIONS)
        numbers = np.unique(np.concatenate([near[near >= 0], context]))
        rows = self.model_.take(numbers)
        return self._make_local()(rows).explain(X, ids=rows.numbers, leave_out=leave_out)

    def gather(self) -> lann.classifier.LANNClassifier:
        """Return the ordinary classifier with all training rows, in the memory of this process.

        It predicts the same, with the same neighbors. The names of its rows, `ids_`, are their numbers.

        Returns
        -------
        classifier : lann.LANNClassifier
        """
        check_is_fitted(self)
        return self._make_local()(join_shards(_tasks.compute(self.model_.shards)))

    def _make_local(self) -> Callable[[Shard], lann.classifier.LANNClassifier]:
        """Return a function from some of the rows to their ordinary classifier, for workers."""
        local = lann.classifier.LANNClassifier(**self._local_parameters())
        local.__dict__ |= {name: value for name, value in vars(self).items() if name in SHARED_ATTRIBUTES}
        return partial(_with_rows, local=local, plan=self.model_.plan, rule=self.model_.vote_rule)


class _SampleClassifier(lann.classifier.LANNClassifier):
    """The ordinary classifier, as far as it is trained on a sample."""

    def prepare(self, start: Levels, classes: NDArray[Any]) -> Settings:
        """Return the settings of the training of a sample."""
        self.classes_ = classes
        settings = self._settings(self._class_weights(start.labels, None))
        return training.for_noisy_labels(start, settings)


def _with_rows(
    rows: Shard, local: lann.classifier.LANNClassifier, plan: SearchPlan, rule: VoteRule
) -> lann.classifier.LANNClassifier:
    """Return the ordinary classifier of some rows, which searches and votes as the cluster does.

    The numbers of the rows become the order of their arrival, and by that their names.
    """
    local = copy(local)
    local.model_ = LocalModel(
        rows.levels,
        n_candidates=plan.n_candidates,
        n_neighbors=local.n_neighbors_,
        **vars(rule),
        index=plan.index_of(rows.cells),
        arrivals=rows.numbers,
        n_arrived=plan.n_rows,
    )
    mark_as_learned(local)
    return local


def evenly_spaced(n_rows: int, n_kept: int) -> Indices:
    """Return the numbers of some rows, evenly spaced, with the first and the last."""
    return np.linspace(0, n_rows - 1, min(n_rows, n_kept)).astype(np.int64)


# What follows from the neighbors of a block of queries.


def _numbers(neighbors: Neighbors) -> Indices:
    return neighbors.numbers


def _lengths(neighbors: Neighbors) -> Floats:
    return np.sqrt(neighbors.distances)


def _probabilities(neighbors: Neighbors, rule: VoteRule, n_classes: int) -> Floats:
    shares = rule.shares(neighbors.distances, neighbors.labels)
    return rule.probabilities(class_shares(shares, neighbors.labels, n_classes))


def _predictions(neighbors: Neighbors, rule: VoteRule, classes: Any) -> Any:
    return classes[_probabilities(neighbors, rule, len(classes)).argmax(axis=1)]
