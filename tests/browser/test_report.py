"""The report of explained predictions in a browser."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from lann.report import SourceFile, save_report
from lann.tables import TableModel, TableWarning

HOSTILE = "<script>document.title = 'changed'</script>"
N_ROWS = 6


N_MANY = 40


@pytest.fixture(scope="module")
def fitted():
    """A model of two classes, text and numbers, missing values, and names and values that are markup."""
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
        model = TableModel.fit(frame, "group", id="name")
    return model, frame


@pytest.fixture(scope="module")
def report(fitted, tmp_path_factory):
    """A report of some rows, with notes that are markup, without labels."""
    model, frame = fitted
    path = tmp_path_factory.mktemp("report") / "r.html"
    explanation = model.explain(frame.drop(columns="group"), range(N_ROWS), id="name")
    options = {
        "notes": ["<u>note"],
        "files": [SourceFile(f"<b>{HOSTILE}", 64 * "a")],
        "explorer": "a'\"><img src=x>.html",
    }
    save_report(path, model, explanation, title="<b>Rows", **options)
    return path


@pytest.fixture(scope="module")
def many_rows(fitted, tmp_path_factory):
    """A report of many rows, with labels."""
    model, frame = fitted
    path = tmp_path_factory.mktemp("report") / "many.html"
    save_report(path, model, model.explain(frame, range(N_MANY), id="name"))
    return path


def test_rows_and_bars_are_shown_without_messages(open_page, report):
    page = open_page(report)
    assert page.evaluate("document.title") == "<b>Rows: explained by lann"
    assert page.evaluate("document.querySelectorAll('details.row').length") == N_ROWS
    assert page.evaluate("document.querySelectorAll('details.row[open]').length") == 1
    bars = "[...document.querySelectorAll('details.row[open] {} .bar > span')].map(bar => bar.offsetWidth)"
    # The strongest reasons first; a bar that could not be seen is not drawn.
    widths = page.evaluate(bars.format(".reasons"))
    assert 3 <= len(widths) <= 16
    assert max(widths) > 20
    assert min(widths) >= 3
    assert all(before >= after - 1 for before, after in pairwise(widths))  # rounded to pixels
    assert page.evaluate("document.querySelectorAll('details.row[open] .neighbors mark').length") > 0
    assert page.evaluate("document.querySelectorAll('details.internals[open]').length") == 0
    lines = "document.querySelector('#relevance').parentElement.querySelectorAll('tbody tr').length"
    assert page.evaluate(lines) == 16
    assert page.messages() == []


def test_the_page_loads_nothing(open_page, report):
    assert open_page(report).requests() == {report.as_uri()}


def test_text_of_the_table_is_not_markup(open_page, report):
    page = open_page(report)
    assert page.evaluate("document.querySelectorAll('b, u, img').length") == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 1  # that of the page
    assert HOSTILE in page.evaluate("document.body.textContent")
    assert "<b>p0" in page.evaluate("document.querySelector('details.row h3').innerText")


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_the_page_is_not_wider_than_the_screen(open_page, report, width):
    """Wide tables scroll in boxes of their own."""
    page = open_page(report, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


SHOWN = "[...document.querySelectorAll('table.overview tbody tr')].filter(line => !line.hidden)"
SECTIONS = "[...document.querySelectorAll('details.row')].filter(section => !section.hidden)"


def column(page, number: int) -> list[str]:
    """Return the texts of a column of the overview, in the order in which its lines are shown."""
    return page.evaluate(f"{SHOWN}.map(line => line.cells[{number}].textContent)")


def headers(page) -> list[str]:
    return page.evaluate(
        "[...document.querySelectorAll('table.overview thead th')].map(th => th.textContent)"
    )


def sort_by(page, number: int) -> None:
    page.evaluate(f"document.querySelectorAll('table.overview thead button')[{number}].click()")


def test_the_overview_is_sorted_by_every_column(open_page, many_rows):
    page = open_page(many_rows)
    names = headers(page)
    assert names == [
        "row",
        "id",
        "truth",
        "prediction",
        "probability",
        "runner-up",
        "flags",
        "strongest reasons",
    ]
    assert [int(row) for row in column(page, 0)] == list(range(N_MANY))
    for number, name in enumerate(names):
        sort_by(page, number)
        first, order = column(page, number), page.evaluate("document.querySelector('[aria-sort]').ariaSort")
        assert order == ("descending" if name in ("probability", "flags") else "ascending")
        sort_by(page, number)
        second = column(page, number)
        assert sorted(first) == sorted(second)
        # Equal texts are next to each other.
        n_runs = sum(before != after for before, after in pairwise(first))
        assert n_runs == len(set(first)) - 1 > 0
        assert first[0] == second[-1]
        assert page.evaluate("document.querySelectorAll('[aria-sort]').length") == 1
    # Numbers are sorted as numbers, the largest first, and the sections below follow.
    sort_by(page, 4)
    shares = [float(text.strip("<>%")) for text in column(page, 4)]
    assert shares == sorted(shares, reverse=True)
    rows = page.evaluate(f"{SHOWN}.map(line => line.dataset.row)")
    assert page.evaluate(f"{SECTIONS}.map(section => section.id)") == rows
    sort_by(page, 0)
    assert [int(row) for row in column(page, 0)] == list(range(N_MANY))
    assert page.messages() == []


def test_the_overview_is_searched_and_filtered(open_page, many_rows):
    page = open_page(many_rows)
    n_mistakes = len([text for text in column(page, 6) if "mistake" in text])
    assert 0 < n_mistakes < N_MANY
    assert page.evaluate("document.getElementById('count').textContent") == f"{N_MANY} rows"
    page.evaluate("document.querySelector('[data-flag=mistake]').click()")
    assert len(column(page, 0)) == n_mistakes
    assert page.evaluate(f"{SECTIONS}.length") == n_mistakes
    assert page.evaluate("document.getElementById('count').textContent") == f"{n_mistakes} of {N_MANY} rows"
    page.evaluate("document.querySelector('[data-flag=doubtful]').click()")
    assert all("mistake" in text and "doubtful" in text for text in column(page, 6))
    for flag in ("mistake", "doubtful"):
        page.evaluate(f"document.querySelector('[data-flag={flag}]').click()")
    page.evaluate(
        "(search => { search.value = 'P17'; search.dispatchEvent(new Event('input')); })"
        "(document.getElementById('search'))"
    )
    assert column(page, 1) == ["<b>p17"]
    # A link to a row that is filtered out shows all rows.
    page.evaluate("location.hash = '#row-3'")
    page.settle()
    assert len(column(page, 0)) == N_MANY
    assert page.evaluate("document.getElementById('row-3').open")
