"""The part "signals": an interrupt at any moment of a call."""

from __future__ import annotations

import signal
import sys
import threading
import time
import traceback
import warnings
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import joblib
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from tests.fuzz.outcomes import FOREIGN, RIGHT, WRONG, Outcome, WrongResult
from tests.fuzz.parts import Part
from tests.fuzz.signals.commands import COMMANDS, interrupt_command, prepare_commands
from tests.fuzz.signals.details import COMPLETE, FORGOTTEN, IGNORED, INTERRUPTED
from tests.fuzz.signals.operations import Operation, make_embedding, make_operations

SECONDS = 240.0
# One case in so many interrupts a command, which takes as long as a thousand others.
COMMAND_EVERY = 250
# And one in so many an embedding, which has to be prepared in every process.
EMBEDDING_EVERY = 50
# What is restored by another thread has this time, on a machine with much to do.
PATIENCE = 30.0
BLAS_THREADS = 2
# Names of the thread that limits BLAS, of one of umap, and of those of joblib's pool, with which scikit-learn
# fits a forest: joblib does not always end it if it is interrupted. All of these wait and do nothing.
MAY_STAY = ("(_keep)", "tqdm_monitor", "(worker)", "(_handle_")


def prepare(folder: Path) -> Part:
    """
    Call everything once, and measure how long it takes.

    Parameters
    ----------
    folder
        For temporary files.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)  # of few iterations
    operations = make_operations(folder)
    seconds = {operation.name: _seconds_of(operation) for operation in operations}
    prepare_commands(folder)

    def run(seed: int, number: int) -> Outcome:
        rng = np.random.default_rng((seed, number))
        if number % COMMAND_EVERY == COMMAND_EVERY - 1:
            return interrupt_command(str(rng.choice(list(COMMANDS))), float(rng.random()), folder)
        if number % EMBEDDING_EVERY == EMBEDDING_EVERY - 1:
            return interrupt(make_embedding(), float(rng.random()) * _embedding_seconds())
        operation = operations[int(rng.integers(len(operations)))]
        # Some after the end: what follows a call must not be affected, either.
        return interrupt(operation, float(rng.random()) * 1.05 * seconds[operation.name])

    return Part(run, SECONDS)


@cache
def _embedding_seconds() -> float:
    return _seconds_of(make_embedding())


def _seconds_of(operation: Operation) -> float:
    call, _ = operation.start()
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def interrupt(operation: Operation, after: float) -> Outcome:
    """
    Interrupt an operation, and check what is left.

    Parameters
    ----------
    operation
        What is called.
    after
        Seconds.
    """
    _give_blas_threads()
    # In children of multiprocessing, joblib has one thread for other backends.
    with joblib.parallel_config(backend="threading"):
        return _interrupt_and_check(operation, after)


def _interrupt_and_check(operation: Operation, after: float) -> Outcome:
    call, check = operation.start()
    interrupted = _Interrupted(operation.name, call, after)
    outcome = interrupted.run()
    if outcome.kind != RIGHT:
        return outcome
    try:
        _wait_until(lambda: set(blas_threads()) <= {BLAS_THREADS}, "BLAS has {} threads.", blas_threads)
        _wait_until(lambda: not other_threads(), "There are threads: {}.", other_threads)
        check()
    except WrongResult as error:
        return Outcome(WRONG, operation.name, f"{error} {interrupted.position}")
    except BaseException as error:
        return Outcome(FOREIGN, operation.name, f"afterwards: {error!r}", traceback.format_exc())
    return outcome


class _Interrupted:
    """A call that is interrupted by a timer."""

    def __init__(self, name: str, call: Any, after: float) -> None:
        self._name, self._call, self._after = name, call, after
        self._is_running, self._is_interrupted, self._is_forgotten = False, False, False
        self._ignored: list[type[BaseException]] = []
        self.position = ""

    def run(self) -> Outcome:
        before = signal.signal(signal.SIGALRM, self._interrupt)
        hooks = sys.unraisablehook, threading.excepthook
        sys.unraisablehook = threading.excepthook = self._note
        try:
            return self._run()
        finally:
            self._is_running = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            sys.unraisablehook, threading.excepthook = hooks

    def _run(self) -> Outcome:
        error = None
        try:
            self._is_running = True
            signal.setitimer(signal.ITIMER_REAL, max(self._after, 1e-6))
            self._call()
            self._is_running = False
        except BaseException as caught:
            self._is_running = False
            error = caught
        if error is not None and not isinstance(error, KeyboardInterrupt):
            trace = "".join(traceback.format_exception(error))
            return Outcome(FOREIGN, self._name, f"{error!r} {self.position}", trace)
        others = [kind.__name__ for kind in self._ignored if not issubclass(kind, KeyboardInterrupt)]
        if others:
            return Outcome(FOREIGN, self._name, f"ignored, or on a thread: {others} {self.position}")
        if error is None and self._is_interrupted:
            # Python itself ignores exceptions in functions that are called when an object is deleted.
            if self._ignored:
                return Outcome(RIGHT, self._name, IGNORED)
            if self._is_forgotten:
                return Outcome(RIGHT, self._name, FORGOTTEN)
            return Outcome(WRONG, self._name, f"The interrupt was lost. {self.position}")
        return Outcome(RIGHT, self._name, COMPLETE if error is None else INTERRUPTED)

    def _interrupt(self, number: int, frame: Any) -> None:
        if self._is_running:  # else the call has ended
            self._is_interrupted = True
            code = None if frame is None else frame.f_code
            self.position = "" if code is None else f"({Path(code.co_filename).name}, {code.co_name})"
            self._is_forgotten = code is not None and _numpy_forgets(code)
            raise KeyboardInterrupt

    def _note(self, ignored: Any) -> None:
        self._ignored.append(ignored.exc_type)


def _numpy_forgets(code: CodeType) -> bool:
    """Return whether NumPy calls a function to look at a type, and takes any exception for an answer."""
    parts = Path(code.co_filename).parts
    in_pandas = "pandas" in parts and ("dtypes" in parts or "arrays" in parts)
    return in_pandas or ("numpy" in parts and code.co_name == "npy_ctypes_check")


def blas_threads() -> list[int]:
    """Return the number of threads of every BLAS library."""
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def other_threads() -> list[str]:
    """Return the names of the threads beside the main one, and those that may stay."""
    names = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    return [name for name in names if not any(part in name for part in MAY_STAY)]


def _give_blas_threads() -> None:
    # On a thread that ends: threadpoolctl lets only one living thread set limits.
    thread = threading.Thread(target=lambda: threadpool_limits(BLAS_THREADS, user_api="blas"))
    thread.start()
    thread.join()


def _wait_until(holds: Any, text: str, found: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise WrongResult(text.format(found()))
        time.sleep(0.001)
