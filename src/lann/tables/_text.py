"""Text with separators: how it is written, as its first lines show it, and its rows in blocks.

Encoding, separator, quotes, decimal separator, comments, lines around the table and columns of plain numbers
are decided on a sample; pandas reads the blocks by these decisions. Blocks with quotes, empty lines or lines
of another length pass through the csv module before, so that an invalid line is reported with its number.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from statistics import mode
from typing import IO, Any

import numpy as np
import pandas as pd

from lann._support.format import counted
from lann.columns.notation import (
    MISSING,
    PLACEHOLDERS,
    NumberNotation,
    common_decimals,
    find_number_notation,
    table_decimal,
)
from lann.tables._table_file import NUMBER_BYTES, TEXT_BYTES, FileOptions, TableFile, check_names

# The rarest in cells come first: they are preferred where two separators fit equally well.
SEPARATORS = {"\t": "tabs", "|": "vertical bars", ";": "semicolons", ",": "commas"}
SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
ENCODING_NAMES = {"latin-1": "Latin-1", "cp1252": "Windows-1252", "utf-16": "UTF-16"}
# Lines on which the decisions are made; input that may come slowly has fewer, and is read in smaller blocks.
SAMPLE_LINES, SAMPLE_LINES_OF_INPUT, INPUT_ROWS = 500, 200, 100
# How much smaller gzip makes text, typically.
GZIP_RATIO = 4
# More digits are not exact in float64.
MOST_DIGITS = 15
GZIP = b"\x1f\x8b"
_NUMBER_MISSING = (*MISSING, *PLACEHOLDERS)
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# Bytes that text does not have, that only Windows-1252 has, that it does not have, and letters in UTF-8.
_BYTES = (
    rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", rb"[\x80-\x9f]", rb"[\x81\x8d\x8f\x90\x9d]",
    rb"[\xc3-\xf4][\x80-\xbf]+",
)  # fmt: skip
_TOTAL = re.compile(r"(?i)(grand |sub)?(total|sum|summe|gesamt|average|mean)\b")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+\s*")
_QUOTED_HEADER = re.compile(r"\s*'[^']*'(?:[,;\t|]\s*'[^']*')*\s*")


@dataclass(frozen=True)
class Dialect:
    """How the cells of a text are separated and quoted.

    Attributes
    ----------
    sep : str
    quote : str
        The character around cells, "" if there is none.
    skips_spaces : bool
        Whether every separator is followed by a space, which is no part of the cell.
    """

    sep: str = ","
    quote: str = '"'
    skips_spaces: bool = False

    def records(
        self, lines: Iterable[str], name: str = "", first_line: int = 1
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the line in which each record starts, and its cells; empty lines are left out."""
        reader = csv.reader(
            lines,
            delimiter=self.sep,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            skipinitialspace=self.skips_spaces,
            strict=True,
        )
        line = first_line
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = first_line + reader.line_num
        except csv.Error as error:
            reason = "a quote that is not closed, or text after a closing quote"
            raise ValueError(f"Line {line} of {name} has {reason}.") from error

    def rows(
        self, lines: Iterable[str], name: str, width: int | None = None, first_line: int = 1
    ) -> list[list[str]]:
        """Return the records of lines; raise ValueError unless all have as many cells as the first."""
        rows = []
        for line, cells in self.records(lines, name, first_line):
            width = width or len(cells)
            if len(cells) == width + 1 and not cells[-1]:  # a separator at the end of the line
                cells.pop()
            elif len(cells) != width:
                has = counted(len(cells), "cell")
                raise ValueError(f"Line {line} of {name} has {has}, but the header has {width}.")
            rows.append(cells)
        return rows


def check_separator(sep: str | None) -> str | None:
    """Return the character of a separator, which may be given by name; raise ValueError if it is none."""
    if sep is None:
        return None
    sep = SEPARATOR_NAMES.get(sep, sep)
    if len(sep) != 1 or sep in "\"'\r\n\0" or sep.isalnum():
        raise ValueError(
            "sep must be one character, such as ',', ';', '|' or a tab, or one of the names "
            f"{', '.join(name for name in SEPARATOR_NAMES if name.isalpha())}; got {sep!r}."
        )
    return sep


