"""
Image segmentation: figure 1 of the paper
=========================================

Seven embeddings of the image segmentation data, which `lann.datasets.load` reads from the folder named by the
environment variable `LANN_DATA`, or downloads.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from lann.datasets import load
from lann.embedding import compare_embeddings, pair_error, paper_embeddings
from lann.plot import EmbeddingDisplay

data = load("image-segmentation", as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    data.data, data.target, test_size=0.3, stratify=data.target, random_state=0
)
embeddings = paper_embeddings(min_dist=0.3, random_state=0)
comparison = compare_embeddings(X_train, y_train, X_test, y_test, embeddings=embeddings)
table = comparison.to_frame()[["accuracy", "held_out_accuracy"]]
table["pair_error"] = [
    pair_error(panel.held_out_labels, panel.held_out_predictions, "FOLIAGE", "WINDOW") for panel in comparison
]
print(table.round(3))

# %%
# FOLIAGE and WINDOW overlap in most panels, and are side by side in that of LANN.
EmbeddingDisplay.from_comparison(
    comparison, title=f"Image segmentation: seven embeddings of {len(X_train)} training rows"
)

# %%
# Held-out rows by their most relevant feature, by confidence and by error.
figure, axes = plt.subplots(1, 3, figsize=(11.4, 5.1), layout="constrained")
for ax, color in zip(axes, ("dominant", "confidence", "error"), strict=True):
    EmbeddingDisplay.from_estimator(
        comparison["LANN"].estimator, X_test, y_test, color=color, data_name="Image segmentation", ax=ax
    )
