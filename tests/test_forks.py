"""Processes that are forked while threads run, or after they have run."""

import multiprocessing
import os
import select
import signal
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from lann import LANNClassifier
from lann.embedding import NeighborEmbedding

pytestmark = pytest.mark.slow

# Longer than anything takes on a busy machine; a child that hangs is ended then.
SECONDS = 300


def in_fork(compute):
    """Return what a function returns in a forked child, as bytes; fail if the child is killed or hangs."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # no assertion may leave this block: it runs in the child
        try:
            os.close(reader)
            os.write(writer, compute())
        finally:
            os._exit(0)
    os.close(writer)
    answered = select.select([reader], [], [], SECONDS)[0]
    if not answered:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    answer = os.read(reader, 100)
    os.close(reader)
    assert answered, "The child hangs."
    assert status == 0
    return answer


@contextmanager
def another_thread(work):
    """Let another thread do some work again and again; yield the list of what is done."""
    stop, done, errors = threading.Event(), [], []

    def repeat():
        try:
            while not stop.is_set():
                done.append(work())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join(SECONDS)
    assert not thread.is_alive()
    assert errors == []
    assert done


def embed(method, X):
    return NeighborEmbedding(method=method, n_neighbors=5, max_iter=250, random_state=0).fit(X).embedding_


@pytest.mark.parametrize("method", ["umap", "tsne"])
def test_a_pool_of_forked_workers_embeds(method, iris):
    X = iris[0][::2]
    expected = embed(method, X)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        # A worker that is killed is replaced and its task is lost: without a limit, this would wait forever.
        results = pool.starmap_async(embed, [(method, X)] * 2).get(SECONDS)
    assert len(results) == 2
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_a_fork_while_another_thread_fits(wine):
    X, y = wine
    classifier = LANNClassifier(max_iter=1, random_state=0, n_jobs=2)

    def fit():
        return LANNClassifier(**classifier.get_params()).fit(X, y).predict_proba(X[:70] + 0.1).tobytes()

    expected = fit()
    with another_thread(fit) as fitted:
        answers = [in_fork(lambda: b"same" if fit() == expected else b"other") for _ in range(3)]
    assert answers == [b"same"] * 3
    assert set(fitted) == {expected}
