"""
Sets of labels with a guarantee
===============================

A conformal set has all labels that cannot be excluded at a confidence level. It needs nothing but
`predict_proba` and rows that the classifier was not fitted to. Marginal sets contain the label of 90 %
of all rows, but of fewer rows of a difficult class; class-conditional (Mondrian) sets have a quantile
for every class.
"""

import matplotlib.pyplot as plt
import numpy as np
from crepes import WrapClassifier
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lann import LANNClassifier

CONFIDENCE = 0.9
digits = load_digits()
X, y = digits.images.sum(axis=2), digits.target  # the sums of lines do not tell all digits apart
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=0.3, stratify=y, random_state=0)
X_calibration, X_test, y_calibration, y_test = train_test_split(
    X_rest, y_rest, train_size=0.5, stratify=y_rest, random_state=0
)
clf = LANNClassifier(random_state=0).fit(X_train, y_train)
print(f"accuracy on {len(y_test)} test rows: {clf.score(X_test, y_test):.3f}")

# %%
# crepes wraps the fitted classifier.
sets = {}
for kind, by_class in {"marginal": False, "class-conditional": True}.items():
    wrapped = WrapClassifier(clf)
    wrapped.calibrate(X_calibration, y_calibration, class_cond=by_class, seed=0)
    sets[kind] = wrapped.predict_set(X_test, confidence=CONFIDENCE, labels=False, seed=0).astype(bool)
    covered = sets[kind][np.arange(len(y_test)), y_test]
    print(f"{kind}: coverage {covered.mean():.3f}, {sets[kind].sum(axis=1).mean():.2f} labels in a set")

# %%
# Of the digits whose gray dot is far below the line, marginal sets miss more labels than they may.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=(1.7, 1.0))
for shift, color, (kind, found) in zip((-0.11, 0.11), ("#8A8A8A", "#0072B2"), sets.items(), strict=True):
    coverages = [found[y_test == label, label].mean() for label in range(10)]
    left.plot(np.arange(10) + shift, coverages, "o", color=color, label=kind)
    sizes = np.bincount(found.sum(axis=1), minlength=6)[:6] / len(y_test)
    right.bar(np.arange(6) + 1.8 * shift, sizes, width=0.38, color=color)
left.axhline(CONFIDENCE, color="#33404D", linewidth=0.9, linestyle="--")
left.set(xlabel="digit", ylabel="label is in the set", xticks=range(10), ylim=(0.7, 1.02))
right.set(xlabel="labels in the set", ylabel="share of the test rows")
left.legend(frameon=False, loc="lower left", ncols=2)
for ax in (left, right):
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    ax.spines[["top", "right"]].set_visible(False)
