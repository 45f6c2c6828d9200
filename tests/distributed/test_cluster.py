"""The classifier on a cluster of real processes: the same results, also if a worker is killed."""

import os
import signal
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from distributed.diagnostics.plugin import SchedulerPlugin
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, cross_val_score

import lann
from lann.distributed import DaskLANN

pytestmark = pytest.mark.slow


def in_blocks(X, y=None, size=300, seconds=0.0):
    """Return rows in blocks that take some time to read, and labels in the same blocks."""

    def read(block):
        time.sleep(seconds)
        return block

    rows = da.from_array(X, chunks=(size, X.shape[1])).map_blocks(read, dtype=X.dtype)
    return rows if y is None else (rows, da.from_array(y, chunks=size))


@pytest.fixture(scope="module", autouse=True)
def tiles_of_300_rows():
    import lann.training._train

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lann.training._train, "TILE_ROWS", 300)
        yield


@pytest.fixture(scope="module")
def expected(planted, options):
    """The probabilities and neighbors of the queries, computed on threads."""
    X, y, queries = planted
    with dask.config.set(scheduler="threads"):
        clf = DaskLANN(**options, rows_per_shard=500).fit(*in_blocks(X, y))
        return clf.predict_proba(queries), clf.kneighbors(queries)[1]


@pytest.fixture(scope="module")
def fitted(client, planted, options):
    """A classifier whose five tiles, in three shards, are on the workers."""
    X, y, _ = planted
    return DaskLANN(**options, rows_per_shard=500).fit(*in_blocks(X, y))


class KillsWorker(SchedulerPlugin):
    """Kills the worker that is the first to get a task of a given name, before it can have finished it.

    Attributes
    ----------
    killed : list of int
        The process that was killed.
    """

    name = "kills-worker"

    def __init__(self, client, task_name):
        client.wait_for_workers(2, timeout=120)
        self.killed, self._task_name = [], task_name
        self._pids, self._scheduler = client.run(os.getpid), client.cluster.scheduler

    def __enter__(self):
        self._scheduler.add_plugin(self)
        return self

    def __exit__(self, *error):
        self._scheduler.remove_plugin(name=self.name)

    def transition(self, key, start, finish, *args, **kwargs):
        if finish == "processing" and self._task_name in str(key) and not self.killed:
            pid = self._pids[self._scheduler.tasks[key].processing_on.address]
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)


def test_processes_give_the_bits_of_threads(fitted, planted, expected):
    queries = planted[2]
    assert (fitted.n_shards_, len(fitted.tile_losses_)) == (3, 5)
    np.testing.assert_array_equal(fitted.predict_proba(in_blocks(queries, size=50)).compute(), expected[0])
    np.testing.assert_array_equal(fitted.kneighbors(queries)[1], expected[1])
    np.testing.assert_array_equal(fitted.gather().predict_proba(queries), expected[0])


def test_workers_keep_shards_and_nothing_else_of_a_fit(fitted, client):
    of_the_fit = {"assign_rows", "split_rows", "join_rows", "train_rows"}
    deadline = time.monotonic() + 60
    held = client.run_on_scheduler(names_of_results)
    while not of_the_fit.isdisjoint(held) and time.monotonic() < deadline:  # results are released later
        time.sleep(0.05)
        held = client.run_on_scheduler(names_of_results)
    assert of_the_fit.isdisjoint(held)
    assert held.count("make_shard") >= fitted.n_shards_


def test_rows_that_are_on_the_workers_already(client, planted, options, expected):
    X, y, queries = planted
    rows, labels = client.persist(in_blocks(X, y))
    frame = dd.from_dask_array(rows, columns=list("abcdef")).persist()
    clf = DaskLANN(**options, rows_per_shard=500).fit(rows, labels)
    probabilities = clf.predict_proba(in_blocks(queries, size=50).persist())  # kept by the result only
    np.testing.assert_array_equal(probabilities.compute(), expected[0])
    named = DaskLANN(max_iter=0).fit(frame, labels)
    assert named.n_samples_fit_ == 1500
    assert list(named.feature_names_in_) == list("abcdef")


def test_folders_are_written_and_read_by_workers(fitted, planted, expected, tmp_path):
    lann.save(fitted, tmp_path / "model")
    loaded = lann.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(in_blocks(planted[2])).compute(), expected[0])


def test_a_worker_that_is_killed_during_predict_costs_time_only(fitted, client, planted, expected):
    probabilities = fitted.predict_proba(in_blocks(planted[2], size=20, seconds=0.05))
    with KillsWorker(client, "search_shard") as killer:
        found = probabilities.compute()
    assert len(killer.killed) == 1
    np.testing.assert_array_equal(found, expected[0])


def test_a_worker_that_is_killed_during_fit_costs_time_only(client, planted, options, expected):
    X, y, queries = planted
    clf = DaskLANN(**options, rows_per_shard=500)
    with KillsWorker(client, "train_rows") as killer:
        clf.fit(*in_blocks(X, y, seconds=0.05))
    assert len(killer.killed) == 1
    np.testing.assert_array_equal(clf.predict_proba(queries), expected[0])
    np.testing.assert_array_equal(clf.kneighbors(queries)[1], expected[1])


def names_of_results(dask_scheduler):
    """Return the names of the tasks whose results are on workers."""
    keys = [str(task.key) for worker in dask_scheduler.workers.values() for task in worker.has_what]
    return [name for key in keys for name in [key.strip("('").split("-lann-")[0]]]


def test_the_ordinary_classifier_in_parallel_on_a_cluster(client, iris):
    quick = lann.LANNClassifier(random_state=0, max_iter=2)
    scores = cross_val_score(quick, *iris, cv=3)
    search = GridSearchCV(quick, {"alpha": [0.5, 2.0]}, cv=2)
    with parallel_config("dask"):
        np.testing.assert_array_equal(cross_val_score(quick, *iris, cv=3, n_jobs=-1), scores)
        found = search.fit(*iris).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, search.fit(*iris).cv_results_["mean_test_score"])
    client.wait_for_workers(2, timeout=120)  # one was killed in another test
    assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.workers)) == 2
