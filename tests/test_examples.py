"""Every example runs, writes small pictures, and says what to look at."""

import os
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from PIL import Image

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
PICTURES = {
    "conformal_sets": {"conformal_sets"},
    "gallery": {
        "decision_regions", "embedding", "explanation", "feature_curves", "reject", "relevance",
        "relevance_map", "support_beeswarm", "suspicious_rows",
    },
    "licorice_embedding": {"licorice_embedding", "licorice_embedding_any_direction"},
    "segmentation_embedding": {"segmentation_embedding", "segmentation_embedding_details"},
    "stream_drift": {"stream_drift"},
    "wisconsin_fingerprints": {
        "wisconsin_fingerprints_feature_weights", "wisconsin_fingerprints_relevances",
    },
}  # fmt: skip
LARGEST = 250_000
# Fewer points than in the documentation, which take a minute.
MORE_ARGUMENTS = {"licorice_embedding": ["400"]}
NEED_DATA = {"segmentation_embedding"}


def _marks(script):
    without = not os.environ.get("LANN_DATA")
    skip = pytest.mark.skipif(without, reason="needs the paper's data files: set LANN_DATA")
    return [pytest.mark.data, skip] if script.stem in NEED_DATA else []


@pytest.mark.parametrize(
    "script", [pytest.param(path, id=path.stem, marks=_marks(path)) for path in EXAMPLES]
)
def test_example(script, tmp_path, monkeypatch, capsys):
    more = MORE_ARGUMENTS.get(script.stem, [])
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path / "pictures"), *more])
    runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    pictures = list((tmp_path / "pictures").glob("*.png"))
    assert {picture.stem for picture in pictures} == PICTURES[script.stem]
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size < LARGEST
        with Image.open(picture) as image:
            assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)
    assert "Look at: " in capsys.readouterr().out.splitlines()[-1]


def test_the_pictures_of_the_examples_are_in_the_documentation():
    kept = {picture.stem for picture in (Path(__file__).parents[1] / "docs" / "img").glob("*.png")}
    assert {name for names in PICTURES.values() for name in names} <= kept
    assert {script.stem for script in EXAMPLES} == set(PICTURES)
