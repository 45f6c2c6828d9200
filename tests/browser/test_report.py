"""The report of `lann explain --html` as a browser shows it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lann.cli import app

HOSTILE = "<script>document.title = 'taken over'</script>"
N_ROWS = 6


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Two classes, text and numbers, names and values that are markup, gaps."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    size, color = rng.normal(170, 10, 80).round(1), rng.choice(["red", HOSTILE, "a" * 300], 80)
    frame = pd.DataFrame(
        {
            "name": [f"<b>p{row}" for row in range(80)],
            "size & <i>height": size,
            "color": color,
            **{f"noise {place}": rng.normal(size=80).round(3) for place in range(14)},
            "group": np.where((color == "red") | (size > 178), "in <u>", "out"),
        }
    )
    frame.loc[::7, "size & <i>height"] = np.nan
    frame.to_csv(folder / "data.csv", index=False)
    for command in (
        ["fit", "data.csv", "--target", "group", "--id", "name", "--no-cv", "-o", "m.skops"],
        ["explain", "m.skops", "data.csv", "--id", "name", "--rows", f"0:{N_ROWS}", "--html", "r.html"],
    ):
        paths = [
            str(folder / word) if word.endswith((".csv", ".skops", ".html")) else word for word in command
        ]
        result = CliRunner().invoke(app, paths)
        assert result.exit_code == 0, result.output
    return folder / "r.html"


def test_rows_and_bars_are_there_without_a_complaint(open_page, report):
    page = open_page(report)
    assert page.ask("document.title") == "m.skops on data.csv: explained by lann"
    assert page.ask("document.querySelectorAll('details.row').length") == N_ROWS
    assert page.ask("document.querySelectorAll('details.row[open]').length") == 1
    shown = "[...document.querySelectorAll('details.row[open] {} .bar > span')].map(bar => bar.offsetWidth)"
    widths = page.ask(shown.format(".columns"))
    assert len(widths) == 2 * 16  # relevance, and for or against, of 16 columns
    assert max(widths) > 40
    assert all(left >= right for left, right in zip(widths[0:20:2], widths[2:20:2], strict=False))
    assert len(page.ask(shown.format(".neighbors"))) == 5
    assert (
        page.ask("document.querySelector('#prints').parentElement.querySelectorAll('tbody tr').length") == 16
    )
    assert page.complaints() == []


def test_nothing_is_fetched(open_page, report):
    page = open_page(report)
    assert page.fetched() == {report.as_uri()}


def test_what_stands_in_the_table_stays_text(open_page, report):
    page = open_page(report)
    assert page.ask("document.querySelectorAll('script, b, u').length") == 0
    assert HOSTILE in page.ask("document.body.textContent")
    assert "<b>p0" in page.ask("document.querySelector('details.row h3').innerText")


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_the_page_is_as_wide_as_the_screen(open_page, report, width):
    """Wide tables scroll in their own boxes."""
    page = open_page(report, width=width)
    page.ask("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.ask("document.documentElement.scrollWidth") <= width


def test_light_and_dark_differ_and_both_can_be_read(open_page, report):
    shots = {}
    for scheme in ("light", "dark"):
        page = open_page(report, scheme=scheme)
        page.ask("document.querySelectorAll('details').forEach(part => part.open = true)")
        shots[scheme] = page.screenshot()
        assert len(shots[scheme]) > 10_000
        assert page.least_contrast() >= 4.5
    assert shots["light"] != shots["dark"]


def test_rows_open_by_keyboard(open_page, report):
    page = open_page(report)
    page.ask("document.querySelectorAll('details.row > summary')[1].focus()")
    page.press("Enter", 13, "\r")
    assert page.ask("document.querySelectorAll('details.row[open]').length") == 2


def test_a_printed_page_shows_the_closed_rows(open_page, report):
    page = open_page(report)
    visible = "[...document.querySelectorAll('.words')].filter(p => p.checkVisibility()).length"
    assert page.ask(visible) == 1
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.ask(visible) == N_ROWS
