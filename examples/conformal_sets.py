"""Predict sets of labels that contain the label with a given probability, with crepes and MAPIE.

python examples/conformal_sets.py docs/img

A conformal set has all labels that cannot be excluded at a confidence level. Split conformal prediction needs
nothing but `predict_proba` of a fitted classifier, and rows that it was not fitted to. Marginal sets contain
the label of 90 % of all rows, but of fewer rows of a difficult class; class-conditional sets (Mondrian) have
a quantile for every class, and contain the label of 90 % of the rows of each.
"""

import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # write files, without a screen

import matplotlib.pyplot as plt
import numpy as np
from crepes import WrapClassifier
from mapie.classification import SplitConformalClassifier
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lann import LANNClassifier

CONFIDENCE = 0.9
COLORS = {"marginal": "#8A8A8A", "class-conditional": "#0072B2"}


def load_rows():
    """Return handwritten digits by the sums of their eight lines: for training, calibration and test.

    The sums do not tell all digits apart, which is what makes sets of labels useful.
    """
    digits = load_digits()
    X, y = digits.images.sum(axis=2), digits.target
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=0.3, stratify=y, random_state=0)
    X_calibration, X_test, y_calibration, y_test = train_test_split(
        X_rest, y_rest, train_size=0.5, stratify=y_rest, random_state=0
    )
    return X_train, y_train, X_calibration, y_calibration, X_test, y_test


def crepes_sets(clf, X_calibration, y_calibration, X_test, *, by_class):
    """Return which labels are in the set of each test row: (n_test, n_classes)."""
    wrapped = WrapClassifier(clf)
    wrapped.calibrate(X_calibration, y_calibration, class_cond=by_class, seed=0)
    return wrapped.predict_set(X_test, confidence=CONFIDENCE, labels=False, seed=0).astype(bool)


def mapie_sets(clf, X_calibration, y_calibration, X_test, *, by_class):
    """Return the same by MAPIE, which has one quantile: for each class, it is given the rows of the class.

    Labels without votes all have the same probability. MAPIE takes all of them or none into a set, and crepes
    a random part, so that its sets are smaller.
    """
    warnings.filterwarnings("ignore", message="WARNING: your conformalization dataset has less labels")
    sets = np.empty((len(X_test), len(clf.classes_)), dtype=bool)
    for index, label in enumerate(clf.classes_):
        rows = y_calibration == label if by_class else np.full(len(y_calibration), True)
        conformal = SplitConformalClassifier(clf, confidence_level=CONFIDENCE, random_state=0)
        conformal.conformalize(X_calibration[rows], y_calibration[rows])
        sets[:, index] = conformal.predict_set(X_test)[1][:, index, 0]
    return sets


def coverages(sets, y):
    """Return the share of the rows of each class whose label is in their set: (n_classes,)."""
    return np.array([sets[y == label, label].mean() for label in range(sets.shape[1])])


def draw(found, y):
    """Draw the coverage of each class, and the sizes of the sets."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(1.7, 1.0)
    )
    n_classes = next(iter(found.values())).shape[1]
    for shift, (kind, sets) in zip((-0.11, 0.11), found.items(), strict=True):
        left.plot(np.arange(n_classes) + shift, coverages(sets, y), "o", color=COLORS[kind], label=kind)
        sizes = np.bincount(sets.sum(axis=1), minlength=6)[:6] / len(y)
        right.bar(np.arange(6) + 1.8 * shift, sizes, width=0.38, color=COLORS[kind])
    left.axhline(CONFIDENCE, color="#33404D", linewidth=0.9, linestyle="--")
    left.set(xlabel="digit", ylabel="label is in the set", xticks=range(n_classes), ylim=(0.7, 1.02))
    right.set(xlabel="labels in the set", ylabel="share of the test rows")
    left.legend(frameon=False, loc="lower left", ncols=2)
    for ax in (left, right):
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"Conformal sets at {CONFIDENCE:.0%} confidence: handwritten digits by their line sums")
    return figure


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    X_train, y_train, X_calibration, y_calibration, X_test, y_test = load_rows()
    clf = LANNClassifier(random_state=0).fit(X_train, y_train)
    print(f"Accuracy on {len(y_test)} test rows: {clf.score(X_test, y_test):.3f}")
    print(f"{'':26}coverage  smallest of a class  labels in a set")
    found = {}
    for kind, by_class in (("marginal", False), ("class-conditional", True)):
        for name, predict_sets in (("crepes", crepes_sets), ("MAPIE", mapie_sets)):
            sets = predict_sets(clf, X_calibration, y_calibration, X_test, by_class=by_class)
            covered = sets[np.arange(len(y_test)), y_test].mean()
            smallest, size = coverages(sets, y_test).min(), sets.sum(axis=1).mean()
            print(f"{kind:18}{name:8}{covered:8.3f}{smallest:21.3f}{size:17.2f}")
            if name == "crepes":
                found[kind] = sets
    path = folder / "conformal_sets.png"
    draw(found, y_test).savefig(path, dpi=200)
    image = Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE)  # 256 colors
    image.save(path, optimize=True, dpi=(200, 200))
    print(f"wrote {path}")
    print(
        "Look at: the digits whose gray dot is far below the line: of these, marginal sets miss more labels "
        "than they may. The class-conditional sets are closer to the line, and larger."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))
