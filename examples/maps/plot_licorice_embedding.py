"""
Licorice: figure 2 of the paper
===============================

Five cylinders: the inside is one class, the shell around it the other. The class changes only across the
axis of a cylinder, and no single direction is right for all of them. Only local metrics separate the
classes.
"""

from types import SimpleNamespace

import numpy as np
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.datasets import make_licorice
from lann.embedding import compare_embeddings, paper_embeddings
from lann.plot import EmbeddingDisplay

METHODS = ("UMAP", "GMLVQ", "LMNN", "LGMLVQ", "LANN")
N_SAMPLES = 1000


def project(X, azimuth=-55, elevation=22):
    """Return a view of three-dimensional rows from one side, angles in degrees: (n_rows, 2)."""
    a, e = np.radians([azimuth, elevation])
    up = [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)]
    return X @ np.column_stack([[-np.sin(a), np.cos(a), 0.0], up])


def compare(X, y, title):
    """Draw the data and five embeddings, fitted to 70 % of the rows; the other rows are held out."""
    # Every training row learns a matrix, because the direction that does not matter differs by cylinder.
    classifier = LANNClassifier(
        metric="full", levels=("point",), n_candidates=N_SAMPLES // 4, max_iter=20, random_state=0
    )
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    # GMLVQ and LGMLVQ have a prototype of each class for each cylinder. A large `min_dist` spreads the rows.
    embeddings = paper_embeddings(classifier=classifier, prototypes_per_class=5, min_dist=0.3, random_state=0)
    chosen = {name: embeddings[name] for name in METHODS}
    comparison = compare_embeddings(X_train, y_train, X_test, y_test, embeddings=chosen)
    data = SimpleNamespace(
        name="data", coordinates=project(X_train), labels=y_train, accuracy=None, held_out_accuracy=None
    )
    EmbeddingDisplay.from_comparison(
        SimpleNamespace(panels=[data, *comparison.panels]), class_names=["outside", "inside"], title=title
    )
    return comparison.to_frame()[["accuracy", "held_out_accuracy"]].round(3)


# %%
# Cylinders along the coordinate axes. In the last panel, the outside of nearly every cylinder surrounds
# its inside.
X, y = make_licorice(N_SAMPLES, axis_aligned=True, random_state=0)
compare(X, y, "Licorice: cylinders along the coordinate axes")

# %%
# Cylinders in any direction.
X, y = make_licorice(N_SAMPLES, random_state=0)
compare(X, y, "Licorice: cylinders in any direction")
