"""Text with separators: how it is written, as its first lines show it, and its rows in blocks.

Encoding, separator, quotes, decimal separator, comments, lines around the table and columns of plain numbers
are decided on a sample; pandas reads the blocks by these decisions. Blocks with quotes, empty lines or lines
of another length pass through the csv module before, so that an invalid line is reported with its number.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from statistics import mode
from typing import Any

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
ENCODING_NAMES = {"cp1252": "Windows-1252", "utf-16": "UTF-16"}
# Lines on which the decisions are made, and of a block of input that may come slowly.
SAMPLE_LINES, INPUT_LINES = 500, 100
# How much smaller gzip makes text, typically.
GZIP_RATIO = 4
# More digits are not exact in float64.
MOST_DIGITS = 15
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# Bytes that text does not have, and letters in UTF-8.
_CONTROL, _LETTERS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]"), re.compile(rb"[\xc3-\xf4][\x80-\xbf]+")
_TOTAL = re.compile(r"(?i)(grand |sub)?(total|sum|summe|gesamt|average|mean)\b")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+\s*")
_QUOTED_HEADER = re.compile(r"\s*'[^']*'(?:[,;\t|]\s*'[^']*')*\s*")
# The line in which a record starts, and its cells.
Record = tuple[int, list[str]]


class TextLines:
    """The lines of a text, perhaps compressed with gzip.

    Parameters
    ----------
    open_bytes : callable
        Opens the file.
    name : str
        Name of the file in messages.
    encoding : str or None, default=None
        None is UTF-8, UTF-16 if the text starts with its mark, and Windows-1252 if it is not UTF-8.
    is_input : bool, default=False
        Whether the text can be read only once, as it comes; its start then shows the encoding.

    Attributes
    ----------
    encoding : str
    notes : list of str
        The encoding, if it was detected and is unusual.
    """

    def __init__(
        self, open_bytes: Callable[[], Any], name: str, encoding: str | None = None, *, is_input: bool = False
    ) -> None:
        self._open_bytes, self.name = open_bytes, name
        self._input = self._opened() if is_input else None
        self.encoding = encoding or self._find_encoding()
        is_noted = not encoding and self.encoding in ENCODING_NAMES
        self.notes = [f"encoding {ENCODING_NAMES[self.encoding]}"] if is_noted else []

    def _opened(self) -> io.BufferedReader:
        raw = self._open_bytes()
        if raw.peek(2)[:2] == b"\x1f\x8b":
            text = gzip.GzipFile(fileobj=raw)
            text.myfileobj = raw  # which is closed with it
            return io.BufferedReader(text)
        if self.name.lower().endswith(".gz"):
            raise ValueError(f"{self.name} is damaged: it is not compressed with gzip.")
        return raw

    def _parts(self) -> Iterator[bytes]:
        """Yield the bytes in parts that end where lines end; of input, the start."""
        with damage_reported(self.name):
            if self._input is not None:
                start = self._input.peek(1 << 16)
                yield start[: start.rfind(b"\n") + 1] or start
                return
            with self._opened() as raw:
                while part := raw.read(1 << 20):
                    yield part + raw.readline()

    def _find_encoding(self) -> str:
        n_lines = n_invalid = n_letters = first_invalid = 0
        for part in self._parts():
            for mark, encoding in _MARKS.items():
                if n_lines == 0 and part.startswith(mark):
                    return encoding
            if not part.isascii():
                n_letters += len(_LETTERS.findall(part))
                try:
                    part.decode()
                except UnicodeDecodeError as error:
                    if _CONTROL.search(part):
                        raise ValueError(f"{self.name} is not text.") from error
                    first_invalid = first_invalid or n_lines + part[: error.start].count(b"\n") + 1
                    n_invalid += part.decode(errors="replace").count("\ufffd")
            n_lines += part.count(b"\n")
        if n_letters > 2 and n_letters > 2 * n_invalid > 0:
            raise ValueError(
                f"{self.name} is text in UTF-8, but line {first_invalid} has an invalid byte; correct it, or "
                "give the encoding."
            )
        return "cp1252" if n_invalid else "utf-8"

    def __iter__(self) -> Generator[str]:
        number = 0
        try:
            with (
                damage_reported(self.name),
                io.TextIOWrapper(self._input or self._opened(), encoding=self.encoding) as text,
            ):
                for number, line in enumerate(text, start=1):
                    if "\x00" in line:
                        raise ValueError(f"{self.name} is not text: it has a NUL character in line {number}.")
                    yield line
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.name} is not text in {self.encoding}: there is an invalid byte after line {number}; "
                "give the encoding."
            ) from error


@contextmanager
def damage_reported(name: str) -> Iterator[None]:
    """Raise errors of gzip as ValueError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged: {str(error).rstrip('.')}.") from error


