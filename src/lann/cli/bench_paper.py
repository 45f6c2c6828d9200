"""`lann bench paper`: the paper's table, measured again, with other learners beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lann.cli.bench_run import INTERRUPTED, check_outputs, write_files
from lann.cli.consoles import results as results_console
from lann.cli.errors import one_sentence

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from lann.bench.paper import PaperRun


@one_sentence
def paper(
    protocol: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="paper: 10 times trained on 25 % and tested on 75 %; cv: 10-fold cross-validation.",
        ),
    ] = "paper",
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this method; may be given repeatedly.")
    ] = None,
    data: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this data set; may be given repeatedly.")
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(min=1, max=10, help="Only the first so many of the 10 splits.", show_default="10"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small data sets, 3 splits, and only methods that are quick.")
    ] = False,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            help="Of the splits and the methods. 0 is for figures that are reported; for tuning, take 1000 "
            "and above, so that nothing is tuned on the reported splits.",
        ),
    ] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Threads, for every method alike.")] = 2,
    details: Annotated[bool, typer.Option("--details", help="Also print a table per data set.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures to this file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the tables to this file, as Markdown.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Where measurements are kept.", show_default="in scikit-learn's data home"
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw away what is kept of the selected methods and sets.")
    ] = False,
) -> None:  # fmt: skip
    """Measure LANN, its relatives and other learners on the paper's data sets.

    Every measurement is kept: a run that was interrupted goes on where it was, and a second run measures
    only what has changed. Data sets that cannot be loaded are left out, and named.
    """
    # Before OpenMP is loaded: threads that spin while they wait make a method many times slower, boosting
    # above all, on a machine that has anything else to do.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    check_outputs(json_file, markdown)
    run = _prepare(protocol, method, data, splits, quick, seed, jobs, results, fresh)
    console = results_console()
    try:
        with _progress() as bar:
            _measure(run, bar)
    except KeyboardInterrupt:
        _show(run, console, details)
        console.print("Interrupted. What is measured is kept: run the same command again to go on.")
        raise typer.Exit(INTERRUPTED) from None
    _show(run, console, details)
    _write(run, json_file, markdown, console)


def _prepare(
    protocol: str,
    methods: list[str] | None,
    data: list[str] | None,
    splits: int | None,
    quick: bool,
    seed: int,
    jobs: int,
    folder: Path | None,
    fresh: bool,
) -> PaperRun:
    from lann.bench.methods import choose_methods
    from lann.bench.paper import QUICK_SPLITS, PaperRun, choose_sets, load_sets
    from lann.bench.protocols import N_SPLITS, choose_protocol
    from lann.bench.store import Store
    from lann.datasets import cache_folder

    way = choose_protocol(protocol)
    rows = choose_methods(methods, quick=quick)
    names = choose_sets(data, quick=quick)
    store = Store(folder or cache_folder() / "bench", way.name, seed)
    if fresh:
        for row in rows:
            for name in names:
                store.discard(row.name, name)
    sets, skipped = load_sets(names)
    if not sets:
        raise ValueError(f"No data set could be loaded: {next(iter(skipped.values()))}")
    n_splits = splits or (QUICK_SPLITS if quick else N_SPLITS)
    return PaperRun(rows, sets, way, store, seed=seed, n_splits=n_splits, n_jobs=jobs, skipped=skipped)


def _measure(run: PaperRun, bar: Progress) -> None:
    task = bar.add_task("", total=None, left="")
    for step in run.steps():
        left = "" if step.seconds_left is None else f"{_duration(step.seconds_left)} left"
        bar.update(task, description=step.what, completed=step.done, total=step.total, left=left)


def _progress() -> Progress:
    """What is running, how far it is, how long it has taken and will take; only if stderr is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _show(run: PaperRun, console: Console, details: bool) -> None:
    from lann.bench.checks import run_checks
    from lann.bench.compare import compare
    from lann.bench.protocols import N_SPLITS, PROTOCOLS
    from lann.cli.paper_show import show_results

    found = run.results
    way = PROTOCOLS[found.protocol].description
    console.print(f"{found.n_splits} of {N_SPLITS} splits, seed {found.seed}: {way}.\n")
    show_results(found, compare(found), run_checks(found), console, details=details)


def _write(run: PaperRun, json_file: Path | None, markdown: Path | None, console: Console) -> None:
    from lann.bench.checks import run_checks
    from lann.bench.compare import compare
    from lann.bench.paper_markdown import as_markdown
    from lann.bench.records import records

    found = run.results
    judged = compare(found), run_checks(found)
    write_files(json_file, records(found, *judged), markdown, as_markdown(found, *judged), console)
