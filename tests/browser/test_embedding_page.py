"""The page of an embedding in a browser."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier, LANNEmbedding
from lann.report import save_embedding_page
from lann.tables import TrainingTable

HOSTILE = "</script><img src=x onerror=\"document.title='changed'\">"
N = 120


@pytest.fixture(scope="module")
def embedded():
    """Three classes that overlap, a quarter held out; names, columns, values and a label that are markup."""
    rng = np.random.default_rng(0)
    kind = np.arange(N) % 3
    frame = pd.DataFrame(
        {
            "name": [f"<b>p{row}" for row in range(N)],
            f"size {HOSTILE}": kind + rng.normal(0, 0.6, N),
            "color": np.where(rng.random(N) < 0.8, np.array(["red", HOSTILE, "a" * 200])[kind], "red"),
            **{f"noise {j}": rng.normal(size=N).round(3) for j in range(4)},
            "group": np.array(["in", "out", HOSTILE])[kind],
        }
    )
    frame.iloc[::9, 1] = np.nan
    layout, classifier = LANNEmbedding(max_iter=60, random_state=0), LANNClassifier(20, random_state=0)
    training, rows = TrainingTable.from_frame(frame, "group", id="name").split(0.25)
    return training.fit(classifier).embed(frame, rows, embedding=layout)


@pytest.fixture(scope="module")
def file(embedded, tmp_path_factory):
    path = tmp_path_factory.mktemp("embedded") / "e.html"
    save_embedding_page(path, embedded, title="data")
    return path


@pytest.fixture
def rows(embedded):
    return embedded.to_frame()


def on_screen(page, rows: pd.DataFrame) -> np.ndarray:
    """Return the pixels of the rows before any zoom: centered, with a margin of 20 pixels."""
    left, top, width, height = page.evaluate(
        "(({left, top}, {clientWidth, clientHeight}) => [left + 1, top + 1, clientWidth, clientHeight])("
        "document.getElementById('figure').getBoundingClientRect(), document.getElementById('figure'))"
    )
    coordinates = rows[["x", "y"]].to_numpy()
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    scale = ((np.array([width, height]) - 40) / (high - low)).min()
    return (coordinates - (low + high) / 2) * scale * [1, -1] + [left + width / 2, top + height / 2]


def isolated(pixels: np.ndarray) -> np.ndarray:
    """Return the rows by their distance to the nearest other row, the largest first."""
    distances = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    return np.argsort(-distances.min(axis=1))


def text(page, id: str) -> str:
    return page.evaluate(f"document.getElementById({json.dumps(id)}).textContent")


def set_control(page, id: str, value) -> None:
    """Set a control, with the events that a user causes."""
    name = "checked" if isinstance(value, bool) else "value"
    page.evaluate(
        f"(control => {{ control.{name} = {json.dumps(value)}; "
        "control.dispatchEvent(new Event('input')); control.dispatchEvent(new Event('change')); })"
        f"(document.getElementById({json.dumps(id)}))"
    )
    page.settle()


def canvas_image(page) -> str:
    page.settle()
    return page.evaluate("document.getElementById('points').toDataURL()")


def colorings(page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('#coloring option')].map(option => option.value)")


def test_the_page_opens_without_messages_and_loads_nothing(open_page, file):
    page = open_page(file)
    page.settle()
    assert page.evaluate("document.title") == "data: embedded by lann"
    assert page.evaluate("document.documentElement.dataset.ready") == "yes"
    assert text(page, "count").startswith(f"{N} rows, ")
    assert page.messages() == []
    assert page.requests() == {file.as_uri()}
    # There is more than the background.
    colors = (
        "new Set(new Uint32Array(document.getElementById('points').getContext('2d')"
        ".getImageData(0, 0, 600, 600).data.buffer)).size"
    )
    assert page.evaluate(colors) > 20


def test_text_of_the_table_is_not_markup(open_page, file):
    page = open_page(file)
    for value in colorings(page):
        set_control(page, "coloring", value)
    page.evaluate("document.getElementById('row-table').open = true; document.getElementById('next').click()")
    page.settle()
    assert page.evaluate("document.querySelectorAll('img, b').length") == 0
    assert page.evaluate("document.title") == "data: embedded by lann"
    assert HOSTILE in text(page, "classes")
    assert f"size {HOSTILE}" in text(page, "by-column")
    assert text(page, "row-name").startswith("<b>p")
    assert page.messages() == []


def test_pointing_at_a_row_shows_its_details(open_page, file, rows, embedded):
    page = open_page(file)
    assert embedded.neighbors.shape[1] > 10  # ten are listed, and the others in a line
    pixels = on_screen(page, rows)
    chosen = isolated(pixels)[:5]
    for i in chosen:
        page.move_to(*pixels[i])
        row = rows.iloc[i]
        assert text(page, "row-name") == row["id"]
        assert row["id"] in text(page, "tooltip")
        details = text(page, "details")
        assert row["label"] in details
        assert row["prediction"] in details
        assert row["feature_1"] in details
        assert f"{row['relevance_1']:.1%}" in details
        wrong = row["label"] != row["prediction"]
        assert ("wrong" in details) == wrong
        assert page.evaluate("document.querySelectorAll('#details .number').length") == 10 + 1
        assert f"{embedded.neighbors.shape[1] - 10} others" in details
        assert ("the new rows" if row["held_out"] else "the training rows") in details
    page.move_to(2, 2)
    assert text(page, "row-name") == "No row selected"
    # A click selects it.
    page.click(*pixels[chosen[0]])
    page.move_to(2, 2)
    assert text(page, "row-name") == rows["id"][chosen[0]]


def test_the_address_selects_a_row(open_page, file, rows):
    new = rows[rows["held_out"]].iloc[3]
    training = rows[~rows["held_out"]].iloc[5]
    page = open_page(file, fragment=f"#row-{training['row']}")
    page.settle()
    assert text(page, "row-name") == training["id"]
    # Also while the page is open, and if a filter hides the row; both names lead to a held-out row.
    set_control(page, "errors-only", True)
    for fragment in (f"#new-{new['row']}", f"#row-{new['row']}"):
        page.evaluate(f"document.getElementById('figure').focus(); location.hash = '{fragment}'")
        page.settle()
        assert text(page, "row-name") == new["id"]
        assert text(page, "count").startswith(f"{N} rows")
    for fragment in ("#row-99999", f"#new-{training['row']}"):
        page = open_page(file, fragment=fragment)
        page.settle()
        assert text(page, "row-name") == "No row selected"
        assert text(page, "search-result") == f"{fragment[1:].replace('-', ' ')} is not in this embedding"
    page = open_page(file, fragment=f"#{HOSTILE}")
    assert text(page, "row-name") == "No row selected"
    assert page.messages() == []


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_the_page_is_not_wider_than_the_screen(open_page, file, width):
    page = open_page(file, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    page.evaluate("document.getElementById('next').click()")
    page.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getElementById('figure').clientWidth") > 0.5 * width
