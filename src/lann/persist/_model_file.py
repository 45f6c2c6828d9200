"""From models to the bytes of a model file and back, and models in shards as folders of model files."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lann import __version__
from lann._support.files import hidden_path, read_content, write_atomically
from lann.classifier import LANNClassifier
from lann.persist import CrossValidatedMethod, TableRecord
from lann.persist._archive import MODEL, read_archive, read_json, write_archive, write_json
from lann.persist._baselines import PROTOTYPES, WITH_NEIGHBORS
from lann.persist._classifier import CLASSIFIER
from lann.persist._fields import (
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
    require,
    shown,
)
from lann.persist._streams import STREAMS
from lann.persist._wrappers import CLASSIFIERS, EMBEDDINGS, REJECT_OPTION, STATE, WITH_STATE, check_state
from lann.reject import RejectOption

FORMAT = 1
"""The number of the file format; files with a higher one are of a later version."""

ESTIMATORS = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS, *PROTOTYPES, *EMBEDDINGS, REJECT_OPTION, *STREAMS)
"""What can be saved."""

SHA256 = Value(lambda data: type(data) is str and bool(re.fullmatch("[0-9a-f]{64}", data)), "a SHA-256")
PLAIN_DICT = Value(lambda data: type(data) is dict, "a dictionary of values that JSON can express")
_SCORES = ("accuracy", "balanced_accuracy", "auc", "log_loss")
_METHOD = Record(
    CrossValidatedMethod,
    {
        "method": TEXT,
        "n_folds": Int(1),
        "random_state": Maybe(Int(0)),
        **{f"{score}{end}": Maybe(Float(0.0)) for score in _SCORES for end in ("", "_std")},
    },
)
TABLE = Record(
    TableRecord,
    {
        "target": TEXT,
        "id_column": Maybe(TEXT),
        "sample_weight_column": Maybe(TEXT),
        "row_numbers": Indices("n_rows"),
        "ignored": Value(
            lambda data: type(data) is dict and all(type(text) is str for text in data.values()),
            "a dictionary from text to text",
        ),
        "columns": ListOf("_", PLAIN_DICT),
        "data_sha256": Maybe(SHA256),
        "cross_validation": Maybe(ListOf("n_methods", _METHOD)),
        "reject": Maybe(STATE),
    },
)


def find_foreign(model: Any) -> Any:
    """Return the model, or the classifier in a reject option, if it cannot be saved; None if it can."""
    declared = ESTIMATORS.find(model)
    if declared is REJECT_OPTION:
        parts = (getattr(model, "estimator_", None), model.estimator)
        return next((part for part in parts if part is not None and CLASSIFIERS.find(part) is None), None)
    return model if declared is None else None


def to_bytes(model: Any, table: TableRecord | None = None, progress: dict[str, Any] | None = None) -> bytes:
    """Return the content of a model file; the same model gives the same bytes.

    Raises
    ------
    InvalidModelFile
        If it could not be loaded.
    """
    arrays: Arrays = {}
    content = {
        "format": FORMAT,
        "lann": __version__,
        "model": ESTIMATORS.write(model, "model", arrays),
        "table": None if table is None else TABLE.write(table, "table", arrays),
        "progress": progress,
    }
    written = write_archive(content, arrays)
    from_bytes(written)
    return written


def from_bytes(content: bytes) -> dict[str, Any]:
    """Return what a model file has: model, table, format, version and progress.

    Raises
    ------
    InvalidModelFile
        If anything in it is invalid.
    """
    described, arrays = read_archive(content)
    check_format(described)
    fields = {"format", "lann", "model", "table", "progress"}
    is_complete = described.keys() == fields and type(described["lann"]) is str
    require(is_complete, f"its {MODEL} does not have the fields {', '.join(sorted(fields))}")
    reader = Reader(arrays)
    model = ESTIMATORS.read(described["model"], "model", reader)
    table = described["table"]
    if isinstance(table, dict) and table.get("reject") is not None:
        has_neighbors = WITH_STATE.find(model) is not None
        require(has_neighbors, "its table has held-out rows, but its model is no classifier with neighbors")
    table = Maybe(TABLE).read(table, "table", reader)
    if table is not None and table.reject is not None:
        require(
            table.reject.thresholds is None, "in its table, there are thresholds, which depend on a target"
        )
        check_state(RejectOption(), model, table.reject, "table")
    progress = Maybe(PLAIN_DICT).read(described["progress"], "progress", reader)
    require(not arrays, f"it has the unknown entry {shown(min(arrays, default=''))}")
    found = {"model": model, "table": table, "progress": progress}
    return found | {"format": described["format"], "version": described["lann"]}


def check_format(described: Any) -> None:
    """Raise InvalidModelFile unless a description says that it is in a format that this version reads."""
    number = described.get("format") if isinstance(described, dict) else None
    require(type(number) is int and number >= 1, "it does not say in which format it is")
    if number != FORMAT:
        written_by = shown(described.get("lann"))
        raise InvalidModelFile(
            f"it was written by lann {written_by!r} in format {number}, and this version reads "
            f"format {FORMAT}; update lann"
        )


# Models in shards

MANIFEST, SHARED = "shards.json", "shared.lann"


def is_sharded(model: Any) -> bool:
    """Return whether a model is in shards, without an import of Dask."""
    return type(model).__module__ == "lann.distributed._classifier"


def save_folder(model: Any, path: Path) -> None:
    """Save a model in shards as a folder, which is complete or not written at all.

    Shards are written by the workers that hold them, who need access to the folder under the same path.
    """
    from lann.distributed import write_shards

    path = Path(os.path.realpath(path))
    if path.exists() and not (path / MANIFEST).is_file():
        raise FileExistsError(f"{path} exists and is no model in shards; give the name of a new folder.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save {path.name} in.")
    temporary = hidden_path(path)
    earlier = temporary.with_suffix(".old")
    temporary.mkdir()
    try:
        names = [f"shard-{number:05}.lann" for number in range(model.n_shards_)]
        written = write_shards(model, partial(write_file, folder=str(temporary)), names, SHARED)
        manifest = {
            "format": FORMAT,
            "lann": __version__,
            "rows_per_shard": int(model.rows_per_shard),
            "tile_losses": np.asarray(model.tile_losses_).tolist(),
            "shared": written[0],
            "shards": dict(zip(names, written[1:], strict=True)),
        }
        write_atomically(temporary / MANIFEST, write_json(manifest))
        if path.exists():
            shutil.copymode(path, temporary)
            for file in temporary.iterdir():
                with suppress(OSError):  # written by a worker of another user
                    shutil.copymode(path / MANIFEST, file)
            os.replace(path, earlier)
        try:
            os.replace(temporary, path)
        except BaseException:
            if earlier.exists():
                os.replace(earlier, path)
            raise
    except InvalidModelFile as error:
        raise ValueError(f"The model cannot be saved: {error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if path.exists():  # else the earlier one is all there is
            shutil.rmtree(earlier, ignore_errors=True)


def write_file(model: LANNClassifier, name: str, folder: str) -> str:
    """Write a model file to a folder; return its SHA-256."""
    content = to_bytes(model)
    write_atomically(Path(folder) / name, content)
    return hashlib.sha256(content).hexdigest()


def load_folder(path: Path) -> Any:
    """Load a model in shards; these are read by tasks of Dask and stay on the workers.

    Raises
    ------
    ValueError
        If a file is missing, damaged, or does not belong to the others.
    """
    from lann.distributed import read_shards

    path = path.absolute()
    try:
        manifest = _read_manifest(path / MANIFEST)
        hashes = {SHARED: manifest["shared"], **manifest["shards"]}
        for name in hashes:
            require((path / name).is_file(), f"its file {name} is missing")
        read = partial(read_file, folder=str(path), hashes=hashes)
        losses = manifest["tile_losses"]
        n_losses = len(losses[0]) if losses else 0
        further = {
            "rows_per_shard": manifest["rows_per_shard"],
            "tile_losses_": np.array(losses, np.float64).reshape(len(losses), n_losses),
        }
        return read_shards(read(SHARED), read, sorted(manifest["shards"]), further)
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {shown(str(error))}.") from error


def read_file(name: str, folder: str, hashes: dict[str, str]) -> LANNClassifier:
    """Read a model file of a folder, and check that it is the one of the manifest."""
    content = read_content(Path(folder) / name, "model file")
    same = hashlib.sha256(content).hexdigest() == hashes[name]
    require(same, f"its file {name} is not the one that was saved")
    try:
        model = from_bytes(content)["model"]
    except InvalidModelFile as error:
        raise InvalidModelFile(f"of its file {name}, {error}") from error
    require(type(model) is LANNClassifier, f"its file {name} has a model of type {type(model).__name__}")
    return model


def _is_losses(data: Any) -> bool:
    rows_are_lists = type(data) is list and all(type(row) is list for row in data)
    if not rows_are_lists or len({len(row) for row in data}) > 1:
        return False
    return all(type(loss) in (float, int) for row in data for loss in row)


_MANIFEST = Record(
    dict,
    {
        "format": Int(FORMAT),
        "lann": TEXT,
        "rows_per_shard": Int(1),
        "tile_losses": Value(_is_losses, "a list of losses for each tile"),
        "shared": SHA256,
        "shards": Value(
            lambda data: (
                type(data) is dict
                and bool(data)
                and all(re.fullmatch(r"shard-[0-9]{5,9}\.lann", name) for name in data)
                and all(map(SHA256.test, data.values()))
            ),
            "files shard-00000.lann and so on, with their SHA-256",
        ),
    },
)


def _read_manifest(file: Path) -> dict[str, Any]:
    manifest = read_json(read_content(file, "model file"))
    check_format(manifest)
    return _MANIFEST.read(manifest, MANIFEST, Reader({}))
