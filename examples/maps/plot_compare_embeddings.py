"""
Seven embeddings of the same data
=================================

The embeddings of the paper, of the same training rows: two linear ones, two learned planes, and three by
UMAP under different metrics. Judge them by rows that were held out.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lann.embedding import compare_embeddings, paper_embeddings
from lann.plot import EmbeddingDisplay

X, y = load_digits(n_class=6, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=500, stratify=y, random_state=0)
comparison = compare_embeddings(
    X_train, y_train, X_test[:300], y_test[:300], embeddings=paper_embeddings(min_dist=0.3, random_state=0)
)
comparison.to_frame()[["accuracy", "held_out_accuracy"]].round(3)

# %%
EmbeddingDisplay.from_comparison(comparison, title="Digits 0 to 5: seven embeddings of 500 images")
