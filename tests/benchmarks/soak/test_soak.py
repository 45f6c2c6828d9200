"""The soak run: what it finds, what it counts, and a short run."""

import json
import tempfile
import threading
from itertools import count

import numpy as np
import pytest

from benchmarks.soak import rounds as rounds_module
from benchmarks.soak.calls import N_CASES, digest
from benchmarks.soak.checks import growth, make_checks, slope
from benchmarks.soak.plot import draw
from benchmarks.soak.resources import sample
from benchmarks.soak.rounds import Rounds

FLAT = {
    "memory": 500.0,
    "resident": 510.0,
    "threads": 5,
    "python_threads": 2,
    "open_files": 20,
    "temporary_files": 0,
    "n_calls": 10,
    "n_faults": 0,
    "faults": [],
    "counts": {"fit": 10},
    "spent": {"fit": 1.0},
}


def short_checks(**series):
    """Return the requirements that fall short if some figures are those of the series."""
    n_rounds = max(len(values) for values in series.values())
    rounds = [FLAT | {name: values[number] for name, values in series.items()} for number in range(n_rounds)]
    return [c.check for c in make_checks(rounds, failed=False) if c.status == "SHORT"]


def prepared(call, n_threads=2):
    rounds = Rounds(0, n_threads)
    rounds.calls = {"call": call}
    rounds.expected = {("call", case): digest([np.array([case])]) for case in range(N_CASES)}
    return rounds


def test_the_slope_is_that_of_a_line_with_outliers():
    assert slope([0.0, 2.0, 4.0, 100.0, 8.0, 10.0]) == 2.0
    assert slope([3.0]) == 0.0


def test_the_second_half_counts():
    rounds = [FLAT | {"memory": value} for value in (100.0, 200.0, 300.0, 400.0, 400.0, 401.0, 402.0, 403.0)]
    assert growth(rounds, "memory") == 3.0


def test_what_is_flat_is_ok():
    assert short_checks(memory=[300.0, 450.0, 490.0, 500.0, 501.0, 500.5, 502.0, 500.0]) == []


@pytest.mark.parametrize(
    ("series", "words"),
    [
        ({"memory": [500.0 + 5 * number for number in range(8)]}, "memory"),
        ({"threads": [5, 5, 5, 5, 5, 5, 5, 6]}, "threads of the system"),
        ({"python_threads": [2, 2, 2, 2, 3, 4, 5, 6]}, "threads of Python"),
        ({"open_files": [20, 20, 20, 20, 20, 21, 20, 20]}, "open files"),
        ({"temporary_files": [0, 1, 0, 0, 0, 0, 0, 0]}, "temporary files"),
        ({"n_faults": [0, 0, 0, 0, 0, 0, 1, 0]}, "every call"),
    ],
)
def test_what_grows_or_is_wrong_falls_short(series, words):
    (found,) = short_checks(**series)
    assert found.startswith(words)


def test_a_round_that_failed_falls_short():
    checks = make_checks([FLAT] * 8, failed=True)
    assert [c.check for c in checks if c.status == "SHORT"] == ["every round ends"]


def test_a_first_round_that_failed_falls_short():
    checks = make_checks([], failed=True)
    assert [c.check for c in checks if c.status == "SHORT"] == ["every round ends"]
    assert {c.status for c in make_checks([], failed=False)} == {"not measured"}


def test_few_rounds_have_no_verdict_on_growth():
    statuses = {c.check.split(":")[0]: c.status for c in make_checks([FLAT] * 3, failed=False)}
    assert statuses["memory"] == statuses["open files"] == "not measured"
    assert statuses["every call"] == "ok"


@pytest.fixture
def no_samples(monkeypatch):
    """Garbage is not collected after a round, which takes long among many tests."""
    monkeypatch.setattr(rounds_module, "sample", lambda folder: {})


def test_other_bits_and_errors_are_counted(no_samples):
    number = count()

    def call(case):
        turn = next(number)
        if turn % 3 == 1:
            raise ZeroDivisionError("a\nline")
        return [np.array([case + (turn % 3 == 2)])]

    found = prepared(call, n_threads=1).run(0, 0.05)
    assert found["n_calls"] == found["counts"]["call"] >= 3
    assert found["n_calls"] // 2 <= found["n_faults"] < found["n_calls"]
    texts = [fault.split(", case ")[1][3:] for fault in found["faults"]]
    assert set(texts) == {"ZeroDivisionError: a line", "other bits"}


