"""
Are the probabilities right?
============================

When a classifier says 80 %, it should be right in 80 % of these rows. LANN chooses its vote by the
log-loss of rows that it has not learned from.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.calibration import CalibrationDisplay
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.datasets import make_local_relevance

X, y = make_local_relevance(4000, 12, random_state=0)[:2]
y = y ^ (pd.Series(range(len(y))) % 8 == 0).to_numpy()  # one label in eight is wrong
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=1500, stratify=y, random_state=0)

models = {
    "LANN": LANNClassifier(random_state=0),
    "random forest": RandomForestClassifier(300, random_state=0),
    "kNN": make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
}
figure, ax = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
scores = {}
for name, model in models.items():
    p = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    CalibrationDisplay.from_predictions(y_test, p, n_bins=10, name=name, ax=ax)
    scores[name] = {"log-loss": log_loss(y_test, p), "Brier score": brier_score_loss(y_test, p)}
ax.set_title("Generated data, 12.5 % wrong labels")

# %%
pd.DataFrame(scores).T.round(3)
