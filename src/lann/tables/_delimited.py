"""Text with separators: which separator and quotes it has, and its cells."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import mode

import pandas as pd

from lann._support.format import counted
from lann.columns.notation import MISSING

# The rarest in cells come first: they are preferred where two separators fit equally well.
SEPARATORS = {"\t": "tabs", "|": "vertical bars", ";": "semicolons", ",": "commas"}
SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
# Text and records from which the separator is found.
SAMPLE_LENGTH, SAMPLE_RECORDS = 1 << 20, 500
_TOTAL = re.compile(r"(?i)(grand |sub)?(total|sum|summe|gesamt|average|mean)\b")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+\s*")


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

    def records(self, text: str) -> Iterator[tuple[int, list[str]]]:
        """Yield the line in which each record starts, and its cells; empty lines are left out."""
        return self.records_of_lines(io.StringIO(text, newline=""))

    def records_of_lines(self, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield the records of lines, which are read as they are needed."""
        reader = csv.reader(
            lines,
            delimiter=self.sep,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            skipinitialspace=self.skips_spaces,
            strict=True,
        )
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise DelimitedTextError(line, _csv_reason(error)) from error


class DelimitedTextError(Exception):
    """A record that cannot be read, with the line in which it starts."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line, self.reason = line, reason


def check_separator(sep: str) -> str:
    """Return the character of a separator, which may be given by name; raise ValueError if it is none."""
    sep = SEPARATOR_NAMES.get(sep, sep)
    if len(sep) != 1 or sep in "\"'\r\n\0" or sep.isalnum():
        raise ValueError(
            "sep must be one character, such as ',', ';', '|' or a tab, or one of the names "
            f"{', '.join(name for name in SEPARATOR_NAMES if name.isalpha())}; got {sep!r}."
        )
    return sep


def split_text(text: str, source: str, sep: str | None = None) -> tuple[list[list[str]], Dialect]:
    """Return the records of a text, the header first, all of the same length, and their dialect.

    Parameters
    ----------
    text : str
    source : str
        Name of the file in messages.
    sep : str or None, default=None
        By default, it is found.

    Raises
    ------
    ValueError
        If the text has no record, or the records have different numbers of cells.
    """
    dialect = find_dialect(text, sep)
    try:
        return _equal_records(text, dialect), dialect
    except DelimitedTextError as error:
        unquoted = replace(dialect, quote="")
        records = _unquoted_records(text, unquoted) if dialect.quote and dialect.quote in text else None
        if records is None:
            raise ValueError(f"Line {error.line} of {source} {error.reason}.") from error
        return records, unquoted


def trim_text(text: str, sep: str | None = None) -> tuple[str, list[str]]:
    """Return a text without comments, lines before the header and lines after the table, and notes on them.

    Lines that are left out become empty, so that the numbers of the others stay. Aligned columns are
    separated by tabs.
    """
    notes = []
    if re.match(r"(?:\s*#[^\r\n]*[\r\n]+)+(?=[^#\r\n])", text):
        text = re.sub(r"(?m)^#[^\r\n]*", "", text)
        notes.append("lines that start with # are left out")
    if sep is None and not re.search(r"[,;|\t]", text[:SAMPLE_LENGTH]):
        for gap in (r" {2,}", r" +"):
            lines = [line.strip() for line in text.splitlines()]
            widths = {len(re.split(gap, line)) for line in lines if line}
            if len(widths) == 1 and min(widths) > 1:
                notes.append("aligned columns, separated by spaces")
                return "\n".join(re.sub(gap, "\t", line) for line in lines) + "\n", notes
    lines = text.splitlines(keepends=True)
    dialect = _body_dialect(lines, sep)
    if '"' in text or dialect is None:  # records can have several lines
        return text, notes
    counts = [line.count(dialect) + 1 if line.strip() else 0 for line in lines]
    width = mode(count for count in counts[:SAMPLE_RECORDS] if count)
    start = next((i for i, count in enumerate(counts) if count == width), 0)
    n_before = sum(count > 0 for count in counts[:start])
    header = lines[start].strip().split(dialect)
    is_header = all(re.search(r"[^\W\d]", cell) for cell in header)
    if n_before and is_header and all(count <= max(width // 2, 1) for count in counts[:start]):
        notes.append(f"{counted(n_before, 'line')} before the header left out")
        lines[:start] = ["\n"] * start
    filled = [i for i, count in enumerate(counts) if count]
    last = filled[-1]
    first_cell = lines[last].split(dialect)[0].strip()
    is_alone = not any(line.startswith(first_cell) for line in lines[start:last])
    if last > start + 1 and is_alone and _TOTAL.match(first_cell):
        notes.append(f"the last line, {lines[last].strip()[:40]!r}, is left out")
        lines[last] = "\n"
    return ("".join(lines) if notes else text), notes


def _body_dialect(lines: list[str], sep: str | None) -> str | None:
    """Return the separator that most lines of the sample have equally often; None if there is none."""
    sample = [line for line in lines[:SAMPLE_RECORDS] if line.strip()]
    best, best_share = None, 0.5
    for candidate in [sep] if sep else SEPARATORS:
        counts = Counter(line.count(candidate) for line in sample)
        n_cells, n_lines = max(((n, c) for n, c in counts.items() if n), key=lambda pair: pair[1],
                               default=(0, 0))  # fmt: skip
        if n_cells and n_lines / len(sample) > best_share:
            best, best_share = candidate, n_lines / len(sample)
    return best


def parse_text(text: str, source: str, sep: str | None = None) -> tuple[pd.DataFrame, Dialect]:
    """Return the cells of a text as a table of text, None where missing, and their dialect.

    pandas reads the cells. Where it stops, cells are quoted, or the last cell of a record is missing,
    every record is checked.
    """
    dialect = find_dialect(text, sep)
    try:
        frame = _parsed(text, dialect)
        has_quotes = bool(dialect.quote) and dialect.quote in text
        is_certain = len(frame) > 0 and not has_quotes and not frame.iloc[:, -1].isna().any()
    except (ValueError, DelimitedTextError):  # pandas' ParserError is among them
        is_certain = False
    if not is_certain:
        records, dialect = split_text(text, source, sep)
        if not records:
            raise ValueError(f"{source} is empty.")
        checked = io.StringIO(newline="")
        csv.writer(checked, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(records)
        frame = _parsed(checked.getvalue(), Dialect())
    return frame, dialect


def _parsed(text: str, dialect: Dialect) -> pd.DataFrame:
    frame = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=dialect.sep,
        header=None,
        dtype=str,
        quotechar=dialect.quote or '"',
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        skipinitialspace=dialect.skips_spaces,
        keep_default_na=False,
        na_values=MISSING,
    )
    _, names = next(dialect.records(text))  # not those of pandas, for which "NA" is missing
    if len(names) != frame.shape[1]:
        raise ValueError("The header is not as long as the records.")
    return frame.iloc[1:].reset_index(drop=True).set_axis(names, axis=1)


def _equal_records(text: str, dialect: Dialect) -> list[list[str]]:
    records: list[list[str]] = []
    n_cells = 0
    for line, cells in dialect.records(text):
        if not records:
            n_cells = len(cells)
        else:
            check_length(cells, n_cells, line)
        records.append(cells)
    return records


def check_length(cells: list[str], n_cells: int, line: int) -> None:
    """Raise DelimitedTextError if a record is not as long as the header; drop an empty cell at its end."""
    if len(cells) == n_cells + 1 and not cells[-1]:  # a separator at the end of the line
        cells.pop()
    elif len(cells) != n_cells:
        raise DelimitedTextError(line, f"has {counted(len(cells), 'cell')}, but the header has {n_cells}")


def _unquoted_records(text: str, dialect: Dialect) -> list[list[str]] | None:
    """Return the records if quotes are part of the cells; None if they are not, or it does not help."""
    try:
        records = _equal_records(text, dialect)
    except DelimitedTextError:
        return None
    is_quoted = any(
        len(cell) > 1 and cell[0] == cell[-1] == '"' for cells in records for cell in map(str.strip, cells)
    )
    return None if is_quoted else records


def find_dialect(text: str, sep: str | None = None) -> Dialect:
    """Return how the cells of a text are separated and quoted, as its start shows it."""
    sample = text[:SAMPLE_LENGTH]
    if len(sample) < len(text):
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    quote = '"'
    first_line = sample.lstrip("\r\n").splitlines()[0] if sample.strip("\r\n") else ""
    if '"' not in sample and re.fullmatch(r"\s*'[^']*'(?:[,;\t|]\s*'[^']*')*\s*", first_line):
        quote = "'"
    dialects = [Dialect(sep or candidate, quote) for candidate in ([","] if sep else SEPARATORS)]
    samples = {dialect: _sample_records(sample, dialect) for dialect in dialects}
    best = dialects[0] if sep else _choose(samples)
    later = [cell for cells in samples[best] for cell in cells[1:]]
    skips_spaces = best.sep != "\t" and bool(later) and all(cell.startswith(" ") for cell in later)
    return replace(best, skips_spaces=skips_spaces)


def _sample_records(sample: str, dialect: Dialect) -> list[list[str]]:
    records: list[list[str]] = []
    try:
        for _, cells in dialect.records(sample):
            records.append(cells)
            if len(records) == SAMPLE_RECORDS:
                break
    except DelimitedTextError:  # at the end of the sample, perhaps; otherwise all of the text has it, too
        pass
    return records


def _choose(samples: dict[Dialect, list[list[str]]]) -> Dialect:
    """Return the dialect whose records agree best with their header."""
    several = [dialect for dialect, records in samples.items() if records and len(records[0]) > 1]
    if several:
        return max(several, key=lambda dialect: _agreement(samples[dialect], dialect.sep))
    # The header is one cell. It is a table with one column, unless all other lines agree on more cells.
    for dialect, records in samples.items():
        widths = {len(cells) for cells in records[1:]}
        is_decimal = dialect.sep == "," and all(
            _DECIMAL_COMMA.fullmatch(",".join(cells)) or len(cells) == 1 for cells in records[1:]
        )
        if len(records) > 2 and len(widths) == 1 and min(widths) > 1 and not is_decimal:
            return dialect
    unused = [dialect for dialect, records in samples.items() if all(len(cells) == 1 for cells in records)]
    order = (",", ";", "\t", "|")
    return min(unused or samples, key=lambda dialect: order.index(dialect.sep))


def _agreement(records: list[list[str]], sep: str) -> tuple[float, float, int]:
    """Return the share of records as long as the header, that of cells without separators, and the length."""
    n_cells, others = len(records[0]), records[1:]
    if not others:
        return 1.0, 1.0, n_cells
    widths = [len(cells) == n_cells or (len(cells) == n_cells + 1 and not cells[-1]) for cells in others]
    foreign = re.compile(f"[{re.escape(''.join(mark for mark in SEPARATORS if mark != sep))}]")
    cells = [cell for record in others for cell in record if cell]
    clean = [not foreign.search(cell) or bool(_DECIMAL_COMMA.fullmatch(cell)) for cell in cells]
    # Cells of text may have commas: what matters is whether many have separators.
    share = sum(clean) / len(clean) if clean else 1.0
    return sum(widths) / len(widths), round(share, 1), n_cells


def _csv_reason(error: csv.Error) -> str:
    text = str(error)
    if "field larger" in text:
        most = f"{csv.field_size_limit():,}"
        return f"has a cell of more than {most} characters, perhaps because a closing quote is missing"
    if "unexpected end" in text:
        return "has a quote that is not closed"
    return "has text after a closing quote"
