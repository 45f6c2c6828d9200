"""
A list of rows to check
=======================

`SuspiciousRowsDisplay` draws the rows whose labels may be wrong, with the values that matter. Eight
labels of the wine data are changed.
"""

import numpy as np
from sklearn.datasets import load_wine

from lann import LANNClassifier
from lann.plot import SuspiciousRowsDisplay

data = load_wine(as_frame=True)
changed = np.random.default_rng(0).choice(len(data.target), 8, replace=False)
y = data.target.to_numpy().copy()
y[changed] = (y[changed] + 1) % 3
clf = LANNClassifier(random_state=0).fit(data.data, y)
display = SuspiciousRowsDisplay.from_estimator(
    clf, class_names=["barolo", "grignolino", "barbera"], n_rows=12, data_name="Wine, 8 labels changed"
)
print(f"{np.isin(changed, display.shown_).sum()} of 8 changed labels are in the list")
