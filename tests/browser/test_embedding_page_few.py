"""The page of an embedding with few rows, long names and long numbers, in a browser."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from lann import LANNEmbedding
from lann.report import save_embedding_page
from lann.tables import embed_table


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(
        {
            "name": [f"{'a very long name ' * 6}{'x' * 80} {row}" for row in range(10)],
            "account": 123756789 + 40 * np.arange(10),
            "height": 1234.56 + 100 * (np.arange(10) % 2),
            "ratio": [0.12345678901234, 52.520008, 0, -7, 1e-9, 1e20, 2 / 3, 5.1, 1234567.25, 3],
            "group": np.array(["in", "out"])[np.arange(10) % 2],
        }
    )


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    """The page of five training rows and five held-out rows."""
    layout = LANNEmbedding(method="tsne", max_iter=250, random_state=0)
    embedded = embed_table(frame, "group", id="name", held_out=0.5, embedding=layout)
    path = tmp_path_factory.mktemp("few") / "e.html"
    save_embedding_page(path, embedded)
    return path


def text(page, id: str) -> str:
    return page.evaluate(f"document.getElementById('{id}').textContent")


def test_numbers_have_all_their_digits(open_page, file, frame):
    page = open_page(file)
    expected = frame.set_index("name").astype(str)
    shown = {}
    for _ in range(10):
        page.evaluate("document.getElementById('next').click()")
        cells = page.evaluate(
            "[...document.querySelectorAll('#details .value')].map(cell => "
            "[cell.parentNode.cells[0].textContent, cell.textContent])"
        )
        shown |= {(text(page, "row-name"), column): value for column, value in cells}
    assert len(shown) >= 10
    for (name, column), value in shown.items():
        if column != "ratio":
            assert value == expected.loc[name, column]
    assert {column for _, column in shown} >= {"height", "account"}


def test_long_numbers_are_rounded(open_page, file):
    """Of the function alone, because the page shows relevant columns only."""
    source = files("lann.report._embedding").joinpath("text.js").read_text("utf-8")
    function = re.search(r"^const LONG.*?^}$", source, re.DOTALL | re.MULTILINE)[0]
    page = open_page(file)
    expected = {
        0: "0", -7: "-7", 5.1: "5.1", 1234.56: "1234.56", 52.520008: "52.520008", 1234567.25: "1234567.25",
        123756789: "123756789", 2 / 3: "0.666667", 1e-9: "1e-9", 1e20: "100000000000000000000", 2e21: "2e+21",
        12345678.123456: "12345678", 5.1 + 1e-15: "5.1", float(np.float32(5.1)): "5.1",
    }  # fmt: skip
    for value, text in expected.items():
        assert page.evaluate(f"(() => {{ {function}\nreturn numberText({value!r}); }})()") == text


def test_no_training_row_votes_on_itself(open_page, file):
    page = open_page(file)
    for _ in range(10):
        page.evaluate("document.getElementById('next').click()")
        voters = page.evaluate(
            "[...document.querySelectorAll('#details button.link')].map(button => button.textContent)"
        )
        assert len(voters) == 4
        assert text(page, "row-name") not in voters
    assert page.messages() == []


@pytest.mark.parametrize("width", [360, 1400])
def test_a_long_name_does_not_move_the_buttons(open_page, file, width):
    page = open_page(file, width=width)
    tops = (
        "['previous', 'next'].map(id => document.getElementById(id)).map(button => "
        "button.offsetTop - button.parentNode.offsetTop)"
    )
    before = page.evaluate(tops)
    page.evaluate("document.getElementById('next').click()")
    page.settle()
    assert len(text(page, "row-name")) > 150
    assert page.evaluate(tops) == before
    assert before[0] == before[1]
