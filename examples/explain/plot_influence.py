"""
Rows that many predictions depend on
====================================

As training rows vote, it is known what each of them did: how often it voted for the right label, and
which predictions would change without it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.explain import influence, prototypical_rows

data = load_breast_cancer(as_frame=True)
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, y, stratify=y, random_state=0)
clf = LANNClassifier(random_state=0).fit(X_train, y_train)

# %%
# Votes for the right label and for a wrong one, of every training row, when each training row is
# predicted without itself.
votes = prototypical_rows(clf)
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for label, color in zip(clf.classes_, ("#0072B2", "#D55E00"), strict=True):
    rows = votes.labels == label
    ax.scatter(votes.correct[rows], votes.wrong[rows], s=14, color=color, label=label)
ax.set(
    xlabel="votes for the right label", ylabel="votes for a wrong label", title="Breast cancer: training rows"
)
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Without the ten rows with the most wrong votes, one at a time: do predictions on test rows change?
worst = np.argsort(votes.wrong)[::-1][:10]
influence(clf, worst, X_test)
