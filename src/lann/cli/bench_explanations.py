"""`lann bench explanations`: whether explanations find the truth, and what they cost."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lann.cli.bench_run import check_outputs, measure_and_show, write_files
from lann.cli.consoles import results as results_console
from lann.cli.errors import one_sentence

if TYPE_CHECKING:
    from rich.console import Console

    from lann.bench.explanations.results import Results


@one_sentence
def explanations(
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Data sets of each size: generator seeds 0, 1, …", show_default="10"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="2 seeds, few rows, small real data sets: some two minutes.")
    ] = False,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this method; may be given repeatedly.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART", help="Only this part: planted, permuted, real, cost. May be given repeatedly."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Threads, for every model alike.")] = 2,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures to this file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the tables to this file, as Markdown.")
    ] = None,
) -> None:
    """Hold explanations against the truth, on data where it is known which features decide where.

    Also: whether predictions hang on the features that are named, on made and on real data; whether anything
    is found where there is nothing to find; and what explanations cost. SHAP and LIME come with lann[bench].
    """
    # As in `lann bench paper`: threads that spin while they wait slow down whatever runs beside them.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from lann.bench.explanations.explainers import choose_explainers
    from lann.bench.explanations.run import ExplanationRun, choose_parts
    from lann.bench.explanations.task import FULL, QUICK

    check_outputs(json_file, markdown)
    sizes = QUICK if quick else FULL
    if seeds is not None:
        sizes = replace(sizes, n_seeds=seeds)
    run = ExplanationRun(choose_explainers(method), sizes, choose_parts(only), n_jobs=jobs)
    console = results_console()
    measure_and_show(run, lambda: _show(run.results, console), console)
    _write(run.results, json_file, markdown, console)


def _show(results: Results, console: Console) -> None:
    from lann.bench.explanations.checks import run_checks
    from lann.bench.explanations.tables import all_grids
    from lann.cli.paper_show import show_checks, show_grid

    for grid in all_grids(results, lambda explainer: explainer.name):
        show_grid(grid, console)
    show_checks(run_checks(results), console)


def _write(results: Results, json_file: Path | None, markdown: Path | None, console: Console) -> None:
    from lann.bench.explanations.checks import run_checks
    from lann.bench.explanations.records import records
    from lann.bench.explanations.tables import as_markdown

    checks = run_checks(results)
    write_files(json_file, records(results, checks), markdown, as_markdown(results, checks), console)
