"""The application: its paths, and how work is done beside them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any

import pandas as pd
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from lann import __version__
from lann._support.format import to_plain
from lann.service import _answers
from lann.service._limits import PROBLEM, Border, Limits, Problem, problem_body
from lann.service._rows import CSV, JSON, RowReader
from lann.tables import TableModel

# The threads that compute; each has its share of the cores.
N_THREADS = 2
Compute = Callable[[TableModel, pd.DataFrame], _answers.Answer]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for status, text in {
        400: "The request cannot be read.", 401: "The token is missing.", 413: "The body is too large.",
        415: "The body has another media type.", 422: "The rows are not those of the model, or too many.",
        503: "There are too many requests, or the request took too long.",
    }.items()
}  # fmt: skip
SCHEMAS = {
    "Problem": {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
            "detail": {"type": "string", "description": "One sentence."},
        },
    },
    "Answer": {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
    },
}  # fmt: skip
ANSWER = {
    200: {
        "description": "The results; CSV if the request accepts it alone.",
        "content": {
            JSON: {"schema": {"$ref": "#/components/schemas/Answer"}}, CSV: {"schema": {"type": "string"}},
        },
    }
}  # fmt: skip


class Service:
    """A model that answers requests, a few at a time."""

    def __init__(self, model: TableModel, limits: Limits) -> None:
        self.model, self.limits = model, limits
        self.reader = RowReader(model, limits)
        self.pool = ThreadPoolExecutor(N_THREADS, "lann")

    async def answer(self, request: Request, compute: Compute, most: int) -> Response:
        """Return the answer to the rows of a request, computed beside other requests."""
        body = await self._body(request)
        media_type, wanted = (
            request.headers.get(name, "").partition(";")[0].strip().lower()
            for name in ("content-type", "accept")
        )

        def work() -> Response:
            frame = self.reader.read(media_type, body, most)
            try:
                answer = compute(self.model, frame)
            except ValueError as error:
                raise Problem(422, str(error)) from None
            if wanted == CSV:
                return Response(answer.table().to_csv(index=False), media_type=CSV)
            return json_response({"rows": answer.documents()})

        return await asyncio.get_running_loop().run_in_executor(self.pool, work)

    async def _body(self, request: Request) -> bytes:
        """Return the body of a request; raise Problem if it is too large."""
        length = request.headers.get("content-length", "0")
        parts, n_bytes = [], 0
        too_large = Problem(413, f"A request may have {self.limits.max_bytes:,} bytes.")
        if length.isdecimal() and int(length[:20]) > self.limits.max_bytes:
            raise too_large
        async for part in request.stream():
            n_bytes += len(part)
            if n_bytes > self.limits.max_bytes:
                raise too_large
            parts.append(part)
        return b"".join(parts)


def json_response(content: Any) -> Response:
    """Return content as JSON, with None in place of numbers that are not finite."""
    return Response(json.dumps(to_plain(content), allow_nan=False), media_type=JSON)


def create_app(
    model: TableModel,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Sequence[str] | None = None,
) -> FastAPI:
    """Return the service of a model as an ASGI application.

    Parameters
    ----------
    model : TableModel
    limits : Limits or None, default=None
        None is ``Limits()``.
    token : str or None, default=None
        What requests must bring in ``Authorization: Bearer``, except to ``/health``; None is nothing.
    hosts : sequence of str or None, default=None
        Names by which the service may be called, without ports; None is any.

    Returns
    -------
    app : FastAPI

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.service import create_app
    >>> from lann.tables import TableModel
    >>> app = create_app(TableModel.fit(load_iris(as_frame=True).frame, "target"))
    >>> sorted(app.openapi()["paths"])
    ['/counterfactual', '/explain', '/health', '/neighbors', '/predict', '/schema']
    """
    model.check_labels("The service")
    limits = Limits() if limits is None else limits
    service = Service(model, limits)

    title = "lann" if model.target is None else f"lann: {model.target}"
    app = FastAPI(title=title, version=__version__, docs_url=None, redoc_url=None)
    _add_paths(app, service)
    _add_problems(app)
    _complete_openapi(app, service.reader)
    app.add_middleware(Border, limits=limits, token=token, hosts=hosts)
    return app


def _add_paths(app: FastAPI, service: Service) -> None:
    limits, most = service.limits, service.limits.max_explained_rows
    body: Any = {"openapi_extra": {"requestBody": service.reader.openapi}, "responses": ANSWER | PROBLEMS}

    @app.get("/health", responses={503: PROBLEMS[503]})
    async def health() -> dict[str, str]:
        """Say that the service runs."""
        return {"status": "ok"}

    @app.get("/schema", responses={code: PROBLEMS[code] for code in (401, 503)})
    async def schema() -> dict[str, Any]:
        """Return the columns and classes of the model, and the limits."""
        return to_plain(_answers.describe(service.model, limits))

    @app.post("/predict", **body)
    async def predict(request: Request) -> Response:
        """Predict labels and probabilities."""
        return await service.answer(request, _answers.predict, limits.max_rows)

    @app.post("/explain", **body)
    async def explain(request: Request) -> Response:
        """Explain predictions: similar cases, reasons with standard errors, and what matters."""
        return await service.answer(request, _answers.explain, most)

    @app.post("/neighbors", **body)
    async def neighbors(
        request: Request, n_neighbors: Annotated[int | None, Query(ge=1, le=1000)] = None
    ) -> Response:
        """Find the nearest training rows, as many as vote if no number is given."""
        return await service.answer(request, partial(_answers.neighbors, n_neighbors=n_neighbors), most)

    @app.post("/counterfactual", **body)
    async def counterfactual(
        request: Request,
        target: Annotated[
            str | None, Query(description="The class that is wanted; any other without.")
        ] = None,
        frozen: Annotated[list[str], Query(description="Columns that must not change.")] = [],  # noqa: B006
        at_least: Annotated[float, Query(ge=0, le=1, description="Probability of the class.")] = 0.6,
        n_results: Annotated[int, Query(ge=1, le=10, description="Changes of a row, at most.")] = 1,
        max_columns: Annotated[int, Query(ge=1, le=10)] = 3,
    ) -> Response:
        """Find small changes of each row, in few columns, that lead to another prediction."""
        options: dict[str, Any] = {"at_least": at_least, "n_results": n_results, "max_features": max_columns}
        compute = partial(_answers.counterfactual, target=target, frozen=frozen, **options)
        return await service.answer(request, compute, most)


def _add_problems(app: FastAPI) -> None:
    def response(status: int, detail: str, headers: Any = None) -> Response:
        return Response(problem_body(status, detail), status, headers, PROBLEM)

    @app.exception_handler(HTTPException)
    async def of_http(_: Request, error: HTTPException) -> Response:
        return response(error.status_code, f"{error.detail}.", error.headers)

    @app.exception_handler(RequestValidationError)
    async def of_query(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return response(422, f"{first['loc'][-1]}: {first['msg']}.")

    @app.exception_handler(Problem)
    async def of_request(_: Request, error: Problem) -> Response:
        return response(error.status, error.detail)

    @app.exception_handler(MemoryError)
    async def of_memory(_: Request, error: MemoryError) -> Response:
        return response(503, "There is not enough memory; send fewer rows.")

    @app.exception_handler(Exception)
    async def of_service(_: Request, error: Exception) -> Response:
        return response(500, "The service failed; its log says why.")


def _complete_openapi(app: FastAPI, reader: RowReader) -> None:
    """Add the schemas of rows and problems to the OpenAPI document."""
    original = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = original()
            document.setdefault("components", {})["schemas"] = SCHEMAS | reader.schemas
        return original()

    app.openapi = openapi  # type: ignore[method-assign]
