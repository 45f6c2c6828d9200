"""
Which values support a class
============================

Supports of many rows at once: every dot is a row, its color the value of the feature, and its position
what this value adds to the probability of the class.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.plot import SupportBeeswarmDisplay

data = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, _ = train_test_split(data.data, data.target, stratify=data.target, random_state=0)
clf = LANNClassifier(random_state=0).fit(X_train, y_train)

# %%
# Dark dots on the right mean that high values are for malignant.
SupportBeeswarmDisplay.from_estimator(
    clf, X_test, label=0, class_names=data.target_names, n_features=12, data_name="Breast cancer, test data"
)
