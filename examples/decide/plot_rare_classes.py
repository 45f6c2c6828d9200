"""
Rare classes
============

With two percent of positives, a classifier that never finds one is right in 98 % of the rows.
`class_weight` gives rare classes more votes, and a threshold can be tuned for the score that counts.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.metrics import PrecisionRecallDisplay, balanced_accuracy_score, f1_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from lann import LANNClassifier

X, y = make_classification(
    5000, 10, n_informative=4, weights=[0.97], class_sep=1.2, flip_y=0.01, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.4, stratify=y, random_state=0)
print(f"{y_test.mean():.1%} of the test rows are positive")

plain = LANNClassifier(random_state=0)
models = {
    "LANN": plain,
    "LANN, balanced": LANNClassifier(class_weight="balanced", random_state=0),
    "LANN, threshold tuned for F1": TunedThresholdClassifierCV(plain, scoring="f1", cv=3, random_state=0),
}
scores = {}
for name, model in models.items():
    predicted = model.fit(X_train, y_train).predict(X_test)
    scores[name] = {
        "recall": predicted[y_test == 1].mean(),
        "F1": f1_score(y_test, predicted),
        "balanced accuracy": balanced_accuracy_score(y_test, predicted),
    }
pd.DataFrame(scores).T.round(3)

# %%
# All thresholds at once:
figure, ax = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
for name in ("LANN", "LANN, balanced"):
    PrecisionRecallDisplay.from_estimator(models[name], X_test, y_test, name=name, ax=ax)
