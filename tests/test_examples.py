"""The examples whose pictures are in the documentation draw them, and every example says what it shows."""

import ast
import importlib.util
import os
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
_spec = importlib.util.spec_from_file_location("draw_pictures", ROOT / "docs" / "draw_pictures.py")
draw_pictures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(draw_pictures)
LARGEST = 250_000
# `make docs` runs all examples; these take longest.
LEFT_TO_THE_SITE = {"maps/plot_licorice_embedding"}
NEED_DATA = {"maps/segmentation_embedding"}


def _marks(name):
    without = not os.environ.get("LANN_DATA")
    skip = pytest.mark.skipif(without, reason="needs the paper's data files: set LANN_DATA")
    return [pytest.mark.data, skip] if name in NEED_DATA else []


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=_marks(name))
        for name in draw_pictures.PICTURES
        if name not in LEFT_TO_THE_SITE
    ],
)
def test_example_draws_its_pictures(name, tmp_path):
    for picture in draw_pictures.draw(name, tmp_path):
        assert picture.stat().st_size < LARGEST
        with Image.open(picture) as image:
            assert image.format == "PNG"
            assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)


def test_the_pictures_of_the_examples_are_in_the_documentation():
    kept = {picture.stem for picture in (ROOT / "docs" / "img").glob("*.png")}
    assert {name for names in draw_pictures.PICTURES.values() for name in names} <= kept


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_a_title_and_a_sentence(path):
    title, underline, *text = ast.get_docstring(ast.parse(path.read_text("utf-8"))).splitlines()
    assert set(underline) == {"="}
    assert len(underline) == len(title)
    assert len(" ".join(text).strip()) > 60
