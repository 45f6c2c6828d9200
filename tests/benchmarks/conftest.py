"""A small benchmark, results from plain tables, and the command line, for the tests of the benchmarks."""

from types import SimpleNamespace

import pytest

from benchmarks.engine import Benchmark, Job, Report, Results, Row, Table, check
from benchmarks.engine.command import main


@pytest.fixture
def command(tmp_path, capsys, monkeypatch):
    """Run `python -m benchmarks`; measurements are stored in a folder of the test."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "data-home"))
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")  # set by the command: restored after the test

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, stdout=printed.out, stderr=printed.err)

    return run


@pytest.fixture
def results_of():
    """Make results from {(part, method, data set): [values of each repeat]}."""

    def make(cells, **more):
        return Results({cell: dict(enumerate(repeats)) for cell, repeats in cells.items()}, **more)

    return make


class Toy(Benchmark):
    """Measures methods "a" and "b" in the parts "first" and "slow" with functions of the test."""

    name = "toy"
    parts = ("first", "slow")
    slow_parts = ("slow",)
    main_scores = {"first": "accuracy", "slow": "accuracy"}  # noqa: RUF012
    quick = "one repeat."

    n_runs = 0
    fingerprint = {"version": 1}  # noqa: RUF012
    failing: BaseException | None = None

    def jobs(self):
        for repeat in range(1 if self.options.quick else 3):
            for part in self.chosen:
                for method in ("a", "b"):
                    yield Job(
                        part, method, "x", repeat, lambda m=method, r=repeat: self.measure(m, r),
                        fingerprint=type(self).fingerprint, label=f"{method} on x, split {repeat + 1}",
                    )  # fmt: skip

    def measure(self, method, repeat):
        type(self).n_runs += 1
        if self.failing is not None and method == "b" and repeat == 1:
            raise self.failing
        return {method: {"accuracy": 0.5 + 0.1 * repeat, "seconds": 0.25, "note": "text"}}

    def describe(self, job, found):
        return f"accuracy {found[job.method]['accuracy']:.1f}"

    def report(self, results):
        found = results.part("first", "accuracy")
        rows = [Row(method, (f"{found.mean(method, 'x'):.3f}",)) for method in found.methods]
        done = None if found.mean("a", "x") is None else found.mean("a", "x") > 0.4
        table = Table("Accuracy", ("method", "x"), [("", rows)], tuple(results.notes()))
        return Report("Toy", "A test.", [table], [check("a: more than 0.4", done, "something")])


@pytest.fixture
def toy():
    """A class of its own for every test, since it counts its runs."""
    return type("Toy", (Toy,), {"n_runs": 0})
