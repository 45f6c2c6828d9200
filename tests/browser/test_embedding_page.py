"""The page of `lann embed` as a browser shows it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lann.cli import app

HOSTILE = "</script><img src=x onerror=\"document.title='taken over'\">"
N = 120


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    """Three classes that overlap, a quarter held out; names, columns, values and a label that are markup."""
    folder = tmp_path_factory.mktemp("embedded")
    rng = np.random.default_rng(0)
    kind = np.arange(N) % 3
    frame = pd.DataFrame(
        {
            "name": [f"<b>p{row}" for row in range(N)],
            f"size {HOSTILE}": kind + rng.normal(0, 0.6, N),
            "color": np.where(rng.random(N) < 0.8, np.array(["red", HOSTILE, "a" * 200])[kind], "red"),
            **{f"noise {place}": rng.normal(size=N).round(3) for place in range(4)},
            "group": np.array(["in", "out", HOSTILE])[kind],
        }
    )
    frame.iloc[::9, 1] = np.nan
    frame.to_csv(folder / "data.csv", index=False)
    arguments = ["embed", str(folder / "data.csv"), "--target", "group", "--id", "name", "--held-out", "0.25"]
    arguments += ["--epochs", "60", "-o", str(folder / "e.html"), "-o", str(folder / "e.csv")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return folder / "e.html"


@pytest.fixture
def points(embedded):
    """The table that was written beside the page."""
    return pd.read_csv(embedded.with_suffix(".csv"))


def on_screen(page, points: pd.DataFrame) -> np.ndarray:
    """Where each point should be, before any zoom: the whole, centered, with a rim of 20 pixels."""
    left, up, width, height = page.ask(
        "(({left, top}, {clientWidth, clientHeight}) => [left + 1, top + 1, clientWidth, clientHeight])("
        "document.getElementById('stage').getBoundingClientRect(), document.getElementById('stage'))"
    )
    places = points[["x", "y"]].to_numpy()
    low, high = places.min(axis=0), places.max(axis=0)
    scale = ((np.array([width, height]) - 40) / (high - low)).min()
    return (places - (low + high) / 2) * scale * [1, -1] + [left + width / 2, up + height / 2]


def lonely(places: np.ndarray) -> np.ndarray:
    """Points with the most room around them, first those with the most."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(-apart.min(axis=1))


def text(page, id: str) -> str:
    return page.ask(f"document.getElementById({json.dumps(id)}).textContent")


def choose(page, id: str, value) -> None:
    """Set a control as a person would."""
    name = "checked" if isinstance(value, bool) else "value"
    page.ask(
        f"(control => {{ control.{name} = {json.dumps(value)}; "
        "control.dispatchEvent(new Event('input')); control.dispatchEvent(new Event('change')); })"
        f"(document.getElementById({json.dumps(id)}))"
    )
    page.settle()


def picture(page) -> str:
    page.settle()
    return page.ask("document.getElementById('points').toDataURL()")


def test_it_opens_without_a_complaint_and_fetches_nothing(open_page, embedded):
    page = open_page(embedded)
    page.settle()
    assert page.ask("document.title") == "data.csv: embedded by lann"
    assert page.ask("document.documentElement.dataset.ready") == "yes"
    assert text(page, "count").startswith(f"{N} points, ")
    assert page.complaints() == []
    assert page.fetched() == {embedded.as_uri()}
    # More than the page's color is drawn.
    colors = (
        "new Set(new Uint32Array(document.getElementById('points').getContext('2d')"
        ".getImageData(0, 0, 600, 600).data.buffer)).size"
    )
    assert page.ask(colors) > 20


def test_what_stands_in_the_table_stays_text(open_page, embedded):
    page = open_page(embedded)
    for value in page.ask("[...document.querySelectorAll('#color option')].map(option => option.value)"):
        choose(page, "color", value)
    page.ask("document.getElementById('list').open = true; document.getElementById('next').click()")
    page.settle()
    assert page.ask("document.querySelectorAll('img, b').length") == 0
    assert page.ask("document.title") == "data.csv: embedded by lann"
    assert HOSTILE in text(page, "classes")
    assert f"size {HOSTILE}" in text(page, "by-column")
    assert text(page, "name").startswith("<b>p")
    assert page.complaints() == []


