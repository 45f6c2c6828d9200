"""Model files, and folders of model files for models in shards.

A model file is a zip archive of ``model.json`` and arrays in NumPy's format ``.npy``. Entries are stored
without compression, so what is read is never larger than the file, and without time stamps, so that the same
content gives the same bytes. Arrays are read without pickle, and only if their header fits to its size.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import shutil
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lann import __version__
from lann._support.files import hidden_path, read_content
from lann.classifier import LANNClassifier
from lann.persist import CrossValidatedMethod, ModelFile, TableRecord
from lann.persist._classifier import CLASSIFIER
from lann.persist._estimators import (
    EMBEDDINGS,
    PROTOTYPES,
    REJECT_OPTION,
    TABLE_REJECT,
    WITH_NEIGHBORS,
    restore,
)
from lann.persist._fields import (
    NUMBERS,
    PLAIN_DICT,
    TEXT,
    AnyEstimator,
    Arrays,
    Float,
    Indices,
    Int,
    InvalidModelFile,
    ListOf,
    Maybe,
    Reader,
    Record,
    Value,
    consistent,
    require,
    shown,
)
from lann.persist._streams import STREAMS

FORMAT = 1
"""The number of the file format; files with a higher one are of a later version."""

MODEL = "model.json"
# A value takes up to a hundred times as much memory as its text; these bounds keep it to some dozens of MB.
MOST_BYTES, MOST_ITEMS = 2**24, 300_000

# What can be saved, and the models whose table can have held-out rows.
ESTIMATORS = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS, *PROTOTYPES, *EMBEDDINGS, REJECT_OPTION, *STREAMS)
WITH_STATE = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS)
TEXT_DICT = Value(
    lambda data: type(data) is dict and all(type(text) is str for text in data.values()),
    "a dictionary from text to text",
)
SHA256 = Value(lambda data: type(data) is str and bool(re.fullmatch("[0-9a-f]{64}", data)), "a SHA-256")
SCORES = [
    f"{score}{end}" for score in ("accuracy", "balanced_accuracy", "auc", "log_loss") for end in ("", "_std")
]
CROSS_VALIDATED = Record(
    CrossValidatedMethod,
    method=TEXT,
    n_folds=Int(1),
    random_state=Maybe(Int(0)),
    **dict.fromkeys(SCORES, Maybe(Float(0.0))),
)
TABLE = Record(
    TableRecord,
    target=TEXT,
    id_column=Maybe(TEXT),
    sample_weight_column=Maybe(TEXT),
    row_numbers=Indices("n_rows"),
    ignored=TEXT_DICT,
    columns=ListOf("_", PLAIN_DICT),
    data_sha256=Maybe(SHA256),
    cross_validation=Maybe(ListOf("n_methods", CROSS_VALIDATED)),
    reject=Maybe(TABLE_REJECT),
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
        "model": ESTIMATORS.write(model, "model", arrays),
        "table": Maybe(TABLE).write(table, "table", arrays),
        "progress": progress,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_entry(MODEL), _write_json(described))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            npy.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            archive.writestr(_entry(name), buffer.getbuffer())
    content = file.getvalue()
    from_bytes(content)
    return content


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry without time stamp, the same on all systems."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    return info


def from_bytes(content: bytes) -> ModelFile:
    """Return what a model file has; raise InvalidModelFile if anything in it is invalid."""
    described, arrays = _read_archive(content)
    _check_format(described)
    fields = {"format", "lann", "model", "table", "progress"}
    is_complete = described.keys() == fields and type(described["lann"]) is str
    require(is_complete, f"its {MODEL} does not have the fields {', '.join(sorted(fields))}")
    reader = Reader(arrays)
    model = ESTIMATORS.read(described["model"], "model", reader)
    table = described["table"]
    if isinstance(table, dict) and table.get("reject") is not None:
        has_neighbors = WITH_STATE.has(model)
        require(has_neighbors, "its table has held-out rows, but its model is no classifier with neighbors")
    table = Maybe(TABLE).read(table, "table", reader)
    if table is not None and table.reject is not None:
        consistent("table", restore, table.reject, model)
    progress = Maybe(PLAIN_DICT).read(described["progress"], "progress", reader)
    require(not arrays, f"it has the unknown entry {shown(min(arrays, default=''))}")
    sha256 = hashlib.sha256(content).hexdigest()
    return ModelFile(model, table, described["format"], described["lann"], len(content), sha256, progress)


def _check_format(described: Any) -> None:
    """Raise InvalidModelFile unless a description says that it is in the format that this version reads."""
    number = described.get("format") if isinstance(described, dict) else None
    require(type(number) is int and number >= 1, "it does not say in which format it is")
    if number != FORMAT:
        raise InvalidModelFile(
            f"it was written by lann {shown(described.get('lann'))!r} in format {shown(number)}, and this "
            f"version reads format {FORMAT}; update lann"
        )


# The archive


def _read_archive(content: bytes) -> tuple[Any, Arrays]:
    """Return the description and the arrays of an archive; raise InvalidModelFile if it is invalid."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = {info.filename: info for info in archive.infolist()}
            require(len(entries) == len(archive.infolist()), "it has two entries of the same name")
            are_stored = all(
                e.compress_type == 0 and e.compress_size == e.file_size for e in entries.values()
            )
            require(are_stored, "it is compressed")
            n_bytes = sum(info.file_size for info in entries.values())
            require(n_bytes <= len(content), "its entries overlap")
            require(entries.pop(MODEL, None), f"its entry {MODEL} is missing")
            described = _read_json(archive.read(MODEL))
            return described, {name: _read_array(archive.read(name), name) for name in entries}
    except InvalidModelFile:
        raise
    except Exception as error:  # zipfile raises errors of many types for damaged content
        raise InvalidModelFile("it is not a whole file written by lann.save") from error


