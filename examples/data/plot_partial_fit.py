"""
Rows that come and go
=====================

`partial_fit` adds rows to a fitted classifier, and `max_points` bounds its memory. Each new row adapts
the metrics of the rows near it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from lann import LANNClassifier

X, y = load_digits(return_X_y=True)
X_test, y_test = X[1400:], y[1400:]
accuracies = {}
for max_points in (None, 600):
    clf = LANNClassifier(max_points=max_points, forget_policy="balanced", random_state=0)
    scores = []
    for start in range(0, 1400, 200):
        clf.partial_fit(X[start : start + 200], y[start : start + 200], classes=range(10))
        scores.append(clf.score(X_test, y_test))
    accuracies[max_points] = scores

# %%
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for max_points, scores in accuracies.items():
    name = "all rows are kept" if max_points is None else f"at most {max_points} rows, balanced"
    ax.plot(range(200, 1401, 200), scores, "o-", label=name)
ax.set(xlabel="rows so far", ylabel="accuracy on 397 test rows", title="Handwritten digits")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Rows can also be taken out by their ids, for example those of one person.
print(len(clf.ids_), len(clf.forget(clf.ids_[:50]).ids_))
