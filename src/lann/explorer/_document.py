"""The document of a page: the rows with their results, and the model, as two compressed texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from lann import __version__
from lann._support.format import counted
from lann._support.types import Floats
from lann._support.validation import RANDOM_STATE, Integer, OneOf, validate
from lann.columns.notation import DateNotation, NumberNotation
from lann.columns.text import Column
from lann.embedding import check_installed
from lann.explorer._maps import METHODS, row_maps
from lann.explorer._model_data import add_model
from lann.explorer._pack import Pack
from lann.explorer._results import (
    Progress,
    RowResults,
    label_suspicion,
    row_reasons,
    row_results,
    scores_of,
)
from lann.explorer._source import Source

# With more numbers than this in the rows, those of columns with nearly all different ones are float32.
MOST_DOUBLES = 1_000_000
# Relevances and coordinates are integers up to this one.
LARGEST = 2**16 - 1


@dataclass(frozen=True)
class Document:
    """What a page shows.

    Attributes
    ----------
    title : str
    rows, model : str
        Compressed, in base64; the model is "" if the page cannot predict.
    n_rows, n_training : int
    notes : tuple of str
        What is left out or rounded.
    """

    title: str
    rows: str
    model: str
    n_rows: int
    n_training: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Options:
    """How a document is built: see `explore`."""

    method: str
    n_reasons: int
    random_state: Any

    def check(self) -> None:
        """Raise an error if an option is invalid, or a package is missing."""
        validate("method", self.method, OneOf(*METHODS))
        validate("n_reasons", self.n_reasons, Integer(0))
        validate("random_state", self.random_state, *RANDOM_STATE)
        if self.method in ("umap", "densmap"):
            check_installed(self.method)


def build_document(
    source: Source, options: Options, title: str, step: Callable[[str], Progress] = lambda _: lambda *_: None
) -> Document:
    """Compute the results of all rows, and return the document.

    Parameters
    ----------
    source : Source
    options : Options
    title : str
    step : callable
        Takes the name of a step; returns a function of how much of it is done, and of what.
    """
    n_doubles = sum(_n_distinct(column) > LARGEST for column in source.X.T) * source.n_rows
    single, pack, model_pack = n_doubles > MOST_DOUBLES, Pack(), Pack()
    results = row_results(source, step("Explaining rows"))
    reasons = row_reasons(source, results, options.n_reasons, step("Computing reasons"))
    step("Drawing maps")
    maps = row_maps(source, options.method, options.random_state)
    step("Writing")
    for number, column in enumerate(source.X.T):
        pack.add_column(f"column {number}", column, single=single)
    _add_results(pack, source, results)
    pack.add("reasonRows", reasons.rows, "u4")
    pack.add("supports", reasons.supports, "f4")
    pack.add("supportErrors", reasons.errors, "f4")
    pack.add("baseValues", reasons.base_values, "f4")
    shown_maps = [
        {"id": name, "title": own.title, "scale": own.scale, **_add_coordinates(pack, name, own.coordinates)}
        for name, own in maps.items()
    ]
    suspicion = label_suspicion(source)
    if suspicion is not None:
        pack.add("suspicion", suspicion.scores, "f4")
        pack.add("likely", np.searchsorted(source.classifier.classes_, suspicion.likely), "u2")
        pack.add("suspects", np.isin(np.arange(source.n_training), suspicion.suspects), "u1")
    model = add_model(model_pack, source.model, single=single)
    if model is None:
        pack.add("neighbors", results.neighbors, "u4")
        pack.add("shares", results.shares, "f4")
        pack.add("distances", results.distances, "f4")
    notes = _notes(source, len(reasons.rows), single=single, has_model=model is not None)
    header = _header(source, title, shown_maps, notes) | {
        "hasModel": model is not None,
        "nStored": results.neighbors.shape[1],
        "scores": {
            "training": scores_of(source, results, np.arange(source.n_training)),
            "new": scores_of(source, results, np.arange(source.n_training, source.n_rows)),
        },
        "largestRelevance": float(results.relevances.max(initial=0.0)),
    }
    model_text = "" if model is None else model_pack.to_text({"model": model})
    return Document(title, pack.to_text(header), model_text, source.n_rows, source.n_training, notes)


def _n_distinct(column: Floats) -> int:
    return len(np.unique(column))


def _header(source: Source, title: str, maps: list[dict[str, Any]], notes: tuple[str, ...]) -> dict[str, Any]:
    vote = getattr(source.classifier, "vote_", None)
    model, ids = source.model, source.ids
    return {
        "format": 1,
        "task": "classification",
        "title": title,
        "version": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "estimator": type(source.classifier).__name__,
        "target": source.target,
        "classes": source.classes,
        "nClasses": model.n_classes,
        "nRows": source.n_rows,
        "nTraining": source.n_training,
        "isTraining": model.has_training_rows,
        "ids": None if ids is None else ids.tolist(),
        "columns": [_column(*pair) for pair in zip(source.columns, source.schema.features, strict=True)],
        "maps": maps,
        "vote": counted(model.n_neighbors, "neighbor") if vote is None else str(vote),
        "levels": list(getattr(getattr(model, "levels", None), "in_use", ())),
        "notes": list(notes),
    }


def _column(column: Column, feature: Any) -> dict[str, Any]:
    """Return what a column has, and how its values are written."""
    notation = column.notation
    is_written = isinstance(notation, DateNotation if feature.kind == "date" else NumberNotation)
    return {
        "name": column.name,
        "kind": feature.kind,
        "categories": list(feature.categories),
        "unit": feature.unit,
        "words": list(column.words),
        "notation": asdict(notation) if notation is not None and is_written else None,
    }


def _add_results(pack: Pack, source: Source, results: RowResults) -> None:
    pack.add("rowNumbers", source.row_numbers, "u4")
    pack.add("labels", source.labels, "i4")
    pack.add("predictions", results.predictions, "u2")
    pack.add("confidences", results.confidences, "f4")
    pack.add("runnerUps", results.runner_ups, "u2")
    pack.add("runnerUpProbabilities", results.runner_up_probabilities, "f4")
    pack.add("labelProbabilities", results.label_probabilities, "f4")
    pack.add("far", results.is_far, "u1")
    largest = results.relevances.max(initial=0.0) or 1.0
    pack.add("relevances", np.rint(results.relevances.T / largest * LARGEST), "u2")


def _add_coordinates(pack: Pack, name: str, coordinates: Floats) -> dict[str, Any]:
    """Add coordinates as integers, and return the numbers that they stand for."""
    low, span = coordinates.min(axis=0), float(np.ptp(coordinates, axis=0).max()) or 1.0
    pack.add(f"map {name}", np.rint((coordinates - low).T / span * LARGEST), "u2")
    return {"low": low.tolist(), "span": span}


def _notes(source: Source, n_reasons: int, *, single: bool, has_model: bool) -> tuple[str, ...]:
    notes = []
    if not has_model:
        name = type(source.classifier).__name__
        notes.append(
            f"The metric of {name} depends on the query and is computed in Python only: neighbors of rows "
            "are stored in the file, and there is no what-if."
        )
    if single:
        notes.append(
            "Numbers with more than six digits are rounded, so that the file is not too large; probabilities "
            "of the page can differ from those of Python after the sixth digit."
        )
    if n_reasons < source.n_rows:
        notes.append(
            f"Reasons are in the file for {counted(n_reasons, 'row')} of {source.n_rows:,}: those that are "
            "wrong or doubtful first."
        )
    return tuple(notes)
