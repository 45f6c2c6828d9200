"""Changes of model files, from flipped bits to files that are wrong in one declared number only."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mutation = Callable[["ModelFile", np.random.Generator], bytes]
MODEL = "model.json"
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 7, 1000, 2**31, 2**40, 2**62, 2**63 - 1, 10**30, 0.0, -0.0, 0.5, 1.0, -1.0, 1e-320,
    1e-300, 1e300, 1.7e308, -1e300, float("nan"), float("inf"), -float("inf"),
]  # fmt: skip
OTHERS: list[Any] = [
    None, True, False, "", "x", "auto", "C", "F", "<f8", "<i8", "|b1", "<U9", "O", "../x.npy", "/x.npy",
    "ä\n\x00", "\ud800", "x" * 5000, [], {}, [0], [[]], {"a": 1}, [1, 2, 3], {"tuple": ["point"]},
    {"list": [1]}, {"dict": [[1, 2.0]]}, {"dict": [[1, 1], [1, 1]]}, "frozen", "model/classes_.npy",
]  # fmt: skip
SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 300.0, -1e5, 1e-320, 1e-300, 1e-150, 1e-80, 1e20, 1e38, 1e74, -1e75, 1e100, -1e100,
    1e139, -1e139, 1e150, -1e153, 1e300, -1.7e308, np.nan, np.inf, -np.inf,
]  # fmt: skip
BOMB = 5_000_000


@dataclass(frozen=True)
class ModelFile:
    """
    An honest file.

    Parameters
    ----------
    content
        Its bytes.
    others
        Entries of other honest files.
    """

    content: bytes
    others: list[dict[str, bytes]]

    def entries(self) -> dict[str, bytes]:
        return entries_of(self.content)


def entries_of(content: bytes) -> dict[str, bytes]:
    """Return the entries of a file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_entries(entries: dict[str, bytes]) -> bytes:
    """Return an archive in the form of model files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, entry in entries.items():
            archive.writestr(zipfile.ZipInfo(name), entry)
    return buffer.getvalue()


def _choose(rng: np.random.Generator, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def describe(entries: dict[str, bytes]) -> Any:
    """Return model.json as it is read."""
    return json.loads(entries[MODEL])


def _with_model(entries: dict[str, bytes], described: Any) -> bytes:
    return write_entries({**entries, MODEL: json.dumps(described).encode()})


def _spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    """Return every container, key and path in a tree."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key, (*path, key)
        yield from _spots(item, (*path, key))


def arrays_of(entries: dict[str, bytes]) -> list[str]:
    """Return the names of all arrays."""
    return [name for name in entries if name != MODEL]


def load_array(entries: dict[str, bytes], name: str) -> NDArray[Any]:
    """Return an array of a file."""
    return np.load(io.BytesIO(entries[name]))


def _store(entries: dict[str, bytes], name: str, array: NDArray[Any]) -> None:
    buffer = io.BytesIO()
    np.save(buffer, array)
    entries[name] = buffer.getvalue()


def change_array(content: bytes, name: str, change: Callable[[NDArray[Any]], NDArray[Any]]) -> bytes:
    """Return a file in which one array is another one."""
    entries = entries_of(content)
    _store(entries, name, change(load_array(entries, name)))
    return write_entries(entries)


# Bytes


