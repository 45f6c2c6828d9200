"""What benchmarks with tables and checks share in a terminal: their progress, and their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from lann._files import write_atomically
from lann.cli.consoles import progress
from lann.cli.tables import check_output

if TYPE_CHECKING:
    from rich.console import Console

    from lann.bench.jobs import Step


INTERRUPTED = 130  # what a shell reports of a program that was ended by Ctrl-C


class Run(Protocol):
    """Whatever measures step by step."""

    def steps(self) -> Iterator[Step]: ...


def check_outputs(*files: Path | None) -> None:
    """Raise now, rather than after the work, if one of the files cannot be written."""
    for file in files:
        if file is not None:
            check_output(file, kinds=())


def measure(run: Run) -> None:
    """A bar where there is a terminal, and everywhere a line for every measurement, on stderr."""
    with progress() as bar:
        task = bar.add_task("", total=None)
        for step in run.steps():
            if step.said:
                bar.console.print(step.said, markup=False, highlight=False, soft_wrap=True)
            bar.update(task, description=step.what, completed=step.done, total=step.total)


def measure_and_show(run: Run, show: Callable[[], None], console: Console) -> None:
    """Measure, then show it; if the user ends it before, show what there is, and end the program."""
    try:
        measure(run)
    except KeyboardInterrupt:
        show()
        console.print("Interrupted: these are the means of what was measured.")
        raise typer.Exit(INTERRUPTED) from None
    show()


def write_files(
    json_file: Path | None, records: list[dict[str, Any]], markdown: Path | None, text: str, console: Console
) -> None:
    """Write what was asked for, and say so."""
    for file, content in ((json_file, f"{json.dumps(records, indent=2)}\n"), (markdown, text)):
        if file is not None:
            write_atomically(file, content.encode())
            console.print(f"Wrote {file}", soft_wrap=True)
