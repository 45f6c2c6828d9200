import io

import pytest
from rich.console import Console

from benchmarks.engine import Report, Row, Table, check
from benchmarks.engine.terminal import column_blocks, duration, show_report


def shown(report, width=80):
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    show_report(report, console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [24, 80, 120])
@pytest.mark.parametrize("n_columns", [1, 6, 14])
def test_columns_are_split_into_as_few_blocks_as_fit(width, n_columns):
    table = Table(
        "t", ("method", *["letter"] * n_columns), [("", [Row("lann-point-only", (".954",) * n_columns)])]
    )
    blocks = column_blocks(table, width)
    assert [column for block in blocks for column in block] == list(range(n_columns))
    assert all(15 + 7 * len(block) <= width for block in blocks)
    assert len(blocks) == -(-n_columns // ((width - 15) // 7))


def test_a_report_fits_the_terminal():
    table = Table(
        "Accuracy",
        ("method", *(f"column {i}" for i in range(20))),
        [("group", [Row("a", (".954",) * 20), Row("b", (), text="failed")])],
        ("A note that is so long that it has to be wrapped in a terminal of eighty columns, twice over.",),
    )
    report = Report("Toy", "3 splits.", [table], [check("a: enough " * 9, None, "nothing " * 9)])
    text = shown(report)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("group") == 3  # in each block
    assert "not measured" in text


def test_details_are_shown_on_request():
    details = [Table("wine", ("", "x"), [("", [Row("a", (".7",))])])]
    assert "wine" not in shown(Report("Toy", "A test.", [], details=details))
    assert "wine" in shown(Report("Toy", "A test.", [], details=details, show_details=True))


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (89, "89 s"), (200, "3 min"), (9000, "2.5 h")])
def test_durations(seconds, text):
    assert duration(seconds) == text
