"""Figure 3 of the paper: the image segmentation data, and what their embedding by LANN tells.

python examples/segmentation_embedding.py docs/img
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # writes files, needs no screen

import matplotlib.pyplot as plt
from PIL import Image
from sklearn.model_selection import train_test_split

from lann.datasets import load
from lann.embedding import compare_embeddings, pair_error, paper_embeddings
from lann.plot import EmbeddingDisplay


def compare(X, y, X_new, y_new):
    """Seven embeddings of the same points; others are placed afterwards."""
    found = compare_embeddings(X, y, X_new, y_new, embeddings=paper_embeddings(min_dist=0.3, random_state=0))
    table = found.to_frame()[["accuracy", "held_out_accuracy"]]
    table["foliage and window"] = [
        pair_error(panel.held_out_labels, panel.held_out_predictions, "FOLIAGE", "WINDOW") for panel in found
    ]
    print(f"Right at all, and FOLIAGE or WINDOW taken for the other:\n{table.round(3)}")
    return found


def look_closer(embedding, X_new, y_new):
    """What the same picture says when colors do not stand for classes."""
    figure, axes = plt.subplots(1, 3, figsize=(11.4, 5.1), layout="constrained")
    for ax, color in zip(axes, ("dominant", "confidence", "error"), strict=True):
        EmbeddingDisplay.from_estimator(embedding, X_new, y_new, color=color, ax=ax)
    return figure


def main(folder: Path) -> None:
    try:
        data = load("image-segmentation", as_frame=True)
    except FileNotFoundError:
        sys.exit("The image segmentation data are needed: set LANN_DATA to a folder that has them.")
    folder.mkdir(parents=True, exist_ok=True)
    X, X_new, y, y_new = train_test_split(
        data.data, data.target, test_size=0.3, stratify=data.target, random_state=0
    )
    found = compare(X, y, X_new, y_new)
    pictures = {
        "segmentation_embedding": EmbeddingDisplay.from_comparison(
            found, title="Image segmentation: seven embeddings of 1617 points"
        ).figure_,
        "segmentation_embedding_closer": look_closer(found["LANN"].estimator, X_new, y_new),
    }
    for name, figure in pictures.items():
        place = folder / f"{name}.png"
        figure.savefig(place, dpi=120)
        Image.open(place).quantize().save(place, optimize=True)  # 256 colors: a third of the size
        print(f"wrote {place}")
    print(
        "Look at: FOLIAGE and WINDOW, which lie over each other in most panels of the first picture and side "
        "by side in that of LANN; in the second, the few doubts and errors, where the two classes meet."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))