class TextFile(TableFile):
    """Text with separators, perhaps compressed with gzip.

    Parameters
    ----------
    open_bytes : callable
        Opens the file.
    name : str
        Name of the file in messages.
    n_bytes : int or None
        Its size; None is input that is read once, as it comes.
    options : FileOptions
    """

    def __init__(
        self, open_bytes: Callable[[], IO[bytes]], name: str, n_bytes: int | None, options: FileOptions
    ) -> None:
        self._open_bytes, self.name, self._is_input = open_bytes, name, n_bytes is None
        self._sep, self._decimal = check_separator(options.get("sep")), options.get("decimal")
        with damage_reported(name):
            raw = open_plain(open_bytes, name)
            start = raw.peek(1 << 16)
        given = options.get("encoding")
        self.encoding = find_encoding((lambda: [start]) if self._is_input else self._parts, name, given)
        source = self._lines(raw)
        lines = list(islice(source, SAMPLE_LINES_OF_INPUT if self._is_input else SAMPLE_LINES))
        self._input = chain(lines, source)
        if not self._is_input:
            source.close()
        notes = self._trim(lines)
        sample = self._cleaned(lines, 1)
        self.dialect = find_dialect(sample, self._sep)
        records = self._sample_rows(sample, is_all=len(lines) < SAMPLE_LINES_OF_INPUT)
        if not records:
            raise ValueError(f"{name} is empty.")
        self.columns = check_names(records[0], name)
        if len(records) == 1:
            raise ValueError(f"{name} has no rows.")
        starts = [line for line, _ in islice(self.dialect.records(sample), 2)]
        self._n_header = starts[1] - 1
        self._decide_columns(records[1:])
        self.notes = (*notes, *self._notes(given))
        if n_bytes is not None:
            n_characters = max(sum(map(len, lines)), 1)
            n_bytes *= GZIP_RATIO if name.lower().endswith(".gz") else 1
            self.n_rows_estimated = max(round(n_bytes * (len(records) - 1) / n_characters), 1)
            n_numbers = len(self.decimals)
            row_bytes = n_numbers * NUMBER_BYTES + (len(self.columns) - n_numbers) * TEXT_BYTES
            self.frame_bytes = self.n_rows_estimated * (row_bytes + 3 * n_characters // len(records))

    def _parts(self) -> Iterator[bytes]:
        """Yield the bytes of the text in parts that end where lines end."""
        with open_plain(self._open_bytes, self.name) as raw, damage_reported(self.name):
            while part := raw.read(1 << 20):
                yield part + raw.readline()

    def _lines(self, raw: Any) -> Generator[str]:
        number = 0
        try:
            with damage_reported(self.name), io.TextIOWrapper(raw, encoding=self.encoding) as text:
                for number, line in enumerate(text, start=1):
                    if "\x00" in line:
                        raise ValueError(f"{self.name} is not text: it has a NUL character in line {number}.")
                    yield line
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.name} is not text in {self.encoding}: there is an invalid byte after line {number}; "
                "give the encoding."
            ) from error

    def _trim(self, lines: list[str]) -> list[str]:
        """Decide whether there are comments, lines before the header, or aligned columns; return notes."""
        notes = []
        self._has_comments, self._gap, self._n_before, self._has_total = False, "", 0, False
        sep, present = _body_separator(lines, self._sep), [line for line in lines if line.strip()]
        is_comment = [line.startswith("#") for line in present]
        if is_comment and is_comment[0] and not all(is_comment):
            header, first = present[:2]
            is_header = sep is not None and not is_comment[1] and header.count(sep) == first.count(sep)
            self._has_comments = not is_header
        if self._has_comments:
            notes.append("lines that start with # are left out")
            lines = ["\n" if line.startswith("#") else line for line in lines]
            present = [line for line in lines if line.strip()]
            sep = _body_separator(lines, self._sep)
        if self._sep is None and not any(re.search(r"[,;|\t]", line) for line in lines):
            for gap in (r" {2,}", r" +"):
                widths = {len(re.split(gap, line.strip())) for line in present}
                if not self._gap and len(widths) == 1 and min(widths) > 1:
                    self._gap = gap
                    notes.append("aligned columns, separated by spaces")
        if sep is None or any('"' in line for line in lines):  # records can have several lines
            return notes
        self._has_total = True
        counts = [line.count(sep) + 1 if line.strip() else 0 for line in lines]
        width = mode(count for count in counts if count)
        start = counts.index(width)
        n_before = sum(count > 0 for count in counts[:start])
        is_header = all(re.search(r"[^\W\d]", cell) for cell in lines[start].strip().split(sep))
        if n_before and is_header and max(counts[:start]) <= max(width // 2, 1):
            notes.append(f"{counted(n_before, 'line')} before the header left out")
            self._n_before = start
        return notes

    def _cleaned(self, lines: list[str], first_line: int) -> list[str]:
        """Return lines with empty ones in place of those that are not of the table."""
        if first_line == 1:
            lines = ["\n"] * self._n_before + lines[self._n_before :]
        if self._has_comments:
            lines = ["\n" if line.startswith("#") else line for line in lines]
        if self._gap:
            lines = [re.sub(self._gap, "\t", line.strip()) + "\n" for line in lines]
        return lines

    def _sample_rows(self, sample: list[str], *, is_all: bool) -> list[list[str]]:
        """Return the records of the sample; quotes are part of the cells if that alone makes them valid."""
        quote = self.dialect.quote
        while not is_all and len(sample) > 1 and sum(line.count(quote) for line in sample) % 2:
            sample = sample[:-1]  # in the middle of a record, perhaps
        try:
            return self.dialect.rows(sample, self.name)
        except ValueError as invalid:
            unquoted = replace(self.dialect, quote="")
            try:
                records = unquoted.rows(sample, self.name)
            except ValueError:
                raise invalid from None
            cells = [cell.strip() for cells in records for cell in cells]
            if any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells):
                raise
            self.dialect = unquoted
            return records

    def _decide_columns(self, rows: list[list[str]]) -> None:
        """Decide on the decimal separator, and which columns have plain numbers."""
        columns = zip(*rows, strict=True)
        texts = [[cell.strip() for cell in cells if cell.strip() not in MISSING] for cells in columns]
        frame = pd.DataFrame({i: pd.Series(cells, dtype=object) for i, cells in enumerate(texts)})
        found = table_decimal(frame, {",": ".", ";": ","}.get(self.dialect.sep))
        self.decimal = self._decimal or found
        fraction = f"(?:{re.escape(self.decimal)}\\d*)?" if self.decimal else ""
        plain = re.compile(rf"(?=.*\d)[-+]?(?:0|[1-9]\d*)?{fraction}(?:[eE][-+]?\d+)?")
        # Columns of numbers, with the number of decimals if all have the same.
        self.decimals: dict[str, int | None] = {}
        for name, cells in zip(self.columns, texts, strict=True):
            numbers = [cell for cell in cells if cell not in PLACEHOLDERS]
            if numbers and all(
                plain.fullmatch(cell) and sum(map(str.isdigit, cell)) <= MOST_DIGITS for cell in numbers
            ):
                self.decimals[name] = common_decimals(numbers, self.decimal or ".")

    def _notes(self, encoding: str | None) -> list[str]:
        """Return what was detected and is unusual; not what was given."""
        sep, first = self.dialect.sep, self.columns[0]
        is_usual = sep == "," or (sep == "\t" and self.name.lower().removesuffix(".gz").endswith(".tsv"))
        is_found, is_one = self._sep is None, len(self.columns) == 1
        notes = {
            f"{SEPARATORS.get(sep)} separate cells": is_found and not (is_usual or self._gap or is_one),
            "decimal commas": self._decimal is None and self.decimal == ",",
            f"encoding {ENCODING_NAMES.get(self.encoding)}": not encoding and self.encoding in ENCODING_NAMES,
            "single quotes around cells": self.dialect.quote == "'",
            "quotes are part of the cells": not self.dialect.quote,
            "spaces after separators are left out": self.dialect.skips_spaces,
            "the first line, which has numbers, is taken as the header": any(
                re.fullmatch(r"-?\d+[.,]\d+", name) for name in self.columns
            ),
            f"one column, {first!r}: is the separator right? give it with sep (--sep)": is_found and is_one,
        }
        return [note for note, applies in notes.items() if applies]

    def blocks(
        self, columns: Sequence[str] | None = None, n_rows: int | None = None
    ) -> Iterator[pd.DataFrame]:
        lines = self._input if self._is_input else self._lines(open_plain(self._open_bytes, self.name))
        n_rows = INPUT_ROWS if self._is_input else n_rows or self.block_rows
        quote = self.dialect.quote or "\0"  # which no line has
        line = len(list(islice(lines, self._n_header))) + 1
        row, ahead, is_last = 0, list[str](), False
        while not is_last:
            block = [*ahead, *islice(lines, n_rows)]
            n_quotes = "".join(block).count(quote)
            while n_quotes % 2 and (more := next(lines, "")):
                block.append(more)
                n_quotes += more.count(quote)
            ahead = [] if self._is_input else list(islice(lines, 1))
            is_last = len(block) < n_rows if self._is_input else not ahead
            frame = self._parsed(block, line, columns, is_last=is_last)
            yield frame.set_axis(pd.RangeIndex(row, row + len(frame)))
            line, row = line + len(block), row + len(frame)

    def _parsed(
        self, lines: list[str], first_line: int, columns: Sequence[str] | None, *, is_last: bool
    ) -> pd.DataFrame:
        """Return the rows of some lines: columns of plain numbers as numbers, unless a cell is none."""
        lines = self._cleaned(lines, first_line)
        if is_last and self._has_total:
            lines = self._without_total(lines, is_only=first_line == self._n_header + 1)
        sep, text, width = self.dialect.sep, "".join(lines), len(self.columns)
        is_simple = width > 1 and not (self.dialect.quote and self.dialect.quote in text)
        if not is_simple or any(line.count(sep) != width - 1 for line in lines):
            rows = self.dialect.rows(lines, self.name, width, first_line)
            buffer, sep, is_simple = io.StringIO(), ",", False
            csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
            text = buffer.getvalue()
        is_number = [name in self.decimals for name in self.columns]
        frame = pd.read_csv(
            io.StringIO(text),
            sep=sep,
            names=self.columns,
            usecols=columns,
            dtype={name: str for name, number in zip(self.columns, is_number, strict=True) if not number},
            na_values={
                name: _NUMBER_MISSING if number else MISSING
                for name, number in zip(self.columns, is_number, strict=True)
            },
            keep_default_na=False,
            decimal=self.decimal or ".",
            quoting=csv.QUOTE_NONE if is_simple else csv.QUOTE_ALL,
            skipinitialspace=self.dialect.skips_spaces and is_simple,
            low_memory=False,
        )
        return frame if columns is None else frame[list(columns)]

    def _without_total(self, lines: list[str], *, is_only: bool) -> list[str]:
        """Return lines without the total at the end of a table, if there is one."""
        last = max((i for i, line in enumerate(lines) if line.strip()), default=0)
        if not lines or (is_only and last == 0):
            return lines
        first_cell = lines[last].split(self.dialect.sep)[0].strip()
        if not _TOTAL.match(first_cell) or any(line.startswith(first_cell) for line in lines[:last]):
            return lines
        note = f"the last line, {lines[last].strip()[:40]!r}, is left out"
        self.notes = (*self.notes, *([] if note in self.notes else [note]))
        return lines[:last]

    def _read_as_text(self, parts: list[pd.DataFrame]) -> list[str]:
        mixed = []
        for name in list(self.decimals):
            cells = [part[name] for part in parts if len(part) and part[name].dtype.kind not in "iufb"]
            if not cells:
                continue
            mixed.append(name)
            del self.decimals[name]
            texts, decimal = pd.concat(cells).dropna().astype(str).str.strip(), self.decimal or "."
            texts = texts[~texts.isin(_NUMBER_MISSING)]
            other = texts[np.isnan(NumberNotation(decimal).parse(texts.to_list()))]
            if len(other) and find_number_notation(other.to_list(), decimal)[0] is None:
                line = self._n_header + 1 + other.index[0]
                note = f"line {line} has {other.iloc[0]!r} in column {name!r}, which had numbers before"
                self.notes = (*self.notes, f"{note}: it is read as text")
        return mixed


