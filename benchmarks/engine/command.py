"""The command line of the benchmarks."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import benchmarks
from benchmarks.engine.benchmark import Benchmark, Report
from benchmarks.engine.checks import SHORT
from benchmarks.engine.files import require_writable, write_atomically
from benchmarks.engine.markdown import as_markdown
from benchmarks.engine.options import choose, parse_options
from benchmarks.engine.records import make_records
from benchmarks.engine.results import Results
from benchmarks.engine.run import Run
from benchmarks.engine.store import Store
from benchmarks.engine.terminal import results_console, run_with_progress, show_report

COMMAND = "python -m benchmarks"
NOT_BENCHMARKS = ("common", "engine")

SHORT_CHECK = 1  # of a benchmark that is strict
INVALID_INPUT = 2
INTERRUPTED = 130  # what a shell reports of a program that was ended by Ctrl-C

# OpenMP threads that spin while they wait make a method several times slower on a machine that has anything
# else to do. A package `benchmarks.NAME` can set other variables in its ENVIRONMENT.
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive"}


def main(arguments: list[str]) -> int:
    """
    Run a benchmark, and return the exit code.

    Parameters
    ----------
    arguments
        The command line: the name of a benchmark and its options.
    """
    if not arguments or arguments[0] in ("-h", "--help", "--list"):
        print(_overview())
        return 0
    try:
        return _run(arguments[0], arguments[1:])
    except (OSError, ValueError, ImportError) as error:
        print(_one_line(error), file=sys.stderr)
        return INVALID_INPUT


def benchmark_names() -> list[str]:
    """Return the names of all benchmarks: packages in `benchmarks` with a module `benchmark`."""
    found = [module.name for module in iter_modules(benchmarks.__path__) if module.ispkg]
    return sorted(name for name in found if name not in NOT_BENCHMARKS)


def load_benchmark(name: str) -> type[Benchmark[Any]]:
    """Import the definition of a benchmark, with its environment variables set before."""
    (name,) = choose([name], benchmark_names(), "benchmark")
    package = import_module(f"benchmarks.{name}")
    for variable, value in getattr(package, "ENVIRONMENT", ENVIRONMENT).items():
        os.environ.setdefault(variable, value)
    return import_module(f"benchmarks.{name}.benchmark").BENCHMARK


def _overview() -> str:
    names = benchmark_names()
    width = max(map(len, names))
    lines = [f"  {name:{width}}  {_summary(name)}" for name in names]
    usage = f"Usage: {COMMAND} NAME [options], and {COMMAND} NAME --help for the options."
    return "\n".join([usage, "", "Benchmarks:", *lines])


def _summary(name: str) -> str:
    return (import_module(f"benchmarks.{name}").__doc__ or "").partition("\n")[0]


def _run(name: str, arguments: list[str]) -> int:
    definition = load_benchmark(name)
    options = parse_options(
        definition.Options,
        arguments,
        command=f"{COMMAND} {name}",
        description=_summary(name),
        omitted=definition.omitted,
        texts={"parts": ", ".join(definition.parts), "quick": definition.quick},
    )
    for file in (options.json_file, options.markdown_file):
        if file is not None:
            require_writable(file)
    benchmark = definition(options)
    run = Run(benchmark, None if "results" in definition.omitted else _store(benchmark))
    console = results_console()
    try:
        run_with_progress(run)
    except KeyboardInterrupt:
        show_report(benchmark.report(run.results), console)
        console.print("Interrupted: the figures are of what was measured until then.")
        if run.store is not None:
            console.print("Measurements are stored: the same command resumes the run.")
        return INTERRUPTED
    report = benchmark.report(run.results)
    show_report(report, console)
    for path in write_files(benchmark, run.results, report):
        console.print(f"Wrote {path}", soft_wrap=True)
    return SHORT_CHECK if definition.strict and any(c.status == SHORT for c in report.checks) else 0


def _store(benchmark: Benchmark[Any]) -> Store:
    folder = benchmark.options.results
    if folder is None:
        from sklearn.datasets import get_data_home

        folder = Path(get_data_home()) / "lann" / "benchmarks"
    return Store(folder / benchmark.name / benchmark.variant)


def write_files(benchmark: Benchmark[Any], results: Results, report: Report) -> list[Path]:
    """Write the files that the options name, and return their paths."""
    options, written = benchmark.options, []
    if options.json_file is not None:
        text = json.dumps(make_records(benchmark, results, report), indent=2)
        write_atomically(options.json_file, f"{text}\n".encode())
        written.append(options.json_file)
    if options.markdown_file is not None:
        text = as_markdown(report, f"{COMMAND} {benchmark.name}")
        write_atomically(options.markdown_file, text.encode())
        written.append(options.markdown_file)
    return written


def _one_line(error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:  # from the system: without "[Errno 13]"
        text = f"{error.strerror}: {error.filename}." if error.filename else f"{error.strerror}."
    return " ".join(text.split()) or type(error).__name__
