"""Draw the pictures of docs/img by examples of the gallery: `python docs/draw_pictures.py [folder]`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # write files, without a screen

import matplotlib.pyplot as plt
from PIL import Image

EXAMPLES = Path(__file__).parents[1] / "examples"
# The first figures of an example, in order.
PICTURES = {
    "data/plot_stream_drift": ["stream_drift"],
    "decide/plot_conformal_sets": ["conformal_sets"],
    "decide/plot_reject": ["reject"],
    "decide/plot_suspicious_rows": ["suspicious_rows"],
    "explain/plot_beeswarm": ["support_beeswarm"],
    "explain/plot_decision_regions": ["decision_regions"],
    "explain/plot_explanation": ["explanation"],
    "explain/plot_feature_curves": ["feature_curves"],
    "explain/plot_local_relevance": ["relevance_map"],
    "explain/plot_wisconsin_fingerprints": [
        "wisconsin_fingerprints_relevances", "wisconsin_fingerprints_feature_weights",
    ],
    "maps/plot_embedding": ["embedding"],
    "maps/plot_licorice_embedding": ["licorice_embedding", "licorice_embedding_any_direction"],
    "maps/segmentation_embedding": ["segmentation_embedding", "segmentation_embedding_details"],
}  # fmt: skip


def draw(example: str, folder: Path) -> list[Path]:
    """Run an example, and save its figures to a folder."""
    plt.close("all")
    runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name="__main__")
    paths = []
    assert len(plt.get_fignums()) >= len(PICTURES[example])
    for name, number in zip(PICTURES[example], plt.get_fignums(), strict=False):
        path = folder / f"{name}.png"
        plt.figure(number).savefig(path, dpi=200)
        image = Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE)  # 256 colors
        image.save(path, optimize=True, dpi=(200, 200))
        paths.append(path)
    plt.close("all")
    return paths


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "img"
    target.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        print(*draw(name, target), sep="\n")
