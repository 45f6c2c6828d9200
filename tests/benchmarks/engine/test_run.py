import pytest

from benchmarks.engine import Options
from benchmarks.engine.run import Run
from benchmarks.engine.store import Store


@pytest.fixture
def run(toy, tmp_path):
    """Make a run of the small benchmark; all runs of a test share a store."""

    def make(**options):
        return Run(toy(Options(**options)), Store(tmp_path / "store"))

    return make


def test_jobs_run_in_order_and_report_what_they_found(run):
    steps = list(run(only=("first",)).steps())
    assert [step.label for step in steps[:2]] == ["a on x, split 1", "b on x, split 1"]
    assert [step.n_done for step in steps] == list(range(7))
    assert {step.n_total for step in steps} == {6}
    assert [step.message.rpartition(" (")[0] for step in steps[1:3]] == [
        "a on x, split 1: accuracy 0.5", "b on x, split 1: accuracy 0.5"
    ]  # fmt: skip
    assert steps[0].seconds_left is None
    assert steps[-2].seconds_left > 0


def test_quick_leaves_out_slow_parts(toy, run):
    quick = run(quick=True)
    list(quick.steps())
    assert toy.n_runs == 2
    with pytest.raises(ValueError, match="There is no part 'slow' with --quick; the parts are first"):
        run(quick=True, only=("slow",))


def test_a_second_run_reuses_all_measurements(toy, run):
    first = run()
    list(first.steps())
    again = run()
    assert (again.n_reused, again.results.cells) == (12, first.results.cells)
    assert [step.label for step in again.steps()] == ["done"]
    assert toy.n_runs == 12


def test_measurements_are_repeated_if_something_changed_or_on_request(toy, run):
    list(run(only=("first",)).steps())
    list(run(only=("first",), fresh=True).steps())
    assert toy.n_runs == 12
    toy.fingerprint = {"version": 2}
    list(run(only=("first",)).steps())
    assert toy.n_runs == 18


def test_an_interrupted_run_is_resumed(toy, run):
    toy.failing = KeyboardInterrupt()
    interrupted = run(only=("first",))
    with pytest.raises(KeyboardInterrupt):
        list(interrupted.steps())
    assert list(interrupted.results.part("first").cell("b", "x")) == [0]
    assert interrupted.results.n_missing == 3
    toy.failing, toy.n_runs = None, 0
    resumed = run(only=("first",))
    list(resumed.steps())
    assert toy.n_runs == 3
    assert resumed.results.is_complete


def test_a_failure_ends_its_cell_but_not_the_run(toy, run):
    toy.failing = ValueError("Singular\n  matrix.")
    failed = run(only=("first",))
    messages = [step.message for step in failed.steps()]
    assert "b on x, split 2: failed: Singular matrix." in messages
    assert failed.results.failures == {("first", "b", "x"): "Singular matrix."}
    assert len(failed.results.part("first").cell("a", "x")) == 3
    assert failed.results.is_complete
    assert toy.n_runs == 5  # the third split of b is not tried
    toy.failing = None
    again = run(only=("first",))
    list(again.steps())
    assert again.results.failures == {}
    assert toy.n_runs == 7


def test_warm_ups_run_before_the_first_job_and_their_errors_end_the_run(toy, run, monkeypatch):
    calls = []
    monkeypatch.setattr(
        toy, "warm_ups", lambda self, jobs: {"kernels": lambda: calls.append((len(jobs), toy.n_runs))}
    )
    assert next(step.label for step in run().steps()) == "warm-up: kernels"
    list(run().steps())
    assert calls == [(12, 0)]

    def fail():
        raise ImportError("umap-learn is missing.")

    monkeypatch.setattr(toy, "warm_ups", lambda self, jobs: {"kernels": fail})
    with pytest.raises(ImportError, match="umap-learn"):
        list(run(fresh=True).steps())
