"""
Relevances where the truth is known
===================================

In generated data, the features that decide are known for every row. A gate divides the rows into three
regions, and in each region two other features decide. Relevances find them.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from lann import LANNClassifier
from lann.datasets import make_local_relevance
from lann.plot import RelevanceMapDisplay

X, y, relevant = make_local_relevance(1500, 12, random_state=0)
names = [f"noise {column}" for column in range(12)]
names[0] = "gate"
for region, row in enumerate([X[:, 0].argmin(), np.abs(X[:, 0]).argmin(), X[:, 0].argmax()]):
    for letter, column in zip("ab", np.flatnonzero(relevant[row]), strict=True):
        names[column] = f"region {region + 1}, {letter}"

clf = LANNClassifier(random_state=0).fit(pd.DataFrame(X, columns=names), y)

# %%
# Every line of the picture is a training row, every column a feature. The three blocks are the three
# regions.
RelevanceMapDisplay.from_estimator(clf, data_name="Generated data")

# %%
# How often is a feature that decides ranked before one that does not? The gate, which divides the
# regions, is left out. 1 is perfect, .5 is chance.
relevances = clf.explain(leave_out=None).relevances
scores = [roc_auc_score(relevant[i, 1:], relevances[i, 1:]) for i in range(len(X))]
print(f"mean AUC per prediction: {np.mean(scores):.3f}")

# %%
# A single ranking of the features for all rows, such as the mean relevance, cannot say that:
ranking = relevances.mean(axis=0)
print(f"the same ranking for all rows: {np.mean([roc_auc_score(m[1:], ranking[1:]) for m in relevant]):.3f}")
