"""
What would have to change
=========================

A counterfactual is the smallest change, in few columns, that leads to another prediction. Columns that
nobody can change are frozen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.explain import counterfactuals

data = load_wine(as_frame=True)
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, y, stratify=y, test_size=0.4, random_state=0)
clf = LANNClassifier(random_state=0).fit(X_train, y_train)

changes = counterfactuals(clf, X_test.iloc[:5])
changes.to_frame()

# %%
# The same questions, if the color of the wine cannot be changed:
frozen = counterfactuals(clf, X_test.iloc[:5], constraints={"frozen": ["color_intensity", "hue"]})
frozen.to_frame()

# %%
# Which columns would have to change most often, for all test rows?
table = counterfactuals(clf, X_test).to_frame()
counts = table["feature"].value_counts()
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh(counts.index[::-1], counts.to_numpy()[::-1], color="#0072B2")
ax.set(xlabel=f"counterfactuals of {len(X_test)} test rows in which the column changes")
ax.spines[["top", "right"]].set_visible(False)
