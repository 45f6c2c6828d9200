"""Data, small tiles and a cluster of real processes for the tests of `lann.distributed`."""

import numpy as np
import pytest
from sklearn.datasets import make_classification


@pytest.fixture(scope="package")
def cluster():
    """A cluster of two processes with a thread each; a worker that is killed is started again."""
    import dask
    from distributed import LocalCluster

    settings = {
        "distributed.scheduler.allowed-failures": 10,
        "distributed.comm.timeouts.connect": "60s",
        "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1},
        "distributed.worker.memory.terminate": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as found,
    ):
        yield found


@pytest.fixture(scope="module")
def client(cluster):
    """The current client, of a cluster with two workers."""
    from distributed import Client

    with Client(cluster) as found:
        found.wait_for_workers(2, timeout=120)
        yield found


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 300 rows, and training in tiles and search in cells for 500 rows and more."""
    import lann.search._cell_search
    import lann.training._train

    monkeypatch.setattr(lann.training._train, "TILE_ROWS", 300)
    monkeypatch.setattr(lann.training._train, "MANY_ROWS", 500)
    monkeypatch.setattr(lann.search._cell_search, "FEWEST_POINTS", 500)


@pytest.fixture(scope="session")
def planted():
    """Training rows and queries of three classes: X (1500, 6), y (1500,), queries (200, 6)."""
    X, y = make_classification(1700, 6, n_informative=4, n_classes=3, class_sep=1.5, random_state=0)
    return X[:1500], np.array(["a", "b", "c"])[y[:1500]], X[1500:]


@pytest.fixture(scope="session")
def options():
    """Parameters of a short training in which no level is dropped."""
    return {"random_state": 0, "max_iter": 3}
