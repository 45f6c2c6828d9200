"""
The methods of the field
========================

`lann.baselines` has LMNN, the LVQ family and others as scikit-learn estimators, with the same
explanations. Here, they are compared on data in which the relevant features differ between regions.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.baselines import DANN, GMLVQ, LGMLVQ, LMNN, PLML, PublishedLANN
from lann.datasets import make_local_relevance

X, y = make_local_relevance(2000, 8, random_state=0)[:2]
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=1000, stratify=y, random_state=0)
methods = {
    "kNN": KNeighborsClassifier(),
    "DANN": DANN(),
    "GMLVQ": GMLVQ(random_state=0),
    "LGMLVQ": LGMLVQ(random_state=0),
    "LMNN": LMNN(),
    "PLML": PLML(random_state=0),
    "published LANN": PublishedLANN(random_state=0),
    "LANN": LANNClassifier(random_state=0),
}
scores = pd.Series(
    {
        name: make_pipeline(StandardScaler(), method).fit(X_train, y_train).score(X_test, y_test)
        for name, method in methods.items()
    }
)
scores.round(3)

# %%
figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.barh(scores.index, scores, color=["#8A8A8A"] * (len(scores) - 1) + ["#0072B2"])
ax.set(xlabel="accuracy on 1000 test rows", xlim=(0.4, 1), title="Relevant features differ between regions")
ax.spines[["top", "right"]].set_visible(False)
