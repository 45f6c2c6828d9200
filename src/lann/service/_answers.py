"""What the service answers: rows of results, as documents for JSON and as a table for CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lann import __version__
from lann._support.format import to_plain
from lann.service._limits import Limits
from lann.tables import TableModel, prediction_documents


class Answer(NamedTuple):
    """Results of rows, computed in the form that is wanted.

    Attributes
    ----------
    documents : callable
        Returns a dictionary for each row.
    table : callable
        Returns the same as a table, with a line per row, neighbor, reason or change.
    """

    documents: Callable[[], list[dict[str, Any]]]
    table: Callable[[], pd.DataFrame]


def predict(model: TableModel, frame: pd.DataFrame) -> Answer:
    """Predict labels and probabilities."""
    predictions = model.predict(frame)
    classes = [str(label) for label in model.classifier.classes_]
    return Answer(lambda: prediction_documents(predictions, classes), lambda: predictions)


def explain(model: TableModel, frame: pd.DataFrame) -> Answer:
    """Explain predictions: similar cases, reasons, and what matters."""
    explanation = model.explain(frame, leave_out=None)
    return Answer(explanation.to_dict, explanation.to_frame)


def neighbors(model: TableModel, frame: pd.DataFrame, n_neighbors: int | None) -> Answer:
    """Find the nearest training rows, with their values."""
    table = model.kneighbors(frame, n_neighbors)
    n_own = table.shape[1] - len(model.feature_names)

    def documents() -> list[dict[str, Any]]:
        names = [name.removeprefix("neighbor_") for name in table.columns[1:n_own]]
        found: list[dict[str, Any]] = [{"row": row, "neighbors": []} for row in range(len(frame))]
        for row, *cells in table.itertuples(index=False, name=None):
            neighbor = dict(zip(names, cells, strict=False))  # the values follow
            neighbor["values"] = dict(zip(model.feature_names, cells[n_own - 1 :], strict=True))
            found[row]["neighbors"].append(neighbor)
        return found

    return Answer(documents, lambda: table)


def counterfactual(
    model: TableModel, frame: pd.DataFrame, target: str | None, frozen: Sequence[str], **options: Any
) -> Answer:
    """Find changes that lead to other predictions; options are those of `TableModel.counterfactuals`."""
    found = model.counterfactuals(frame, target=target, constraints={"frozen": list(frozen)}, **options)
    return Answer(found.to_dict, found.to_frame)


def describe(model: TableModel, limits: Limits) -> dict[str, Any]:
    """Return what the model takes and predicts."""
    columns = []
    for number, (column, feature) in enumerate(zip(model.columns, model.schema.features, strict=True)):
        values = model.classifier.model_.X[:, number]
        known = values[~np.isnan(values)]
        is_ranged = feature.kind in ("number", "date") and len(known)
        ends = [feature.value(end) for end in (known.min(), known.max())] if is_ranged else None
        columns.append(
            {
                "name": column.name,
                "kind": feature.kind,
                "range": ends,
                "categories": list(feature.categories),
                "has_gaps": bool(len(known) < len(values)),
            }
        )
    return {
        "estimator": type(model.classifier).__name__,
        "version": __version__,
        "target": model.target,
        "classes": model.classifier.classes_,
        "n_training_rows": len(model.row_numbers),
        "id_column": model.id_column,
        "columns": columns,
        "limits": to_plain(limits),
    }
