"""
Find wrong labels
=================

The neighbors of a training row vote on its label, without the row itself. Where they disagree, the label
may be wrong. We change fifty labels of handwritten digits and look for them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from lann import LANNClassifier
from lann.explain import suspicious_rows

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
changed = rng.choice(len(y), 50, replace=False)
noisy = y.copy()
noisy[changed] = (y[changed] + rng.integers(1, 10, 50)) % 10
suspicion = suspicious_rows(LANNClassifier(random_state=0).fit(X, noisy))

# %%
# How many of the changed labels are among the most suspicious rows?
found = np.isin(suspicion.ranking, changed).cumsum()
for n in (25, 50, 75, 100):
    print(f"among the first {n:3} of {len(y)} rows: {found[n - 1]} of 50 changed labels")

# %%
# The first twelve: the label that was given, and what the neighbors say.
figure, axes = plt.subplots(2, 6, figsize=(8, 3.2), layout="constrained")
for ax, row in zip(axes.flat, suspicion.ranking, strict=False):
    ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"labeled {noisy[row]}\nlikely {suspicion.likely[row]}", fontsize=9)
    ax.set_axis_off()
