"""Folders of models in shards, and hostile changes of them."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from lann import save
from lann.distributed import DaskLANN
from tests.fuzz.model_files.mutations import NUMBERS, OTHERS, mutate

MANIFEST = "shards.json"
Files = dict[str, bytes]


def honest_folder(folder: Path) -> Files:
    """
    Fit and save a small model in shards; return its files.

    Parameters
    ----------
    folder
        Where the model is written, and removed again.
    """
    X, y = load_iris(return_X_y=True)
    path = folder / "honest-shards"
    # Shards are made of tiles, which have many rows otherwise.
    with warnings.catch_warnings(), patch("lann.training._train.TILE_ROWS", 50):
        warnings.simplefilter("ignore")
        save(DaskLANN(max_iter=2, random_state=0, rows_per_shard=50).fit(scale(X), y), path)
    files = {file.name: file.read_bytes() for file in sorted(path.iterdir())}
    shutil.rmtree(path)
    return files


def write_folder(files: Files, path: Path) -> None:
    """Write files to a folder that has nothing else."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)


def _choose(rng: np.random.Generator, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def _shards(files: Files) -> list[str]:
    return [name for name in files if name != MANIFEST]


def _with_hash(files: Files, name: str) -> Files:
    """Return the files with a manifest that has the hash of one of them."""
    manifest = json.loads(files[MANIFEST])
    found = hashlib.sha256(files[name]).hexdigest()
    if name in manifest["shards"]:
        manifest["shards"][name] = found
    else:
        manifest["shared"] = found
    return files | {MANIFEST: json.dumps(manifest).encode()}


def change_file(files: Files, rng: np.random.Generator) -> Files:
    """Change one model file, usually with a hash that fits."""
    name = _choose(rng, _shards(files))
    changed = mutate([files[name]], int(rng.integers(2**31)), int(rng.integers(1000)))[1]
    files = files | {name: changed}
    return _with_hash(files, name) if rng.random() < 0.9 else files


def swap_files(files: Files, rng: np.random.Generator) -> Files:
    """Exchange two files, usually with hashes that fit."""
    one, other = (_choose(rng, _shards(files)) for _ in range(2))
    files = files | {one: files[other], other: files[one]}
    return _with_hash(_with_hash(files, one), other) if rng.random() < 0.9 else files


def leave_out(files: Files, rng: np.random.Generator) -> Files:
    """Leave a file out, or empty it."""
    name = _choose(rng, list(files))
    return {n: content for n, content in files.items() if n != name} | (
        {name: b""} if rng.random() < 0.5 else {}
    )


def edit_manifest(files: Files, rng: np.random.Generator) -> Files:
    """Replace, remove or add values of the manifest."""
    manifest = json.loads(files[MANIFEST])
    owner: Any = manifest if rng.random() < 0.7 else manifest["shards"]
    key = _choose(rng, list(owner))
    choice = rng.random()
    if choice < 0.2:
        del owner[key]
    elif choice < 0.4:
        added = [
            "../shared.lann",
            "/shard-00000.lann",
            "shard-00002.lann",
            "shared.lann",
            "x",
            "shard-00000.lann\x00",
        ]
        owner[_choose(rng, added)] = owner[key]
    else:
        owner[key] = _choose(rng, NUMBERS if rng.random() < 0.5 else OTHERS)
    return files | {MANIFEST: json.dumps(manifest).encode()}


def edit_losses(files: Files, rng: np.random.Generator) -> Files:
    """Give the losses another shape, or other numbers."""
    manifest = json.loads(files[MANIFEST])
    losses: list[Any] = [
        [], [[]], [[1], [1, 2]], [["x"]], [[None]], [[1e308, -1e308]], [[float("nan")]], [[[1.0]]], [[True]],
        [[10**400]], [[1.0]] * 100_000, {"a": 1}, [{}],
    ]  # fmt: skip
    manifest["tile_losses"] = _choose(rng, losses)
    return files | {MANIFEST: json.dumps(manifest).encode()}


def break_manifest(files: Files, rng: np.random.Generator) -> Files:
    """Write what JSON should not have, or cut it off, or flip bits."""
    text = files[MANIFEST]
    position = int(rng.integers(len(text)))
    flipped = bytearray(text)
    flipped[position] ^= 1 << int(rng.integers(8))
    choices = [
        text[:position], bytes(flipped), text.replace(b"{", b'{"format": 1, ', 1), text + text, b"null",
        b"[]", b"[" * 50_000 + b"]" * 50_000, text.decode().encode("utf-16"), b"\xff" + text,
        text.replace(b"1", b"1e999"),
    ]  # fmt: skip
    return files | {MANIFEST: _choose(rng, choices)}


CHANGES: tuple[Callable[[Files, np.random.Generator], Files], ...] = (
    *(change_file,) * 4, swap_files, leave_out, edit_manifest, edit_manifest, edit_losses, break_manifest,
)  # fmt: skip


def change_folder(files: Files, seed: int, number: int) -> tuple[str, Files]:
    """
    Return the name of a change, and the files of a changed folder.

    Parameters
    ----------
    files
        Those of an honest folder.
    seed, number
        Determine the change.
    """
    rng = np.random.default_rng([seed, number])
    change = CHANGES[int(rng.integers(len(CHANGES)))]
    return f"shards: {change.__name__}", change(files, rng)