@dataclass(frozen=True)
class Dialect:
    """How the cells of a text are separated and quoted.

    Attributes
    ----------
    sep : str
    quote : str
        "" if quotes are part of the cells.
    skips_spaces : bool
        Whether spaces after separators are left out.
    """

    sep: str = ","
    quote: str = '"'
    skips_spaces: bool = False

    def records(self, lines: Iterable[str], name: str = "", first_line: int = 1) -> Iterator[Record]:
        """Yield the records of lines; empty lines are left out."""
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
        self, open_bytes: Callable[[], Any], name: str, n_bytes: int | None, options: FileOptions
    ) -> None:
        self.name, self._options = name, options
        self._missing = (*MISSING, *(options.na_values or ()))
        self._lines = TextLines(open_bytes, name, options.encoding, is_input=n_bytes is None)
        source = iter(self._lines)
        sample = list(islice(source, SAMPLE_LINES))
        self._input = chain(sample, source) if n_bytes is None else None
        self._find_lines(sample)
        records = self._sample_records(self._cleaned(sample))
        if not records:
            raise ValueError(f"{name} is empty.")
        n_before = _count_before(records)
        header, *records = records[n_before:]
        self.columns = check_names(header[1], name)
        if not records:
            raise ValueError(f"{name} has no rows.")
        self._n_header = records[0][0] - 1
        rows = _checked_rows(records, name, len(self.columns))
        self._decide_columns(rows)
        self.notes = self._found(n_before)
        # What is not known of input is not needed.
        n_bytes, n_characters = n_bytes or 0, max(sum(map(len, sample)), 1)
        n_bytes *= GZIP_RATIO if name.lower().endswith(".gz") else 1
        self.n_rows_estimated = max(round(n_bytes * len(rows) / n_characters), 1)
        n_numbers = len(self.decimals)
        row_bytes = n_numbers * NUMBER_BYTES + (len(self.columns) - n_numbers) * TEXT_BYTES
        self.frame_bytes = self.n_rows_estimated * (row_bytes + 3 * n_characters // (len(rows) + 1))

    def _find_lines(self, lines: list[str]) -> None:
        """Decide whether there are comments, or columns that are aligned by spaces."""
        self._has_comments, self._gap = False, ""
        present = [line for line in lines if line.strip()]
        if present and present[0].startswith("#"):
            first, second = (present * 2)[:2]
            is_header = not second.startswith("#") and any(
                first.count(sep) == second.count(sep) > 0 for sep in SEPARATORS
            )
            present = [line for line in present if not line.startswith("#")]
            self._has_comments = bool(present) and not is_header
        if self._options.sep is None and not any(re.search(r"[,;|\t]", line) for line in lines):
            for gap in (r" +", r" {2,}"):
                widths = {len(re.split(gap, line.strip())) for line in present}
                if len(widths) == 1 and min(widths) > 1:
                    self._gap = gap

    def _cleaned(self, lines: list[str]) -> list[str]:
        """Return lines with empty ones in place of comments, and with separators."""
        if self._has_comments:
            lines = ["\n" if line.startswith("#") else line for line in lines]
        if self._gap:
            lines = [re.sub(self._gap, "\t", line.strip()) + "\n" for line in lines]
        return lines

    def _sample_records(self, lines: list[str]) -> list[Record]:
        """Find the dialect, and return records; quotes are part of cells if that alone makes them valid."""
        first = next((line for line in lines if line.strip()), "").rstrip()
        has_double = any('"' in line for line in lines)
        quote = "'" if not has_double and _QUOTED_HEADER.fullmatch(first) else '"'
        while len(lines) == SAMPLE_LINES and sum(line.count(quote) for line in lines) % 2:
            lines = lines[:-1]  # in the middle of a record, perhaps
        self.dialect = find_dialect(lines, quote, self._options.sep)
        try:
            return list(self.dialect.records(lines, self.name))
        except ValueError:
            unquoted = replace(self.dialect, quote="")
            records = list(unquoted.records(lines))
            cells = [cell.strip() for _, cells in records for cell in cells]
            is_quoted = any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)
            if is_quoted or len({len(cells) for _, cells in records}) > 1:
                raise
            self.dialect = unquoted
            return records

    def _decide_columns(self, rows: list[list[str]]) -> None:
        """Decide on the decimal separator, and which columns have plain numbers."""
        columns = zip(*rows, strict=True)
        texts = [[cell.strip() for cell in cells if cell.strip() not in self._missing] for cells in columns]
        frame = pd.DataFrame({i: pd.Series(cells, dtype=object) for i, cells in enumerate(texts)})
        found = table_decimal(frame, {",": ".", ";": ","}.get(self.dialect.sep))
        self.decimal = self._options.decimal or found
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

    def _found(self, n_before: int) -> tuple[str, ...]:
        """Return what was detected and is unusual; not what was given."""
        sep, given = self.dialect.sep, self._options
        is_usual = sep == "," or (sep == "\t" and self.name.lower().removesuffix(".gz").endswith(".tsv"))
        is_found, is_one = given.sep is None, len(self.columns) == 1
        notes = {
            "lines that start with # are left out": self._has_comments,
            "aligned columns, separated by spaces": bool(self._gap),
            f"{counted(n_before, 'line')} before the header left out": n_before > 0,
            f"{SEPARATORS.get(sep)} separate cells": is_found and not (is_usual or self._gap or is_one),
            "decimal commas": given.decimal is None and self.decimal == ",",
            **dict.fromkeys(self._lines.notes, True),
            "single quotes around cells": self.dialect.quote == "'",
            "quotes are part of the cells": not self.dialect.quote,
            "spaces after separators are left out": self.dialect.skips_spaces,
            "the first line, which has numbers, is taken as the header": any(
                re.fullmatch(r"-?\d+[.,]\d+", name) for name in self.columns
            ),
            f"one column, {self.columns[0]!r}: is the separator right? give it with sep (--sep)": is_found
            and is_one,
        }
        return tuple(note for note, applies in notes.items() if applies)

    def blocks(
        self, columns: Sequence[str] | None = None, n_rows: int | None = None
    ) -> Iterator[pd.DataFrame]:
        lines = iter(self._lines) if self._input is None else self._input
        n_rows = INPUT_LINES if self._input is not None else n_rows or self.block_rows
        quote = self.dialect.quote or "\0"  # which no line has
        line, row = len(list(islice(lines, self._n_header))) + 1, 0
        while block := list(islice(lines, n_rows)):
            is_last = len(block) < n_rows
            n_quotes = "".join(block).count(quote)
            while n_quotes % 2 and (more := next(lines, "")):
                block.append(more)
                n_quotes += more.count(quote)
            frame = self._parsed(block, line, columns, is_last=is_last)
            yield frame.set_axis(pd.RangeIndex(row, row + len(frame)))
            line, row = line + len(block), row + len(frame)

    def _parsed(
        self, lines: list[str], first_line: int, columns: Sequence[str] | None, *, is_last: bool
    ) -> pd.DataFrame:
        """Return the rows of some lines: columns of plain numbers as numbers, unless a cell is none."""
        lines, sep, width = self._cleaned(lines), self.dialect.sep, len(self.columns)
        if is_last and width > 1:
            lines = self._without_total(lines)
        text = "".join(lines)
        is_simple = width > 1 and not (self.dialect.quote and self.dialect.quote in text)
        if not is_simple or any(line.count(sep) != width - 1 for line in lines):
            rows = _checked_rows(self.dialect.records(lines, self.name, first_line), self.name, width)
            buffer, sep, is_simple = io.StringIO(), ",", False
            csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
            text = buffer.getvalue()
        of_text = [name for name in self.columns if name not in self.decimals]
        frame = pd.read_csv(
            io.StringIO(text),
            sep=sep,
            names=self.columns,
            usecols=columns,
            dtype=dict.fromkeys(of_text, str),
            na_values=dict.fromkeys(self.columns, (*self._missing, *PLACEHOLDERS))
            | dict.fromkeys(of_text, self._missing),
            keep_default_na=False,
            decimal=self.decimal or ".",
            quoting=csv.QUOTE_NONE if is_simple else csv.QUOTE_ALL,
            skipinitialspace=self.dialect.skips_spaces and is_simple,
            low_memory=False,
        )
        return frame if columns is None else frame[list(columns)]

    def _without_total(self, lines: list[str]) -> list[str]:
        """Return lines without the total at the end of a table, if there is one."""
        *others, last = [line for line in lines if line.strip()] or [""]
        first_cell = last.split(self.dialect.sep)[0].strip()
        is_total = _TOTAL.match(first_cell) and not any(line.startswith(first_cell) for line in others)
        if not is_total or not others or '"' in last:
            return lines
        note = f"the last line, {last.strip()[:40]!r}, is left out"
        self.notes = (*self.notes, *([] if note in self.notes else [note]))
        return lines[: lines.index(last)]

    def _read_as_text(self, parts: list[pd.DataFrame]) -> bool:
        changed = False
        for name in list(self.decimals):
            cells = [part[name] for part in parts if len(part) and part[name].dtype.kind not in "iufb"]
            if not cells:
                continue
            changed = True
            del self.decimals[name]
            texts, decimal = pd.concat(cells).dropna().astype(str).str.strip(), self.decimal or "."
            texts = texts[~texts.isin((*self._missing, *PLACEHOLDERS))]
            other = texts[np.isnan(NumberNotation(decimal).parse(texts.to_list()))]
            if len(other) and find_number_notation(other.to_list(), decimal)[0] is None:
                line = self._n_header + 1 + other.index[0]
                note = f"line {line} has {other.iloc[0]!r} in column {name!r}, which had numbers before"
                self.notes = (*self.notes, f"{note}: it is read as text")
        return changed


