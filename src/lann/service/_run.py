"""Run the service of a model file, in one or more processes."""

from __future__ import annotations

import json
import os
import socket
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import uvicorn
from fastapi import FastAPI

from lann._support.validation import Integer, validate
from lann.service._app import create_app
from lann.service._limits import Limits
from lann.tables import TableModel, TableWarning

# What the processes of a service know of it.
SETTINGS = "LANN_SERVICE"
LOCAL = ("localhost", "127.0.0.1", "[::1]")
BACKLOG = 2048
# Seconds after which a process that says nothing is replaced, such as one that reads the model.
LONGEST_START = 120
# Fewest characters of a token, so that it cannot be guessed.
LEAST_TOKEN = 16


def serve(
    path: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    limits: Limits | None = None,
    token: str | None = None,
    on_start: Callable[[str], Any] = print,
) -> None:
    """Serve a model until the process is told to stop; requests that have begun are answered first.

    Parameters
    ----------
    path : str or path-like
        A model file.
    host : str, default="127.0.0.1"
        Address to listen at; others than those of this computer need a token.
    port : int, default=8000
        0 is any that is free.
    workers : int, default=1
        Number of processes, each with the model.
    limits : Limits or None, default=None
        None is ``Limits()``.
    token : str or None, default=None
        As for `create_app`.
    on_start : callable, default=print
        Called with the address of the service; several processes listen there once they have the model.

    Raises
    ------
    ValueError
        If the file is no model file, or an argument is invalid.
    OSError
        If there is no such file, or the port is in use.

    See Also
    --------
    create_app : The service as an application, for any ASGI server.

    Examples
    --------
    >>> from lann.service import serve
    >>> serve("model.lann", host="0.0.0.0")
    Traceback (most recent call last):
    ValueError: A service that others can reach at 0.0.0.0 needs a token.
    """
    validate("port", port, Integer(0, 65_535))
    validate("workers", workers, Integer(1, 1000))
    is_local = host in ("localhost", "127.0.0.1", "::1")
    if token is None and not is_local:
        raise ValueError(f"A service that others can reach at {host} needs a token.")
    if token is not None and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        raise ValueError(f"A token must have {LEAST_TOKEN} or more printable characters of ASCII.")
    limits = Limits() if limits is None else limits
    settings = {"path": os.fspath(path), "limits": asdict(limits), "token": token, "is_local": is_local}
    app = _create(settings)  # an error in the file is an error here, whatever the number of processes
    options: dict[str, Any] = {
        "log_level": "warning", "access_log": False, "server_header": False, "proxy_headers": False,
        "timeout_graceful_shutdown": max(round(limits.max_seconds), 1), "lifespan": "off",
    }  # fmt: skip
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=BACKLOG) as listener:
        port = listener.getsockname()[1]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        if workers == 1:
            on_start(address)
            uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[listener])
            return
    on_start(address)
    os.environ[SETTINGS] = json.dumps(settings)
    factory = "lann.service._run:worker_app"
    options |= {"workers": workers, "timeout_worker_healthcheck": LONGEST_START}
    uvicorn.run(factory, factory=True, host=host, port=port, backlog=BACKLOG, **options)


def worker_app() -> FastAPI:
    """Return the service of one of several processes."""
    return _create(json.loads(os.environ[SETTINGS]))


def _create(settings: dict[str, Any]) -> FastAPI:
    # These are for people, and would be kept for each different text.
    warnings.simplefilter("ignore", TableWarning)
    return create_app(
        TableModel.load(settings["path"]),
        limits=Limits(**settings["limits"]),
        token=settings["token"],
        hosts=LOCAL if settings["is_local"] else None,
    )
