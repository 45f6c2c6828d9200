"""
The images that voted
=====================

Every prediction comes with its neighbors. For images, they can be looked at.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lann import LANNClassifier

digits = load_digits()
X_train, X_test, y_train, y_test = train_test_split(
    digits.data, digits.target, train_size=600, random_state=0
)
clf = LANNClassifier(random_state=0).fit(X_train, y_train)
print(f"accuracy: {clf.score(X_test, y_test):.3f}")

# %%
# The four test images with the lowest probability, and the neighbors with the most votes. Neighbors of
# another class than the predicted one are red.
doubtful = clf.predict_proba(X_test).max(axis=1).argsort()[:4]
explanation = clf.explain(X_test[doubtful])

figure, axes = plt.subplots(4, 7, figsize=(8, 5.4), layout="constrained")
for i, line in enumerate(axes):
    prediction = explanation.predictions[i]
    probability = explanation.probabilities[i].max()
    line[0].imshow(X_test[doubtful[i]].reshape(8, 8), cmap="gray_r")
    line[0].set_title(f"predicted {prediction}\n({probability:.0%}), is {y_test[doubtful[i]]}", fontsize=9)
    order = explanation.vote_shares[i].argsort()[::-1]
    for ax, j in zip(line[1:], order, strict=False):
        label = explanation.neighbor_labels[i, j]
        color = "black" if label == prediction else "firebrick"
        ax.imshow(X_train[explanation.neighbors[i, j]].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{label}\n{explanation.vote_shares[i, j]:.0%} of the vote", fontsize=9, color=color)
for ax in axes.flat:
    ax.set_axis_off()
