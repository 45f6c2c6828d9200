"""Run blocks of queries on threads, with BLAS limited to one thread.

KeyboardInterrupt is raised between any two steps of the main thread: also in an `__enter__` that has begun to
change something, or in an `__exit__` or a `finally` that has not begun to change it back. So the main thread
only asks other threads, which are not interrupted, to change what all threads share, and `Guard` tells them
when to change it back. Events, conditions and futures, which `Thread.start` uses, have locks that an
interrupt may leave locked; the functions of a SimpleQueue, which are written in C, are not divided by it.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator
from functools import cache, partial
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import ref

import joblib
from threadpoolctl import ThreadpoolController

Argument = TypeVar("Argument")
Result = TypeVar("Result")

# This many items take less time than starting threads or limiting BLAS.
FEW_ITEMS = 64
# The thread that limits BLAS ends after so much time without a use.
IDLE_SECONDS = 1.0


class _Token:
    """An object that lives as long as the block of a with statement."""

    __slots__ = ("__weakref__",)


class Guard:
    """A context whose end is noticed, whatever happens. It is for with statements only.

    An exception that is raised as `__exit__` begins makes a context lose its end, and the traceback keeps all
    variables of the functions that it has left. It does not keep the functions that with statements have yet
    to call: the one of this context has a token to which there is no other reference.

    Parameters
    ----------
    begin : callable
        Called at the beginning of the block with a number, which no other block has, and with a weak
        reference to the token.
    end : callable
        Called at the end with the number.
    notice : callable
        Called with the weak reference if that still exists when the token dies: the block has ended. It has
        to be implemented in C, so that it is not interrupted, as `put` of a SimpleQueue is.
    """

    _numbers = count()

    def __init__(
        self,
        begin: Callable[[int, ref[_Token]], Any],
        end: Callable[[int], Any],
        notice: Callable[[ref[_Token]], Any],
    ) -> None:
        self._begin, self._end, self._notice = begin, end, notice
        self._number = next(self._numbers)

    def __enter__(self) -> None:
        self._begin(self._number, self._reference)

    @property
    def __exit__(self) -> Callable[..., None]:
        # With statements ask for this function before they call `__enter__`.
        token = _Token()
        self._reference = ref(token, self._notice)
        call = partial(_call_end, self._end, self._number)
        call.token = token  # type: ignore[attr-defined]
        return call


def _call_end(end: Callable[[int], Any], number: int, *error: object) -> None:
    end(number)


class _Beginning(NamedTuple):
    """A message that a use of one thread of BLAS begins; the answer is the error, if there is one."""

    number: int
    reference: ref[_Token]
    answer: SimpleQueue[BaseException | None]


class _SingleThreadedBlas:
    """A context in which BLAS uses one thread; nested and concurrent uses are counted.

    The limit is global to the process: if every thread saved and restored it by itself, the last one could
    restore the "1" of another for good. A thread of its own, the keeper, sets it before the first use and
    restores it after the last one. It ends when there was no use for a while. (threadpoolctl lets only one
    thread at a time set the limit, too.)

    The context is held around whole passes: threads of BLAS keep spinning for milliseconds after their use
    and would slow down ours.
    """

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        # Those of the uses that have begun and not ended.
        self._references: dict[int, ref[_Token]] = {}
        self._limiter: Any = None
        self._has_keeper = False
        # Beginnings of uses, queues to be answered, and references to tokens that have died.
        self._messages: SimpleQueue[Any] = SimpleQueue()

    def __call__(self) -> Guard:
        return Guard(self._begin, self._end, self._messages.put)

    def _begin(self, number: int, reference: ref[_Token]) -> None:
        if sys.is_finalizing():  # other threads do not run any more
            return
        with self._lock:
            if self._limiter is not None:
                self._references[number] = reference
                return
            answer: SimpleQueue[BaseException | None] = SimpleQueue()
            self._messages.put(_Beginning(number, reference, answer))
            has_keeper = self._has_keeper
        if not has_keeper:
            _thread.start_new_thread(_start_keeper, (self._keep, answer))
        error = answer.get()
        if error is not None:
            raise error

    def _end(self, number: int) -> None:
        # As long as the reference exists, the keeper learns of the end even if this is interrupted.
        reference = self._references.get(number)
        if reference is None or sys.is_finalizing():  # begun before a fork, or after the other threads ended
            return
        with self._lock:
            self._references.pop(number, None)
            if self._references:
                return
            answer: SimpleQueue[None] = SimpleQueue()
            self._messages.put(answer)
        answer.get()

    def _keep(self) -> None:
        """Limit BLAS when a use begins, and restore it when there is none; on a thread of its own."""
        with self._lock:
            if self._has_keeper:
                return
            self._has_keeper = True
        while True:
            try:
                message = self._messages.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._messages.empty() and self._limiter is None:
                        self._has_keeper = False
                        return
                continue
            answer = message.answer if isinstance(message, _Beginning) else message
            error = self._handle(message)
            if isinstance(answer, SimpleQueue):
                answer.put(error)
            del message, answer, error

    def _handle(self, message: Any) -> BaseException | None:
        """Limit BLAS if a use begins, restore it if there is no use; return the error, if there is one."""
        try:
            with self._lock:
                if isinstance(message, _Beginning):
                    if self._limiter is None:
                        self._limiter = _blas().limit(limits=1, user_api="blas")
                        self._limiter.__enter__()
                    self._references[message.number] = message.reference
                for number, reference in list(self._references.items()):
                    if reference() is None:
                        del self._references[number]
                if self._limiter is not None and not self._references:
                    limiter, self._limiter = self._limiter, None
                    limiter.__exit__(None, None, None)
        except BaseException as error:
            return error
        return None

    def reset_after_fork(self) -> None:
        # The child has one thread, which holds neither the lock nor a limit. It starts from the original
        # limits of the parent.
        limiter = self._limiter
        self._reset()
        if limiter is not None:
            thread = threading.Thread(target=limiter.restore_original_limits)
            thread.start()
            thread.join()


def _start_keeper(keep: Callable[[], None], answer: SimpleQueue[BaseException | None]) -> None:
    try:
        threading.Thread(target=keep, daemon=True).start()
    except BaseException as error:
        answer.put(error)


def _next(queue: SimpleQueue[Any]) -> Any:
    """Return what is next in a queue, None if it is empty."""
    try:
        return queue.get_nowait()
    except Empty:
        return None


@cache
def _blas() -> ThreadpoolController:
    # Scanning the loaded libraries takes milliseconds, too long for a prediction of one row.
    return ThreadpoolController()


single_threaded_blas = _SingleThreadedBlas()
if hasattr(os, "register_at_fork"):  # not where processes cannot fork
    os.register_at_fork(after_in_child=single_threaded_blas.reset_after_fork)


class _Answer(NamedTuple, Generic[Result]):
    """What a call has returned, or the exception that it has raised."""

    result: Result
    error: BaseException | None


class _Workers(Generic[Argument, Result]):
    """Threads that call a function, until the end of a block: `with workers.at_work(): …`.

    At the end, calls that have not begun are canceled, and those that have begun end first.
    """

    def __init__(self, function: Callable[[Argument], Result], n_threads: int) -> None:
        self._function, self._n_threads, self._n_started = function, n_threads, 0
        # Arguments and the queues of their answers; anything else is the end.
        self._calls: SimpleQueue[Any] = SimpleQueue()
        self._ended: SimpleQueue[None] = SimpleQueue()

    def at_work(self) -> Guard:
        return Guard(self._start, self._stop, self._calls.put)

    def submit(self, argument: Argument) -> Callable[[], Result]:
        """Let a thread call the function; return what waits for the result."""
        answers: SimpleQueue[_Answer[Result]] = SimpleQueue()
        self._calls.put((argument, answers))
        return partial(_result, answers)

    def _start(self, number: int, reference: ref[_Token]) -> None:
        answer: SimpleQueue[BaseException | None] = SimpleQueue()
        _thread.start_new_thread(self._start_threads, (reference, answer))
        error = answer.get()
        if error is not None and not self._n_started:
            raise error

    def _stop(self, number: int) -> None:
        if sys.is_finalizing():
            return
        while _next(self._calls) is not None:
            pass
        self._calls.put("end")
        for _ in range(self._n_started):
            self._ended.get()

    def _start_threads(self, reference: ref[_Token], answer: SimpleQueue[BaseException | None]) -> None:
        # The main thread has no reference to these: what Python calls when they are deleted must not be
        # interrupted, as the interrupt would be ignored.
        error = None
        try:
            for _ in range(self._n_threads):
                threading.Thread(target=self._work, args=(reference,), daemon=True).start()
                self._n_started += 1
        except BaseException as caught:  # fewer threads do, if there is one
            error = caught
        answer.put(error)

    def _work(self, reference: ref[_Token]) -> None:
        while isinstance(call := self._calls.get(), tuple) and reference() is not None:
            argument, answers = call
            try:
                answers.put(_Answer(self._function(argument), None))
            except BaseException as error:
                answers.put(_Answer(None, error))
            del call, argument, answers
        self._calls.put("end")  # of the next thread
        self._ended.put(None)


def _result(answers: SimpleQueue[_Answer[Result]]) -> Result:
    result, error = answers.get()
    if error is not None:
        raise error
    return result


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
    n_threads = _count_threads(n_jobs, len(slices))
    with single_threaded_blas():
        if n_threads == 1:
            return [function(part) for part in slices]
        # joblib determines the number; its own thread pool takes 10 ms per call, these threads 0.1 ms.
        workers = _Workers(function, n_threads)
        with workers.at_work():
            waiting = [workers.submit(part) for part in slices]
            return [wait() for wait in waiting]


def _count_threads(n_jobs: int | None, n_calls: int) -> int:
    if sys.is_finalizing():  # threads do not start any more
        return 1
    return min(joblib.effective_n_jobs(n_jobs), n_calls)


def iterate_in_order(
    function: Callable[[int], Result], n_items: int, *, n_jobs: int | None = None
) -> Generator[Result, None, None]:
    """Yield `function(0)`, `function(1)`, … in order, computed on `n_jobs` threads as they are taken.

    `n_jobs` is as in `map_blocks`. At most one result per thread waits to be taken. When the generator is
    closed, calls that have begun end first.
    """
    n_threads = _count_threads(n_jobs, n_items)
    if n_threads <= 1:
        yield from map(function, range(n_items))
        return
    workers = _Workers(function, n_threads)
    with workers.at_work():
        waiting: deque[Callable[[], Result]] = deque()
        for number in range(n_items):
            waiting.append(workers.submit(number))
            if len(waiting) == 2 * n_threads:
                yield waiting.popleft()()
        while waiting:
            yield waiting.popleft()()
