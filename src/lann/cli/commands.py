"""The commands with their errors, which are one line on stderr, and `--version`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from lann._support.files import check_different, is_same_file
from lann._support.format import printable
from lann.cli import INTERRUPTED, show_interrupt
from lann.cli.counterfactual import counterfactual
from lann.cli.demo import demo
from lann.cli.embed import embed
from lann.cli.evaluate import evaluate
from lann.cli.explain import explain
from lann.cli.explore import explore
from lann.cli.fit import fit
from lann.cli.info import info
from lann.cli.predict import predict
from lann.cli.serve import serve
from lann.cli.stream import stream
from lann.cli.suspects import suspects

app = typer.Typer(
    name="lann",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# The commands as `lann --help` lists them.
COMMANDS = {
    "Start here": (demo,),
    "Models": (fit, evaluate, explore, info),
    "New rows": (predict, explain, counterfactual, serve),
    "Streams": (stream,),
    "Data": (embed, suspects),
}
# Parameters of commands that name files.
INPUTS = ("model", "data", "test", "explorer", "constraints")
OUTPUTS = ("output", "html", "picture", "checkpoint")
TOO_LITTLE_MEMORY = (
    "There is not enough memory; `lann fit --max-rows` learns from a sample of the rows, and "
    "`lann predict -o` reads large .parquet and .csv files in parts."
)


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that its groups have as fields, such as those of `options.TableOptions`."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        group: Any = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            groups[name] = group
            parameters += inspect.signature(group, eval_str=True).parameters.values()
        else:
            parameters.append(parameter)

    @wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(**{field.name: options.pop(field.name) for field in fields(group)})
        command(**options)

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def report_errors_on_one_line(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command print an error as one line on stderr, without a traceback, and exit with code 2."""

    @wraps(command)
    def run(**options: Any) -> None:
        try:
            check_files(options)
            command(**options)
        except KeyboardInterrupt as error:
            show_interrupt()
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError:
            raise  # the reader of the output has ended, as `head` does
        except (OSError, ValueError, ImportError, MemoryError) as error:
            text = TOO_LITTLE_MEMORY if isinstance(error, MemoryError) else str(error)
            if isinstance(error, OSError) and error.strerror:  # from the system: without "[Errno 13]"
                text = f"{error.strerror}: {error.filename}." if error.filename else f"{error.strerror}."
            typer.echo(printable(" ".join(text.split())) or type(error).__name__, err=True)
            raise typer.Exit(2) from error

    return run


def check_files(options: Mapping[str, Any]) -> None:
    """Raise ValueError if a command would overwrite what it reads, or write two things to one file."""

    def paths(names: tuple[str, ...]) -> list[Path]:
        values = [options.get(name) for name in names]
        listed = [path for value in values for path in (value if isinstance(value, list) else [value])]
        return [path for path in listed if isinstance(path, Path)]

    inputs, outputs = paths(INPUTS), paths(OUTPUTS)
    for path in outputs:
        if str(path) == "-" or is_same_file(path, 1):
            raise ValueError(
                f"{path} is standard output, where the command prints; give the name of a file to write."
            )
    check_different([0 if str(path) == "-" else path for path in inputs], outputs)
    if Path("-") in inputs and sys.stdin is not None and sys.stdin.isatty():
        typer.echo("Reading what is typed, until Ctrl-D", err=True)


for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(report_errors_on_one_line(with_groups(command)))


def _print_version(requested: bool) -> None:
    if requested:
        from lann import __version__

        typer.echo(f"lann {__version__}")
        raise typer.Exit


@app.callback()
def lann(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Classify the rows of tables by nearest neighbors, and explain every prediction.

    Every training row measures distances with its own metric. A prediction comes with the training rows that
    voted and the columns that it depends on. Start with `lann demo`.
    """
