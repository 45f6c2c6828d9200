"""Run blocks of queries on threads, with BLAS limited to one thread."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")

# This many items take less time than starting threads or limiting BLAS.
FEW_ITEMS = 64


@cache
def _blas() -> ThreadpoolController:
    # Scanning the loaded libraries takes milliseconds, too long for a prediction of one row.
    return ThreadpoolController()


class _SingleThreadedBlas:
    """A context in which BLAS uses one thread; nested and concurrent uses are counted.

    The limit is global to the process: if every thread saved and restored it by itself, the last one could
    restore the "1" of another for good. The context is held around whole passes: threads of BLAS keep
    spinning for milliseconds after their use and would slow down ours.
    """

    def __init__(self) -> None:
        self._lock, self._n_users, self._limiter = threading.Lock(), 0, None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._n_users == 0:
                self._limiter = _blas().limit(limits=1, user_api="blas")
                for library in _blas().lib_controllers:
                    # From threadpoolctl 3.7 on, no thread but the one that set a limit could restore it.
                    if hasattr(library, "clear_controlling_thread"):
                        library.clear_controlling_thread()
            self._n_users += 1
        try:
            yield
        finally:
            with self._lock:
                # It is 0 already if the process was forked inside the block.
                self._n_users = max(self._n_users - 1, 0)
                if self._n_users == 0:
                    self._restore()

    def _restore(self) -> None:
        limiter, self._limiter = self._limiter, None
        if limiter is not None:
            limiter.restore_original_limits()

    def reset_after_fork(self) -> None:
        # The child has one thread, which holds neither the lock nor a limit.
        self._lock, self._n_users = threading.Lock(), 0
        self._restore()


single_threaded_blas = _SingleThreadedBlas()
if hasattr(os, "register_at_fork"):  # not where processes cannot fork
    os.register_at_fork(after_in_child=single_threaded_blas.reset_after_fork)


def map_blocks(
    function: Callable[[slice], Result], n_items: int, block: int, *, n_jobs: int | None = None
) -> list[Result]:
    """Call `function` on consecutive slices of at most `block` items, on `n_jobs` threads, in order.

    `n_jobs` is that of scikit-learn; inside another joblib call, None is one thread. The slices, and
    therefore the results, do not depend on `n_jobs`.
    """
    slices = [slice(start, min(start + block, n_items)) for start in range(0, n_items, block)]
    if n_items <= FEW_ITEMS and len(slices) <= 1:
        return [function(part) for part in slices]
    # joblib determines the number; its own thread pool takes 10 ms per call, these threads 0.1 ms.
    n_threads = min(joblib.effective_n_jobs(n_jobs), len(slices))
    with single_threaded_blas():
        if n_threads == 1:
            return [function(part) for part in slices]
        with ThreadPoolExecutor(n_threads) as executor:
            return list(executor.map(function, slices))


def iterate_in_order(
    function: Callable[[int], Result], n_items: int, *, n_jobs: int | None = None
) -> Generator[Result, None, None]:
    """Yield `function(0)`, `function(1)`, … in order, computed on `n_jobs` threads as they are taken.

    `n_jobs` is as in `map_blocks`. At most two results per thread wait to be taken. When the generator is
    closed, calls that have begun end first.
    """
    n_threads = min(joblib.effective_n_jobs(n_jobs), n_items)
    if n_threads <= 1:
        yield from map(function, range(n_items))
        return
    with ThreadPoolExecutor(n_threads) as executor:
        waiting: deque[Future[Result]] = deque()
        try:
            for number in range(n_items):
                waiting.append(executor.submit(function, number))
                if len(waiting) == 2 * n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            executor.shutdown(cancel_futures=True)
