"""`lann serve`: a web service that predicts and explains rows by a saved model."""

from __future__ import annotations

from typing import Annotated

import typer

from lann.cli import options as opt
from lann.cli.output import Output

Token = Annotated[
    opt.Text,
    opt.option(
        "What requests must bring in Authorization: Bearer; better given as LANN_TOKEN.",
        envvar="LANN_TOKEN",
        show_envvar=False,
        default="none",
    ),
]


def serve(
    model: opt.ModelFile,
    *,
    host: Annotated[
        str, opt.option("Address to listen at; others than this computer need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, opt.option("Port to listen at; 0 is any that is free.")] = 8000,
    workers: Annotated[int, opt.at_least(1, "Number of processes, each with the model.")] = 1,
    token: Token = None,
    max_rows: Annotated[int, opt.at_least(1, "Rows of a request to predict.")] = 10_000,
    max_explained_rows: Annotated[int, opt.at_least(1, "Rows of other requests.")] = 100,
    max_bytes: Annotated[int, opt.at_least(1, "Bytes of the body of a request.")] = 10_000_000,
    max_seconds: Annotated[float, opt.option("Seconds that a request may take.")] = 30.0,
    max_requests: Annotated[int, opt.at_least(1, "Requests at a time in each process.")] = 200,
) -> None:
    """Serve predictions and explanations of a saved model over HTTP.

    POST rows as JSON or CSV to /predict, /explain, /neighbors or /counterfactual; GET /schema, /health and
    /openapi.json describe the service. It listens on this computer only; another --host needs a token. Ctrl-C
    stops it, after requests that have begun are answered.
    """
    try:
        from lann.service import Limits, serve
    except ImportError as error:
        raise ImportError(f"`lann serve` needs {error.name}: pip install 'lann[serve]'.") from error

    out = Output(False)
    limits = Limits(max_rows, max_explained_rows, max_bytes, max_seconds, max_requests)

    def say(address: str) -> None:
        out.print(f"{model} at {address}; stop with Ctrl-C")
        typer.echo("", nl=False)  # at once, also into a pipe

    try:
        serve(model, host=host, port=port, workers=workers, limits=limits, token=token, on_start=say)
    except KeyboardInterrupt:
        out.print("Stopped")
