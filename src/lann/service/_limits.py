"""The border of the service: who may ask, how much, and how long; every error is one sentence."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from lann._support.validation import Integer, Number, validate

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# What a browser may do with an answer that it shows: nothing. Pages bring a policy of their own.
HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
# Anybody may ask whether the service runs.
OPEN_PATH = "/health"
PROBLEM = "application/problem+json"
BUSY = "The service has too many requests; try again later."


@dataclass(frozen=True)
class Limits:
    """What a service accepts; a request beyond a limit gets an error.

    Parameters
    ----------
    max_rows : int, default=10_000
        Rows of a request to predict.
    max_explained_rows : int, default=100
        Rows of other requests, each of which takes milliseconds.
    max_bytes : int, default=10_000_000
        Bytes of the body of a request.
    max_seconds : float, default=30.0
        Time of a request, from its start to the last byte of the answer.
    max_requests : int, default=200
        Requests at a time in each process, those that wait included.

    Raises
    ------
    ValueError
        If a limit is not positive.

    Examples
    --------
    >>> from lann.service import Limits
    >>> Limits(max_rows=500).max_rows
    500
    """

    max_rows: int = 10_000
    max_explained_rows: int = 100
    max_bytes: int = 10_000_000
    max_seconds: float = 30.0
    max_requests: int = 200

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            validate(name, value, Number(0, closed="neither") if name == "max_seconds" else Integer(1))


class Problem(Exception):
    """An error of a request: its status, and one sentence."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, " ".join(detail.split())


def problem_body(status: int, detail: str) -> bytes:
    """Return an error as problem+json (RFC 9457)."""
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return json.dumps(problem).encode()


class Border:
    """What every request passes before the service sees it.

    Parameters
    ----------
    app : callable
    limits : Limits
    token : str or None
        What a request must bring in ``Authorization: Bearer``; None is nothing.
    hosts : sequence of str or None
        Names by which the service may be called, so that no page of another site reaches it by a name of its
        own; None is any.
    """

    def __init__(self, app: App, limits: Limits, token: str | None, hosts: Sequence[str] | None) -> None:
        self.app, self.limits, self.hosts = app, limits, hosts
        self.authorization = None if token is None else f"Bearer {token}".encode()
        self.n_requests = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal is_started
            if message["type"] == "http.response.start":
                is_started, given = True, {name for name, _ in message["headers"]}
                added = ((name.encode(), value.encode()) for name, value in HEADERS.items())
                message["headers"] = [*message["headers"], *(pair for pair in added if pair[0] not in given)]
            await send(message)

        self.n_requests += 1
        try:
            self._check(scope)
            async with asyncio.timeout(self.limits.max_seconds):
                await self.app(scope, receive, send_with_headers)
        except (Problem, TimeoutError) as error:
            late = f"The request took more than {self.limits.max_seconds:g} seconds; send fewer rows."
            if not is_started:
                problem = error if isinstance(error, Problem) else Problem(503, late)
                await _send_problem(problem, send_with_headers)
        finally:
            self.n_requests -= 1

    def _check(self, scope: Message) -> None:
        """Raise Problem if a request may not pass."""
        headers = dict(scope["headers"])
        if self.hosts is not None:
            host = headers.get(b"host", b"").decode("latin-1").lower()
            if re.sub(r":\d+$", "", host) not in self.hosts:
                raise Problem(400, "The service is not called by this name of a host.")
        if self.authorization is not None and scope["path"] != OPEN_PATH:
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self.authorization):
                raise Problem(401, "The request needs the token of the service as Authorization: Bearer.")
        if self.n_requests > self.limits.max_requests:
            raise Problem(503, BUSY)


async def _send_problem(problem: Problem, send: Send) -> None:
    body = problem_body(problem.status, problem.detail)
    headers = [(b"content-type", PROBLEM.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(b"connection", b"close")] if problem.status in (413, 503) else []
    extra = {401: (b"www-authenticate", b"Bearer"), 503: (b"retry-after", b"1")}.get(problem.status)
    await send(
        {
            "type": "http.response.start",
            "status": problem.status,
            "headers": [*headers, *([] if extra is None else [extra])],
        }
    )
    await send({"type": "http.response.body", "body": body})
