"""The files that a command reads and writes: what is written must not be what is read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from lann._files import check_different, is_descriptor, is_pipe, is_same_file
from lann.cli.consoles import printable

# Parameters of commands that name files.
INPUTS = ("model", "data", "test", "embedding")
OUTPUTS = ("output", "html", "picture", "checkpoint")
# Those of them that may be pipes.
TABLES = ("data", "test")
# Standard input, or standard output.
STANDARD = "-"


def check_files(options: Mapping[str, Any]) -> None:
    """Raise an error if a command would overwrite what it reads, or write two things to one file.

    A line on stderr says that a command waits for what is typed, or for another program at a named pipe.

    Parameters
    ----------
    options : mapping
        The values of all parameters of the command.
    """
    inputs, outputs = _paths(options, INPUTS), _paths(options, OUTPUTS)
    for path in outputs:
        if str(path) == STANDARD or is_same_file(path, 1):
            raise ValueError(
                f"{path} is standard output, where the command prints; give the name of a file to write."
            )
    check_different([0 if str(path) == STANDARD else path for path in inputs], outputs)
    for path in _paths(options, TABLES):
        if str(path) == STANDARD:
            if sys.stdin is not None and sys.stdin.isatty():
                typer.echo("Reading what is typed, until Ctrl-D", err=True)
        elif _is_named_pipe(path):
            typer.echo(printable(f"Reading {path}, a pipe, until nothing writes to it any more"), err=True)
    for path in filter(_is_named_pipe, outputs):
        typer.echo(printable(f"Writing to {path}, a pipe, as soon as something reads it"), err=True)


def _is_named_pipe(path: Path) -> bool:
    """Return whether a path is a pipe whose other end may be missing, as it never is in a shell's."""
    return is_pipe(path) and not is_descriptor(path)


def _paths(options: Mapping[str, Any], names: tuple[str, ...]) -> list[Path]:
    """Return the files that some options name."""
    values = [options.get(name) for name in names]
    listed = [path for value in values for path in (value if isinstance(value, list) else [value])]
    return [path for path in listed if isinstance(path, Path)]
