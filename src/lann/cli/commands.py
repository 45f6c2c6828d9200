"""The commands, and `--version`."""

from __future__ import annotations

from typing import Annotated

import typer

from lann.cli.counterfactual import counterfactual
from lann.cli.demo import demo
from lann.cli.embed import embed
from lann.cli.errors import Commands
from lann.cli.evaluate import evaluate
from lann.cli.explain import explain
from lann.cli.fit import fit
from lann.cli.info import info
from lann.cli.predict import predict
from lann.cli.stream import stream
from lann.cli.suspects import suspects

app = typer.Typer(
    name="lann",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# The commands as `lann --help` lists them.
COMMANDS = {
    "Start here": (demo,),
    "Models": (fit, evaluate, info),
    "New rows": (predict, explain, counterfactual),
    "Streams": (stream,),
    "Data": (embed, suspects),
}
for panel, commands in COMMANDS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)


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
