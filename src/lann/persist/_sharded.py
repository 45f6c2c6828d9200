"""A model in shards as a folder: a manifest, and a model file for each shard and for what they share."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lann import __version__
from lann._files import final_path, hidden_path, read_content, sync_folder, write_atomically
from lann.classifier import LANNClassifier
from lann.persist._errors import InvalidModelFile, one_sentence, shown
from lann.persist._json import read_json, write_json
from lann.persist._model_file import check_format, from_bytes, to_bytes

MANIFEST, SHARED = "shards.json", "shared.lann"
FORMAT = 1
SHARD = re.compile(r"shard-\d{5,9}\.lann", re.ASCII)
SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
FIELDS = {"format", "lann", "rows_per_shard", "tile_losses", "shared", "shards"}


def is_sharded(model: Any) -> bool:
    """Return whether a model is in shards, without an import of Dask."""
    return type(model).__module__ == "lann.distributed._classifier"


def save_folder(model: Any, path: Path) -> None:
    """Save a model in shards as a folder, which is complete or not written at all.

    Shards are written by the workers that hold them, who need access to the folder under the same path.
    """
    from lann.distributed import write_shards

    path = final_path(path)
    if path.exists() and not (path / MANIFEST).is_file():
        raise FileExistsError(f"{path} exists and is no model in shards; give the name of a new folder.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save {path.name} in.")
    temporary = hidden_path(path)
    earlier = temporary.with_suffix(".old")
    if path.exists():  # nobody else may look into the new folder, neither now nor later
        mode = stat.S_IMODE(path.stat().st_mode)
        temporary.mkdir(mode & 0o700)
        temporary.chmod(mode)
    else:
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
            _keep_owner(path, temporary)
            mode_of_files = stat.S_IMODE((path / MANIFEST).stat().st_mode) & 0o777
            for file in temporary.iterdir():
                with suppress(OSError):  # written by a worker of another user
                    file.chmod(mode_of_files)
            os.replace(path, earlier)
        try:
            os.replace(temporary, path)
        except BaseException:
            if earlier.exists():
                os.replace(earlier, path)
            raise
        sync_folder(path.parent)
    except InvalidModelFile as error:
        raise ValueError(f"The model cannot be saved: {error}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if path.exists():  # else the earlier one is all there is
            shutil.rmtree(earlier, ignore_errors=True)


def _keep_owner(existing: Path, new: Path) -> None:
    """Give a folder the owner and the group of another one, if that is permitted."""
    status = existing.stat()
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(new, status.st_uid, status.st_gid)


def write_file(model: LANNClassifier, name: str, folder: str) -> str:
    """Write a model file to a folder; return its SHA-256."""
    content = to_bytes(model, None)
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
            if not (path / name).is_file():
                raise InvalidModelFile(f"its file {name} is missing")
        read = partial(read_file, folder=str(path), hashes=hashes)
        losses = manifest["tile_losses"]
        further = {
            "rows_per_shard": manifest["rows_per_shard"],
            "tile_losses_": np.array(losses, np.float64).reshape(
                len(losses), len(losses[0]) if losses else 0
            ),
        }
        return read_shards(read(SHARED), read, sorted(manifest["shards"]), further)
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {one_sentence(error)}.") from error


def read_file(name: str, folder: str, hashes: dict[str, str]) -> LANNClassifier:
    """Read a model file of a folder, and check that it is the one of the manifest."""
    content = read_content(Path(folder) / name, "model file")
    if hashlib.sha256(content).hexdigest() != hashes[name]:
        raise InvalidModelFile(f"its file {name} is not the one that was saved")
    try:
        model = from_bytes(content).model
    except InvalidModelFile as error:
        raise InvalidModelFile(f"of its file {name}, {error}") from error
    if type(model) is not LANNClassifier:
        raise InvalidModelFile(f"its file {name} has a model of type {type(model).__name__}")
    return model


def _read_manifest(file: Path) -> dict[str, Any]:
    manifest = read_json(read_content(file, "model file"))
    check_format(manifest, FORMAT)
    if manifest.keys() != FIELDS:
        raise InvalidModelFile(f"its {MANIFEST} does not have the fields {', '.join(sorted(FIELDS))}")
    size = manifest["rows_per_shard"]
    if type(size) is not int or size < 1:
        raise InvalidModelFile(f"its rows_per_shard is {shown(size)}, and no integer above 0")
    shards = manifest["shards"]
    if not isinstance(shards, dict) or not shards or not all(SHARD.fullmatch(name) for name in shards):
        raise InvalidModelFile("its shards are not files shard-00000.lann and so on, with their SHA-256")
    for name, found in (("shared", manifest["shared"]), *shards.items()):
        if not isinstance(found, str) or not SHA256.fullmatch(found):
            raise InvalidModelFile(f"its SHA-256 of {name} is {shown(found)}")
    _check_losses(manifest["tile_losses"])
    return manifest


def _check_losses(losses: Any) -> None:
    rows_are_lists = isinstance(losses, list) and all(isinstance(row, list) for row in losses)
    if not rows_are_lists or len({len(row) for row in losses}) > 1:
        raise InvalidModelFile("its tile_losses are not a list of losses for each tile")
    if not all(type(loss) in (float, int) for row in losses for loss in row):
        raise InvalidModelFile("its tile_losses are not numbers")
