"""The zip archive of a model file: entries one after another, not compressed, in one form only.

There is exactly one sequence of bytes for given entries: no time stamps, no comments, no optional fields, and
the fields for large files (ZIP64) in files of every size. `read_archive` therefore need not interpret what
other programs may write: it reads names and sizes, and compares everything else with what `write_archive`
writes. As nothing is compressed, what is read is never larger than the file.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Mapping

from lann.persist._errors import InvalidModelFile, shown

# A model has some dozens.
MOST_ENTRIES = 512
LONGEST_NAME = 200
ENTRY_NAME = re.compile(r"\w+(/\w+)*\.(json|npy)", re.ASCII)

# See the specification of ZIP, APPNOTE.TXT, sections 4.3.7, 4.3.12, 4.3.14, 4.3.15, 4.3.16 and 4.5.3.
_LOCAL = struct.Struct("<4s5H3L2H2H2Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_CENTRAL_SIZES = struct.Struct("<2H3Q")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_END = struct.Struct("<4s4H2LH")
_TRAILER = _END_64.size + _LOCATOR.size + _END.size

_VERSION = 45  # the first with ZIP64
_STORED = 0
_DATE, _TIME = (1 << 5) | 1, 0  # 1 January 1980, the first day of the format
_IN_64, _COUNT_IN_64 = 0xFFFFFFFF, 0xFFFF
_SIZES_ID, _LOCAL_SIZES, _ALL_SIZES = 1, 16, 24

FOREIGN = "it is not a whole file written by lann.save"


def write_archive(entries: Mapping[str, bytes]) -> bytes:
    """Return the archive of some entries, in their order."""
    parts: list[bytes] = []
    directory: list[bytes] = []
    position = 0
    for name, content in entries.items():
        checksum = zlib.crc32(content)
        header = _local_header(name.encode(), checksum, len(content))
        directory.append(_central_header(name.encode(), checksum, len(content), position))
        parts += [header, content]
        position += len(header) + len(content)
    return b"".join([*parts, *directory, _trailer(len(entries), sum(map(len, directory)), position)])


def read_archive(content: bytes) -> dict[str, memoryview]:
    """Return the entries of an archive as views of it.

    Raises
    ------
    InvalidModelFile
        If it differs in any byte from what `write_archive` returns for these entries.
    """
    try:
        return _read_entries(content)
    except InvalidModelFile:
        if _is_skops(content):
            raise InvalidModelFile(_SKOPS) from None
        raise


def _read_entries(content: bytes) -> dict[str, memoryview]:
    if len(content) < _TRAILER:
        raise InvalidModelFile(FOREIGN)
    view = memoryview(content)
    count, directory_size, directory_start = _END_64.unpack_from(content, len(content) - _TRAILER)[-3:]
    if view[-_TRAILER:] != _trailer(count, directory_size, directory_start):
        raise InvalidModelFile(FOREIGN)
    if directory_start + directory_size + _TRAILER != len(content):
        raise InvalidModelFile(FOREIGN)
    if count > MOST_ENTRIES:
        raise InvalidModelFile(f"it has {count} entries, and a model at most {MOST_ENTRIES}")
    entries: dict[str, memoryview] = {}
    end, position = 0, directory_start
    for _ in range(count):
        name, checksum, size, position = _read_central(view, position, end)
        if name in entries:
            raise InvalidModelFile(f"it has two entries of the name {name}")
        header = _local_header(name.encode(), checksum, size)
        start, end = end + len(header), end + len(header) + size
        if end > directory_start or view[start - len(header) : start] != header:
            raise InvalidModelFile(_differs(name))
        entries[name] = view[start:end]
        if zlib.crc32(entries[name]) != checksum:
            raise InvalidModelFile(f"its entry {name} is damaged")
    if (end, position) != (directory_start, directory_start + directory_size):
        raise InvalidModelFile(FOREIGN)
    return entries


def _read_central(view: memoryview, position: int, offset: int) -> tuple[str, int, int, int]:
    """Read an entry of the directory; return its name, checksum and size, and the position of the next one.

    Parameters
    ----------
    view : memoryview
        The file.
    position : int
        Of the entry of the directory.
    offset : int
        Where the content of the entry has to begin.
    """
    limit = len(view) - _TRAILER
    if position + _CENTRAL.size > limit:
        raise InvalidModelFile(FOREIGN)
    fields = _CENTRAL.unpack_from(view, position)
    checksum, name_length = fields[7], fields[10]
    after = position + _CENTRAL.size + name_length + _CENTRAL_SIZES.size
    if after > limit:
        raise InvalidModelFile(FOREIGN)
    raw = bytes(view[position + _CENTRAL.size : position + _CENTRAL.size + name_length])
    name = raw.decode("ascii", errors="replace")
    if len(name) > LONGEST_NAME or not ENTRY_NAME.fullmatch(name):
        raise InvalidModelFile(f"it has an entry of the invalid name {shown(name)}")
    size = _CENTRAL_SIZES.unpack_from(view, after - _CENTRAL_SIZES.size)[2]
    if view[position:after] != _central_header(raw, checksum, size, offset):
        raise InvalidModelFile(_differs(name))
    return name, checksum, size, after


def _local_header(name: bytes, checksum: int, size: int) -> bytes:
    fields = (_VERSION, 0, _STORED, _TIME, _DATE, checksum, _IN_64, _IN_64, len(name), 4 + _LOCAL_SIZES)
    packed = _LOCAL.pack(b"PK\x03\x04", *fields, _SIZES_ID, _LOCAL_SIZES, size, size)
    fixed = _LOCAL.size - 4 - _LOCAL_SIZES
    return packed[:fixed] + name + packed[fixed:]


def _central_header(name: bytes, checksum: int, size: int, offset: int) -> bytes:
    fields = (_VERSION, _VERSION, 0, _STORED, _TIME, _DATE, checksum, _IN_64, _IN_64)
    rest = (len(name), 4 + _ALL_SIZES, 0, 0, 0, 0, _IN_64)
    sizes = _CENTRAL_SIZES.pack(_SIZES_ID, _ALL_SIZES, size, size, offset)
    return _CENTRAL.pack(b"PK\x01\x02", *fields, *rest) + name + sizes


def _trailer(count: int, directory_size: int, directory_start: int) -> bytes:
    end = _END_64.pack(
        b"PK\x06\x06",
        _END_64.size - 12,
        _VERSION,
        _VERSION,
        0,
        0,
        count,
        count,
        directory_size,
        directory_start,
    )
    start = (directory_start + directory_size) % 2**64
    locator = _LOCATOR.pack(b"PK\x06\x07", 0, start, 1)
    counts = (_COUNT_IN_64, _COUNT_IN_64)
    return end + locator + _END.pack(b"PK\x05\x06", 0, 0, *counts, _IN_64, _IN_64, 0)


def _differs(name: str) -> str:
    return (
        f"its entry {name} is not stored as lann.save stores it, without compression, encryption and other "
        "options"
    )


_SKOPS = "it is in the format of earlier versions (.skops), which is no longer read; fit the model again"


def _is_skops(content: bytes) -> bool:
    return content[:2] == b"PK" and b"schema.json" in content[-(2**16) :]
