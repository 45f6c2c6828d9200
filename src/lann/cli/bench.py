"""`lann bench`: the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lann._files import write_atomically
from lann.cli.bench_embeddings import embeddings
from lann.cli.bench_explanations import explanations
from lann.cli.bench_paper import paper
from lann.cli.consoles import results
from lann.cli.errors import one_sentence
from lann.cli.tables import check_output

if TYPE_CHECKING:
    from rich.table import Table

    from lann.bench.timing import Figure, Missing

app = typer.Typer(no_args_is_help=True, help="Run the benchmarks behind the claims.")


@app.callback()
def bench() -> None:
    """Run the benchmarks behind the claims."""


app.command()(paper)
app.command()(explanations)
app.command()(embeddings)


@app.command()
@one_sentence
def speed(
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures to this file.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="Only this part: search, predict, online, fit, grid, growth, startup. May be repeated.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Threads for both sides.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, help="Turns of each side; the best counts.")] = 5,
) -> None:
    """Measure speed and memory against scikit-learn and faiss, both sides in one process."""
    from lann.bench.speed import parts

    available = parts(jobs, repeats)
    chosen = only or list(available)
    unknown = [name for name in chosen if name not in available]
    if unknown:
        raise ValueError(f"There is no part {unknown[0]!r}; the parts are {', '.join(available)}.")
    if json_file is not None:
        check_output(json_file, kinds=())
    console = results()
    lines = []
    for name in chosen:
        with console.status(f"measuring: {name}"):
            for line in available[name]():
                lines.append(line)
    console.print(_table(lines))
    for line in lines:
        if not hasattr(line, "ratio"):
            console.print(f"Not measured, {line.task} on {line.data_set}: {line.reason}")
    if json_file is not None:
        text = json.dumps([line.as_dict() for line in lines], indent=2)
        write_atomically(json_file, f"{text}\n".encode())
        console.print(f"Wrote {json_file}")


def _table(lines: list[Figure | Missing]) -> Table:
    """One section a task; narrow enough for a terminal of 80 columns."""
    from rich.table import Table
    from rich.text import Text

    from lann.bench.timing import Figure

    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("data")
    table.add_column("figure", justify="right", no_wrap=True)
    table.add_column("target", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("what it is", ratio=1)
    table.add_column("ours / other, s", justify="right", no_wrap=True)
    task = ""
    for line in lines:
        if not isinstance(line, Figure):
            continue
        if line.task != task:
            task = line.task
            table.add_row("")
            table.add_row(Text(task, style="bold"))
        spread = f" ± {line.std:.2f}" if line.std else ""
        other = "" if line.other_seconds is None else f" / {line.other_seconds:.2f}"
        table.add_row(
            line.data_set,
            f"{line.ratio:.2f}{line.unit}{spread}",
            f"{'≥' if line.more_is_better else '≤'} {line.target:g}{line.unit}",
            "ok" if line.reached else "SHORT",
            line.method,
            f"{line.seconds:.2f}{other}",
        )
    return table
