"""
The vote that the data choose
=============================

Clean labels need few neighbors, noisy ones many. LANN compares votes on held-out rows, and takes the
mean of good ones. Here, more and more labels are replaced at random.
"""

import matplotlib.pyplot as plt
import numpy as np

from lann import LANNClassifier
from lann.datasets import make_local_relevance

X, clean = make_local_relevance(2400, 8, random_state=0)[:2]
X_test, y_test = X[1200:], clean[1200:]
noise = [0.0, 0.1, 0.2, 0.3]
models = []
for share in noise:
    rng = np.random.default_rng(0)
    wrong = rng.uniform(size=1200) < share
    y = np.where(wrong, 1 - clean[:1200], clean[:1200])
    models.append(LANNClassifier(random_state=0).fit(X[:1200], y))
for share, clf in zip(noise, models, strict=True):
    print(f"{share:.0%} wrong labels: {clf.vote_}")

# %%
# Mean number of neighbors of the votes, by their weights, and the accuracy on test rows with clean
# labels.
tables = [clf.vote_.to_frame() for clf in models]
neighbors = [np.average(table["n_neighbors"], weights=table["weight"]) for table in tables]
accuracies = [clf.score(X_test, y_test) for clf in models]

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.plot(noise, neighbors, "o-", color="#0072B2")
left.set(xlabel="share of wrong labels", ylabel="neighbors that vote")
right.plot(noise, accuracies, "o-", color="#0072B2")
right.set(xlabel="share of wrong labels", ylabel="accuracy on clean labels", ylim=(0.5, 1))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
