"""Model files, and folders of model files for models in shards."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lann import __version__
from lann._base import NeighborClassifier
from lann._support.files import hidden_path, read_content
from lann.classifier import LANNClassifier
from lann.persist import ModelFile, TableRecord
from lann.persist._archive import (
    FORMAT,
    MODEL,
    check_format,
    read_archive,
    read_json,
    write_archive,
    write_json,
)
from lann.persist._classifier import CLASSIFIER, REGRESSOR
from lann.persist._fields import (
    PLAIN_DICT,
    TEXT,
    AnyEstimator,
    Array,
    Arrays,
    Float,
    Int,
    InvalidModelFile,
    Json,
    Kind,
    ListOf,
    Maybe,
    Reader,
    Record,
    Value,
    consistent,
    require,
    shown,
)
from lann.persist._info import CROSS_VALIDATED, describe

# What can be saved, and the models whose table can have held-out rows.
COMMON = AnyEstimator(CLASSIFIER, REGRESSOR)


def _declared(name: Any) -> AnyEstimator:
    """Return the declarations of all estimators; those of another name than the most common take longer."""
    if str(name) in COMMON.by_name:
        return COMMON
    from lann.persist._estimators import ESTIMATORS

    return AnyEstimator(CLASSIFIER, REGRESSOR, *ESTIMATORS)


class TableReject(Kind):
    """The reject option of a table, whose modules are imported where there is one."""

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        from lann.persist._reject import TABLE_REJECT

        return TABLE_REJECT.write(value, name, arrays)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        from lann.persist._reject import TABLE_REJECT

        return TABLE_REJECT.read(data, name, reader)


TEXT_DICT = Value(
    lambda data: type(data) is dict and all(type(text) is str for text in data.values()),
    "a dictionary from text to text",
)
SHA256 = Value(lambda data: type(data) is str and bool(re.fullmatch("[0-9a-f]{64}", data)), "a SHA-256")
TABLE = Record(
    TableRecord,
    target=TEXT,
    id_column=Maybe(TEXT),
    sample_weight_column=Maybe(TEXT),
    row_numbers=Array("i8 n_rows"),
    ignored=TEXT_DICT,
    columns=ListOf("_", PLAIN_DICT),
    data_sha256=Maybe(SHA256),
    cross_validation=Maybe(ListOf("n_methods", CROSS_VALIDATED)),
    reject=Maybe(TableReject()),
)


def to_bytes(model: Any, table: TableRecord | None = None, progress: dict[str, Any] | None = None) -> bytes:
    """Return the content of a model file; the same model gives the same bytes.

    Raises
    ------
    InvalidModelFile
        If it could not be loaded.
    """
    arrays: Arrays = {}
    described = {
        "format": FORMAT,
        "lann": __version__,
        "model": _declared(type(model).__name__).write(model, "model", arrays),
        "table": Maybe(TABLE).write(table, "table", arrays),
        "progress": progress,
    }
    content = write_archive(described, consistent("table", describe, model, table), arrays)
    from_bytes(content)
    return content


def from_bytes(content: bytes) -> ModelFile:
    """Return what a model file has; raise InvalidModelFile if anything in it is invalid."""
    described, arrays = read_archive(content)
    check_format(described)
    fields = {"format", "lann", "model", "table", "progress"}
    is_complete = described.keys() == fields and type(described["lann"]) is str
    require(is_complete, f"its {MODEL} does not have the fields {', '.join(sorted(fields))}")
    reader = Reader(arrays)
    name = described["model"].get("estimator") if isinstance(described["model"], dict) else None
    model = _declared(name).read(described["model"], "model", reader)
    table = described["table"]
    if isinstance(table, dict) and table.get("reject") is not None:
        has_neighbors = isinstance(model, NeighborClassifier) and model.model_.has_training_rows
        require(has_neighbors, "its table has held-out rows, but its model is no classifier with neighbors")
    table = Maybe(TABLE).read(table, "table", reader)
    if table is not None and table.reject is not None:
        from lann.persist._reject import restore

        consistent("table", restore, table.reject, model)
    progress = Maybe(PLAIN_DICT).read(described["progress"], "progress", reader)
    require(not arrays, f"it has the unknown entry {shown(min(arrays, default=''))}")
    sha256 = hashlib.sha256(content).hexdigest()
    return ModelFile(model, table, described["format"], described["lann"], len(content), sha256, progress)


# Models in shards

MANIFEST, SHARED = "shards.json", "shared.lann"
_MANIFEST = Record(
    dict,
    format=Int(FORMAT),
    lann=TEXT,
    rows_per_shard=Int(1),
    tile_losses=ListOf("n_tiles", ListOf("n_losses", Float())),
    n_shards=Int(1, high=99_999),
)


def _shard_names(n_shards: int) -> list[str]:
    return [f"shard-{number:05}.lann" for number in range(n_shards)]


def save_folder(model: Any, path: Path) -> None:
    """Save a model in shards as a folder, which is complete or not written at all.

    Shards are written by the workers that hold them, who need access to the folder under the same path.
    """
    from lann.distributed import write_shards

    check_is_fitted(model)
    path = Path(os.path.realpath(path))
    if path.exists() and not (path / MANIFEST).is_file():
        raise FileExistsError(f"{path} exists and is no model in shards; give the name of a new folder.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save {path.name} in.")
    temporary = hidden_path(path)
    earlier = temporary.with_suffix(".old")
    temporary.mkdir()
    try:
        write = partial(_write_file, folder=str(temporary))
        write_shards(model, write, _shard_names(model.n_shards_), SHARED)
        manifest = {
            "format": FORMAT,
            "lann": __version__,
            "rows_per_shard": int(model.rows_per_shard),
            "tile_losses": np.asarray(model.tile_losses_).tolist(),
            "n_shards": int(model.n_shards_),
        }
        (temporary / MANIFEST).write_bytes(write_json(manifest))
        if path.exists():
            os.replace(path, earlier)
        os.replace(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if earlier.exists() and not path.exists():
            os.replace(earlier, path)
        shutil.rmtree(earlier, ignore_errors=True)


def _write_file(model: LANNClassifier, name: str, folder: str) -> None:
    Path(folder, name).write_bytes(to_bytes(model))


def load_folder(path: Path) -> Any:
    """Load a model in shards; these are read by tasks of Dask and stay on the workers."""
    from lann.distributed import read_shards

    path = path.absolute()
    try:
        described = read_json(read_content(path / MANIFEST, "model file"), MANIFEST)
        check_format(described)
        manifest = _MANIFEST.read(described, MANIFEST, Reader({}))
        names = _shard_names(manifest["n_shards"])
        for name in (SHARED, *names):
            require((path / name).is_file(), f"its file {name} is missing")
        read = partial(_read_file, folder=str(path))
        losses = manifest["tile_losses"]
        further = {
            "rows_per_shard": manifest["rows_per_shard"],
            "tile_losses_": np.array(losses, np.float64).reshape(len(losses), -1 if losses else 0),
        }
        return read_shards(read(SHARED), read, names, further)
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {shown(str(error))}.") from error


def _read_file(name: str, folder: str) -> LANNClassifier:
    """Return the ordinary classifier in a model file of a folder."""
    try:
        model = from_bytes(read_content(Path(folder) / name, "model file")).model
    except InvalidModelFile as error:
        raise InvalidModelFile(f"of its file {name}, {error}") from error
    require(type(model) is LANNClassifier, f"its file {name} has a model of type {type(model).__name__}")
    return model
