"""The rows of a request: JSON or CSV, checked by what the columns of the model have."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

import numpy as np
import pandas as pd
from pydantic import ConfigDict, FailFast, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from lann._support.format import value_text
from lann.columns.schema import Feature
from lann.columns.text import Column
from lann.service._limits import Limits, Problem
from lann.tables import TableModel, read_content

# Categories that the description of a column lists.
MOST_LISTED = 50
GZIP = b"\x1f\x8b"
JSON, CSV = "application/json", "text/csv"
# What cells are in JSON, by the kind of the column; a gap is null.
NUMBER = Annotated[float, Field(strict=True, allow_inf_nan=False)]
TEXT = Annotated[str, Field(strict=True)]
BOOL = Annotated[bool, Field(strict=True)]
CELLS: dict[str, Any] = {
    "number": NUMBER | None,
    "bool": BOOL | None,
    "date": TEXT | None,
    "category": TEXT | NUMBER | BOOL | None,
}


class RowReader:
    """Reads the rows of requests into the columns of a model.

    Parameters
    ----------
    model : TableModel
    limits : Limits
    """

    def __init__(self, model: TableModel, limits: Limits) -> None:
        self.names = [*model.feature_names, *([] if model.id_column is None else [model.id_column])]
        self.numbers = {column.name for column in model.columns if column.kind == "number"}
        described = zip(model.columns, model.schema.features, strict=True)
        cells: dict[str, Any] = {column.name: _cell(column, feature) for column, feature in described}
        if model.id_column is not None:
            name = Annotated[TEXT | NUMBER | None, Field(description="The name of the row.")]
            cells.setdefault(model.id_column, NotRequired[name])
        row = _record("Row", cells, extra="ignore")
        most = Field(min_length=1, max_length=limits.max_rows, description="The rows, each with all columns.")
        rows = Annotated[list[row], most, FailFast()]  # type: ignore[valid-type]
        self.adapter: TypeAdapter[Any] = TypeAdapter(_record("Rows", {"rows": rows}, extra="forbid"))

    def read(self, media_type: str, body: bytes, most: int) -> pd.DataFrame:
        """Return the rows of a body as a table.

        Raises
        ------
        Problem
            If the body has another media type, is damaged, or has no rows or too many.
        """
        if media_type == JSON:
            frame = self._from_json(body)
        elif media_type == CSV:
            frame = _from_csv(body)
        else:
            raise Problem(415, f"The body must be {JSON} or {CSV}.")
        if len(frame) > most:
            raise Problem(422, f"A request may have {most:,} rows; this one has {len(frame):,}.")
        return frame

    def _from_json(self, body: bytes) -> pd.DataFrame:
        try:
            rows = self.adapter.validate_json(body)["rows"]
        except ValidationError as error:
            raise Problem(422, _sentence(error)) from None
        names = [name for name in self.names if any(name in row for row in rows)]
        columns = {name: [row.get(name) for row in rows] for name in names}
        types = {name: float if name in self.numbers else object for name in names}
        return pd.DataFrame({name: np.array(cells, types[name]) for name, cells in columns.items()})

    @property
    def schemas(self) -> dict[str, Any]:
        """The schemas of the OpenAPI document that describe a body."""
        body = self.adapter.json_schema(ref_template="#/components/schemas/{model}")
        return {**body.pop("$defs"), "Rows": body}

    @property
    def openapi(self) -> dict[str, Any]:
        """What the OpenAPI document says of a body."""
        rows, table = (
            {"$ref": "#/components/schemas/Rows"},
            "A table with a header, as `lann predict` reads it.",
        )
        content = {JSON: {"schema": rows}, CSV: {"schema": {"type": "string", "description": table}}}
        return {"required": True, "content": content}


def _record(name: str, fields: dict[str, Any], *, extra: Literal["ignore", "forbid"]) -> Any:
    """Return the type of dictionaries with some keys, which can be any texts."""
    record = TypedDict(name, fields)  # type: ignore[misc]
    return with_config(ConfigDict(title=name, extra=extra))(record)


def _cell(column: Column, feature: Feature) -> Any:
    """Return the type of a cell, with what the column has."""
    kind = "category" if column.kind == "ignored" else column.kind
    text = ""
    if kind == "date":
        text = f"A date like {column.format('2024-05-31')}."
    if feature.categories:
        listed = ", ".join(map(value_text, feature.categories[:MOST_LISTED]))
        n_more = len(feature.categories) - MOST_LISTED
        text = f"One of: {listed}{f' and {n_more} more' if n_more > 0 else ''}."
    return Annotated[CELLS[kind], Field(description=f"{text} Null is a missing value.".strip())]


def _from_csv(body: bytes) -> pd.DataFrame:
    if body.startswith(GZIP):
        raise Problem(415, "The body must not be compressed.")
    try:
        return read_content(body, "the body")
    except ValueError as error:
        raise Problem(422, str(error)) from None


def _sentence(error: ValidationError) -> str:
    """Return the first error of a body as a sentence."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = "".join(f"[{part}]" if isinstance(part, int) else f"[{part!r}]" for part in first["loc"][1:3])
    where = f"{first['loc'][0]}{path}: " if first["loc"] else ""
    return f"{where}{first['msg']}."
