"""`lann bench embeddings`: how well embeddings tell classes apart, and what LANN's costs."""

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

    from lann.bench.embeddings.results import Results


@one_sentence
def embeddings(
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Data and splits of each kind: seeds 0, 1, …", show_default="5"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="1 seed, 1000 points, without cost: some two minutes.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Only this part: licorice, licorice-any, segmentation, cost. May be given repeatedly.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Threads, for every method alike.")] = 2,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures to this file.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the tables to this file, as Markdown.")
    ] = None,
) -> None:
    """Compare embeddings: PCA, LDA, GMLVQ, LMNN, UMAP, LGMLVQ and LANN, on held-out points above all.

    Licorice (sticks across which the class changes) along the axes and in any direction, and image
    segmentation; then what LANN's embedding costs beside UMAP. Needs lann[embed].
    """
    # As in `lann bench paper`: threads that spin while they wait slow down whatever runs beside them.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from lann.bench.embeddings.run import EmbeddingRun, choose_parts
    from lann.bench.embeddings.task import FULL, QUICK

    check_outputs(json_file, markdown)
    sizes = QUICK if quick else FULL
    if seeds is not None:
        sizes = replace(sizes, n_seeds=seeds)
    run = EmbeddingRun(sizes, choose_parts(only, quick=quick), n_jobs=jobs)
    console = results_console()
    measure_and_show(run, lambda: _show(run.results, console), console)
    _write(run.results, json_file, markdown, console)


def _show(results: Results, console: Console) -> None:
    from lann.bench.embeddings.checks import run_checks
    from lann.bench.embeddings.tables import all_grids
    from lann.cli.paper_show import show_checks, show_grid

    for grid in all_grids(results):
        show_grid(grid, console, titled=True)
    show_checks(run_checks(results), console)


def _write(results: Results, json_file: Path | None, markdown: Path | None, console: Console) -> None:
    from lann.bench.embeddings.checks import run_checks
    from lann.bench.embeddings.records import records
    from lann.bench.embeddings.tables import as_markdown

    checks = run_checks(results)
    write_files(json_file, records(results, checks), markdown, as_markdown(results, checks), console)
