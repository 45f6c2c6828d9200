"""Figure 2 of the paper: cylinders whose inside and outside only local metrics separate.

python examples/licorice_embedding.py docs/img
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")  # writes files, needs no screen

import numpy as np
from PIL import Image
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.datasets import make_licorice
from lann.embedding import compare_embeddings, paper_embeddings
from lann.plot import EmbeddingDisplay

METHODS = ("UMAP", "GMLVQ", "LMNN", "LGMLVQ", "LANN")


def project(X, azimuth=-55, elevation=22):
    """Return a view of three-dimensional rows from one side, angles in degrees: (n_rows, 2)."""
    azimuth, elevation = np.radians([azimuth, elevation])
    right = [-np.sin(azimuth), np.cos(azimuth), 0.0]
    up = [
        -np.sin(elevation) * np.cos(azimuth),
        -np.sin(elevation) * np.sin(azimuth),
        np.cos(elevation),
    ]
    return X @ np.column_stack([right, up])


def draw(X, y, classifier, title):
    """Draw the data and five embeddings, fitted to 70 % of the rows; the other rows are held out."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    # GMLVQ and LGMLVQ have a prototype of each class for each cylinder. A large `min_dist` spreads the rows,
    # which makes it visible that the outside surrounds the inside.
    embeddings = paper_embeddings(classifier=classifier, prototypes_per_class=5, min_dist=0.3, random_state=0)
    chosen = {name: embeddings[name] for name in METHODS}
    comparison = compare_embeddings(X_train, y_train, X_test, y_test, embeddings=chosen)
    print(f"{title}\n{comparison.to_frame()[['accuracy', 'held_out_accuracy']].round(3)}")
    data = SimpleNamespace(
        name="data", coordinates=project(X_train), labels=y_train, accuracy=None, held_out_accuracy=None
    )
    return EmbeddingDisplay.from_comparison(
        SimpleNamespace(panels=[data, *comparison.panels]), class_names=["outside", "inside"], title=title
    )


def main(folder: Path, n_samples: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # Every training row learns a matrix, because the direction that does not matter differs by cylinder.
    classifier = LANNClassifier(
        metric="full", levels=("point",), n_candidates=min(400, n_samples // 4), max_iter=20, random_state=0
    )
    displays = {
        "licorice_embedding": draw(
            *make_licorice(n_samples, axis_aligned=True, random_state=0),
            classifier,
            "Licorice: cylinders along the coordinate axes",
        ),
        "licorice_embedding_any_direction": draw(
            *make_licorice(n_samples, random_state=0), classifier, "Licorice: cylinders in any direction"
        ),
    }
    for name, display in displays.items():
        path = folder / f"{name}.png"
        display.figure_.savefig(path, dpi=200)
        image = Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE)  # 256 colors
        image.save(path, optimize=True, dpi=(200, 200))
        print(f"Wrote {path}")
    print(
        "Look at: the last panel of each figure, where the outside of nearly every cylinder surrounds its "
        "inside; in the other panels inside and outside overlap."
    )


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 3000,
    )
