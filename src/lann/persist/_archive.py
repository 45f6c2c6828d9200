"""The archive of a model file: JSON and arrays, read without running anything.

A model file is a zip archive of ``model.json``, ``info.json`` and arrays in NumPy's format ``.npy``. Entries
are stored without compression, so what is read is never larger than the file, and without time stamps, so
that the same content gives the same bytes. Arrays are read without pickle, and only if their header fits to
their size.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from numpy.lib import format as npy
from numpy.typing import NDArray

from lann.persist._fields import ANY_TYPE, Arrays, InvalidModelFile, require, shown, type_name

FORMAT = 1
"""The number of the file format; files with a higher one are of a later version."""

# What the model consists of, and what `lann info` prints of it.
MODEL, INFO = "model.json", "info.json"
# A value takes up to a hundred times as much memory as its text; these bounds keep it to some dozens of MB.
MOST_BYTES, MOST_ITEMS = 2**24, 300_000


def write_archive(described: Any, info: Any, arrays: Arrays) -> bytes:
    """Return the content of a model file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_entry(MODEL), write_json(described))
        archive.writestr(_entry(INFO), write_json(info))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            npy.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            archive.writestr(_entry(name), buffer.getbuffer())
    return file.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    """Return an entry without time stamp, the same on all systems."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    return info


@contextmanager
def _open(content: bytes) -> Iterator[zipfile.ZipFile]:
    """Open an archive; raise InvalidModelFile if it is invalid, whatever is read."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names, entries = set(archive.namelist()), archive.infolist()
            require(len(names) == len(entries), "it has two entries of the same name")
            require(
                all(e.compress_type == 0 and e.compress_size == e.file_size for e in entries),
                "it is compressed",
            )
            require(sum(e.file_size for e in entries) <= len(content), "its entries overlap")
            for name in (MODEL, INFO):
                require(name in names, f"its entry {name} is missing")
            yield archive
    except InvalidModelFile:
        raise
    except Exception as error:  # zipfile raises errors of many types for damaged content
        raise InvalidModelFile("it is not a whole file written by lann.save") from error


def read_json_entry(content: bytes, name: str) -> Any:
    """Return the value of a JSON entry of an archive."""
    with _open(content) as archive:
        return read_json(archive.read(name), name)


def read_archive(content: bytes) -> tuple[Any, Arrays]:
    """Return what model.json describes, and the arrays; raise InvalidModelFile if it is invalid."""
    with _open(content) as archive:
        names = [name for name in archive.namelist() if name not in (MODEL, INFO)]
        described = read_json(archive.read(MODEL), MODEL)
        return described, {name: _read_array(archive.read(name), name) for name in names}


def _read_array(content: bytes, name: str) -> NDArray[Any]:
    """Return the array in an entry; it owns its memory and is writable."""
    file = io.BytesIO(content)
    try:
        require(npy.read_magic(file) == (1, 0), "another version")
        shape, _, dtype = npy.read_array_header_1_0(file)
        # The size is known before memory is taken.
        has_size = math.prod(shape) * dtype.itemsize == len(content) - file.tell()
        require(has_size and min(shape, default=0) >= 0 and dtype.itemsize > 0, "another size")
        require(type_name(dtype) in ANY_TYPE.split("/"), "another type")
        file.seek(0)
        array = npy.read_array(file, allow_pickle=False)
        if dtype.kind == "U":
            array.tolist()  # raises an error for codes that are not of Unicode
    except Exception as error:
        raise InvalidModelFile(f"its entry {shown(name)} is not an array of numbers or text") from error
    return array


def write_json(value: Any) -> bytes:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode()
    except (TypeError, ValueError) as error:
        raise InvalidModelFile(f"it has a value that JSON cannot express: {shown(str(error))}") from error


def read_json(content: bytes, name: str) -> Any:
    """Return the value that JSON describes; raise InvalidModelFile if it is invalid or takes much memory."""
    n_items = sum(map(content.count, (b"[", b"{", b",")))
    require(len(content) <= MOST_BYTES and n_items <= MOST_ITEMS, f"its {name} is too large")
    try:
        return json.loads(content.decode(), parse_constant=_raise_not_finite)
    except (ValueError, RecursionError) as error:
        raise InvalidModelFile(f"its {name} is not valid JSON, or nested too deeply") from error


def _raise_not_finite(text: str) -> NoReturn:
    raise ValueError(f"{text} is not finite")


def check_format(described: Any) -> None:
    """Raise InvalidModelFile unless a description says that it is in the format that this version reads."""
    number = described.get("format") if isinstance(described, dict) else None
    require(type(number) is int and number >= 1, "it does not say in which format it is")
    if number != FORMAT:
        raise InvalidModelFile(
            f"it was written by lann {shown(described.get('lann'))!r} in format {shown(number)}, and this "
            f"version reads format {FORMAT}; update lann"
        )
