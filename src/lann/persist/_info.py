"""What is in a model file in words and numbers: written with the model, so that reading it needs no model."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from lann import __version__
from lann._support.format import to_plain, value_text
from lann._support.inputs import get_feature_names
from lann._support.validation import changed_parameters
from lann.persist import CrossValidatedMethod, TableRecord
from lann.persist._archive import FORMAT, check_format, read_json_entry
from lann.persist._archive import INFO as INFO_ENTRY
from lann.persist._fields import TEXT, Float, Int, ListOf, Maybe, Reader, Record, Value

COUNTED_KINDS = ("bool", "ordered", "category")
# Categories of a column that are counted; the most frequent ones.
MOST_CATEGORIES = 1000

_SCORES = [
    f"{score}{end}" for score in ("accuracy", "balanced_accuracy", "auc", "log_loss") for end in ("", "_std")
]
CROSS_VALIDATED = Record(
    CrossValidatedMethod,
    method=TEXT,
    n_folds=Int(1),
    random_state=Maybe(Int(0)),
    **dict.fromkeys(_SCORES, Maybe(Float(0.0))),
)
_SCALAR = Value(lambda data: data is None or type(data) in (bool, int, float, str), "a number or text")
_VALUES = Value(lambda data: type(data) is dict, "a dictionary")
_COUNTED = {"n_rows": Maybe(Int(0))}
_COLUMN = Record(
    dict,
    name=TEXT,
    kind=TEXT,
    low=_SCALAR,
    high=_SCALAR,
    range=Maybe(TEXT),
    categories=ListOf("_", Record(dict, value=TEXT, **_COUNTED)),
    n_categories=Int(0),
    missing=Maybe(Float(0.0, 1.0)),
)
INFO = Record(
    dict,
    version=TEXT,
    format=Int(1),
    estimator=TEXT,
    parameters=_VALUES,
    levels=Maybe(ListOf("_", TEXT)),
    n_rows=Maybe(Int(0)),
    n_columns=Int(0),
    target=Maybe(TEXT),
    id_column=Maybe(TEXT),
    sample_weight_column=Maybe(TEXT),
    classes=ListOf("_", Record(dict, label=_SCALAR, **_COUNTED)),
    columns=ListOf("_", _COLUMN),
    ignored=ListOf("_", Record(dict, name=TEXT, reason=TEXT)),
    vote=Maybe(Record(dict, text=TEXT, n_neighbors=Int(1), power=Maybe(Float(0.0)), floor=Maybe(Float(0.0)))),
    cross_validation=ListOf("_", Record(dict, **CROSS_VALIDATED.fields)),
    data_sha256=Maybe(TEXT),
)


def describe(model: Any, table: TableRecord | None) -> dict[str, Any]:
    """Return what `lann info` prints of a model, with keys in snake_case.

    Parameters
    ----------
    model : estimator
    table : TableRecord or None
        What is known about the table to which it was fitted.

    Returns
    -------
    info : dict
        In the types of JSON.
    """
    from lann._base import NeighborEstimator

    labels = getattr(model, "classes_", np.empty(0)).tolist()
    counts: list[int | None] = [None] * len(labels)
    vote = getattr(model, "vote_", None)
    if vote is not None:
        vote = {"text": str(vote), "n_neighbors": vote.n_neighbors, "power": vote.power, "floor": vote.floor}
    if isinstance(model, NeighborEstimator) and model.model_.has_training_rows:
        n_rows: int | None = len(model.model_.labels)
        if labels:
            counts = np.bincount(model.model_.labels, minlength=len(labels)).tolist()
        columns = _columns(model, table)
        k = model.model_.n_neighbors
        vote = vote or {"text": f"{k} neighbors", "n_neighbors": k, "power": None, "floor": None}
    else:
        n_rows = len(model.embedding_) if hasattr(model, "embedding_") else None
        columns = [_column(str(name), "number") for name in get_feature_names(model)]
    known = {} if table is None else vars(table)
    scores = known.get("cross_validation") or []
    info = {
        "version": __version__,
        "format": FORMAT,
        "estimator": type(model).__name__,
        "parameters": changed_parameters(model),
        "levels": getattr(model, "levels_", None),
        "n_rows": n_rows,
        "n_columns": len(columns),
        **{key: known.get(key) for key in ("target", "id_column", "sample_weight_column", "data_sha256")},
        "classes": [{"label": x, "n_rows": n} for x, n in zip(labels, counts, strict=True)],
        "columns": columns,
        "ignored": [{"name": name, "reason": text} for name, text in known.get("ignored", {}).items()],
        "vote": vote,
        "cross_validation": [vars(method) for method in scores],
    }
    return to_plain({name: info[name] for name in INFO.fields})


def _columns(model: Any, table: TableRecord | None) -> list[dict[str, Any]]:
    """Describe the columns of the training rows."""
    from lann.columns.schema import TableSchema
    from lann.columns.text import Column, shown_values

    schema = getattr(model, "schema_", None) or TableSchema.numeric(
        list(get_feature_names(model)), has_names=True
    )
    columns = [Column.from_feature(feature) for feature in schema.features]
    if table is not None:
        with suppress(ValueError):  # records that other programs make describe columns in their own way
            recorded = [Column.from_dict(state) for state in table.columns]
            columns = recorded if len(recorded) == len(columns) else columns
    described = []
    for column, feature, numbers in zip(columns, schema.features, model.model_.X.T, strict=True):
        known = numbers[~np.isnan(numbers)]  # codes of categories, NaN for gaps
        values: dict[str, Any] = {"missing": 1.0 - len(known) / len(numbers)}
        if len(known) and feature.kind in COUNTED_KINDS:
            codes, counts = np.unique(known, return_counts=True)
            order = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
            values["n_categories"] = len(codes)
            values["categories"] = [
                {"value": column.format(feature.value(codes[i])), "n_rows": counts[i]} for i in order
            ]
        elif len(known):
            ends = np.array([[feature.value(known.min())], [feature.value(known.max())]], dtype=object)
            values["low"], values["high"] = low, high = shown_values([column], ends)[:, 0]
            values["range"] = f"{value_text(low)} to {value_text(high)}"
        described.append(_column(column.name, column.kind, **values))
    return described


def _column(name: str, kind: str, **values: Any) -> dict[str, Any]:
    unknown = dict.fromkeys(("low", "high", "range", "missing"))
    return {"name": name, "kind": kind, **unknown, "categories": [], "n_categories": 0, **values}


def read_info(content: bytes) -> dict[str, Any]:
    """Return what the entry info.json of a model file says; raise InvalidModelFile if it is invalid.

    Neither the model nor its arrays are read.
    """
    described = read_json_entry(content, INFO_ENTRY)
    check_format(described)
    return INFO.read(described, INFO_ENTRY, Reader({}))
