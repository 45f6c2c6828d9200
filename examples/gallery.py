"""Draw one figure with every display.

python examples/gallery.py docs/img
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # write files, without a screen

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from lann import LANNClassifier, LANNEmbedding
from lann.datasets import make_local_relevance
from lann.plot import (
    DecisionRegionsDisplay,
    EmbeddingDisplay,
    ExplanationDisplay,
    FeatureCurvesDisplay,
    RejectDisplay,
    RelevanceDisplay,
    RelevanceMapDisplay,
    SupportBeeswarmDisplay,
    SuspiciousRowsDisplay,
)
from lann.reject import RejectOption

NAME = "Breast cancer"


def draw_breast_cancer(save):
    """Draw one model of the breast cancer data with four displays."""
    data = load_breast_cancer(as_frame=True)
    X_train, X_test, y_train, _ = train_test_split(
        data.data, data.target, stratify=data.target, random_state=0
    )
    clf, names = LANNClassifier(random_state=0).fit(X_train, y_train), data.target_names
    save(
        FeatureCurvesDisplay.from_estimator(clf, n_features=8, data_name=NAME),
        "feature_curves",
        "the shaded ranges, in which a small difference counts more than elsewhere along the feature.",
    )
    save(
        RelevanceDisplay.from_estimator(clf, class_names=names, n_features=12, data_name=NAME),
        "relevance",
        "features whose markers differ: the predictions of one class depend on them more than the other's.",
    )
    save(
        SupportBeeswarmDisplay.from_estimator(
            clf, X_test, label=0, class_names=names, n_features=12, data_name=f"{NAME}, test data"
        ),
        "support_beeswarm",
        "the colors: dark dots on the right mean that high values are for malignant.",
    )
    # The test row with the most support for and against its prediction.
    reasons = clf.explain(X_test).to_frame()
    support = reasons.pivot(index="row", columns="column", values="support").to_numpy()
    row = int(np.minimum(support.clip(min=0).sum(axis=1), -support.clip(max=0).sum(axis=1)).argmax())
    save(
        ExplanationDisplay.from_estimator(
            clf, X_test, row=row, ids=X_train.index, class_names=names, data_name=NAME
        ),
        "explanation",
        "the colors: what is for the prediction has the color of its class, as have the neighbors.",
    )


def draw_local_relevance(save):
    """Draw a model of generated data in which the relevant features depend on the region."""
    X, y, mask = make_local_relevance(1500, 12, random_state=0)
    names = [f"noise {column}" for column in range(12)]
    names[0] = "gate"
    for region, row in enumerate([X[:, 0].argmin(), np.abs(X[:, 0]).argmin(), X[:, 0].argmax()]):
        for letter, column in zip("ab", np.flatnonzero(mask[row]), strict=True):
            names[column] = f"region {region + 1}, {letter}"
    clf = LANNClassifier(random_state=0).fit(pd.DataFrame(X, columns=names), y)
    save(
        RelevanceMapDisplay.from_estimator(clf, data_name="Generated data"),
        "relevance_map",
        "the three blocks: the rows of each region depend on the two features that are relevant there.",
    )


def draw_iris(save):
    """Draw the decision regions of a model of two features."""
    data = load_iris(as_frame=True)
    clf = LANNClassifier(metric="full", random_state=0).fit(data.data.iloc[:, [1, 2]], data.target)
    save(
        DecisionRegionsDisplay.from_estimator(clf, class_names=data.target_names, data_name="Iris"),
        "decision_regions",
        "the flat ellipses: rows for which small differences in petal length count most.",
    )


def draw_wine(save):
    """Draw the suspicious rows of the wine data, with eight labels changed."""
    data = load_wine(as_frame=True)
    changed = np.random.default_rng(0).choice(len(data.target), 8, replace=False)
    y = data.target.to_numpy().copy()
    y[changed] = (y[changed] + 1) % 3
    clf = LANNClassifier(random_state=0).fit(data.data, y)
    display = SuspiciousRowsDisplay.from_estimator(
        clf, class_names=["barolo", "grignolino", "barbera"], n_rows=12, data_name="Wine, 8 labels changed"
    )
    n_found = np.isin(changed, display.shown_).sum()
    save(
        display,
        "suspicious_rows",
        f"the gap in the scores: the rows above it have changed labels, {n_found} of 8 are in the list.",
    )


def draw_digits(save):
    """Draw an embedding of half of the digits, with the other half as new rows."""
    X, y = load_digits(return_X_y=True)
    embedding = LANNEmbedding(random_state=0).fit(X[::2], y[::2])
    confidence = embedding.classifier_.predict_proba(X[1::2]).max(axis=1)
    save(
        EmbeddingDisplay.from_estimator(
            embedding, X[1::2], y[1::2], lines_from=confidence.argsort()[:3], data_name="Handwritten digits"
        ),
        "embedding",
        "the rings: the three images with the lowest confidence, and lines to their neighbors.",
    )


def draw_rejected(save):
    """Draw the error without the least certain predictions, for digits that are known by their line sums."""
    digits = load_digits()
    X_train, X_test, y_train, y_test = train_test_split(
        digits.images.sum(axis=2), digits.target, stratify=digits.target, random_state=0
    )
    reject = RejectOption(LANNClassifier(random_state=0), coverage=0.8, cv=3, random_state=0)
    forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
    models = {"LANN": reject.fit(X_train, y_train), "Random forest": forest}
    save(
        RejectDisplay.from_estimator(models, X_test, y_test, data_name="Digits by their line sums"),
        "reject",
        "the dot: what the reject option does with the test rows, if it is to accept 80 % of them.",
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def save(display, name, look_at):
        path = folder / f"{name}.png"
        display.figure_.savefig(path, dpi=200)
        image = Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE)  # 256 colors
        image.save(path, optimize=True, dpi=(200, 200))
        print(f"{path}\n    Look at: {look_at}")

    for draw in (draw_breast_cancer, draw_local_relevance, draw_iris, draw_wine, draw_digits, draw_rejected):
        draw(save)
    print(f"Look at: the nine figures in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))
