"""Figure 3 of the paper: embeddings of the image segmentation data, and LANN's embedding in more detail.

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


def compare(X_train, y_train, X_test, y_test):
    """Compare seven embeddings of the same training rows, and print their accuracies."""
    embeddings = paper_embeddings(min_dist=0.3, random_state=0)
    comparison = compare_embeddings(X_train, y_train, X_test, y_test, embeddings=embeddings)
    table = comparison.to_frame()[["accuracy", "held_out_accuracy"]]
    table["pair_error"] = [
        pair_error(panel.held_out_labels, panel.held_out_predictions, "FOLIAGE", "WINDOW")
        for panel in comparison
    ]
    print(f"Accuracies, and the share of held-out FOLIAGE and WINDOW that are confused:\n{table.round(3)}")
    return comparison


def draw_details(embedding, X_test, y_test):
    """Color the held-out rows by their most relevant feature, by confidence and by error."""
    figure, axes = plt.subplots(1, 3, figsize=(11.4, 5.1), layout="constrained")
    for ax, color in zip(axes, ("dominant", "confidence", "error"), strict=True):
        EmbeddingDisplay.from_estimator(
            embedding, X_test, y_test, color=color, data_name="Image segmentation", ax=ax
        )
    return figure


def main(folder: Path) -> None:
    try:
        data = load("image-segmentation", as_frame=True)
    except FileNotFoundError:
        sys.exit("The image segmentation data are needed: set LANN_DATA to a folder that has them.")
    folder.mkdir(parents=True, exist_ok=True)
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, data.target, test_size=0.3, stratify=data.target, random_state=0
    )
    comparison = compare(X_train, y_train, X_test, y_test)
    figures = {
        "segmentation_embedding": EmbeddingDisplay.from_comparison(
            comparison, title=f"Image segmentation: seven embeddings of {len(X_train)} training rows"
        ).figure_,
        "segmentation_embedding_details": draw_details(comparison["LANN"].estimator, X_test, y_test),
    }
    for name, figure in figures.items():
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=200)
        image = Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE)  # 256 colors
        image.save(path, optimize=True, dpi=(200, 200))
        print(f"Wrote {path}")
    print(
        "Look at: FOLIAGE and WINDOW, which overlap in most panels of the first figure and are side by side "
        "in that of LANN; in the second figure, the few rows with a low confidence and the few errors, where "
        "the two classes meet."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))
