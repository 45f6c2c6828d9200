"""From models to the bytes of a model file, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

from lann import __version__
from lann.persist._archive import read_archive, write_archive
from lann.persist._baselines import PROTOTYPES, WITH_NEIGHBORS
from lann.persist._classifier import CLASSIFIER
from lann.persist._embeddings import BY_CLASSIFIER, EUCLIDEAN, PLANE
from lann.persist._errors import InvalidModelFile, shown
from lann.persist._json import read_json, write_json
from lann.persist._kinds import PlainDict, Reader, Writer
from lann.persist._records import AnyEstimator
from lann.persist._reject import CLASSIFIERS, REJECT_OPTION, WITH_STATE, check_table_state
from lann.persist._streams import STREAMS
from lann.persist._table_record import TABLE, TableRecord
from lann.reject import RejectState

FORMAT = 1
"""The number of the file format; files with a higher one are of a later version."""

ESTIMATORS = AnyEstimator(
    CLASSIFIER, *WITH_NEIGHBORS, *PROTOTYPES, BY_CLASSIFIER, EUCLIDEAN, PLANE, REJECT_OPTION, *STREAMS
)
"""What can be saved."""

_MODEL, _FIELDS = "model.json", {"format", "lann", "model", "table"}
# A field that only checkpoints of runs over streams have.
_PROGRESS = "progress"
_PROGRESS_KIND = PlainDict()


def find_foreign(model: Any) -> Any:
    """Return the model, or the classifier in a reject option, if it cannot be saved; None if it can."""
    declared = ESTIMATORS.find(model)
    if declared is REJECT_OPTION:
        parts = (getattr(model, "estimator_", None), model.estimator)
        return next((part for part in parts if part is not None and CLASSIFIERS.find(part) is None), None)
    return model if declared is None else None


def to_bytes(model: Any, table: TableRecord | None, progress: dict[str, Any] | None = None) -> bytes:
    """Return the content of a model file; the same model gives the same bytes."""
    if table is not None and table.reject is not None:
        _check_state(table.reject, model)
    writer = Writer()
    content = {
        "format": FORMAT,
        "lann": __version__,
        "model": ESTIMATORS.write(model, "model", writer),
        "table": None if table is None else TABLE.write(table, "table", writer),
    }
    if progress is not None:
        content[_PROGRESS] = _PROGRESS_KIND.write(progress, _PROGRESS, writer)
    return write_archive({_MODEL: write_json(content), **writer.entries})


class FileContent(NamedTuple):
    """What a model file has.

    Attributes
    ----------
    model : estimator
    table : TableRecord or None
        What is known about the table to which the model was fitted.
    format : int
        Number of the file format.
    version : str
        The version of lann that has written the file.
    progress : dict or None
        How far a run over a stream has come.
    """

    model: Any
    table: TableRecord | None
    format: int
    version: str
    progress: dict[str, Any] | None


def from_bytes(content: bytes) -> FileContent:
    """Return what the content of a file has.

    Raises
    ------
    InvalidModelFile
        If anything in it is invalid.
    """
    entries = read_archive(content)
    if _MODEL not in entries:
        raise InvalidModelFile(f"its entry {_MODEL} is missing")
    described = read_json(entries.pop(_MODEL))
    check_format(described, FORMAT)
    _check_fields(described)
    reader = Reader(entries)
    model = ESTIMATORS.read(described["model"], "model", reader)
    table = None if described["table"] is None else _read_table(described["table"], model, reader)
    progress = None
    if _PROGRESS in described:
        progress = _PROGRESS_KIND.read(described[_PROGRESS], _PROGRESS, reader)
    if reader.entries:
        raise InvalidModelFile(f"it has the unknown entry {min(reader.entries)}")
    return FileContent(model, table, described["format"], described["lann"], progress)


def _read_table(data: Any, model: Any, reader: Reader) -> TableRecord:
    """Return the record of a table; what a reject option has learned has to be about the model."""
    if isinstance(data, dict) and data.get("reject") is not None:
        _check_has_state(model)  # before sizes of the model are referred to
    table: TableRecord = TABLE.read(data, "table", reader)
    if table.reject is not None:
        _check_state(table.reject, model)
    return table


def _check_has_state(model: Any) -> None:
    if WITH_STATE.find(model) is None:
        raise InvalidModelFile("its table has held-out rows, but its model is no classifier with neighbors")


def _check_state(state: RejectState, model: Any) -> None:
    _check_has_state(model)
    check_table_state(state, model)


def check_format(described: Any, newest: int) -> None:
    """Raise InvalidModelFile unless a description says that it is in a format that this version reads."""
    number = described.get("format") if isinstance(described, dict) else None
    if type(number) is not int or number < 1:
        raise InvalidModelFile("it does not say in which format it is")
    if number > newest:
        raise InvalidModelFile(
            f"it was written by lann {shown(described.get('lann'))} in format {number}, and this version "
            f"reads formats up to {newest}; update lann"
        )


def _check_fields(described: dict[str, Any]) -> None:
    if described.keys() - {_PROGRESS} != _FIELDS or type(described["lann"]) is not str:
        raise InvalidModelFile(f"its {_MODEL} does not have the fields {', '.join(sorted(_FIELDS))}")
