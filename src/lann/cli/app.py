"""The app: its commands and `--version`."""

from __future__ import annotations

from typing import Annotated

import typer

from lann.cli.demo import demo
from lann.cli.embed import embed
from lann.cli.explain import explain
from lann.cli.fit import fit
from lann.cli.predict import predict

app = typer.Typer(
    name="lann",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, fit, predict, explain, embed):
    app.command()(command)


def _print_version(asked: bool) -> None:
    if asked:
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
    """Nearest neighbors that explain themselves.

    Every training point owns its metric, so that each prediction comes with the few examples that made it
    and the columns that mattered there. Start with `lann demo`.
    """


def main() -> None:
    app()