def test_a_call_that_ends_its_thread_is_a_fault(no_samples):
    def call(case):
        raise SystemExit("end")

    found = prepared(call, n_threads=1).run(0, 0.05)
    assert found["n_faults"] == found["n_calls"] > 1
    assert found["faults"][0].endswith("SystemExit: end")


def test_the_order_of_calls_depends_on_seed_thread_and_round(no_samples):
    cases = {0: [], 1: []}
    for number, found in cases.items():
        rounds = prepared(lambda case, found=found: found.append(case) or [np.array([case])], n_threads=1)
        rounds.run(number, 0.05)
    n_common = min(map(len, cases.values()))
    assert n_common > 20
    assert cases[0][:n_common] != cases[1][:n_common]


def test_files_and_threads_that_are_left_are_counted():
    leave, files = threading.Event(), []

    def call(case):
        files.append(tempfile.NamedTemporaryFile(delete=False))  # noqa: SIM115
        threading.Thread(target=leave.wait, args=(60,)).start()
        return [np.array([case])]

    before = threading.active_count()
    try:
        found = prepared(call).run(0, 0.01)
    finally:
        leave.set()
    assert found["n_faults"] == 0
    assert found["temporary_files"] == found["n_calls"] == len(files)
    assert len(files) < found["python_threads"] <= before + len(files)  # threads of other tests may end
    for file in files:
        file.close()


def test_a_call_that_hangs_is_an_error(monkeypatch, capfd):
    monkeypatch.setattr(rounds_module, "PATIENCE", 0.05)
    leave = threading.Event()
    try:
        with pytest.raises(RuntimeError, match="has not ended"):
            prepared(lambda case: leave.wait(60)).run(0, 0.01)
    finally:
        leave.set()


def test_a_sample(tmp_path):
    tmp_path.joinpath("left").touch()
    found = sample(tmp_path)
    assert found["memory"] > 10
    assert found["temporary_files"] == 1
    assert found["python_threads"] >= 1


def test_digests_are_of_all_bits():
    one = np.array([0.1, 0.2])
    assert digest([one]) == digest([one.copy()])
    others = [one + 1e-17 * np.array([0, 1e2]), one.astype(np.float32), one[None], np.array(["a", None])]
    assert len({digest([array]) for array in (one, *others)}) == 5


@pytest.fixture(autouse=True)
def other_tests_allocate_as_before(monkeypatch):
    monkeypatch.setattr("benchmarks.soak.benchmark.use_one_arena", lambda: None)


def test_a_short_run(command, tmp_path):
    records = tmp_path / "records.json"
    calls = ("predict", "fit", "partial_fit and forget")
    options = [part for name in calls for part in ("--call", name)]
    run = command("soak", "--minutes", 0.02, "--threads", 2, *options, "--json", records)
    assert run.code == 0, run.stdout
    assert "every call" in run.stdout
    found = [record for record in json.loads(records.read_text()) if record["kind"] == "round"]
    assert len(found) == 1
    assert found[0]["n_calls"] > 0
    assert set(found[0]["counts"]) <= set(calls)
    draw(found, tmp_path / "picture.png")
    assert tmp_path.joinpath("picture.png").stat().st_size > 1000


def test_the_exit_code_says_if_a_check_falls_short(command, monkeypatch):
    monkeypatch.setattr(Rounds, "prepare", lambda self: None)
    wrong = FLAT | {"n_faults": 1, "faults": ["x, case 1: y"]}
    monkeypatch.setattr(Rounds, "run", lambda self, number, seconds: wrong)
    run = command("soak", "--quick")
    assert run.code == 1
    assert "SHORT" in run.stdout
    assert "x, case 1: y" in run.stdout


def test_the_exit_code_of_a_first_round_that_fails(command, monkeypatch):
    def fail(self, number, seconds):
        raise RuntimeError("A call has not ended.")

    monkeypatch.setattr(Rounds, "prepare", lambda self: None)
    monkeypatch.setattr(Rounds, "run", fail)
    run = command("soak", "--quick")
    assert run.code == 1
    assert "A call has not ended." in run.stdout


def test_an_unknown_call(command):
    run = command("soak", "--call", "sing")
    assert run.code == 2
    assert "There is no call 'sing'" in run.stderr
