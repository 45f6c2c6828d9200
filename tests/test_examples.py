"""Every example runs, writes small pictures, and says what to look at."""

import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
PICTURES = {
    "gallery": {
        "contribution_beeswarm", "decision_regions", "explanation", "feature_curves", "relevance",
        "relevance_map", "suspicious_points",
    },
    "wisconsin_fingerprints": {"wisconsin_fingerprints_votes", "wisconsin_fingerprints_weights"},
}  # fmt: skip
LARGEST = 150_000


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path / "pictures")])
    runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    pictures = list((tmp_path / "pictures").glob("*.png"))
    assert {picture.stem for picture in pictures} == PICTURES[script.stem]
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size < LARGEST
    assert "Look at: " in capsys.readouterr().out.splitlines()[-1]


def test_the_pictures_of_the_examples_are_in_the_documentation():
    kept = {picture.stem for picture in (Path(__file__).parents[1] / "docs" / "img").glob("*.png")}
    assert {name for names in PICTURES.values() for name in names} <= kept
    assert {script.stem for script in EXAMPLES} == set(PICTURES)
