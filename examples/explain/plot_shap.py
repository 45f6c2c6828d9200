"""
Our explanations in shap's plots
================================

`lann.explain.to_shap` returns a `shap.Explanation`. All plots of the package shap take it.
"""

import shap
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.explain import to_shap

data = load_breast_cancer(as_frame=True)
y = data.target_names[data.target]
X_train, X_test, y_train, _ = train_test_split(data.data, y, stratify=y, random_state=0)
clf = LANNClassifier(random_state=0).fit(X_train, y_train)
values = to_shap(clf.explain(X_test.iloc[:60]), "malignant")
print(values.shape)

# %%
# The waterfall of one row, for the class malignant.
shap.plots.waterfall(values[0], max_display=8)

# %%
# The beeswarm of sixty rows.
shap.plots.beeswarm(values, max_display=8)
