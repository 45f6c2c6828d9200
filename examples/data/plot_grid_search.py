"""
Pipelines and grid search
=========================

LANN is a scikit-learn classifier: it can be cloned, tuned and put into pipelines. The defaults are
seldom far from the best parameters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
pipeline = Pipeline(
    [
        ("scale", StandardScaler()),
        ("pca", PCA(10, random_state=0)),
        ("lann", LANNClassifier(random_state=0)),
    ]
)
grid = {"pca": [PCA(10, random_state=0), "passthrough"], "lann__alpha": [0.3, 1.0, 3.0]}
search = GridSearchCV(pipeline, grid, cv=3, scoring="neg_log_loss").fit(X, y)
search

# %%
results = search.cv_results_
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, label in {"PCA": "10 principal components", "passthrough": "all 30 columns"}.items():
    rows = [i for i, p in enumerate(results["params"]) if str(p["pca"]).startswith(name)]
    ax.errorbar(
        [results["params"][i]["lann__alpha"] for i in rows],
        [-results["mean_test_score"][i] for i in rows],
        [results["std_test_score"][i] for i in rows],
        marker="o",
        capsize=3,
        label=label,
    )
ax.set(xscale="log", xlabel="alpha", ylabel="log-loss, 3 folds", title="Breast cancer")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# The last step explains what the steps before it compute.
best = search.best_estimator_.set_output(transform="pandas")
print(best[-1].explain(best[:-1].transform(X.iloc[[0]])).in_words()[0])
