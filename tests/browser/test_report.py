"""The report of explained predictions in a browser."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from lann.report import save_report
from lann.tables import TableWarning, fit_table

HOSTILE = "<script>document.title = 'changed'</script>"
N_ROWS = 6


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Two classes, text and numbers, missing values, and names and values that are markup."""
    rng = np.random.default_rng(0)
    size, color = rng.normal(170, 10, 80).round(1), rng.choice(["red", HOSTILE, "a" * 300], 80)
    frame = pd.DataFrame(
        {
            "name": [f"<b>p{row}" for row in range(80)],
            "size & <i>height": size,
            "color": color,
            **{f"noise {j}": rng.normal(size=80).round(3) for j in range(14)},
            "group": np.where((color == "red") | (size > 178), "in <u>", "out"),
        }
    )
    frame.loc[::7, "size & <i>height"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        model = fit_table(frame, "group", id="name")
    path = tmp_path_factory.mktemp("report") / "r.html"
    explanation = model.explain(frame, range(N_ROWS), id="name")
    save_report(path, model, explanation, title="<b>Rows", notes=["<u>note"])
    return path


def test_rows_and_bars_are_shown_without_messages(open_page, report):
    page = open_page(report)
    assert page.evaluate("document.title") == "<b>Rows: explained by lann"
    assert page.evaluate("document.querySelectorAll('details.row').length") == N_ROWS
    assert page.evaluate("document.querySelectorAll('details.row[open]').length") == 1
    bars = "[...document.querySelectorAll('details.row[open] {} .bar > span')].map(bar => bar.offsetWidth)"
    widths = page.evaluate(bars.format(".columns"))
    assert len(widths) == 2 * 16  # relevance and support of 16 columns
    assert max(widths) > 40
    relevances = widths[0:20:2]
    assert relevances == sorted(relevances, reverse=True)
    assert len(page.evaluate(bars.format(".neighbors"))) == 5 + 1  # five rows and the others
    lines = "document.querySelector('#relevance').parentElement.querySelectorAll('tbody tr').length"
    assert page.evaluate(lines) == 16
    assert page.messages() == []


def test_the_page_loads_nothing(open_page, report):
    assert open_page(report).requests() == {report.as_uri()}


def test_text_of_the_table_is_not_markup(open_page, report):
    page = open_page(report)
    assert page.evaluate("document.querySelectorAll('script, b, u').length") == 0
    assert HOSTILE in page.evaluate("document.body.textContent")
    assert "<b>p0" in page.evaluate("document.querySelector('details.row h3').innerText")


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_the_page_is_not_wider_than_the_screen(open_page, report, width):
    """Wide tables scroll in boxes of their own."""
    page = open_page(report, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_light_and_dark_are_readable(open_page, report):
    screenshots = {}
    for scheme in ("light", "dark"):
        page = open_page(report, scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        screenshots[scheme] = page.screenshot()
        assert len(screenshots[scheme]) > 10_000
        assert page.least_contrast() >= 4.5
    assert screenshots["light"] != screenshots["dark"]


def test_rows_are_opened_by_keyboard(open_page, report):
    page = open_page(report)
    page.evaluate("document.querySelectorAll('details.row > summary')[1].focus()")
    page.press("Enter", 13, "\r")
    assert page.evaluate("document.querySelectorAll('details.row[open]').length") == 2


def test_closed_rows_are_printed(open_page, report):
    page = open_page(report)
    visible = "[...document.querySelectorAll('.sentence')].filter(p => p.checkVisibility()).length"
    assert page.evaluate(visible) == 1
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.evaluate(visible) == N_ROWS
