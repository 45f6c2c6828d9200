"""Run a benchmark: jobs, stored measurements, tables, checks and the command line."""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import math
import os
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

Values = dict[str, Any]
"""The scores of one method in one repeat, by name; everything in it can be written as JSON."""

Found = dict[str, Values]
"""The outcome of a job: values by method. Most jobs measure a single method."""

FOLDER = Path(__file__).parent
COMMAND = "python -m benchmarks"
NAN, NONE = float("nan"), "–"
OK, SHORT, NOT_MEASURED = "ok", "SHORT", "not measured"


@dataclass(frozen=True)
class Job:
    """
    One measurement.

    `key` is what the outcome depends on beside the code; a job without one is measured in every run.
    """

    part: str
    method: str
    data: str
    repeat: int
    run: Callable[[], Found]
    key: Any = None


@dataclass
class Results:
    """Values by part, method and data set, then by repeat; scores that were not measured are NaN."""

    cells: dict[tuple[str, str, str], dict[int, Values]] = field(default_factory=dict)
    failures: dict[tuple[str, str, str], str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def methods(self, part: str) -> list[str]:
        return list(dict.fromkeys(method for name, method, _ in self.cells if name == part))

    def data_sets(self, part: str) -> list[str]:
        return list(dict.fromkeys(data for name, _, data in self.cells if name == part))

    def cell(self, part: str, method: str, data: str) -> dict[int, Values]:
        """Return the values by repeat; empty if one of the repeats failed."""
        if (part, method, data) in self.failures:
            return {}
        return dict(sorted(self.cells.get((part, method, data), {}).items()))

    def first(self, part: str, method: str, data: str) -> Values | None:
        """Return the values of the first repeat."""
        return next(iter(self.cell(part, method, data).values()), None)

    def values(self, part: str, method: str, data: str, score: str) -> list[float]:
        """Return a score of every repeat; empty if one of them does not have it."""
        values: list[Any] = [one.get(score) for one in self.cell(part, method, data).values()]
        return [] if None in values else values

    def mean(self, part: str, method: str, data: str | Sequence[str], score: str) -> float:
        """Return the mean over repeats and data sets; NaN unless all of these were measured."""
        names = [data] if isinstance(data, str) else data
        values = [self.values(part, method, name, score) for name in names]
        return statistics.fmean(map(statistics.fmean, values)) if values and all(values) else NAN

    def std(self, part: str, method: str, data: str | Sequence[str], score: str) -> float:
        """Return the standard deviation over repeats of the mean over data sets."""
        names = [data] if isinstance(data, str) else data
        values = [self.values(part, method, name, score) for name in names]
        if not values or min(map(len, values)) < 2 or len(set(map(len, values))) > 1:
            return NAN
        return statistics.stdev(map(statistics.fmean, zip(*values, strict=True)))

    def notes(self) -> list[str]:
        failed = [f"{method} failed on {data}: {text}" for (_, method, data), text in self.failures.items()]
        return failed + [f"Without {name}: {reason}" for name, reason in self.skipped.items()]


@dataclass(frozen=True)
class Table:
    """A table; a row with a single cell is the heading of a section, cells in ``**`` are highlighted."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: Sequence[str] = ()

    def as_text(self) -> str:
        lines = [[cell.replace("**", "") for cell in row] for row in (self.head, *self.rows)]
        full = [line for line in lines if len(line) > 1]
        widths = [max(map(len, column)) for column in zip(*full, strict=True)]
        texts = [self.title]
        for line in lines:
            cells = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=False)]
            texts.append(" ".join([line[0].ljust(widths[0]), *cells]).rstrip())
        return "\n".join([*texts, "", *self.notes, *([""] if self.notes else [])])

    def as_markdown(self) -> str:
        width = len(self.head)
        lines = [self.head, ("---", *["---:"] * (width - 1))]
        lines += [row if len(row) > 1 else (f"*{row[0]}*", *[""] * (width - 1)) for row in self.rows]
        grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join([f"## {self.title}", grid, *self.notes])


@dataclass(frozen=True)
class Check:
    """A requirement, what was measured, and the status: ok, SHORT or not measured."""

    check: str
    measured: str
    status: str


def check(requirement: str, value: float, *, least: float = -math.inf, most: float = math.inf) -> Check:
    """Check that a value is within bounds; NaN was not measured."""
    if math.isnan(value):
        return Check(requirement, "", NOT_MEASURED)
    return Check(requirement, f"{value:.4g}", OK if least - 1e-9 <= value <= most + 1e-9 else SHORT)


@dataclass(frozen=True)
class Report:
    """What is made of the results: a sentence on how they were measured, tables and checks."""

    introduction: str
    tables: list[Table]
    checks: list[Check] = field(default_factory=list)


class Benchmark:
    """
    A benchmark: which jobs there are, and which tables and checks are made of their results.

    Attributes
    ----------
    parts, slow_parts
        The parts that ``--only`` chooses from; those that ``--quick`` leaves out.
    main_score
        The score in the line of progress, if the values have it.
    quick
        What ``--quick`` measures, for ``--help``.
    strict
        Whether the exit code is 1 if a check falls short.
    """

    parts: ClassVar[tuple[str, ...]]
    slow_parts: ClassVar[tuple[str, ...]] = ()
    main_score: ClassVar[str] = "accuracy"
    quick: ClassVar[str]
    strict: ClassVar[bool] = False

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        """Add the options of this benchmark to the common ones."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        available = [part for part in self.parts if not (options.quick and part in self.slow_parts)]
        self.chosen = choose(options.only, available, "part")
        self.skipped: dict[str, str] = {}

    def jobs(self) -> Iterable[Job]:
        """Return the jobs in the order in which they are run; may fill `skipped`."""
        raise NotImplementedError

    def warm_up(self, jobs: list[Job]) -> None:
        """Compile or load, untimed, what these jobs need."""

    def report(self, results: Results) -> Report:
        """Make tables and checks of the results, which may be incomplete."""
        raise NotImplementedError


def choose(names: Iterable[str], available: Iterable[str], what: str) -> list[str]:
    """Return the names that were given, in the order of those available; by default all."""
    known, given = list(available), list(names or ())
    for name in given:
        if name not in known:
            raise ValueError(f"There is no {what} {name!r}; the {what}s are {', '.join(known)}.")
    return [name for name in known if not given or name in given]


def highlight(cells: Sequence[str], values: Sequence[float], *, largest: bool = True) -> tuple[str, ...]:
    """Mark the cells with the best values, as they are printed with three digits."""
    known = [round(value, 3) for value in values if not math.isnan(value)]
    best = (max if largest else min)(known, default=NAN)
    return tuple(f"**{c}**" if round(v, 3) == best else c for c, v in zip(cells, values, strict=True))


def share(value: float, digits: int = 3, spread: float = NAN) -> str:
    """Write a number from 0 to 1 without the leading zero: ".954", ".954 ± .012"."""
    if math.isnan(value):
        return NONE
    text = f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"
    return text if math.isnan(spread) else f"{text} ± {share(spread, digits)}"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with `digits` significant digits, without an exponent."""
    if value is None or math.isnan(value):
        return NONE
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"


def seconds_of(run: Callable[[], Any]) -> float:
    """Call a function, and return how long it took."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def time_in_turns(
    ours: Callable[[], Any], other: Callable[[], Any], *, repeats: int, warm_up: bool = True
) -> tuple[list[float], list[float]]:
    """Time both sides in turns, so that other load on the machine slows down both alike."""
    if warm_up:
        ours()
        other()
    turns = [(seconds_of(ours), seconds_of(other)) for _ in range(repeats)]
    return [turn[0] for turn in turns], [turn[1] for turn in turns]


