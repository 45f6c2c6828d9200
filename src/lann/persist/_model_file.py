"""The bytes of a model file, and their check before anything is built from them."""

from __future__ import annotations

import io
import json
import math
import zipfile
from functools import cache
from typing import Any

import numpy as np

from lann.persist._errors import InvalidModelFile
from lann.persist._schema import SchemaCheck

FORMAT = 1
"""The number of the file format; files with a higher one are of a later version."""

_MARKER, _SCHEMA = "lann.json", "schema.json"
_OLDEST_PROTOCOL = 2  # of skops


def with_marker(content: bytes) -> bytes:
    """Return a file of skops with an entry for the version of lann."""
    import sklearn

    from lann import __version__

    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive:
        marker = {"format": FORMAT, "lann": __version__, "scikit-learn": sklearn.__version__}
        archive.writestr(_MARKER, json.dumps(marker))
    return buffer.getvalue()


def check_content(content: bytes) -> None:
    """Raise InvalidModelFile unless every part of the file is known and harmless."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception as error:
        raise InvalidModelFile("it is not a whole file written by lann.save") from error
    with archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if _MARKER not in names or _SCHEMA not in names:
            raise InvalidModelFile("it was not written by lann.save")
        # Nothing is compressed, so nothing can be larger than the file.
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise InvalidModelFile("it is compressed, which files written by lann.save are not")
        if len(set(names)) < len(names) or sum(member.file_size for member in members) > len(content):
            raise InvalidModelFile("its parts overlap or are larger than the file")
        _check_marker(json.loads(archive.read(_MARKER)))
        _check_schema(json.loads(archive.read(_SCHEMA)), archive)


def _check_marker(marker: Any) -> None:
    number = marker.get("format") if isinstance(marker, dict) else None
    if type(number) is not int or number < 1:
        raise InvalidModelFile("it does not say which version of lann wrote it")
    if number > FORMAT:
        raise InvalidModelFile(
            f"it was written by lann {str(marker.get('lann'))[:20]} in format {number}, and this version "
            f"reads formats up to {FORMAT}; update lann"
        )


@cache
def _newest_protocol() -> int:
    """Return the format that the installed skops writes; not all versions reject later formats."""
    import skops.io

    with zipfile.ZipFile(io.BytesIO(skops.io.dumps([]))) as archive:
        return json.loads(archive.read(_SCHEMA))["protocol"]


def _check_schema(schema: Any, archive: zipfile.ZipFile) -> None:
    protocol = schema.pop("protocol", None) if isinstance(schema, dict) else None
    if type(protocol) is not int or not _OLDEST_PROTOCOL <= protocol <= _newest_protocol():
        raise InvalidModelFile(f"it is in a version of the skops format that is not supported, {protocol!r}")
    schema.pop("_skops_version", None)
    described: dict[str, tuple] = {}

    def describe_array(name: str) -> tuple:
        if name not in described:
            if name not in archive.namelist() or not name.endswith(".npy"):
                raise InvalidModelFile(f"it refers to an array that it does not contain, {name!r}")
            described[name] = _describe_array(archive.read(name), name)
        return described[name]

    SchemaCheck(describe_array).check(schema)


def _describe_array(content: bytes, name: str) -> tuple:
    """Raise InvalidModelFile unless the bytes are an array of plain values of the size in its header."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise InvalidModelFile(f"its array {name} has the unknown version {version}")
    if dtype.hasobject or dtype.kind not in "biufSUmM":
        raise InvalidModelFile(
            f"its array {name} holds values of type {dtype}, which is not among the types that lann allows"
        )
    size = math.prod(shape)
    if min(shape, default=0) < 0 or size * dtype.itemsize != len(content) - stream.tell():
        raise InvalidModelFile(f"its array {name} does not have the size of its header, {shape}")
    # Empty arrays represent a dtype, and are written again for every use of it.
    return shape, dtype.str, name if size else ""
