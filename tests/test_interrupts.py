"""KeyboardInterrupt at any step of the main thread leaves nothing behind, and is what the caller gets."""

import numpy as np
import pytest

from lann.streams import SAMKNN, SAMLANN

# Interrupts a call at every step at which Python looks for signals: as a function begins, after each call,
# and in each round of a loop. The exception is kept, and with it all variables of the functions that it left.
EVERY_STEP = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "2"
import dis, json, sys, threading, time
import scipy.linalg
from threadpoolctl import threadpool_info
from lann._threads import iterate_in_order, map_blocks, single_threaded_blas

def blas_threads():
    return sorted({library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"})

def other_threads():
    return [thread for thread in threading.enumerate()
            if thread is not threading.main_thread() and "_keep" not in thread.name]

def interrupted_at(step, call):
    n_steps, last = 0, {}
    def trace(frame, event, argument):
        nonlocal n_steps
        frame.f_trace_opcodes = True
        if event == "opcode":
            before = last.get(id(frame), "")
            last[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if before.startswith("CALL") or before == "RESUME" or "JUMP_BACKWARD" in before:
                n_steps += 1
                if n_steps == step:
                    raise KeyboardInterrupt
        elif event == "return":
            last.pop(id(frame), None)
        return trace
    sys.settrace(trace)
    try:
        call()
    except BaseException as error:
        return n_steps, error
    finally:
        sys.settrace(None)
    return n_steps, None

def nested():
    with single_threaded_blas():
        with single_threaded_blas():
            assert True

def blocks():
    map_blocks(lambda part: part.start, 200, 50, n_jobs=2)

def in_order():
    list(iterate_in_order(lambda number: number, 5, n_jobs=2))

found = {}
for call in (nested, blocks, in_order):
    call()
    interrupted_at(0, call)  # never; Python 3.12 traces steps from the second time on
    step, problems, errors = 0, [], set()
    while True:
        step += 1
        n_steps, error = interrupted_at(step, call)
        if n_steps < step:
            break
        errors.add(type(error).__name__)
        deadline = time.monotonic() + 60
        while (blas_threads() != [2] or other_threads()) and time.monotonic() < deadline:
            time.sleep(0.001)
        with single_threaded_blas():
            inside = blas_threads()
        outside = blas_threads()
        # Threads that the interrupted call had asked for may begin, and then end, only now.
        while other_threads() and time.monotonic() < deadline:
            time.sleep(0.001)
        if inside != [1] or outside != [2] or other_threads():
            problems.append([step, inside, outside, len(other_threads())])
            break
    call()
    found[call.__name__] = [step, sorted(errors), problems]
print(json.dumps(found))
"""

# Long calls of compiled functions, which return arrays, and a timer that ends during most of them.
COMPILED = """
import json, signal
import numpy as np
from lann.search._topk import smallest
rng = np.random.default_rng(0)
distances, indices = rng.uniform(size=(3000, 200)), np.tile(np.arange(200), (3000, 1))
smallest(distances, indices, 30)
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
found = []
for trial in range(20):
    error = None
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        for _ in range(50):
            smallest(distances, indices, 30)
    except BaseException as caught:
        error = type(caught).__name__
    found.append(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def every_step(in_new_process):
    return in_new_process(EVERY_STEP)


@pytest.mark.parametrize("call", ["nested", "blocks", "in_order"])
def test_an_interrupt_at_any_step_restores_blas_and_ends_threads(every_step, call):
    n_steps, errors, problems = every_step[call]
    assert n_steps > 20
    assert problems == []
    assert errors == ["KeyboardInterrupt"]


def test_an_interrupt_in_a_compiled_function_is_no_other_error(in_new_process):
    assert set(in_new_process(COMPILED)) == {"KeyboardInterrupt"}


@pytest.fixture(params=[SAMKNN, SAMLANN])
def stream(request):
    """A classifier for streams, and rows to come, of which some have a label before all others."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(160, 3)), rng.integers(0, 2, 160)
    new = np.where(np.arange(60) % 9 == 0, -1, y[100:])
    return request.param(random_state=0, window_size=80).fit(X[:100], y[:100]), X[100:], new


def learn_interrupted(stream, monkeypatch, *, after):
    """Learn rows, with an interrupt before or after the compiled function that learns them."""
    clf, X, y = stream
    learn = clf._learn

    def interrupted(*arguments):
        if after:
            learn(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(clf), "_learn", lambda self, *arguments: interrupted(*arguments))
    with pytest.raises(KeyboardInterrupt):
        clf.partial_fit(X, y)
    monkeypatch.undo()


def test_a_stream_has_learned_nothing_before_an_interrupt(stream, monkeypatch):
    clf, X, _ = stream
    before = clf.predict_proba(X)
    learn_interrupted(stream, monkeypatch, after=False)
    assert clf.classes_.tolist() == [0, 1]
    assert clf.n_seen_ == 100
    assert np.array_equal(clf.predict_proba(X), before)


def test_a_stream_has_learned_all_rows_after_an_interrupt(stream, monkeypatch):
    clf, X, y = stream
    other = type(clf)(**clf.get_params()).fit(*_first_rows())
    assert np.array_equal(other.predict_proba(X), clf.predict_proba(X))
    other.partial_fit(X, y)
    learn_interrupted(stream, monkeypatch, after=True)
    assert clf.classes_.tolist() == [-1, 0, 1]
    assert clf.n_seen_ == 160
    assert np.array_equal(clf.predict_proba(X), other.predict_proba(X))


def _first_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(160, 3)), rng.integers(0, 2, 160)
    return X[:100], y[:100]