def test_pointing_at_a_point_tells_about_it(open_page, embedded, points):
    page = open_page(embedded)
    places = on_screen(page, points)
    chosen = lonely(places)[:5]
    for i in chosen:
        page.move_to(*places[i])
        row = points.iloc[i]
        assert text(page, "name") == row["id"]
        assert row["id"] in text(page, "tip")
        told = text(page, "point")
        assert row["label"] in told
        assert row["prediction"] in told
        assert row["feature_1"] in told
        assert f"{row['relevance_1']:.1%}" in told
        wrong = row["label"] != row["prediction"]
        assert ("not as labeled" in told) == wrong
        shares = page.ask("[...document.querySelectorAll('#point .number')].map(cell => cell.textContent)")
        assert len(shares) == 5
        assert "training" in told if not row["held_out"] else "placed" in told
    page.move_to(2, 2)
    assert text(page, "name") == "No row chosen"
    # A click keeps it.
    page.click(*places[chosen[0]])
    page.move_to(2, 2)
    assert text(page, "name") == points["id"][chosen[0]]


def test_only_mistakes_and_hidden_classes(open_page, embedded, points):
    page = open_page(embedded)
    wrong = points[points["label"] != points["prediction"]]
    assert 5 < len(wrong) < N / 2
    assert text(page, "count") == f"{N} points, {len(wrong)} not as labeled"
    before = picture(page)
    choose(page, "mistakes", True)
    assert text(page, "count") == f"{len(wrong)} of {N} points, {len(wrong)} not as labeled"
    assert picture(page) != before
    page.ask("document.getElementById('list').open = true")
    page.settle()
    listed = page.ask("[...document.querySelectorAll('#rows th')].map(cell => cell.textContent)")
    assert sorted(listed) == sorted(wrong["id"])
    confidences = wrong.set_index("id")["confidence"][listed].to_numpy()
    assert (np.diff(confidences) >= -1e-4).all()
    page.ask("document.querySelector('#classes input').click()")
    first = page.ask("document.querySelector('#classes .name').textContent")
    assert text(page, "count").startswith(f"{(wrong['label'] != first).sum()} of {N} points")
    choose(page, "mistakes", False)
    choose(page, "which", "placed")
    assert text(page, "count").startswith(f"{((points['label'] != first) & points['held_out']).sum()} of")
    page.ask("document.getElementById('all').click()")
    choose(page, "which", "all")
    assert picture(page) == before


def test_a_class_is_highlighted_and_let_go(open_page, embedded):
    page = open_page(embedded)
    before = picture(page)
    pressed = "document.querySelectorAll('[data-class][aria-pressed=true]').length"
    page.ask("document.querySelectorAll('[data-class]')[1].click()")
    assert page.ask(pressed) == 1
    assert picture(page) != before
    page.ask("document.querySelectorAll('[data-class]')[1].click()")
    assert page.ask(pressed) == 0
    assert picture(page) == before


def test_every_coloring_is_another_picture(open_page, embedded):
    page = open_page(embedded)
    values = page.ask("[...document.querySelectorAll('#color option')].map(option => option.value)")
    assert len(values) == 5 + 6
    pictures = set()
    for value in values:
        choose(page, "color", value)
        pictures.add(picture(page))
        assert page.ask("document.getElementById('colors').hidden") == (value in ("class", "prediction"))
    assert len(pictures) == len(values)
    assert page.complaints() == []


def test_points_are_found_by_name(open_page, embedded):
    page = open_page(embedded)
    choose(page, "search", "P11")
    assert text(page, "found") == "11 found"  # p11, and p110 to p119
    page.ask("document.getElementById('search').focus()")
    page.press("Enter", 13, "\r")
    assert text(page, "name") in {"<b>p11", *[f"<b>p{row}" for row in range(110, 120)]}
    assert text(page, "found") == "1 of 11 found"
    choose(page, "search", "nobody")
    assert text(page, "found") == "none shown"