def open_plain(open_bytes: Callable[[], IO[bytes]], name: str) -> Any:
    """Open a file, without gzip if it is compressed, as a name that ends in .gz says it must be."""
    raw: Any = open_bytes()
    raw = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
    if raw.peek(2)[:2] == GZIP:
        text = gzip.GzipFile(fileobj=raw)
        text.myfileobj = raw  # which is closed with it
        return io.BufferedReader(text)
    if name.lower().endswith(".gz"):
        raise ValueError(f"{name} is damaged: it is not compressed with gzip.")
    return raw


@contextmanager
def damage_reported(name: str) -> Iterator[None]:
    """Raise errors of gzip as ValueError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged: {str(error).rstrip('.')}.") from error


def find_encoding(parts: Callable[[], Iterable[bytes]], name: str, given: str | None) -> str:
    """Return UTF-8, UTF-16 if a text starts with its mark, and otherwise Windows-1252 or Latin-1.

    Parameters
    ----------
    parts : callable
        Returns the content in parts; called once more if it is not in UTF-8.
    name : str
        Name of the file in messages.
    given : str or None
        What the user says; it is only checked.
    """
    if given is not None:
        try:
            return codecs.lookup(given).name
        except LookupError as error:
            raise ValueError(
                f"There is no encoding {given!r}; well-known ones are utf-8, utf-16, latin-1 and cp1252."
            ) from error
    start = next(iter(parts()), b"")
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    try:
        for part in parts():
            decoder.decode(part)
            line += part.count(b"\n")
        return "utf-8"
    except UnicodeDecodeError as error:
        line += part[: error.start].count(b"\n")
    n_invalid, counts = 0, np.zeros(len(_BYTES), int)
    for part in parts():
        n_invalid += part.decode("utf-8", errors="replace").count("\ufffd")
        counts += [len(re.findall(pattern, part)) for pattern in _BYTES]
    n_control, n_only_windows, n_not_windows, n_letters = counts
    if n_control:
        raise ValueError(f"{name} is not text.")
    if n_letters > 2 and n_letters > 2 * n_invalid:
        raise ValueError(
            f"{name} is text in UTF-8, but line {line} has an invalid byte; correct it, or give the encoding."
        )
    return "cp1252" if n_only_windows and not n_not_windows else "latin-1"


def _body_separator(lines: list[str], sep: str | None) -> str | None:
    """Return the separator that most lines have equally often; None if there is none."""
    sample = [line for line in lines if line.strip()]
    best, best_share = None, 0.5
    for candidate in [sep] if sep else SEPARATORS:
        counts = [line.count(candidate) for line in sample]
        share = (
            sum(count == mode(filter(None, counts)) for count in counts) / len(counts) if any(counts) else 0
        )
        if share > best_share:
            best, best_share = candidate, share
    return best


def find_dialect(sample: list[str], sep: str | None = None) -> Dialect:
    """Return how the cells of lines are separated and quoted."""
    first = next((line for line in sample if line.strip()), "").rstrip()
    has_double = any('"' in line for line in sample)
    quote = "'" if not has_double and _QUOTED_HEADER.fullmatch(first) else '"'
    samples: dict[Dialect, list[list[str]]] = {}
    for candidate in [sep] if sep else SEPARATORS:
        dialect = Dialect(candidate, quote)
        samples[dialect] = []
        try:
            for _, cells in dialect.records(sample):
                samples[dialect].append(cells)
        except ValueError:  # at the end of the sample, perhaps
            pass
    several = [dialect for dialect, records in samples.items() if records and len(records[0]) > 1]
    # If the header is one cell, it is a table with one column.
    unused = [dialect for dialect, records in samples.items() if all(len(cells) == 1 for cells in records)]
    if several:
        best = max(several, key=lambda dialect: _agreement(samples[dialect], dialect.sep))
    else:
        best = min(unused or samples, key=lambda dialect: ",;\t|".find(dialect.sep))
    later = [cell for cells in samples[best] for cell in cells[1:]]
    skips_spaces = best.sep != "\t" and bool(later) and all(cell.startswith(" ") for cell in later)
    return replace(best, skips_spaces=skips_spaces)


def _agreement(records: list[list[str]], sep: str) -> tuple[float, float, int]:
    """Return the share of records as long as the header, that of cells without separators, and the length."""
    n_cells, others = len(records[0]), records[1:]
    if not others:
        return 1.0, 1.0, n_cells
    widths = [len(cells) == n_cells or (len(cells) == n_cells + 1 and not cells[-1]) for cells in others]
    foreign = re.compile(f"[{re.escape(''.join(mark for mark in SEPARATORS if mark != sep))}]")
    # Cells of text may have commas: what matters is whether many have separators.
    clean = [
        not foreign.search(cell) or bool(_DECIMAL_COMMA.fullmatch(cell))
        for record in others
        for cell in filter(None, record)
    ]
    return float(np.mean(widths)), round(float(np.mean(clean or [True])), 1), n_cells
