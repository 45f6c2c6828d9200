"""
A map of handwritten digits
===========================

An embedding shows rows in two dimensions. Here, neighbors are those of the classifier, so that rows
which it confuses lie where classes meet. New rows are added to the map by `transform`.
"""

from sklearn.datasets import load_digits

from lann import LANNEmbedding
from lann.plot import EmbeddingDisplay

X, y = load_digits(return_X_y=True)
embedding = LANNEmbedding(random_state=0).fit(X[::2], y[::2])

# %%
# The rings are the three images with the lowest confidence, with lines to their neighbors.
confidence = embedding.classifier_.predict_proba(X[1::2]).max(axis=1)
EmbeddingDisplay.from_estimator(
    embedding, X[1::2], y[1::2], lines_from=confidence.argsort()[:3], data_name="Handwritten digits"
)
