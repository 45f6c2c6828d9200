"""The files that a command reads and writes: what is written must not be what is read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from lann._files import check_different, is_descriptor, is_pipe

# Parameters of commands that name files.
INPUTS = ("model", "data", "test", "embedding")
OUTPUTS = ("output", "html", "picture", "checkpoint")
STANDARD_INPUT = "-"


def check_files(options: Mapping[str, Any]) -> None:
    """Raise an error if a command would overwrite what it reads, or write two things to one file.

    A line on stderr says that a command waits for a pipe or for what is typed.

    Parameters
    ----------
    options : mapping
        The values of all parameters of the command.
    """
    inputs, outputs = _paths(options, INPUTS), _paths(options, OUTPUTS)
    for path in outputs:
        if str(path) == STANDARD_INPUT:
            raise ValueError("Standard output has no place for a file; give the name of a file to write.")
    check_different([0 if str(path) == STANDARD_INPUT else path for path in inputs], outputs)
    for path in inputs:
        if str(path) == STANDARD_INPUT:
            if sys.stdin is not None and sys.stdin.isatty():
                typer.echo("Reading what is typed, until Ctrl-D", err=True)
        elif is_pipe(path) and not is_descriptor(path):
            typer.echo(f"Reading {path}, a pipe, until nothing writes to it any more", err=True)


def _paths(options: Mapping[str, Any], names: tuple[str, ...]) -> list[Path]:
    """Return the files that some options name."""
    values = [options.get(name) for name in names]
    listed = [path for value in values for path in (value if isinstance(value, list) else [value])]
    return [path for path in listed if isinstance(path, Path)]
