"""The zip archive of a model file: ``model.json``, and arrays in NumPy's format ``.npy``.

Entries are stored without compression, so what is read is never larger than the file, and without time
stamps, so the same content gives the same bytes. Arrays are read without pickle, and only if their header
agrees with the size of the entry.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lann.persist._fields import NUMBERS, InvalidModelFile, shown

MODEL = "model.json"
FOREIGN = "it is not a whole file written by lann.save"
# A value takes up to a hundred times as much memory as its text; these bounds keep it to some dozens of MB.
MOST_BYTES, MOST_ITEMS = 2**24, 300_000
# Integers of more digits are larger than any in a model.
MOST_DIGITS = 110


def write_archive(described: Any, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the archive of a description and arrays by entry name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        entries: dict[str, Any] = {MODEL: write_json(described), **arrays}
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)
            info.create_system = 3  # the same bytes on all systems
            if isinstance(content, np.ndarray):
                buffer = io.BytesIO()
                little_endian = content.astype(content.dtype.newbyteorder("<"), order="K", copy=False)
                npy.write_array(buffer, little_endian, version=(1, 0), allow_pickle=False)
                content = buffer.getbuffer()
            archive.writestr(info, content)
    return file.getvalue()


def read_archive(content: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the description and the arrays of an archive; raise InvalidModelFile if it is invalid."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            is_stored = all(e.compress_type == 0 and e.compress_size == e.file_size for e in entries)
            if not is_stored or sum(e.file_size for e in entries) > len(content):
                raise InvalidModelFile("it is compressed, or has sizes that are not those of its entries")
            if len({e.filename for e in entries}) < len(entries):
                raise InvalidModelFile("it has two entries of the same name")
            if MODEL not in archive.namelist():
                raise InvalidModelFile(f"its entry {MODEL} is missing")
            described = read_json(archive.read(MODEL))
            names = [e.filename for e in entries if e.filename != MODEL]
            return described, {name: _read_array(archive.read(name), name) for name in names}
    except InvalidModelFile:
        raise
    except Exception as error:  # zipfile and NumPy raise errors of many types for damaged content
        raise InvalidModelFile(FOREIGN) from error


def _read_array(content: bytes, name: str) -> NDArray[Any]:
    """Return the array in an entry; it owns its memory and is writable."""
    file = io.BytesIO(content)
    try:
        version = npy.read_magic(file)
        shape, is_fortran, dtype = npy.read_array_header_1_0(file)
    except Exception as error:
        raise InvalidModelFile(f"its entry {name[:100]} is not an array") from error
    is_text = dtype.kind == "U" and dtype.byteorder != ">"
    n_bytes = math.prod(shape) * dtype.itemsize
    if version != (1, 0) or not (is_text or dtype.str in NUMBERS) or any(n < 0 for n in shape):
        raise InvalidModelFile(f"its entry {name[:100]} is not an array of numbers or text")
    if dtype.itemsize == 0 or n_bytes != len(content) - file.tell():
        raise InvalidModelFile(
            f"its entry {name[:100]} does not have the size of an array of shape {shown(shape)}"
        )
    values = np.frombuffer(content, np.uint8, offset=file.tell()).copy()
    if dtype.kind == "b" and values.max(initial=0) > 1:
        raise InvalidModelFile(f"its entry {name[:100]} has values that are neither true nor false")
    if is_text:
        codes = values.view("<u4")
        if codes.max(initial=0) > 0x10FFFF or ((codes >= 0xD800) & (codes <= 0xDFFF)).any():
            raise InvalidModelFile(f"its entry {name[:100]} has text that is not valid Unicode")
    return (
        values.view(dtype)
        .astype(dtype.newbyteorder("="), copy=False)
        .reshape(shape, order="F" if is_fortran else "C")
    )


def write_json(value: Any) -> bytes:
    """Return a value as JSON; raise InvalidModelFile if it would not be read back."""
    try:
        content = json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1).encode()
    except (TypeError, ValueError) as error:
        raise InvalidModelFile(f"it has a value that JSON cannot express: {shown(str(error))}") from error
    if read_json(content) != value:
        raise InvalidModelFile(
            "it has a value that JSON cannot express, such as a tuple, or a key that is not text"
        )
    return content


def read_json(content: bytes) -> Any:
    """Return the value that JSON describes, with finite numbers; raise InvalidModelFile if it is invalid."""
    if len(content) > MOST_BYTES or sum(map(content.count, (b"[", b"{", b","))) > MOST_ITEMS:
        raise InvalidModelFile(f"its {MODEL} is too large")
    try:
        value = json.loads(
            content.decode(), parse_int=_integer, parse_float=_finite_float, parse_constant=_not_finite
        )
        json.dumps(value, ensure_ascii=False).encode()  # raises an error for lone surrogates
    except InvalidModelFile:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidModelFile(f"its {MODEL} is not valid JSON, or nested too deeply") from error
    return value


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise InvalidModelFile(f"its {MODEL} has an integer that is too large")
    return int(text)


def _finite_float(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _not_finite(text)


def _not_finite(text: str) -> NoReturn:
    raise InvalidModelFile(f"its {MODEL} has a number that is not finite, {shown(text)}")
