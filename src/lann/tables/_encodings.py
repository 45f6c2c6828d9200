"""From the bytes of a file to its text."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Iterable

# Marks at the start of a file.
GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"
_BINARY = {
    PARQUET: "a Parquet file",
    ZIP: "an Excel or zip file",
    b"%PDF": "a PDF file",
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls)",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Bytes that texts in Latin-1 and Windows-1252 do not have.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_ONLY_WINDOWS, _NOT_IN_WINDOWS = re.compile(rb"[\x80-\x9f]"), re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
# A character of more than one byte in UTF-8.
_MULTIBYTE = re.compile(rb"[\xc3-\xf4][\x80-\xbf]+")
ENCODING_NAMES = {"latin-1": "Latin-1", "cp1252": "Windows-1252", "utf-16": "UTF-16"}


def decompress(content: bytes, source: str) -> bytes:
    """Return the content of a file without gzip; one that does not have it is returned as it is."""
    if not content.startswith(GZIP):
        if source.lower().endswith(".gz"):
            raise ValueError(f"{source} is damaged: it is not compressed with gzip.")
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{source} is damaged: {str(error).rstrip('.')}.") from error


def decode(content: bytes, source: str, encoding: str | None = None) -> tuple[str, str]:
    """Return the text of a file, and its encoding.

    Parameters
    ----------
    content : bytes
    source : str
        Name of the file in messages.
    encoding : str or None, default=None
        By default, it is UTF-8, UTF-16 if the file starts with its mark, or Windows-1252 (Latin-1) if the
        file is not in UTF-8.

    Raises
    ------
    ValueError
        If it is not a text file, or not in this encoding.
    """
    for mark, kind in _BINARY.items():
        if content.startswith(mark):
            raise ValueError(f"{source} is not text: it is {kind}.")
    if encoding is not None:
        text, found = _decode_as(content, source, encoding), codecs.lookup(encoding).name
    else:
        text, found = _find(content, source)
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise ValueError(f"{source} is not text, or is damaged: it has a NUL character in line {line}.")
    return text.removeprefix("\ufeff"), found


def _find(content: bytes, source: str) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decode_as(content, source, encoding), encoding
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        encoding = _find_other([content], source)
        return content.decode(encoding), encoding


def find_encoding(parts: Callable[[], Iterable[bytes]], source: str) -> str:
    """Return the encoding of a text without a mark at its start, as `decode` finds it.

    Parameters
    ----------
    parts : callable
        Returns the content in parts that end where lines end; called once more if it is not in UTF-8.
    source : str
        Name of the file in messages.

    Raises
    ------
    ValueError
        If it is not a text file.
    """
    try:
        for part in parts():
            part.decode("utf-8")
    except UnicodeDecodeError:
        return _find_other(parts(), source)
    return "utf-8"


def _find_other(parts: Iterable[bytes], source: str) -> str:
    """Return the encoding of a text that is not in UTF-8."""
    n_lines = n_multibyte = n_valid = n_invalid = line = 0
    only_windows = not_in_windows = False
    for part in parts:
        if _CONTROL.search(part):
            raise ValueError(f"{source} is not text.")
        text = part.decode("utf-8", errors="replace")
        if not line and (position := _first_invalid(part)) is not None:
            line = n_lines + part.count(b"\n", 0, position) + 1
        n_lines += part.count(b"\n")
        n_multibyte += len(_MULTIBYTE.findall(part))
        n_replaced = text.count("\ufffd")
        n_invalid += n_replaced
        n_valid += len(text) - len(text.encode("ascii", errors="ignore")) - n_replaced
        only_windows |= _ONLY_WINDOWS.search(part) is not None
        not_in_windows |= _NOT_IN_WINDOWS.search(part) is not None
    if n_multibyte > 2 and n_valid > 2 * n_invalid:
        raise ValueError(
            f"{source} is text in UTF-8, but line {line} has an invalid byte; correct it, or give the "
            "encoding."
        )
    return "cp1252" if only_windows and not not_in_windows else "latin-1"


def _first_invalid(content: bytes) -> int | None:
    """Return the position of the first byte that is not valid in UTF-8; None if all are."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _decode_as(content: bytes, source: str, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except LookupError as error:
        raise ValueError(
            f"There is no encoding {encoding!r}; well-known ones are utf-8, utf-16, latin-1 and cp1252."
        ) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{source} is not text in {encoding}: line {line} has an invalid byte.") from error
