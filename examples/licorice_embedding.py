"""Figure 2 of the paper: licorice sticks, whose inside and outside only local metrics tell apart.

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


def seen_from_one_side(X, turn=-55, tilt=22):
    """Points in space as the eye has them, angles in degrees: (n_points, 2)."""
    turn, tilt = np.radians([turn, tilt])
    right = [-np.sin(turn), np.cos(turn), 0.0]
    up = [-np.sin(tilt) * np.cos(turn), -np.sin(tilt) * np.sin(turn), np.cos(tilt)]
    return X @ np.column_stack([right, up])


def draw(X, y, classifier, title):
    """The data and five embeddings of 70 % of them; the others are placed afterwards."""
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    # Points that keep some distance from each other show what is around what.
    # A prototype of each class for each stick.
    embeddings = paper_embeddings(classifier=classifier, prototypes_per_class=5, min_dist=0.3, random_state=0)
    found = compare_embeddings(X, y, X_new, y_new, embeddings={name: embeddings[name] for name in METHODS})
    print(f"{title}\n{found.to_frame()[['accuracy', 'held_out_accuracy']].round(3)}")
    data = SimpleNamespace(
        name="the data", places=seen_from_one_side(X), labels=y, accuracy=None, held_out_accuracy=None
    )
    return EmbeddingDisplay.from_comparison(
        SimpleNamespace(panels=[data, *found.panels]), class_names=["outside", "inside"], title=title
    )


def main(folder: Path, n_samples: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # Every point learns a matrix: which direction does not count here?
    classifier = LANNClassifier(
        metric="full", levels=("point",), feature_dropout=0.0, candidate_dropout=0.85,
        n_candidates=min(400, n_samples // 4), max_iter=20, smoothing=0.3, random_state=0,
    )  # fmt: skip
    pictures = {
        "licorice_embedding": draw(
            *make_licorice(n_samples, axis_aligned=True, random_state=0),
            classifier,
            "Licorice along the axes",
        ),
        "licorice_embedding_turned": draw(
            *make_licorice(n_samples, random_state=0), classifier, "Licorice in any direction"
        ),
    }
    for name, display in pictures.items():
        place = folder / f"{name}.png"
        display.figure_.savefig(place, dpi=120)
        Image.open(place).quantize().save(place, optimize=True)  # 256 colors: a third of the size
        print(f"wrote {place}")
    print(
        "Look at: the last panel of each picture, where the outside of every stick lies around its inside; "
        "elsewhere the two lie over each other."
    )


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 3000,
    )
