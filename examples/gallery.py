"""One picture of every display.

python examples/gallery.py docs/img
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # writes files, needs no screen

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from lann import LANNClassifier, LANNEmbedding
from lann.datasets import make_local_relevance
from lann.plot import (
    ContributionBeeswarmDisplay,
    DecisionRegionsDisplay,
    EmbeddingDisplay,
    ExplanationDisplay,
    FeatureCurvesDisplay,
    RelevanceDisplay,
    RelevanceMapDisplay,
    SuspiciousPointsDisplay,
)


def tumours(keep):
    """One model, four displays."""
    data = load_breast_cancer(as_frame=True)
    X_train, X_test, y_train, _ = train_test_split(
        data.data, data.target, stratify=data.target, random_state=0
    )
    clf, names = LANNClassifier(random_state=0).fit(X_train, y_train), data.target_names
    keep(
        FeatureCurvesDisplay.from_estimator(clf, n_features=8, n_columns=4),
        "feature_curves",
        "the shaded stretches: there a small difference counts more than elsewhere along the feature.",
    )
    keep(
        RelevanceDisplay.from_estimator(clf, class_names=names, n_features=12),
        "relevance",
        "features whose marks for the two classes lie apart: one class hangs on them, the other does not.",
    )
    keep(
        ContributionBeeswarmDisplay.from_estimator(clf, X_test, label=0, class_names=names, n_features=12),
        "contribution_beeswarm",
        "the colors: orange dots to the right mean that high values speak for malignant.",
    )
    # The test row of which most speaks for its prediction and against it.
    support = clf.explain(X_test).support
    contested = int(np.minimum(support.clip(min=0).sum(axis=1), -support.clip(max=0).sum(axis=1)).argmax())
    keep(
        ExplanationDisplay.from_estimator(clf, X_test, row=contested, ids=X_train.index, class_names=names),
        "explanation",
        "the steps to the left, values that speak against the prediction, and the neighbors that made it.",
    )


def planted(keep):
    """Data of which is known that other features decide in every region."""
    X, y, mask = make_local_relevance(1500, 12, random_state=0)
    names = [f"noise {place}" for place in range(12)]
    names[0] = "gate"
    for region, row in enumerate([X[:, 0].argmin(), np.abs(X[:, 0]).argmin(), X[:, 0].argmax()]):
        for letter, column in zip("ab", np.flatnonzero(mask[row]), strict=True):
            names[column] = f"region {region + 1}, {letter}"
    clf = LANNClassifier(random_state=0).fit(pd.DataFrame(X, columns=names), y)
    keep(
        RelevanceMapDisplay.from_estimator(clf),
        "relevance_map",
        "three blocks: the points of each region hang on the two features that decide there.",
    )


def flowers(keep):
    """Two features of iris, so that decisions can be drawn."""
    data = load_iris(as_frame=True)
    clf = LANNClassifier(metric="full", random_state=0).fit(data.data.iloc[:, [1, 2]], data.target)
    keep(
        DecisionRegionsDisplay.from_estimator(clf, class_names=data.target_names),
        "decision_regions",
        "the ellipses: flat ones belong to points for which small differences in petal length count most.",
    )


def wines(keep):
    """Wine with eight wrong labels, which are to be found again."""
    data = load_wine(as_frame=True)
    wrong = np.random.default_rng(0).choice(len(data.target), 8, replace=False)
    y = data.target.to_numpy().copy()
    y[wrong] = (y[wrong] + 1) % 3
    clf = LANNClassifier(random_state=0).fit(data.data, y)
    display = SuspiciousPointsDisplay.from_estimator(
        clf, class_names=["barolo", "grignolino", "barbera"], n_points=12
    )
    found = np.isin(wrong, display.shown_).sum()
    keep(
        display,
        "suspicious_points",
        f"the gap in the scores: above it are the labels that were made wrong, {found} of 8 in the list.",
    )


def digits(keep):
    """Written digits, half of which are placed among the others, and the neighbors that decided."""
    X, y = load_digits(return_X_y=True)
    embedding = LANNEmbedding(random_state=0).fit(X[::2], y[::2])
    shares = embedding.classifier_.predict_proba(X[1::2]).max(axis=1)
    keep(
        EmbeddingDisplay.from_estimator(embedding, X[1::2], y[1::2], lines_from=shares.argsort()[:3]),
        "embedding",
        "the rings: three digits that are hard to tell, and lines to the neighbors that decided about them.",
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def keep(display, name, look_at):
        display.figure_.savefig(folder / f"{name}.png", dpi=100)
        print(f"{folder / name}.png\n    Look at: {look_at}")

    for draw in (tumours, planted, flowers, wines, digits):
        draw(keep)
    print(f"Look at: the eight pictures in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))
