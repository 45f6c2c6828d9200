"""
Relevances by class: figure 3 of the paper
==========================================

The paper describes classes by the mean metric of their rows, their *fingerprints*. The same data are
shown here by relevances, which say how much predictions depend on a feature, and by feature weights, as
in the paper.
"""

from sklearn.datasets import load_breast_cancer

from lann import LANNClassifier
from lann.plot import RelevanceDisplay

data = load_breast_cancer(as_frame=True)
clf = LANNClassifier(random_state=0).fit(data.data, data.target)

# %%
# Relevances: few features are at the top, and the classes differ in some of them.
RelevanceDisplay.from_estimator(
    clf, quantity="relevances", class_names=data.target_names, data_name="Breast cancer"
)

# %%
# Feature weights: how much a difference in a feature counts for the rows of a class. A feature can have
# a large weight and little relevance, if its values hardly differ.
RelevanceDisplay.from_estimator(
    clf, quantity="feature_weights", class_names=data.target_names, data_name="Breast cancer"
)
