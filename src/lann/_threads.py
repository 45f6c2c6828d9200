"""Run blocks of queries on threads, with BLAS limited to one thread."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")

# This many items take less time than starting threads or limiting BLAS.
FEW_ITEMS = 64


class _SingleThreadedBlas:
    """A context in which BLAS uses one thread; nested and concurrent uses are counted.

    The limit is global to the process: if every thread saved and restored it by itself, the last one could
    restore the "1" of another for good. threadpoolctl lets only one living thread set the limit, so it is set
    and restored by short-lived threads.

    The context is held around whole passes: threads of BLAS keep spinning for milliseconds after their use
    and would slow down ours.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limiter: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limiter = _on_its_own_thread(lambda: _blas().limit(limits=1, user_api="blas"))
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    _on_its_own_thread(self._limiter.restore_original_limits)
                    self._limiter = None

    def reset_after_fork(self) -> None:
        # The child has one thread, which holds neither the lock nor a limit. It starts from the original
        # limits of the parent.
        self._lock = threading.Lock()
        if self._limiter is not None:
            _on_its_own_thread(self._limiter.restore_original_limits)
        self._users, self._limiter = 0, None


def _on_its_own_thread(call: Callable[[], Result]) -> Result:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


@cache
def _blas() -> ThreadpoolController:
    # Scanning the loaded libraries takes milliseconds, too long for a prediction of one row.
    return ThreadpoolController()


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
    if not slices:
        return []
    if len(slices) == 1 and n_items <= FEW_ITEMS:
        return [function(part) for part in slices]
    n_threads = min(joblib.effective_n_jobs(n_jobs), len(slices))
    with single_threaded_blas():
        if n_threads == 1:
            return [function(part) for part in slices]
        # joblib determines the number; its own thread pool takes 10 ms per call, this one 0.1 ms.
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, slices))


def iterate_in_order(
    function: Callable[[int], Result], n_items: int, *, n_jobs: int | None = None
) -> Generator[Result, None, None]:
    """Yield `function(0)`, `function(1)`, … in order, computed on `n_jobs` threads as they are taken.

    `n_jobs` is as in `map_blocks`. At most one result per thread waits to be taken. When the generator is
    closed, calls that have begun end first.
    """
    n_threads = min(joblib.effective_n_jobs(n_jobs), n_items)
    if n_threads <= 1:
        yield from map(function, range(n_items))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for number in range(n_items):
                waiting.append(pool.submit(function, number))
                if len(waiting) == 2 * n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
