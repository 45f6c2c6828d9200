import threading

import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info

from lann._support.threads import iterate_in_order, map_blocks

SEVERAL_BLAS_THREADS = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "2"
import json, threading
import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info
from lann._support.threads import map_blocks, single_threaded_blas
def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
assert set(blas_threads()) == {2}
"""


@pytest.mark.parametrize("n_jobs", [1, 2, None])
@pytest.mark.parametrize(("n_items", "block"), [(10, 3), (1, 100), (0, 10)])
def test_blocks_cover_all_items_in_order(n_items, block, n_jobs):
    parts = map_blocks(lambda part: list(range(n_items))[part], n_items, block, n_jobs=n_jobs)
    assert [item for part in parts for item in part] == list(range(n_items))
    assert max(map(len, parts), default=0) <= block


def test_several_threads():
    meeting = threading.Barrier(2, timeout=60)
    # Passes only if two blocks are worked on at once.
    assert len(map_blocks(lambda part: meeting.wait(), 2, 1, n_jobs=2)) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_block_reaches_the_caller(n_jobs):
    def blas_threads():
        return [library["num_threads"] for library in threadpool_info()]

    def fail(part):
        raise KeyError(f"block {part.start}")

    before = blas_threads()
    with pytest.raises(KeyError, match="block 0"):
        map_blocks(fail, 10, 2, n_jobs=n_jobs)
    assert blas_threads() == before


def test_blas_has_one_thread_inside_and_its_own_number_after(in_new_process):
    inside, during, results, after = in_new_process(
        SEVERAL_BLAS_THREADS
        + """
inside = [map_blocks(lambda part: blas_threads(), 4, 1, n_jobs=n_jobs) for n_jobs in (1, 2)]
entered, leave = threading.Event(), threading.Event()
def stay():
    with single_threaded_blas():
        entered.set()
        leave.wait(60)
thread = threading.Thread(target=stay)
with single_threaded_blas():
    thread.start()
    entered.wait(60)
during = blas_threads()  # the other is still inside
leave.set()
thread.join(60)
results = []
def work(seed):
    matrix = np.random.default_rng(seed).normal(size=(8, 8))
    for _ in range(50):
        results.append(map_blocks(lambda part: float((matrix @ matrix)[part].sum()), 8, 2, n_jobs=2))
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
print(json.dumps([inside, during, len(results), blas_threads()]))
"""
    )
    assert all(set(numbers) == {1} for blocks in inside for numbers in blocks)
    assert set(during) == {1}
    assert results == 200
    assert set(after) == {2}


def test_a_forked_child_starts_with_the_original_limits(in_new_process):
    fresh, inside = in_new_process(
        SEVERAL_BLAS_THREADS
        + """
with single_threaded_blas():
    if os.fork() == 0:
        fresh = blas_threads()
        with single_threaded_blas():
            print(json.dumps([fresh, blas_threads()]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
    )
    assert set(fresh) == {2}
    assert set(inside) == {1}


def test_none_is_one_thread_inside_another_parallel_call():
    def threads_used():
        names = map_blocks(lambda part: threading.current_thread().name, 4, 1, n_jobs=None)
        return set(names), threading.current_thread().name

    for used, caller in Parallel(n_jobs=2, backend="threading")(delayed(threads_used)() for _ in range(2)):
        assert used == {caller}


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_are_yielded_in_order(n_jobs):
    called = []
    results = iterate_in_order(lambda number: called.append(number) or number**2, 7, n_jobs=n_jobs)
    assert next(results) == 0
    assert len(called) <= 2 * n_jobs
    assert list(results) == [1, 4, 9, 16, 25, 36]
    assert list(iterate_in_order(lambda number: number, 0, n_jobs=n_jobs)) == []


def test_an_error_on_a_thread_is_raised_in_turn():
    results = iterate_in_order(lambda number: 1 / (number - 2), 10, n_jobs=2)
    assert [next(results), next(results)] == [-0.5, -1.0]
    with pytest.raises(ZeroDivisionError):
        next(results)