def test_zoom_by_wheel_and_buttons(open_page, embedded, points):
    page = open_page(embedded)
    before = picture(page)
    places = on_screen(page, points)
    i = lonely(places)[0]
    page.move_to(*places[i], turn=-240)
    assert picture(page) != before
    # What is under the mouse stays there.
    page.move_to(*(places[i] + 1))
    assert text(page, "name") == points["id"][i]
    page.ask("document.getElementById('fit').click()")
    assert picture(page) == before
    page.ask("document.getElementById('in').click(); document.getElementById('out').click()")
    page.settle()
    page.move_to(*places[i])
    assert text(page, "name") == points["id"][i]


def test_by_keyboard(open_page, embedded, points):
    page = open_page(embedded)
    before = picture(page)
    page.ask("document.getElementById('stage').focus()")
    page.press("ArrowRight", 39)
    first = text(page, "name")
    assert first in set(points["id"])
    assert first in text(page, "said")
    page.press("ArrowRight", 39)
    assert text(page, "name") != first
    x = points.set_index("id")["x"]
    assert x[text(page, "name")] > x[first]
    page.press("n", 78, "n")
    assert text(page, "name") in set(points["id"])
    page.press("Escape", 27)
    assert text(page, "name") == "No row chosen"
    page.press("+", 187, "+")
    assert picture(page) != before
    page.press("0", 48, "0")
    assert picture(page) == before


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_the_page_is_as_wide_as_the_screen(open_page, embedded, width):
    page = open_page(embedded, width=width)
    page.ask("document.querySelectorAll('details').forEach(part => part.open = true)")
    page.ask("document.getElementById('next').click()")
    page.settle()
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask("document.getElementById('stage').clientWidth") > 0.5 * width


def test_light_and_dark_differ_and_both_can_be_read(open_page, embedded):
    pictures = {}
    for scheme in ("light", "dark"):
        page = open_page(embedded, scheme=scheme)
        page.ask("document.querySelectorAll('details').forEach(part => part.open = true)")
        choose(page, "mistakes", True)
        choose(page, "color", "dominant")
        page.ask("document.getElementById('next').click()")
        pictures[scheme] = picture(page)
        assert page.least_contrast() >= 4.5
    assert pictures["light"] != pictures["dark"]
    # It follows, should the scheme change while it is open.
    page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    assert picture(page) == pictures["light"]


def test_marks_can_be_told_from_the_page(open_page, embedded):
    """Colors of classes have a contrast of at least 3 with what is behind them, as WCAG asks of graphics."""
    light = """
    (name => {
      const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      const linear = c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
      const [r, g, b] = [1, 3, 5].map(at => linear(parseInt(hex.slice(at, at + 2), 16) / 255));
      return .2126 * r + .7152 * g + .0722 * b;
    })
    """
    for scheme in ("light", "dark"):
        page = open_page(embedded, scheme=scheme)
        behind = page.ask(f"{light}('--card')")
        for name in (*(f"--c{place}" for place in range(10)), "--wrong", "--sure", "--unsure", "--much"):
            low, high = sorted([behind, page.ask(f"{light}('{name}')")])
            assert (high + 0.05) / (low + 0.05) >= 3, (scheme, name)


def test_lines_begin_below_the_point(open_page, embedded, points):
    """Its mark keeps its color where the lines of those that voted meet on it."""
    page = open_page(embedded)
    places = on_screen(page, points)
    color = """
    (id => {
      const canvas = document.getElementById(id), ratio = devicePixelRatio;
      const {left, top} = canvas.getBoundingClientRect();
      return [...canvas.getContext('2d').getImageData((%f - left) * ratio, (%f - top) * ratio, 1, 1).data];
    })
    """
    for i in lonely(places[~points["held_out"].to_numpy()])[:3]:
        page.move_to(*places[i])
        there = color % tuple(places[i])
        assert text(page, "name") == points["id"][i]
        mark = page.ask(f"{there}('over')")
        page.move_to(2, 2)
        assert mark[3] == 255
        shown = page.ask(f"{there}('points')")
        # Training rows are paler below, as others are placed: of the same hue.
        assert np.argmin(mark[:3]) == np.argmin(shown[:3])
