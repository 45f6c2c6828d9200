"""The part "model-files": honest files are changed in hostile ways, loaded and used.

A file has to be rejected with one sentence, or to load a model. Numbers that are changed within their bounds
may give results that are not finite, or one sentence at use, but no other exception, no crash and no hang.
"""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import shutil
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import lann
from lann import LANNClassifier, LANNEmbedding
from lann.baselines import DANN, GLML, GMLVQ, LGMLVQ, LMNN, PLML, PublishedLANN
from lann.distributed import DaskLANN
from lann.embedding import DiscriminantPlane, NeighborEmbedding
from lann.persist import TableRecord
from lann.reject import RejectOption
from lann.streams import SAMKNN, SAMLANN
from tests.fuzz.children import CONTEXT, address_space, unlimited_memory
from tests.fuzz.outcomes import REJECTED, RIGHT, WRONG, Outcome, Part, try_case

Entries = dict[str, bytes]
MODEL, MANIFEST = "model.json", "shards.json"
QUICK: dict[str, Any] = {"max_iter": 2, "random_state": 0}
LAYOUT: dict[str, Any] = {"method": "tsne", "max_iter": 250, "n_neighbors": 5, "random_state": 0}
ESTIMATORS = [
    LANNClassifier(**QUICK),
    LANNClassifier(metric="full", class_weight={"setosa": 2.0, "virginica": 0.5}, **QUICK),
    LANNClassifier(metric="low_rank", n_components=2, n_candidates=None, **QUICK),
    PublishedLANN(**QUICK),
    LMNN(init=np.eye(4), max_iter=2),
    DANN(weights="distance"),
    GLML(),
    PLML(n_anchors=3, **QUICK),
    GMLVQ(n_components=2, **QUICK),
    LGMLVQ(prototypes_per_class=2, **QUICK),
    DiscriminantPlane(),
    NeighborEmbedding(**LAYOUT),
    LANNEmbedding(LMNN(max_iter=2), **LAYOUT),
    RejectOption(LANNClassifier(**QUICK), cv=2, by="local", risk=0.1, random_state=0),
    SAMKNN(window_size=30, min_window_size=10, random_state=0),
    SAMLANN(window_size=30, min_window_size=10, random_state=0),
]
# How much more memory than an honest file a changed one may take, and what buffers of BLAS take.
FACTOR, LEAST_GROWTH = 10, 8 * 2**20
# One case of so many is a folder of shards.
FOLDER_EVERY = 8


# Honest files


def honest_files(folder: Path) -> list[bytes]:
    """Fit and save small models, some after an explanation, one with a table; return the files."""
    iris = load_iris()
    X, y = scale(iris.data)[::3], iris.target_names[iris.target[::3]]
    table = TableRecord("species", "plant", None, np.arange(len(X)), {"date": "a constant"}, [{"name": "a"}])
    files, path = [], folder / "honest.lann"
    for number, estimator in enumerate(ESTIMATORS):
        options = {"sample_weight": 1.0 + np.arange(len(X)) % 3} if number == 0 else {}
        fitted = estimator.fit(X, y, **options)
        if number % 2 == 0 and hasattr(fitted, "explain"):
            fitted.explain(X[:4])
        lann.persist.save(fitted, path, table=table if number == 1 else None)
        files.append(path.read_bytes())
    lann.save(LANNClassifier(**QUICK).fit(mixed_table(X), y), path)
    return [*files, path.read_bytes()]


def mixed_table(X: np.ndarray) -> pd.DataFrame:
    """Return rows with numbers, categories, dates and gaps."""
    rows = np.arange(len(X))
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "c", "d"])
    frame.loc[rows % 5 == 0, ["a", "c"]] = np.nan
    frame["color"] = pd.Series(np.array(["red", "green", "blue"])[rows % 3]).mask(rows % 7 == 0)
    frame["known"] = rows % 2 == 0
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rows, unit="D")
    frame["size"] = pd.Categorical(np.array(["s", "m"])[rows % 2], categories=["s", "m"], ordered=True)
    return frame.set_index(pd.Index([f"row {row}" for row in rows]))


def honest_folder(folder: Path) -> Entries:
    """Fit and save a small model in shards; return its files."""
    X, y = load_iris(return_X_y=True)
    path = folder / "honest-shards"
    # Shards are made of tiles, which have many rows otherwise.
    with patch("lann.training._train.TILE_ROWS", 50):
        lann.save(DaskLANN(**QUICK, rows_per_shard=50).fit(scale(X), y), path)
    files = {file.name: file.read_bytes() for file in sorted(path.iterdir())}
    shutil.rmtree(path)
    return files