def _read_array(content: bytes, name: str) -> NDArray[Any]:
    """Return the array in an entry; it owns its memory and is writable."""
    file = io.BytesIO(content)
    try:
        require(npy.read_magic(file) == (1, 0), "another version")
        shape, _, dtype = npy.read_array_header_1_0(file)
        # The size is known before memory is taken.
        has_size = math.prod(shape) * dtype.itemsize == len(content) - file.tell()
        require(has_size and min(shape, default=0) >= 0 and dtype.itemsize > 0, "another size")
        require(dtype.str in NUMBERS or dtype.str.startswith("<U"), "another type")
        file.seek(0)
        array = npy.read_array(file, allow_pickle=False)
        if dtype.kind == "U":
            array.tolist()  # raises an error for codes that are not of Unicode
    except Exception as error:
        raise InvalidModelFile(f"its entry {shown(name)} is not an array of numbers or text") from error
    return array


def _write_json(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode()
    except (TypeError, ValueError) as error:
        raise InvalidModelFile(f"it has a value that JSON cannot express: {shown(str(error))}") from error


def _read_json(content: bytes) -> Any:
    """Return the value that JSON describes; raise InvalidModelFile if it is invalid or takes much memory."""
    n_items = sum(map(content.count, (b"[", b"{", b",")))
    require(len(content) <= MOST_BYTES and n_items <= MOST_ITEMS, f"its {MODEL} is too large")
    try:
        return json.loads(content.decode(), parse_constant=_raise_not_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidModelFile(f"its {MODEL} is not valid JSON, or nested too deeply") from error


def _raise_not_finite(text: str) -> NoReturn:
    raise ValueError(f"{text} is not finite")


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


def is_sharded(model: Any) -> bool:
    """Return whether a model is in shards, without an import of Dask."""
    return type(model).__module__ == "lann.distributed._classifier"


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
        (temporary / MANIFEST).write_bytes(_write_json(manifest))
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
        described = _read_json(read_content(path / MANIFEST, "model file"))
        _check_format(described)
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
