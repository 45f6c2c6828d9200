"""The page of `lann embed` with few rows, long names and long numbers."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lann.cli import app


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Five rows to learn from and five placed, with long names and numbers of many digits."""
    folder = tmp_path_factory.mktemp("few")
    frame = pd.DataFrame(
        {
            "name": [f"{'a very long name ' * 6}{'x' * 80} {row}" for row in range(10)],
            "account": 123756789 + 40 * np.arange(10),
            "height": 1234.56 + 100 * (np.arange(10) % 2),
            "ratio": [0.12345678901234, 52.520008, 0, -7, 1e-9, 1e20, 2 / 3, 5.1, 1234567.25, 3],
            "group": np.array(["in", "out"])[np.arange(10) % 2],
        }
    )
    frame.to_csv(folder / "few.csv", index=False)
    arguments = ["embed", str(folder / "few.csv"), "--target", "group", "--id", "name", "--held-out", "0.5"]
    arguments += [
        "--method",
        "tsne",
        "--epochs",
        "250",
        "-o",
        str(folder / "e.html"),
        "-o",
        str(folder / "e.csv"),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return folder / "e.html"


def text(page, id: str) -> str:
    return page.ask(f"document.getElementById('{id}').textContent")


def test_numbers_are_told_as_they_were_written(open_page, few):
    page = open_page(few)
    frame = pd.read_csv(few.with_name("few.csv"), dtype=str).set_index("name")
    told = {}
    for _ in range(10):
        page.ask("document.getElementById('next').click()")
        cells = page.ask(
            "[...document.querySelectorAll('#point .value')].map(cell => "
            "[cell.parentNode.cells[0].textContent, cell.textContent])"
        )
        told |= {(text(page, "name"), column): value for column, value in cells}
    assert len(told) >= 10
    for (name, column), value in told.items():
        if column != "ratio":
            assert value == frame.loc[name, column]
    assert {column for _, column in told} >= {"height", "account"}


def test_numbers_are_short_where_nobody_wrote_them(open_page, few):
    """The function alone, for the page tells of relevant columns only."""
    source = files("lann.cli.embedding_page").joinpath("unpack.js").read_text("utf-8")
    function = re.search(r"^const LONG.*?^}$", source, re.DOTALL | re.MULTILINE)[0]
    page = open_page(few)
    told = {
        0: "0", -7: "-7", 5.1: "5.1", 1234.56: "1234.56", 52.520008: "52.520008", 1234567.25: "1234567.25",
        123756789: "123756789", 2 / 3: "0.666667", 1e-9: "1e-9", 1e20: "100000000000000000000", 2e21: "2e+21",
        12345678.123456: "12345678", 5.1 + 1e-15: "5.1", float(np.float32(5.1)): "5.1",
    }  # fmt: skip
    for value, text in told.items():
        assert page.ask(f"(() => {{ {function}\nreturn numberText({value!r}); }})()") == text


def test_of_few_rows_none_votes_on_itself(open_page, few):
    page = open_page(few)
    for _ in range(10):
        page.ask("document.getElementById('next').click()")
        voters = page.ask(
            "[...document.querySelectorAll('#point button.link')].map(button => button.textContent)"
        )
        placed = "the placed rows" in text(page, "point")
        assert len(voters) == (5 if placed else 4)
        assert text(page, "name") not in voters
    assert page.complaints() == []


@pytest.mark.parametrize("width", [360, 1400])
def test_a_long_name_leaves_the_buttons_where_they_are(open_page, few, width):
    page = open_page(few, width=width)
    tops = (
        "['previous', 'next'].map(id => document.getElementById(id)).map(button => "
        "button.offsetTop - button.parentNode.offsetTop)"
    )
    before = page.ask(tops)
    page.ask("document.getElementById('next').click()")
    page.settle()
    assert len(text(page, "name")) > 150
    assert page.ask(tops) == before
    assert before[0] == before[1]