# Changes


def read_entries(content: bytes) -> Entries:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_entries(entries: Entries, method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, entry in entries.items():
            archive.writestr(zipfile.ZipInfo(name), entry, method)
    return buffer.getvalue()


def choose(rng: np.random.Generator, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def to_bytes(array: np.ndarray, *, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def array_of(entries: Entries, rng: np.random.Generator) -> tuple[str, np.ndarray]:
    """Return the name of any array, and the array."""
    name = choose(rng, [name for name in entries if name.endswith(".npy")])
    return name, np.load(io.BytesIO(entries[name]))


def change_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip bits, cut a part off or out, or insert bytes."""
    start, end = np.sort(rng.integers(len(content) + 1, size=2)).tolist()
    flipped = bytearray(content)
    for position in rng.integers(len(content), size=int(rng.integers(1, 9))):
        flipped[position] ^= 1 << int(rng.integers(8))
    added = choose(rng, [content[start:end], rng.bytes(50), bytes(5000)])
    parts = [content[:end], content[start:], content[:start] + content[end:]]
    return choose(rng, [bytes(flipped), *parts, content[:start] + added + content[start:]])


def change_entry(content: bytes, rng: np.random.Generator) -> bytes:
    """Change the bytes of one entry, with a checksum that fits."""
    entries = read_entries(content)
    name = choose(rng, list(entries))
    return write_entries({**entries, name: change_bytes(entries[name], rng)})


def change_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a number in the directory of the archive, or in the header of an entry."""
    changed = bytearray(content)
    mark = choose(rng, [b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"])
    starts = [p for p in range(len(content) - 3) if content[p : p + 4] == mark]
    start = choose(rng, starts) + int(rng.integers(4, 40))
    size = choose(rng, [1, 2, 4])
    value = struct.pack("<q", choose(rng, [0, 1, -1, 2**16 - 1, 2**31, len(content)]))[:size]
    changed[start : start + size] = value
    return bytes(changed[: len(content)])


VALUES: list[Any] = [
    0, 1, -1, 2, 3, 7, 1000, 2**31, 2**62, 2**63 - 1, 10**30, 0.0, 0.5, -1.0, 1e-300, 1e300, float("nan"),
    float("inf"), None, True, False, "", "x", "auto", "<f8", "../x.npy", "ä\n\x00", "x" * 5000, [], {}, [0],
    [[]], {"a": 1}, {"tuple": ["point"]}, {"list": [1]}, {"dict": [[1, 2.0]]}, "frozen", "model/classes_.npy",
]  # fmt: skip
BROKEN = [
    '1, "format": 1', "1" * 10_000, "NaN", "1e999", "2", "[" * 50_000 + "]" * 50_000,
    "[" + "[]," * 1_000_000 + "0]",
    "[" + "0," * 2_000_000 + "0]", '"' + "x" * 20_000_000 + '"',
]  # fmt: skip


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container and key in a tree."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from spots(item)


def edit_json(described: Any, rng: np.random.Generator) -> None:
    """Replace, remove, rename or exchange values."""
    for _ in range(int(rng.integers(1, 4))):
        owner, key = choose(rng, list(spots(described)))
        other, other_key = choose(rng, list(spots(described)))
        kind = rng.random()
        if kind < 0.7:
            owner[key] = choose(rng, VALUES)
        elif kind < 0.8:
            owner[key] = copy.deepcopy(other[other_key])
        elif isinstance(owner, dict):
            value = owner.pop(key)
            owner[choose(rng, ["predict", "__class__", "n_jobs", f"{key}2"])] = value
        else:
            owner.pop(key)


def change_json(content: bytes, rng: np.random.Generator) -> bytes:
    """Change values of model.json, or write what JSON should not have."""
    entries = read_entries(content)
    described = json.loads(entries[MODEL])
    if rng.random() < 0.8:
        edit_json(described, rng)
        text = json.dumps(described)
    else:
        text = json.dumps(described).replace('"format": 1', f'"format": {choose(rng, BROKEN)}')
    return write_entries({**entries, MODEL: text.encode()})


def change_array(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace numbers of an array, or give it another shape, type or order."""
    entries = read_entries(content)
    name, array = array_of(entries, rng)
    numbers = [-1, 0, 1, 2, len(array), 10**6, 2**62, 1e-300, 1e20, 1e100, 1e300, np.nan, np.inf, -np.inf]
    changes: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda a: a[:-1],
        lambda a: a[:0],
        lambda a: np.concatenate([a, a]),
        lambda a: a[..., :-1],
        lambda a: a.T.copy(),
        lambda a: a.ravel(),
        lambda a: a[::-1].copy(),
        lambda a: np.asfortranarray(a),
        lambda a: a.astype(choose(rng, [np.float32, np.int64, np.uint8, bool, ">f8", "c16", "M8[s]", "U9"])),
    ]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng.random() < 0.6 and array.size and array.dtype.kind in "fiu":
            some = rng.random(array.shape) < choose(rng, [0.02, 0.3, 1.0])
            array = array.copy()
            array[some] = np.array(choose(rng, numbers)).astype(array.dtype)
        else:
            try:
                array = choose(rng, changes)(array)
            except (TypeError, ValueError):  # text is no number
                array = array[:0]
    return write_entries({**entries, name: to_bytes(array)})


def resize_all(content: bytes, rng: np.random.Generator) -> bytes:
    """Change one length wherever it occurs, so that all shapes agree."""
    entries = read_entries(content)
    described = json.loads(entries[MODEL])
    arrays = {n: np.load(io.BytesIO(entry)) for n, entry in entries.items() if n.endswith(".npy")}
    old = choose(rng, [n for array in arrays.values() for n in array.shape if n > 0] or [1])
    kept = np.sort(rng.integers(old, size=int(rng.integers(2 * old + 1))))
    for name, array in arrays.items():
        for axis, length in enumerate(array.shape):
            if length == old:
                array = np.take(array, kept, axis=axis)
        entries[name] = to_bytes(array)
    for owner, key in list(spots(described)):
        if owner[key] == old and key in ("n_features_in_", "n_classes", "_n_features_out"):
            owner[key] = len(kept)
    return write_entries({**entries, MODEL: json.dumps(described).encode()})


def change_header(content: bytes, rng: np.random.Generator) -> bytes:
    """Change the header of an array only, or replace the array by objects or a pickle."""
    entries = read_entries(content)
    name, _ = array_of(entries, rng)
    header = io.BytesIO()
    shape = choose(rng, [(2**50, 2**10), (3,), (0,), (-1,), (10**7,), (2**40, 2**40)])
    descr = choose(rng, ["<f8", "<i8", "|O", "<U3", "<U0"])
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
    objects = to_bytes(np.array([print, {}], dtype=object), allow_pickle=True)
    entries[name] = choose(rng, [header.getvalue() + entries[name][128:], objects, pickle.dumps(print)])
    return write_entries(entries)


def change_entries(content: bytes, rng: np.random.Generator) -> bytes:
    """Leave entries out, add, rename, exchange or repeat some, or compress them."""
    entries = read_entries(content)
    one, other = (choose(rng, list(entries)) for _ in range(2))
    added = choose(rng, ["x.npy", "../x.npy", "/x.npy", "x\x00.npy", "x.py", "ä.npy"])
    kind = int(rng.integers(6))
    if kind == 0:
        del entries[one]
    elif kind == 1:
        entries[added] = entries[one]
    elif kind == 2:
        entries |= {one: entries[other], other: entries[one]}
    elif kind == 3:
        entries |= {f"x{number}.npy": b"" for number in range(choose(rng, [1, 600, 60_000]))}
    elif kind == 4:
        twin = one[:-5] + chr(ord(one[-5]) ^ 1) + one[-4:]
        return write_entries({**entries, twin: b""}).replace(twin.encode(), one.encode())
    else:
        return write_entries(entries | {"bomb.npy": bytes(5_000_000)}, zipfile.ZIP_DEFLATED)
    return write_entries(entries)


# Those that come near to a file that can be loaded are listed several times.
CHANGES = (
    *(change_json, change_array) * 5, *(resize_all,) * 3, change_entry, change_entry, change_bytes,
    change_archive, change_header, change_entries,
)  # fmt: skip


def change_file(files: list[bytes], seed: int, number: int) -> tuple[str, bytes]:
    """Return the name of a change, and a changed file."""
    rng = np.random.default_rng([seed, number])
    change = choose(rng, list(CHANGES))
    return change.__name__, change(choose(rng, files), rng)


def change_folder(files: Entries, seed: int, number: int) -> tuple[str, Entries]:
    """Return the name of a change, and the files of a changed folder of shards."""
    rng = np.random.default_rng([seed, number])
    one, other = (choose(rng, list(files)) for _ in range(2))
    kind = rng.random()
    if kind < 0.2:
        return "shards: swap", files | {one: files[other], other: files[one]}
    if one != MANIFEST:
        return "shards: file", files | {one: change_file([files[one]], seed, number)[1]}
    manifest = json.loads(files[MANIFEST])
    edit_json(manifest, rng)
    text = choose(rng, [json.dumps(manifest).encode()] * 5 + [change_bytes(files[MANIFEST], rng)])
    return "shards: manifest", files | {MANIFEST: text}


# Use


def use(model: Any) -> None:
    """Predict, explain, transform and learn, with rows that are always the same."""
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(6, model.n_features_in_))
    queries[1] *= 1e3
    rows: Any = queries
    schema = getattr(getattr(model, "estimator_", model), "schema_", None)
    if schema is not None and not schema.is_numeric:
        for feature, column in zip(schema.features, queries.T, strict=True):
            if feature.kind != "number":
                column[:] = np.floor(np.abs(column)) % max(len(feature.categories), 2)
        rows = schema.to_table(queries)
    elif hasattr(model, "feature_names_in_"):
        rows = pd.DataFrame(queries, columns=model.feature_names_in_)
    for method in ("predict_proba", "predict", "transform", "reasons", "kneighbors", "decision"):
        if hasattr(model, method):
            getattr(model, method)(rows)
    if hasattr(model, "explain"):
        model.explain(rows[:2]).in_words()
    if hasattr(model, "test_then_train"):
        model.test_then_train(queries, model.classes_[rng.integers(len(model.classes_), size=6)])


def try_path(name: str, path: Path) -> Outcome:
    """Load a model and use it."""
    models: list[Any] = []
    outcome = try_case(name, lambda: models.append(lann.load(path)), allowed=(ValueError, OSError))
    if not models:
        is_named = outcome.kind != REJECTED or path.name in outcome.detail
        return outcome if is_named else Outcome(WRONG, name, f"The file is not named: {outcome.detail}")
    used = try_case(name, lambda: use(models[0]), allowed=(ValueError, ArithmeticError))
    return Outcome(RIGHT, name) if used.detail.startswith(("ValueError", "LinAlgError")) else used


def write_folder(files: Entries, path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)


def prepare(folder: Path) -> Part:
    """Write honest files, use them, so that children need not compile, and measure the memory they take."""
    dask.config.set(scheduler="synchronous")  # no threads, as processes are forked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files, shards = honest_files(folder), honest_folder(folder)
    path = folder / "warm.lann"

    def use_all() -> None:
        for content in files:
            path.write_bytes(content)
            outcome = try_path("honest", path)
            if outcome.kind != RIGHT:
                raise RuntimeError(f"An honest file is {outcome}.")

    use_all()
    write_folder(shards, folder / "warm")
    if try_path("honest", folder / "warm").kind != RIGHT:
        raise RuntimeError("The honest model in shards cannot be used.")

    def write(seed: int, number: int, target: Path) -> str:
        if number % FOLDER_EVERY == 0:
            name, changed = change_folder(shards, seed, number)
            write_folder(changed, target)
        else:
            name, content = change_file(files, seed, number)
            shutil.rmtree(target, ignore_errors=True)
            target.unlink(missing_ok=True)
            target.write_bytes(content)
        return name

    def run(seed: int, number: int) -> Outcome:
        target = folder / f"{os.getpid()}-{number % FOLDER_EVERY == 0}"
        with unlimited_memory():
            name = write(seed, number, target)
        return try_path(name, target)

    def keep(target: Path, seed: int, number: int) -> None:
        write(seed, number, target / f"{seed}-{number}.lann")

    return Part(run, memory=FACTOR * peak_growth(use_all), keep=keep)


def peak_growth(action: Callable[[], None]) -> int:
    """Return by how many bytes the address space of a child grows during an action."""
    receiver, sender = CONTEXT.Pipe(duplex=False)

    def measure() -> None:
        before = address_space("VmSize")
        action()
        sender.send(address_space("VmPeak") - before)

    child = CONTEXT.Process(target=measure)
    child.start()
    growth = receiver.recv()
    child.join()
    return max(growth, LEAST_GROWTH)