def flip_bits(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Flip bits anywhere."""
    content = bytearray(file.content)
    for position in rng.integers(len(content), size=int(rng.integers(1, 9))):
        content[position] ^= 1 << int(rng.integers(8))
    return bytes(content)


def flip_bits_inside(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Flip bits of one entry, with a checksum that fits."""
    entries = file.entries()
    name = _choose(rng, list(entries))
    content = bytearray(entries[name])
    for position in rng.integers(len(content), size=int(rng.integers(1, 5))):
        content[position] ^= 1 << int(rng.integers(8))
    return write_entries({**entries, name: bytes(content)})


def truncate(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Cut off the end or the beginning, or a part within."""
    start, end = np.sort(rng.integers(len(file.content) + 1, size=2)).tolist()
    parts = [file.content[:end], file.content[start:], file.content[:start] + file.content[end:]]
    return _choose(rng, parts)


def insert_bytes(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Insert bytes, of the file itself or random ones."""
    start, end = np.sort(rng.integers(len(file.content) + 1, size=2)).tolist()
    added = _choose(rng, [file.content[start:end], rng.bytes(50), bytes(5000)])
    position = int(_choose(rng, [0, len(file.content), int(rng.integers(len(file.content)))]))
    return file.content[:position] + added + file.content[position:]


# model.json


def edit_json(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Replace values of model.json by numbers, text and others."""
    entries = file.entries()
    described = describe(entries)
    for _ in range(int(rng.integers(1, 4))):
        owner, key, _ = _choose(rng, list(_spots(described)))
        value = owner[key]
        if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
            owner[key] = _choose(rng, [value + 1, value - 1, -value, value * 2, value * 1000, float(value)])
        else:
            owner[key] = _choose(rng, NUMBERS if rng.random() < 0.5 else OTHERS)
    return _with_model(entries, described)


def edit_keys(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Remove, add or rename keys of model.json."""
    entries = file.entries()
    described = describe(entries)
    owner, key, _ = _choose(rng, list(_spots(described)))
    value = owner.pop(key)
    choice = rng.random()
    if isinstance(owner, list):
        owner += [value, value]
    elif choice < 0.3:
        owner[f"{key}2"] = value
    elif choice < 0.6:
        owner[key] = value
        owner[_choose(rng, ["predict", "__class__", "__dict__", "x", "n_jobs", "_metadata_request"])] = value
    return _with_model(entries, described)


def swap_json(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Swap two values of model.json, or take one from another file."""
    entries = file.entries()
    described = describe(entries)
    owner, key, path = _choose(rng, list(_spots(described)))
    if rng.random() < 0.5:
        other, other_key, _ = _choose(rng, list(_spots(described)))
        if isinstance(other, dict) and isinstance(owner, dict) and other_key in other:
            owner[key], other[other_key] = other[other_key], owner[key]
    else:
        foreign = describe(_choose(rng, file.others))
        same = [o[k] for o, k, p in _spots(foreign) if p[-1] == path[-1]]
        owner[key] = _choose(rng, same or [None])
    try:
        return _with_model(entries, described)
    except ValueError:  # a value became part of itself
        return file.content


BROKEN_NUMBERS: list[Callable[[], str]] = [
    lambda: '1, "format": 1',
    lambda: "1" * 10_000,
    lambda: "NaN",
    lambda: "1e999",
    lambda: "2",
]
BROKEN_VALUES: list[Callable[[], str]] = [
    lambda: "[" * 50_000 + "]" * 50_000,
    lambda: "[" * 50 + "]" * 50,
    lambda: "[" + "[]," * 1_000_000 + "0]",
    lambda: "[" + "0," * 2_000_000 + "0]",
    lambda: '"' + "x" * 20_000_000 + '"',
]


def break_json(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Write what JSON should not have: keys twice, depth, NaN, huge numbers, other encodings."""
    entries = file.entries()
    text = entries[MODEL].decode()
    first, last = '"format": 1', '"table": null'
    old, new = _choose(
        rng, [(first, value) for value in BROKEN_NUMBERS] + [(last, value) for value in BROKEN_VALUES]
    )
    others = [text.replace("{", "[", 1), f"[{text}]", text + text, text[: len(text) // 2], "", "null", "{}"]
    chosen = (
        text.replace(old, f"{old.partition(': ')[0]}: {new()}")
        if rng.random() < 0.7
        else _choose(rng, others)
    )
    encoded = _choose(
        rng, [chosen.encode(), chosen.encode(), chosen.encode("utf-16"), chosen.encode("utf-8-sig")]
    )
    return write_entries({**entries, MODEL: encoded})


def repeat_key(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Write a key of model.json twice, somewhere within, or nest a value deeply."""
    entries = file.entries()
    described = describe(entries)
    owners = [
        owner for owner, key, _ in _spots(described) if isinstance(owner, dict) and isinstance(key, str)
    ]
    owner, mark = _choose(rng, owners), "a mark that is replaced"
    key = _choose(rng, list(owner))
    twice = rng.random() < 0.6
    value, owner[key] = json.dumps(owner[key]), mark
    text = json.dumps(described)
    depth = int(_choose(rng, [1, 30, 2000]))
    new = f"{value}, {json.dumps(key)}: {value}" if twice else "[" * depth + value + "]" * depth
    return write_entries({**entries, MODEL: text.replace(json.dumps(mark), new).encode()})


# Arrays


def special_values(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Replace numbers of an array by special ones."""
    entries = file.entries()
    for _ in range(int(rng.integers(1, 3))):
        name = _choose(rng, arrays_of(entries))
        array = load_array(entries, name).copy()
        if array.size == 0:
            continue
        some = rng.random(array.shape) < _choose(rng, [0.02, 0.3, 1.0])
        some.flat[int(rng.integers(array.size))] = True
        if array.dtype.kind == "f":
            with np.errstate(over="ignore"):
                array[some] = array[some] * 1e5 if rng.random() < 0.2 else _choose(rng, SPECIAL)
        elif array.dtype.kind in "iu":
            number = _choose(rng, [-1, 0, 1, 2, len(array), 10**6, 2**31, 2**62, -(2**62)])
            bounds = np.iinfo(array.dtype)
            array[some] = min(max(number, bounds.min), bounds.max)
        elif array.dtype.kind == "U":
            array[some] = _choose(rng, ["", "a", "ä", "\x00", "x" * 50])
        else:
            array[some] = ~array[some]
        _store(entries, name, array)
    return write_entries(entries)


def reshape_array(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Give an array another shape, dtype or order."""
    entries = file.entries()
    name = _choose(rng, arrays_of(entries))
    array = load_array(entries, name)
    changes: list[Callable[[NDArray[Any]], NDArray[Any]]] = [
        lambda a: a[:-1],
        lambda a: a[:0],
        lambda a: np.concatenate([a, a]),
        lambda a: a[..., :-1],
        lambda a: a[..., :0],
        lambda a: np.concatenate([a, a], axis=-1),
        lambda a: a.T.copy(),
        lambda a: a.ravel(),
        lambda a: a[None],
        lambda a: a[::-1].copy(),
        lambda a: np.sort(a, axis=-1),
        lambda a: np.asfortranarray(a),
        lambda a: a.astype(np.float32) if a.dtype.kind != "U" else a,
        lambda a: a.astype(np.int64) if a.dtype.kind in "iub" else a,
        lambda a: a.astype(np.uint8) if a.dtype.kind in "iub" else a,
        lambda a: a.astype(np.str_),
        lambda a: a.astype(bool) if a.dtype.kind != "U" else a,
        lambda a: a.astype(np.complex128) if a.dtype.kind != "U" else a,
        lambda a: a.astype(np.float16) if a.dtype.kind != "U" else a,
        lambda a: a.astype(a.dtype.newbyteorder(">")),
        lambda a: a.astype("M8[s]") if a.dtype.kind in "iu" else a,
    ]
    with np.errstate(all="ignore"):
        _store(entries, name, _choose(rng, changes)(array))
    return write_entries(entries)


def resize_all(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Change one length wherever it occurs, so that all shapes agree."""
    entries = file.entries()
    described = describe(entries)
    arrays = {name: load_array(entries, name) for name in arrays_of(entries)}
    old = _choose(rng, [n for array in arrays.values() for n in array.shape if n > 0] or [1])
    some = rng.permutation(old)[: int(rng.integers(old + 1))]
    kept = np.sort(some if rng.random() < 0.6 else rng.integers(old, size=2 * old))
    for name, array in arrays.items():
        for axis, length in enumerate(array.shape):
            if length == old:
                array = np.take(array, kept, axis=axis)
        _store(entries, name, np.ascontiguousarray(array).reshape(array.shape))
    for owner, key, _ in list(_spots(described)):
        if owner[key] == old and key in ("n_features_in_", "n_classes", "_n_features_out"):
            owner[key] = len(kept)
    return _with_model(entries, described)


def other_header(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Change the header of an array only."""
    entries = file.entries()
    name = _choose(rng, arrays_of(entries))
    header = io.BytesIO()
    shape = _choose(rng, [(2**50, 2**10), (3,), (0,), (-1,), (10**7,), (2**40, 2**40)])
    fields = {
        "descr": _choose(rng, ["<f8", "<i8", "|O", "<U3", "<U0"]),
        "fortran_order": False,
        "shape": shape,
    }
    np.lib.format.write_array_header_1_0(header, fields)
    entries[name] = header.getvalue() + entries[name][128:]
    return write_entries(entries)


def swap_entries(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Swap two arrays, or take one from another file."""
    entries = file.entries()
    one, other = (_choose(rng, arrays_of(entries)) for _ in range(2))
    foreign = _choose(rng, file.others)
    if rng.random() < 0.5:
        entries[one], entries[other] = entries[other], entries[one]
    else:
        entries[one] = foreign.get(one, _choose(rng, list(foreign.values())))
    return write_entries(entries)


def other_entries(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Leave entries out, add some, or rename one."""
    entries = file.entries()
    name = _choose(rng, list(entries))
    choice = rng.random()
    if choice < 0.3:
        del entries[name]
    elif choice < 0.6:
        added = _choose(
            rng, ["x.npy", "model/x.npy", "../x.npy", "/x.npy", "C:/x.npy", "x\x00.npy", "x.py", "ä.npy"]
        )
        entries[added] = entries[name]
    elif choice < 0.8:
        entries = {f"{n}x" if n == name else n: entry for n, entry in entries.items()}
    else:
        entries |= {f"x{number}.npy": b"" for number in range(int(_choose(rng, [1, 600, 60_000])))}
    return write_entries(entries)


def pickled_objects(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Replace an array by an array of Python objects, or by a pickle."""
    entries = file.entries()
    buffer = io.BytesIO()
    np.save(buffer, np.array([print, {}], dtype=object), allow_pickle=True)
    pickled = _choose(rng, [buffer.getvalue(), pickle.dumps(print), b"", bytes(10)])
    return write_entries({**entries, _choose(rng, arrays_of(entries)): pickled})


# Archives


def _dated(name: str, method: int) -> zipfile.ZipInfo:
    """Return an entry with a date, so that the seed determines the file."""
    entry = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
    entry.compress_type = method
    return entry


def rezip(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Write the archive by another program: compressed, with duplicates, comments, bombs or flags."""
    entries = file.entries()
    choice, buffer = int(rng.integers(6)), io.BytesIO()
    method = zipfile.ZIP_STORED if choice == 0 else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, entry in entries.items():
            archive.writestr(_dated(name, method), entry)
        if choice == 2:
            archive.comment = b"x" * 100
        elif choice == 3:
            archive.writestr(_dated("bomb.npy", method), bytes(BOMB))
        elif choice == 4:
            name = _choose(rng, list(entries))
            archive.writestr(zipfile.ZipInfo(f"{name[:-1]}z"), b"")
    content = bytearray(buffer.getvalue())
    if choice == 5:  # encrypted, or of several disks
        directory = content.rfind(b"PK\x01\x02")
        content[directory + 8] |= 1
        content[directory + 34] = int(rng.integers(2))
    return bytes(content)


def duplicate_entry(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Write an entry twice under one name, in the form of model files."""
    entries = file.entries()
    name = _choose(rng, [n for n in entries if n != MODEL])
    twin = name[:-5] + chr(ord(name[-5]) ^ 1) + name[-4:]
    content = _choose(rng, [entries[name], b"", bytes(100)])
    return write_entries({**entries, twin: content}).replace(twin.encode(), name.encode())


def edit_headers(file: ModelFile, rng: np.random.Generator) -> bytes:
    """Change a number in the directory of the archive, or in the header of an entry."""
    content = bytearray(file.content)
    marks = [b"PK\x03\x04", b"PK\x01\x02", b"PK\x06\x06", b"PK\x06\x07", b"PK\x05\x06"]
    mark = _choose(rng, marks)
    starts = [p for p in range(len(content) - 3) if content[p : p + 4] == mark]
    start = _choose(rng, starts or [0]) + int(rng.integers(4, 60))
    value = struct.pack("<q", int(_choose(rng, [0, 1, -1, 2**16 - 1, 2**31, 2**40, len(content)])))
    size = int(_choose(rng, [1, 2, 4, 8]))
    content[start : start + size] = value[:size]
    return bytes(content[: len(file.content)])


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, flip_bits_inside, truncate, insert_bytes, edit_json, edit_json, edit_json, edit_keys,
    swap_json, swap_json, break_json, repeat_key, special_values, special_values, special_values,
    reshape_array, reshape_array, resize_all, resize_all, other_header, swap_entries, other_entries,
    pickled_objects, rezip, duplicate_entry, edit_headers,
)  # fmt: skip
"""All changes; those that come near to a file that can be loaded are listed several times."""


def mutate(files: list[bytes], seed: int, number: int) -> tuple[str, bytes]:
    """
    Return the name of a change, and a changed file.

    Parameters
    ----------
    files
        Honest files.
    seed, number
        Determine the file and the change.
    """
    rng = np.random.default_rng([seed, number])
    file = ModelFile(_choose(rng, files), [entries_of(_choose(rng, files))])
    mutation = MUTATIONS[number % len(MUTATIONS)]
    return mutation.__name__, mutation(file, rng)