def find_dialect(lines: list[str], quote: str, sep: str | None = None) -> Dialect:
    """Return how the cells of lines are separated."""
    samples: dict[Dialect, list[Record]] = {}
    for candidate in [sep] if sep else SEPARATORS:
        dialect = Dialect(candidate, quote)
        samples[dialect] = []
        with suppress(ValueError):  # at the end of the sample, perhaps
            for record in dialect.records(lines):
                samples[dialect].append(record)
    best = max(samples, key=lambda dialect: _agreement(samples[dialect], dialect.sep))
    later = [cell for _, cells in samples[best] for cell in cells[1:]]
    skips_spaces = best.sep != "\t" and bool(later) and all(cell.startswith(" ") for cell in later)
    return replace(best, skips_spaces=skips_spaces)


def _agreement(records: list[Record], sep: str) -> tuple[bool, float, float, int]:
    """Return how well records fit a separator; the most important comes first.

    Whether there are several columns, the share of records as long as the header, that of cells without other
    separators, and the number of columns.
    """
    if not records:
        return False, 0.0, 0.0, 0
    n_before = _count_before(records)
    n_cells = len(records[n_before][1])
    fits = [len(cells) == n_cells or (len(cells) == n_cells + 1 and not cells[-1]) for _, cells in records]
    foreign = re.compile(f"[{re.escape(''.join(mark for mark in SEPARATORS if mark != sep))}]")
    # Cells of text may have commas: what matters is whether many have separators.
    clean = [
        not foreign.search(cell) or bool(_DECIMAL_COMMA.fullmatch(cell))
        for _, cells in records[n_before + 1 :]
        for cell in filter(None, cells)
    ]
    return n_cells > 1, float(np.mean(fits)), round(float(np.mean(clean or [True])), 1), n_cells


def _count_before(records: list[Record]) -> int:
    """Return the number of short records before the header, which is as long as most records."""
    widths = [len(cells) for _, cells in records]
    width = mode(widths)
    start = widths.index(width)
    is_header = all(re.search(r"[^\W\d]", cell) for cell in records[start][1])
    return start if start and is_header and max(widths[:start]) <= max(width // 2, 1) else 0


def _checked_rows(records: Iterable[Record], name: str, width: int) -> list[list[str]]:
    """Return the cells of records; raise ValueError unless all have as many cells as the header."""
    rows = []
    for line, cells in records:
        if len(cells) == width + 1 and not cells[-1]:  # a separator at the end of the line
            cells.pop()
        elif len(cells) != width:
            has = counted(len(cells), "cell")
            raise ValueError(f"Line {line} of {name} has {has}, but the header has {width}.")
        rows.append(cells)
    return rows
