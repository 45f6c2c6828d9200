"""
Decision regions and local metrics
==================================

With two features, the metrics of training rows can be drawn: an ellipse contains all points at the same
distance from its row. A flat ellipse belongs to a row for which differences in one direction count most.
"""

from sklearn.datasets import load_iris

from lann import LANNClassifier
from lann.plot import DecisionRegionsDisplay

data = load_iris(as_frame=True)
X = data.data[["sepal width (cm)", "petal length (cm)"]]
clf = LANNClassifier(metric="full", random_state=0).fit(X, data.target)
DecisionRegionsDisplay.from_estimator(clf, class_names=data.target_names, data_name="Iris")

# %%
# The same without learning: plain kNN, in which all ellipses are equal.
plain = LANNClassifier(metric="full", max_iter=0).fit(X, data.target)
DecisionRegionsDisplay.from_estimator(plain, class_names=data.target_names, data_name="Iris, nothing learned")