def peak_memory() -> int:
    """Return the largest number of bytes that this process has held."""
    try:  # on Linux, of this process alone; the resource usage includes the process that started it
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def held_memory() -> int:
    """Return the number of bytes that the process holds now; where the system does not say, the peak."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return peak_memory()


def reset_peak() -> int:
    """Start a new peak where the system allows it, and return the memory from which it is counted."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return held_memory()
    except OSError:
        return peak_memory()


@cache
def code_digest() -> str:
    """Return a digest of the code of lann and of the benchmarks."""
    import lann

    files = [path for root in (Path(lann.__file__).parent, FOLDER) for path in sorted(root.rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def run_jobs(benchmark: Benchmark, store: Path | None) -> Results:
    """Run the jobs of which no outcome is stored; an interrupt ends the run with what was measured."""
    jobs = list(benchmark.jobs())
    results = Results(skipped=benchmark.skipped)
    stored = {}
    if store is not None and store.is_file() and not benchmark.options.fresh:
        stored = dict(map(json.loads, store.read_text("utf-8").splitlines()))
    waiting = []
    for job in jobs:
        text = repr((job.part, job.method, job.data, job.repeat, job.key, code_digest()))
        digest = hashlib.sha256(text.encode()).hexdigest()
        if job.key is not None and digest in stored:
            _add(results, job, stored[digest])
        else:
            waiting.append((job, digest))
    if len(waiting) < len(jobs):
        print(f"{len(jobs) - len(waiting)} measurements of earlier runs are reused.", file=sys.stderr)
    try:
        benchmark.warm_up([job for job, _ in waiting])
        for position, (job, digest) in enumerate(waiting):
            found = _run_one(benchmark, job, results, f"[{position + 1}/{len(waiting)}]")
            if found is not None and job.key is not None and store is not None:
                store.parent.mkdir(parents=True, exist_ok=True)
                with store.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([digest, found]) + "\n")
    except KeyboardInterrupt:
        results.skipped["the rest"] = "the run was interrupted; the same command resumes it."
    return results


def _add(results: Results, job: Job, found: Found) -> None:
    for method, values in found.items():
        results.cells.setdefault((job.part, method, job.data), {})[job.repeat] = values


def _run_one(benchmark: Benchmark, job: Job, results: Results, position: str) -> Found | None:
    if (job.part, job.method, job.data) in results.failures:
        return None
    start = time.perf_counter()
    found = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = job.run()
    except Exception as error:
        results.failures[job.part, job.method, job.data] = (
            " ".join(str(error).split()) or type(error).__name__
        )
        outcome = f"failed: {error}"
    if found is not None:
        _add(results, job, found)
        score = benchmark.main_score
        outcome = ", ".join(f"{name} {number(v.get(score), 4)}" for name, v in found.items() if score in v)
    title = f"{job.part}: {job.method} on {job.data}, {job.repeat}"
    print(f"{position} {title}: {outcome} ({time.perf_counter() - start:.1f} s)", file=sys.stderr, flush=True)
    return found


def benchmark_names() -> dict[str, Path]:
    """Return the benchmarks by name: modules and packages whose file defines ``BENCHMARK``."""
    files = [*FOLDER.glob("*.py"), *FOLDER.glob("*/benchmark.py")]
    found = {path: path.read_text("utf-8") for path in sorted(files)}
    names = {
        p: p.stem if p.stem != "benchmark" else p.parent.name
        for p, t in found.items()
        if "\nBENCHMARK = " in t
    }
    return {name: path for path, name in sorted(names.items(), key=lambda pair: pair[1])}


def _summary(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def parse(name: str, arguments: list[str]) -> Benchmark:
    """Import a benchmark, and make an instance for these options."""
    path = benchmark_names()[choose([name], benchmark_names(), "benchmark")[0]]
    if name != "speed":
        # OpenMP threads that spin while they wait slow down a machine that has anything else to do.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    module = ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
    definition = import_module(module).BENCHMARK
    parser = argparse.ArgumentParser(f"{COMMAND} {name}", description=_summary(path), allow_abbrev=False)
    add = parser.add_argument
    add("--only", action="append", metavar="PART", help=f"Only this part: {', '.join(definition.parts)}.")
    add("--quick", action="store_true", help=f"Measure less: {definition.quick}")
    add("--jobs", type=positive, default=2, dest="n_jobs", help="Number of threads, for every method alike.")
    add("--json", type=Path, metavar="FILE", help="Also write all values to this file.")
    add("--markdown", type=Path, metavar="FILE", help="Also write the tables to this file.")
    add("--results", type=Path, metavar="FOLDER", help="Where measurements are stored.")
    add("--fresh", action="store_true", help="Do not reuse stored measurements.")
    definition.add_options(parser)
    return definition(parser.parse_args(arguments))


def positive(text: str) -> int:
    """Read a positive number from the command line."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {text}")
    return int(text)


def main(arguments: list[str]) -> int:
    """Run a benchmark, and return the exit code: 1 for a check that falls short, 2 for bad input."""
    if not arguments or arguments[0] in ("-h", "--help", "--list"):
        print(f"Usage: {COMMAND} NAME [options], and {COMMAND} NAME --help for the options.\n\nBenchmarks:")
        for name, path in benchmark_names().items():
            print(f"  {name:13} {_summary(path)}")
        return 0
    try:
        benchmark = parse(arguments[0], arguments[1:])
        options = benchmark.options
        folder = options.results
        if folder is None:
            from sklearn.datasets import get_data_home

            folder = Path(get_data_home()) / "lann" / "benchmarks"
        results = run_jobs(benchmark, folder / f"{arguments[0]}.jsonl")
        report = benchmark.report(results)
    except (OSError, ValueError, ImportError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    notes = results.notes()
    print("\n".join([report.introduction, *notes, ""]))
    for table in report.tables:
        print(table.as_text())
    for one in report.checks:
        print(f"{one.status:12} {one.check}{': ' if one.measured else ''}{one.measured}")
    _write_files(options, results, report, arguments[0])
    return int(benchmark.strict and any(one.status == SHORT for one in report.checks))


def _write_files(options: argparse.Namespace, results: Results, report: Report, name: str) -> None:
    if options.json is not None:
        options.json.write_text(json.dumps(list(_records(results, report)), indent=1) + "\n", "utf-8")
    if options.markdown is not None:
        texts = [f"# {name}", f"{report.introduction} Written by `{COMMAND} {name}`.", *results.notes()]
        texts += [table.as_markdown() for table in report.tables if table.rows]
        if report.checks:
            rows = [(one.status, one.check, one.measured) for one in report.checks]
            texts.append(Table("Checks", ("", "check", "measured"), rows).as_markdown())
        options.markdown.write_text("\n\n".join(texts) + "\n", "utf-8")


def _records(results: Results, report: Report) -> Iterator[Values]:
    for (part, method, data), repeats in results.cells.items():
        for repeat, values in repeats.items():
            yield {"part": part, "method": method, "data": data, "repeat": repeat, **values}
    for (part, method, data), reason in results.failures.items():
        yield {"part": part, "method": method, "data": data, "failure": reason}
    yield from map(asdict, report.checks)
